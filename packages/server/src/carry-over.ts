import { getApplicationKey } from "./application-keys/application-key.ts";
import { noteKey } from "./application-keys/note-key.ts";
import { presentMembers } from "./application-keys/present.ts";
import { customerHappening, fromRow } from "./customers/customer.ts";
import { changesOf } from "./events/changes.ts";
import { byOperator } from "./events/event.ts";
import { noteEvents } from "./events/note.ts";
import type { Clock } from "./lib/clock.ts";
import { type CarriedChange, carryChanges, carryRemovals, findChanges } from "./members/carry-over.ts";
import { atMost } from "./storage/at-most.ts";
import { laterThan } from "./storage/later-than.ts";
import { hasTables } from "./storage/migrate.ts";
import { endings } from "./storage/migrations/0007-endings.ts";
import { members as membersMigration } from "./storage/migrations/0014-members.ts";
import type { Storage, Trx } from "./storage/storage.ts";

/** What the replaced database knew of later than the backup, and the restored one now knows, too. */
export type CarriedOver = {
  deletedKeys: number;
  rotatedKeys: number;
  passwords: number;
  /** Members that were removed, and roles of keys and members that were changed. */
  members: number;
  roles: number;
};

type Deps = { storage: Storage; clock: Clock };

const PAGE = 200;

/**
 * A restored database does not know which keys were deleted, which secrets rotated and which passwords changed after the
 * backup: the old ones would be good again. Where the replaced database can still be read, it decides: its secrets are the
 * secrets of the keys, keys and members that it no longer has go, its roles and the e-mails of its members count, and its passwords are
 * those of the customers. Each of them leaves an event, as it did in the replaced database. `undefined`: the backup was not made of it,
 * so what it lacks says nothing, and nothing was carried over.
 */
export async function carryOver(deps: Deps, replaced: Storage): Promise<CarriedOver | undefined> {
  const { storage: restored } = deps;
  if ((await originOf(restored)) !== (await originOf(replaced))) return undefined;
  const carried = { deletedKeys: 0, rotatedKeys: 0, passwords: 0, members: 0, roles: 0 };
  for await (const keys of pagesOf(restored, "application_keys")) {
    const done = await restored.transact((trx) => carryKeys(trx, deps, replaced, keys));
    carried.deletedKeys += done.deleted;
    carried.rotatedKeys += done.rotated;
  }
  if (await knowsMembers(replaced)) {
    for await (const ids of pagesOf(restored, "application_keys"))
      carried.roles += await carryKeyRoles(deps, replaced, ids);
    // Removals first: somebody who was invited again may be bound to the account that the removed member had.
    for await (const ids of pagesOf(restored, "members"))
      carried.members += await carryRemovals(deps, replaced, ids);
    const changes: CarriedChange[] = [];
    for await (const ids of pagesOf(restored, "members"))
      changes.push(...(await findChanges(restored, replaced, ids)));
    for (const [storeId, ofStore] of Map.groupBy(changes, (change) => change.storeId))
      await carryChanges(deps, storeId, ofStore);
    carried.roles += changes.filter(({ columns }) => columns.role !== undefined).length;
  }
  for await (const customers of pagesOf(restored, "customers"))
    carried.passwords += await carryPasswords(deps, replaced, customers);
  return carried;
}

/** Equal for a database and its backups, until one of them is restored: when its tables were made, and the last restore. */
async function originOf(storage: Storage): Promise<string | undefined> {
  if (!(await hasTables(storage))) return undefined;
  const applied = await storage.db
    .selectFrom("schema_migrations")
    .select(["version", "applied_at"])
    .execute();
  const madeAt = applied.find(({ version }) => version === 1)?.applied_at;
  // Tables that are older than `tokens_from` were never restored by a release that would have set it.
  const knowsRestores = applied.some(({ version }) => version === endings.version);
  const last = knowsRestores
    ? await storage.db
        .selectFrom("stores")
        .select(({ fn }) => fn.max("tokens_from").as("restored_at"))
        .executeTakeFirst()
    : undefined;
  return `${madeAt} ${last?.restored_at ?? "never"}`;
}

async function* pagesOf(
  { db }: Storage,
  table: "application_keys" | "customers" | "members",
): AsyncGenerator<string[]> {
  for (let after = ""; ; ) {
    const rows = await db
      .selectFrom(table)
      .select("id")
      .where("id", ">", after)
      .orderBy("id")
      .limit(atMost(PAGE))
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map(({ id }) => id);
    after = last.id;
  }
}

const SECRET = [
  "secret.id",
  "secret.store_id",
  "secret.application_key_id",
  "secret.secret_hash",
  "secret.created_at",
  "secret.expires_at",
  "secret.last_used_at",
] as const;

async function carryKeys(
  trx: Trx,
  deps: Deps,
  replaced: Storage,
  keys: string[],
): Promise<{ deleted: number; rotated: number }> {
  const secretsOf = (db: Storage["db"]) =>
    db
      .selectFrom("application_keys as key")
      // By the key's store, too: the index over secrets begins with it.
      .innerJoin("application_key_secrets as secret", (join) =>
        join.onRef("secret.store_id", "=", "key.store_id").onRef("secret.application_key_id", "=", "key.id"),
      )
      .select(SECRET)
      .where("key.id", "in", keys)
      .orderBy("secret.id")
      .execute();
  const kept = await replaced.db
    .selectFrom("application_keys")
    .select("id")
    .where("id", "in", keys)
    .execute();
  const isKept = new Set(kept.map(({ id }) => id));
  const gone = keys.filter((id) => !isKept.has(id));
  if (gone.length > 0) await deleteKeys(trx, deps, gone);

  const [before, after] = [await secretsOf(trx), await secretsOf(replaced.db)];
  const spell = (rows: typeof before, keyId: string) =>
    JSON.stringify(
      rows.filter((row) => row.application_key_id === keyId).map(({ last_used_at: _, ...secret }) => secret),
    );
  const storeOf = new Map([...before, ...after].map((row) => [row.application_key_id, row.store_id]));
  const rotated = [...storeOf].filter(([keyId]) => spell(before, keyId) !== spell(after, keyId));
  if (rotated.length > 0) {
    const isRotated = new Set(rotated.map(([keyId]) => keyId));
    const old = before.filter((row) => isRotated.has(row.application_key_id)).map(({ id }) => id);
    if (old.length > 0) await trx.deleteFrom("application_key_secrets").where("id", "in", old).execute();
    const secrets = after.filter((row) => isRotated.has(row.application_key_id));
    if (secrets.length > 0) await trx.insertInto("application_key_secrets").values(secrets).execute();
    for (const [keyId, storeId] of rotated) {
      const key = await getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, keyId);
      await noteKey(trx, deps, byOperator(storeId), "application_key.rotated", key);
    }
  }
  return { deleted: gone.length, rotated: rotated.length };
}

async function deleteKeys(trx: Trx, deps: Deps, ids: string[]): Promise<void> {
  const deleted = await trx
    .deleteFrom("application_keys")
    .where("id", "in", ids)
    .returning(["id", "store_id"])
    .execute();
  for (const { id, store_id } of deleted)
    await noteEvents(trx, deps, byOperator(store_id), [
      { type: "application_key.deleted", subject: id, resource: { type: "application_key", id } },
    ]);
}

/** Tables that are older have neither roles nor members. */
const knowsMembers = async ({ db }: Storage): Promise<boolean> =>
  (await db
    .selectFrom("schema_migrations")
    .select("version")
    .where("version", "=", membersMigration.version)
    .executeTakeFirst()) !== undefined;

async function carryKeyRoles(deps: Deps, replaced: Storage, ids: string[]): Promise<number> {
  const { storage, clock } = deps;
  const rolesOf = ({ db }: Storage) =>
    db.selectFrom("application_keys").select(["id", "store_id", "role"]).where("id", "in", ids).execute();
  const now = new Map((await rolesOf(replaced)).map(({ id, role }) => [id, role]));
  const changed = (await rolesOf(storage)).filter(({ id, role }) => now.has(id) && now.get(id) !== role);
  for (const { id, store_id } of changed)
    await storage.transact(async (trx) => {
      const read = () => getApplicationKey({ storage: { db: trx }, clock }, store_id, id);
      const before = await read();
      await trx
        .updateTable("application_keys")
        .set({ role: now.get(id) as string, updated_at: laterThan("updated_at", clock.now()) })
        .where("store_id", "=", store_id)
        .where("id", "=", id)
        .execute();
      const after = await read();
      const changes = changesOf(presentMembers(before), presentMembers(after));
      await noteKey(trx, deps, byOperator(store_id), "application_key.updated", after, changes);
    });
  return changed.length;
}

async function carryPasswords(deps: Deps, replaced: Storage, customers: string[]): Promise<number> {
  const { storage, clock } = deps;
  const passwordsOf = ({ db }: Storage) =>
    db
      .selectFrom("customers")
      .select(["id", "store_id", "password_hash"])
      .where("id", "in", customers)
      .execute();
  const now = new Map((await passwordsOf(replaced)).map(({ id, password_hash }) => [id, password_hash]));
  // Who had none at the time of the backup gets none by this: it could be the second one for an address.
  const changed = (await passwordsOf(storage)).filter(
    ({ id, password_hash }) => password_hash !== null && now.has(id) && now.get(id) !== password_hash,
  );
  const changes = changesOf({}, {}, ["password"]);
  for (const { id, store_id } of changed)
    await storage.transact(async (trx) => {
      const row = await trx
        .updateTable("customers")
        .set({ password_hash: now.get(id) ?? null, updated_at: laterThan("updated_at", clock.now()) })
        .where("store_id", "=", store_id)
        .where("id", "=", id)
        .returningAll()
        .executeTakeFirstOrThrow();
      const happened = customerHappening("customer.updated", fromRow(row));
      await noteEvents(trx, deps, byOperator(store_id), [{ ...happened, ...(changes && { changes }) }]);
    });
  return changed.length;
}
