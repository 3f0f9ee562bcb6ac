import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../../contract/caller.ts";
import { Problem } from "../../contract/problem.ts";
import { type By, byCaller } from "../../events/event.ts";
import { noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { atMost } from "../../storage/at-most.ts";
import { inBatches } from "../../storage/batches.ts";
import { deleteOld } from "../../storage/delete-old.ts";
import { forChange } from "../../storage/engine.ts";
import type { Database, Storage, Trx } from "../../storage/storage.ts";
import { type CustomerKey, getCustomer } from "../customer.ts";
import { customerTokenEvent } from "../events.ts";
import { profileExists } from "./verify-token.ts";

type Deps = { storage: Storage; clock: Clock };

/** The number of tokens that one transaction revokes, with an event for each: takes a few milliseconds. */
const REVOKED_AT_ONCE = 200;

export async function revokeToken(
  deps: Deps,
  caller: Caller,
  customerId: string,
  tokenId: string,
): Promise<undefined> {
  await getCustomer(deps, caller, customerId);
  const now = deps.clock.now();
  const valid = sql<SqlBool>`id = ${tokenId} and customer_id = ${customerId} and expires_at > ${now} and ${profileExists}`;
  await deps.storage.transact(async (trx) => {
    const revoked = await revokeWhere(trx, deps, byCaller(caller), valid);
    if (revoked === 0) throw new Problem("customer_token_not_found");
  });
}

/** For callers that have verified the token itself: deletes by id, whichever customer the token belongs to. */
export async function deleteToken(deps: Deps, by: By, tokenId: string): Promise<void> {
  await deps.storage.transact((trx) => revokeWhere(trx, deps, by, sql`id = ${tokenId}`));
}

/** Deletes tokens of a store, with an event for each. Returns how many there were. */
export async function revokeWhere(trx: Trx, deps: { clock: Clock }, by: By, where: RawBuilder<SqlBool>) {
  const events = await endTokens(trx, by.storeId, where);
  await noteEvents(trx, deps, by, events);
  return events.length;
}

/** Deletes tokens of a store. Returns the events, for a transaction that has others to write. */
export async function endTokens(trx: Trx, storeId: string, where: RawBuilder<SqlBool>) {
  const ended = await trx
    .deleteFrom("customer_tokens")
    .where("store_id", "=", storeId)
    .where(where)
    .returningAll()
    .execute();
  return ended.map((token) => customerTokenEvent("customer_token.revoked", token));
}

export async function revokeAllTokens(deps: Deps, caller: Caller, customerId: string): Promise<undefined> {
  await getCustomer(deps, caller, customerId);
  await revokeInParts(deps, byCaller(caller), tokensOf(customerId));
}

/**
 * A condition on a store's tokens, and the columns of the index to read them by. Without an order that matches an
 * index, PostgreSQL scans the table from its beginning for a customer who has a large part of the rows.
 */
type TokenSelection = { where: RawBuilder<SqlBool>; along: readonly ("created_at" | "id")[] };

/** A customer's tokens, or all but one of them, in the order of their index. */
export const tokensOf = (customerId: string, except?: string): TokenSelection => ({
  where: sql`customer_id = ${customerId}${except === undefined ? sql`` : sql` and id <> ${except}`}`,
  along: ["created_at", "id"],
});

function idsOf(db: Database, { storeId }: Pick<By, "storeId">, { where, along }: TokenSelection) {
  let ids = db.selectFrom("customer_tokens").select("id").where("store_id", "=", storeId).where(where);
  for (const column of along) ids = ids.orderBy(column);
  return ids;
}

/**
 * Call it before a transaction that ends all of these tokens: more than REVOKED_AT_ONCE are revoked here, in parts, so
 * that the transaction itself stays short. The transaction still ends the rest. If it fails, more sessions have ended
 * than needed.
 */
export async function thinOutForRevocation(deps: Deps, by: By, tokens: TokenSelection): Promise<void> {
  const ids = idsOf(deps.storage.db, by, tokens);
  const oneMore = await ids.limit(atMost(1)).offset(REVOKED_AT_ONCE).executeTakeFirst();
  if (oneMore) await revokeInParts(deps, by, tokens);
}

async function revokeInParts(deps: Deps, by: By, tokens: TokenSelection): Promise<void> {
  const revokeSome = (trx: Trx) => {
    // Locks the rows that it chooses. A row that another transaction deletes meanwhile is left out, so a smaller number
    // means the end.
    const some = forChange(trx, idsOf(trx, by, tokens).limit(atMost(REVOKED_AT_ONCE)));
    return revokeWhere(trx, deps, by, sql`id in ${some}`);
  };
  while ((await deps.storage.transact(revokeSome)) === REVOKED_AT_ONCE);
}

/** The number of tokens that the foreign key may delete with the customer's row. */
const FEW = 500;

/**
 * Deletes a customer's tokens in batches, before the customer's row is deleted. Tokens can be valid for a year, and an
 * account that a program signs in to can have hundreds of thousands: too many for one statement.
 */
export async function thinOutTokens(deps: Deps, { storeId, customerId }: CustomerKey): Promise<void> {
  const { db } = deps.storage;
  const tokens = idsOf(db, { storeId }, tokensOf(customerId));
  if (!(await tokens.limit(atMost(1)).offset(FEW).executeTakeFirst())) return;
  await inBatches(deps, async (limit) => {
    const { numDeletedRows } = await db
      .deleteFrom("customer_tokens")
      .where("store_id", "=", storeId)
      .where("id", "in", tokens.limit(atMost(limit)))
      .executeTakeFirst();
    return Number(numDeletedRows);
  });
}

/** Counts the tokens of all stores, for an operator who is about to end them. */
export async function countLiveTokens({ storage, clock }: Deps): Promise<number> {
  const counted = await storage.db
    .selectFrom("customer_tokens")
    .where("expires_at", ">", clock.now())
    .select(({ fn }) => fn.countAll<number>().as("tokens"))
    .executeTakeFirstOrThrow();
  return counted.tokens;
}

/** Returns true while there are more to delete. */
export const forgetExpiredTokens = (deps: Deps): Promise<boolean> =>
  deleteOld(deps, "customer_tokens", deps.clock.now());
