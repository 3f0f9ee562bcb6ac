import type * as contract from "../contract/application-keys.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { newCredential } from "../lib/secrets.ts";
import { inForceBy } from "../rate-limit/in-force.ts";
import { laterThan } from "../storage/later-than.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { type ApplicationKey, getApplicationKey, refuseOverReservation } from "./application-key.ts";
import { noteKey } from "./events.ts";
import {
  applicationKeyResource,
  type KeyChange,
  keyAnswer,
  keyWithSecretAnswer,
  toColumns,
} from "./resource.ts";
import { insertSecret } from "./secret.ts";

type Deps = { storage: Storage; clock: Clock; publicUrl: string };

export async function createApplicationKey(
  deps: Deps,
  by: By,
  data: KeyChange & { name: string },
): Promise<Output<typeof contract.createApplicationKey>> {
  const { storeId } = by;
  const created = await changeStore(deps, storeId, async (trx, store) => {
    refuseOverReservation(store.rate_limit, store.total_reserved_rate_limit, data.reserved_rate_limit ?? 0);
    const { id, clientSecret } = await insertApplicationKey(trx, deps, storeId, data);
    const key = await getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, id);
    await noteKey(trx, deps, by, "application_key.created", key);
    return keyWithSecretAnswer(deps, key, clientSecret);
  });
  if (!created) throw new Problem("token_invalid");
  return { ...created, meta: { effective_by: inForceBy(deps) } };
}

const NEW_KEY = { reserved_rate_limit: 0, role: "administrator", openid_client: "pkce" };

/** Inserts key and secret without a check: the caller has made sure that the reservation fits. */
export async function insertApplicationKey(
  trx: Trx,
  { clock }: { clock: Clock },
  storeId: string,
  data: KeyChange & { name: string },
): Promise<{ id: string; clientId: string; clientSecret: string }> {
  const now = clock.now();
  const key = { id: newId(), clientId: newCredential("lkid") };
  await trx
    .insertInto("application_keys")
    .values({
      ...NEW_KEY,
      name: data.name,
      ...toColumns(data),
      id: key.id,
      store_id: storeId,
      client_id: key.clientId,
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
  data: KeyChange,
): Promise<Output<typeof contract.updateApplicationKey>> {
  const { storeId } = by;
  const updated = await changeStore(deps, storeId, async (trx, store) => {
    const { rate_limit, total_reserved_rate_limit: totalReserved } = store;
    const reserved = data.reserved_rate_limit;
    // With the new reservation in the place of the old one, the total is within the limit.
    const atLeast = reserved === undefined ? 0 : totalReserved + reserved - rate_limit;
    const before = await getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, keyId);
    const wanted = { ...before, ...toColumns(data) };
    const changed = await changeKey.first(trx, { ...wanted, atLeast, now: deps.clock.now() });
    if (!changed)
      refuseOverReservation(rate_limit, totalReserved - before.reserved_rate_limit, reserved ?? 0);
    const key = { ...before, ...(changed && { ...wanted, ...changed }) } as ApplicationKey;
    const changes = changesOf(applicationKeyResource(before), applicationKeyResource(key));
    if (changes) await noteKey(trx, deps, by, "application_key.updated", key, changes);
    return key;
  });
  if (!updated) throw new Problem("application_key_not_found");
  return { ...keyAnswer(deps, updated), meta: { effective_by: inForceBy(deps) } };
}

type KeyUpdate = Pick<
  Tables["application_keys"],
  "store_id" | "id" | "name" | "reserved_rate_limit" | "role" | "openid_client"
> & {
  /** The key's reservation must be at least this now, so that the new reservation fits. */
  atLeast: number;
  now: number;
};

/** Writes every column in a single statement, if the reservation fits. A refused request changes nothing. */
const changeKey = statement((db, change: KeyUpdate) =>
  db
    .updateTable("application_keys")
    .set({
      name: change.name,
      reserved_rate_limit: change.reserved_rate_limit,
      role: change.role,
      openid_client: change.openid_client,
      updated_at: laterThan("updated_at", change.now),
    })
    .where("store_id", "=", change.store_id)
    .where("id", "=", change.id)
    .where("reserved_rate_limit", ">=", change.atLeast)
    .returning("updated_at"),
);

export async function deleteApplicationKey(
  deps: Pick<Deps, "storage" | "clock">,
  by: By,
  keyId: string,
): Promise<undefined> {
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
