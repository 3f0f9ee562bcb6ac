import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { newCredential } from "../lib/secrets.ts";
import { fits, mostReservable } from "../rate-limit/plan.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore, totalReserved } from "../stores/store.ts";
import { type ApplicationKey, getApplicationKey, type KeyWithSecret } from "./application-key.ts";
import { insertSecret } from "./secret.ts";

type Deps = { storage: Storage; clock: Clock };

export type KeyChange = { name: string; reservedRateLimit?: number | undefined };

export async function createApplicationKey(
  deps: Deps,
  storeId: string,
  change: KeyChange,
): Promise<KeyWithSecret> {
  const created = await changeStore(deps, storeId, async (trx, { rateLimit }) => {
    const reserved = change.reservedRateLimit ?? 0;
    refuseOverLimit(rateLimit, await totalReserved(trx, storeId), reserved);
    const { id, clientSecret } = await insertApplicationKey(trx, deps, storeId, {
      name: change.name,
      reserved,
    });
    return {
      key: await getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, id),
      clientSecret,
    };
  });
  if (!created) throw new Problem("token_invalid");
  return created;
}

/** Inserts key and secret without a check: the caller has made sure that the reservation fits. */
export async function insertApplicationKey(
  trx: Trx,
  { clock }: { clock: Clock },
  storeId: string,
  { name, reserved }: { name: string; reserved: number },
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
      last_used_at: null,
      created_at: now,
      updated_at: now,
    })
    .execute();
  const clientSecret = await insertSecret(trx, { clock }, storeId, key.id);
  return { ...key, clientSecret };
}

/** Name and reservation change in one statement: a request that is refused leaves nothing behind. */
export async function updateApplicationKey(
  deps: Deps,
  storeId: string,
  keyId: string,
  change: KeyChange,
): Promise<ApplicationKey> {
  const updated = await changeStore(deps, storeId, async (trx, { rateLimit }) => {
    if (change.reservedRateLimit !== undefined) {
      refuseOverLimit(rateLimit, await totalReserved(trx, storeId, keyId), change.reservedRateLimit);
    }
    await trx
      .updateTable("application_keys")
      .set({
        name: change.name,
        ...(change.reservedRateLimit !== undefined && { reserved_rate_limit: change.reservedRateLimit }),
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("store_id", "=", storeId)
      .where("id", "=", keyId)
      .execute();
    return getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, keyId);
  });
  if (!updated) throw new Problem("application_key_not_found");
  return updated;
}

export async function deleteApplicationKey(deps: Deps, storeId: string, keyId: string): Promise<undefined> {
  const deleted = await changeStore(deps, storeId, (trx) =>
    trx
      .deleteFrom("application_keys")
      .where("store_id", "=", storeId)
      .where("id", "=", keyId)
      .returning("id")
      .executeTakeFirst(),
  );
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
