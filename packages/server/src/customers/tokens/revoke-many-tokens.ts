import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../../contract/caller.ts";
import { type By, byCaller } from "../../events/event.ts";
import type { Clock } from "../../lib/clock.ts";
import { atMost } from "../../storage/at-most.ts";
import { forChange } from "../../storage/engine.ts";
import type { Database, Storage, Trx } from "../../storage/storage.ts";
import { noteRevoked, refuseUnknown } from "./customer-token.ts";

type Deps = { storage: Storage; clock: Clock };

/** So many in one transaction, with an event for each: a few milliseconds. */
const REVOKED_AT_ONCE = 200;

export async function revokeAllTokens(deps: Deps, caller: Caller, customerId: string): Promise<undefined> {
  await refuseUnknown(deps.storage, caller, customerId);
  await revokeInParts(deps, byCaller(caller), { where: sql`customer_id = ${customerId}`, along: BY_AGE });
}

/**
 * Some tokens of a store, and the columns that follow theirs in an index. PostgreSQL reads the table from its beginning for the first of
 * somebody who has a large part of it, unless they are asked for in the order of an index.
 */
type Which = { where: RawBuilder<SqlBool>; along: readonly ("created_at" | "id")[] };

/** As the index over a customer's tokens has them. */
export const BY_AGE = ["created_at", "id"] as const;

function idsOf(db: Database, { storeId }: By, { where, along }: Which) {
  let ids = db.selectFrom("customer_tokens").select("id").where("store_id", "=", storeId).where(where);
  for (const column of along) ids = ids.orderBy(column);
  return ids;
}

/**
 * For a transaction that ends all of these tokens, however many there are: where that would take it long, they go before it, some at
 * a time. It ends what is left, so none is good when it commits; should it never come to that, more sessions have ended than had to.
 */
export async function thinOutForRevocation(deps: Deps, by: By, which: Which): Promise<void> {
  const ids = idsOf(deps.storage.db, by, which);
  const oneMore = await ids.limit(atMost(1)).offset(REVOKED_AT_ONCE).executeTakeFirst();
  if (oneMore) await revokeInParts(deps, by, which);
}

async function revokeInParts(deps: Deps, by: By, which: Which): Promise<void> {
  const revokeSome = async (trx: Trx) => {
    // Locked while they are chosen: one that somebody else ends at this moment is passed over, so that fewer means that no more are left.
    const some = forChange(trx, idsOf(trx, by, which).limit(atMost(REVOKED_AT_ONCE)));
    const revoked = await trx
      .deleteFrom("customer_tokens")
      .where("store_id", "=", by.storeId)
      .where("id", "in", some)
      .returningAll()
      .execute();
    await noteRevoked(trx, deps, by, revoked);
    return revoked.length;
  };
  while ((await deps.storage.transact(revokeSome)) === REVOKED_AT_ONCE);
}
