import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../contract/caller.ts";
import { type By, byCaller } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { noteRevoked, refuseUnknown } from "./customer-token.ts";

type Deps = { storage: Storage; clock: Clock };

/** So many in one transaction, with an event for each: a few milliseconds. */
const REVOKED_AT_ONCE = 200;

export async function revokeAllTokens(deps: Deps, caller: Caller, customerId: string): Promise<undefined> {
  await refuseUnknown(deps.storage, caller, customerId);
  await revokeInParts(deps, byCaller(caller), sql`customer_id = ${customerId}`);
}

/**
 * For a transaction that ends all of these tokens, however many there are: where that would take it long, they go before it, some at
 * a time. It ends what is left, so none is good when it commits; should it never come to that, more sessions have ended than had to.
 */
export async function thinOutForRevocation(deps: Deps, by: By, which: RawBuilder<SqlBool>): Promise<void> {
  const oneMore = await deps.storage.db
    .selectFrom("customer_tokens")
    .select("id")
    .where("store_id", "=", by.storeId)
    .where(which)
    .limit(atMost(1))
    .offset(REVOKED_AT_ONCE)
    .executeTakeFirst();
  if (oneMore) await revokeInParts(deps, by, which);
}

async function revokeInParts(deps: Deps, by: By, which: RawBuilder<SqlBool>): Promise<void> {
  const revokeSome = async (trx: Trx) => {
    const ofStore = trx.selectFrom("customer_tokens").select("id").where("store_id", "=", by.storeId);
    const revoked = await trx
      .deleteFrom("customer_tokens")
      .where("store_id", "=", by.storeId)
      .where("id", "in", ofStore.where(which).limit(atMost(REVOKED_AT_ONCE)))
      .returningAll()
      .execute();
    await noteRevoked(trx, deps, by, revoked);
    return revoked.length;
  };
  while ((await deps.storage.transact(revokeSome)) === REVOKED_AT_ONCE);
}
