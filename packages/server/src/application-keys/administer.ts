import { sql } from "kysely";
import type { OpenidClient } from "../contract/openid-client.ts";
import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { newCredential } from "../lib/secrets.ts";
import { fits, mostReservable } from "../rate-limit/plan.ts";
import { laterThan } from "../storage/later-than.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { type ApplicationKey, getApplicationKey, type KeyWithSecret } from "./application-key.ts";
import { noteKey } from "./note-key.ts";
import { applicationKeyResource } from "./resource.ts";
import { insertSecret } from "./secret.ts";

type Deps = { storage: Storage; clock: Clock };

export type KeyChange = {
  name: string;
  reserved_rate_limit?: number | undefined;
  role?: Role | undefined;
  openid_client?: OpenidClient | undefined;
};

export async function createApplicationKey(deps: Deps, by: By, change: KeyChange): Promise<KeyWithSecret> {
  const { storeId } = by;
  const created = await changeStore(
    deps,
    storeId,
    async (trx, { rate_limit: rateLimit, total_reserved_rate_limit: totalReserved }) => {
      const reserved = change.reserved_rate_limit ?? 0;
      refuseOverLimit(rateLimit, totalReserved, reserved);
      const { id, clientSecret } = await insertApplicationKey(trx, deps, storeId, {
        name: change.name,
        reserved,
        role: change.role,
        openid_client: change.openid_client,
      });
      const key = await getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, id);
      await noteKey(trx, deps, by, "application_key.created", key);
      return { key, clientSecret };
    },
  );
  if (!created) throw new Problem("token_invalid");
  return created;
}

/** Inserts key and secret without a check: the caller has made sure that the reservation fits. */
export async function insertApplicationKey(
  trx: Trx,
  { clock }: { clock: Clock },
  storeId: string,
  {
    name,
    reserved,
    role = "administrator",
    openid_client: openidClient = "pkce",
  }: Pick<KeyChange, "name" | "role" | "openid_client"> & { reserved: number },
): Promise<{ id: string; clientId: string; clientSecret: string }> {
  const now = clock.now();
  const key = { id: newId(), clientId: newCredential("lkid") };
  await trx
    .insertInto("application_keys")
    .values({
      id: key.id,
      store_id: storeId,
      name,
      client_id: key.clientId,
      reserved_rate_limit: reserved,
      role,
      openid_client: openidClient,
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    .execute();
  const clientSecret = await insertSecret(trx, { clock }, storeId, key.id);
  return { ...key, clientSecret };
}

export async function updateApplicationKey(
  deps: Deps,
  by: By,
  keyId: string,
  {
    reserved_rate_limit: reserved,
    role,
    openid_client: openidClient,
    ...given
  }: Omit<KeyChange, "name"> & { name?: string | undefined },
): Promise<ApplicationKey> {
  const { storeId } = by;
  const updated = await changeStore(
    deps,
    storeId,
    async (trx, { rate_limit: rateLimit, total_reserved_rate_limit: totalReserved }) => {
      // With the new reservation in the place of its own, the total is within the limit.
      const atLeast = reserved === undefined ? 0 : totalReserved + reserved - rateLimit;
      const before = await getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, keyId);
      const { name = before.name } = given;
      const kept = { reserved: reserved ?? null, role: role ?? null, openidClient: openidClient ?? null };
      const change = { storeId, keyId, name, ...kept, atLeast, now: deps.clock.now() };
      const changed = await changeKey.first(trx, change);
      if (!changed) refuseOverLimit(rateLimit, totalReserved - before.reserved_rate_limit, reserved ?? 0);
      const key = {
        ...before,
        name,
        ...(changed && {
          reservedRateLimit: changed.reserved,
          role: changed.role as Role,
          openidClient: changed.openid_client as OpenidClient,
          updatedAt: changed.at,
        }),
      };
      const changes = changesOf(applicationKeyResource(before), applicationKeyResource(key));
      if (changes) await noteKey(trx, deps, by, "application_key.updated", key, changes);
      return key;
    },
  );
  if (!updated) throw new Problem("application_key_not_found");
  return updated;
}

type Change = Pick<KeyChange, "name"> & {
  storeId: string;
  keyId: string;
  /** `null`: as it was. */
  reserved: number | null;
  role: Role | null;
  openidClient: OpenidClient | null;
  /** What the key must have reserved until now. */
  atLeast: number;
  now: number;
};

/** All of it changes together, if the reservation fits: a request that is refused leaves nothing behind. */
const changeKey = statement((db, change: Change) =>
  db
    .updateTable("application_keys")
    .set({
      name: change.name,
      reserved_rate_limit: sql<number>`coalesce(cast(${change.reserved} as integer), reserved_rate_limit)`,
      role: sql<string>`coalesce(cast(${change.role} as text), role)`,
      openid_client: sql<string>`coalesce(cast(${change.openidClient} as text), openid_client)`,
      updated_at: laterThan("updated_at", change.now),
    })
    .where("store_id", "=", change.storeId)
    .where("id", "=", change.keyId)
    .where("reserved_rate_limit", ">=", change.atLeast)
    .returning(["reserved_rate_limit as reserved", "role", "openid_client", "updated_at as at"]),
);

export async function deleteApplicationKey(deps: Deps, by: By, keyId: string): Promise<undefined> {
  const deleted = await changeStore(deps, by.storeId, async (trx) => {
    const row = await trx
      .deleteFrom("application_keys")
      .where("store_id", "=", by.storeId)
      .where("id", "=", keyId)
      .returning("id")
      .executeTakeFirst();
    const resource = { type: "application_key", id: keyId };
    if (row) await noteEvents(trx, deps, by, [{ type: "application_key.deleted", subject: keyId, resource }]);
    return row;
  });
  if (!deleted) throw new Problem("application_key_not_found");
}

export function refuseOverLimit(rateLimit: number, reservedByOthers: number, reserved: number): void {
  if (fits(rateLimit, reservedByOthers, reserved)) return;
  const most = mostReservable(rateLimit, reservedByOthers);
  throw new Problem("reservation_exceeds_store_limit", {
    source: { pointer: "/data/reserved_rate_limit" },
    detail: `The store's limit is ${rateLimit} requests per second and other keys have reserved ${reservedByOthers}: this key can have at most ${most}.`,
    meta: { rate_limit: rateLimit, reserved_by_others: reservedByOthers, most_reservable: most },
  });
}
