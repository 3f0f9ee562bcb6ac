import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../../contract/caller.ts";
import { Problem } from "../../contract/problem.ts";
import { type By, byCaller } from "../../events/event.ts";
import { noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { atMost } from "../../storage/at-most.ts";
import { deleteOld } from "../../storage/delete-old.ts";
import { forChange } from "../../storage/engine.ts";
import type { Database, Storage, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { getCustomer } from "../customer.ts";
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
  await deps.storage.transact(async (trx) => {
    const revoked = await trx
      .deleteFrom("customer_tokens")
      .where("store_id", "=", caller.storeId)
      .where("customer_id", "=", customerId)
      .where("id", "=", tokenId)
      .where("expires_at", ">", deps.clock.now())
      .where(profileExists)
      .returningAll()
      .execute();
    if (revoked.length === 0) throw new Problem("customer_token_not_found");
    await noteRevoked(trx, deps, byCaller(caller), revoked);
  });
}

/** For callers that have verified the token itself: deletes by id, whichever customer the token belongs to. */
export async function deleteToken(deps: Deps, by: By, tokenId: string): Promise<void> {
  await deps.storage.transact(async (trx) => {
    const revoked = await trx
      .deleteFrom("customer_tokens")
      .where("store_id", "=", by.storeId)
      .where("id", "=", tokenId)
      .returningAll()
      .execute();
    await noteRevoked(trx, deps, by, revoked);
  });
}

/** Writes an event for each token that the transaction has deleted. */
export const noteRevoked = (
  trx: Trx,
  deps: { clock: Clock },
  by: By,
  tokens: readonly Tables["customer_tokens"][],
): Promise<void> =>
  noteEvents(
    trx,
    deps,
    by,
    tokens.map((token) => customerTokenEvent("customer_token.revoked", token)),
  );

export async function revokeAllTokens(deps: Deps, caller: Caller, customerId: string): Promise<undefined> {
  await getCustomer(deps, caller, customerId);
  await revokeInParts(deps, byCaller(caller), { where: sql`customer_id = ${customerId}`, along: BY_AGE });
}

/**
 * A condition on a store's tokens, and the columns of the index to read them by. Without an order that matches an
 * index, PostgreSQL scans the table from its beginning for a customer who has a large part of the rows.
 */
type TokenSelection = { where: RawBuilder<SqlBool>; along: readonly ("created_at" | "id")[] };

/** The order of the index over a customer's tokens. */
export const BY_AGE = ["created_at", "id"] as const;

function idsOf(db: Database, { storeId }: By, { where, along }: TokenSelection) {
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
  const revokeSome = async (trx: Trx) => {
    // Locks the rows that it chooses. A row that another transaction deletes meanwhile is left out, so a smaller number
    // means the end.
    const some = forChange(trx, idsOf(trx, by, tokens).limit(atMost(REVOKED_AT_ONCE)));
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
