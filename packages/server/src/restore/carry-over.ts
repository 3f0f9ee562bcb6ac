import { deleteStore } from "../delete-store.ts";
import { isDamaged } from "../storage/failures.ts";
import { hasTables } from "../storage/migrate.ts";
import { endings } from "../storage/migrations/0007-endings.ts";
import type { Storage } from "../storage/storage.ts";
import { carryCustomers } from "./customers.ts";
import { carryErasures } from "./erasures.ts";
import { carryApplicationKeys } from "./keys.ts";
import { carryMembers } from "./members.ts";
import { carryRealms } from "./realms.ts";
import { type Deps, describeReplaced, listStoreIds, type Replaced } from "./replaced.ts";
import { carryWebhooks, disableWebhooks } from "./webhooks.ts";

/** Counts of the changes that the restored database took over, because they were made after the backup. */
const NOTHING = {
  stores: 0,
  erased: 0,
  deleted_keys: 0,
  rotated_keys: 0,
  /** Members that were removed, and roles of keys and members that were changed. */
  removed_members: 0,
  roles: 0,
  profiles: 0,
  realms: 0,
  webhooks: 0,
  deleted_customers: 0,
  passwords: 0,
  addresses: 0,
  identities: 0,
};

export type CarriedOver = typeof NOTHING & {
  /** The parts of a damaged replaced database that could not be read. */
  unread: string[];
};

/**
 * A restored database does not know which rights were ended after the backup. While the replaced database can be read,
 * it decides who may sign in and which receivers get data; docs/storage.md lists each table. All else is as in the
 * backup. Each change leaves an event. `undefined`: the backup was not made from the replaced database, so nothing is
 * taken over.
 */
export async function carryOver(deps: Deps, from: Storage): Promise<CarriedOver | undefined> {
  if ((await originOf(deps.storage)) !== (await originOf(from))) return undefined;
  const replaced = await describeReplaced(from);
  const carried: CarriedOver = { ...NOTHING, unread: [] };
  for (const [part, carry] of Object.entries(PARTS)) {
    try {
      for (const [name, rows] of Object.entries(await carry(deps, replaced)))
        carried[name as keyof typeof NOTHING] += rows;
    } catch (error) {
      if (!isDamaged(error)) throw error;
      carried.unread.push(part);
    }
  }
  if (carried.unread.includes("webhooks")) await disableWebhooks(deps);
  return carried;
}

type CarryPart = (deps: Deps, replaced: Replaced) => Promise<Partial<typeof NOTHING>>;

/**
 * Stores first, so that rows of deleted stores are skipped. Erasures before deletions, because an erasure removes more.
 */
const PARTS: Record<string, CarryPart> = {
  stores: carryStores,
  erasures: carryErasures,
  keys: carryApplicationKeys,
  members: carryMembers,
  realms: carryRealms,
  webhooks: carryWebhooks,
  customers: carryCustomers,
};

/** A deleted store leaves no row and no log, so a damaged database cannot prove that a store was deleted. */
async function carryStores(deps: Deps, { storage, isSound, columnsOf }: Replaced) {
  let stores = 0;
  const canBeDeleting = columnsOf("stores").has("deleted_at");
  for (const id of await listStoreIds(deps.storage)) {
    const row = await storage.db
      .selectFrom("stores")
      .select(["id", ...(canBeDeleting ? (["deleted_at"] as const) : [])])
      .where("id", "=", id)
      .executeTakeFirst();
    const isGone = row ? (row.deleted_at ?? null) !== null : isSound;
    if (!isGone) continue;
    await deleteStore(deps, id);
    stores++;
  }
  return { stores };
}

/**
 * Equal for a database and its backups until one of them is restored: when its tables were made, and the last restore.
 */
async function originOf(storage: Storage): Promise<string | undefined> {
  if (!(await hasTables(storage))) return undefined;
  const applied = await storage.db
    .selectFrom("schema_migrations")
    .select(["version", "applied_at"])
    .execute();
  const madeAt = applied.find(({ version }) => version === 1)?.applied_at;
  // Tables without `tokens_from` come from a release that did not record restores.
  const knowsRestores = applied.some(({ version }) => version === endings.version);
  const last = knowsRestores
    ? await storage.db
        .selectFrom("stores")
        .select(({ fn }) => fn.max("tokens_from").as("restored_at"))
        .executeTakeFirst()
    : undefined;
  return `${madeAt} ${last?.restored_at ?? "never"}`;
}
