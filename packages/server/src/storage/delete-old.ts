import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "./at-most.ts";
import { inBatches } from "./batches.ts";
import { forChangeIfFree } from "./engine.ts";
import type { Storage } from "./storage.ts";
import type { Tables } from "./tables.ts";

/** The tables that are swept, and the column with the time after which a row is deleted. Each has an index on it. */
type Swept = {
  access_token_revocations: "expires_at";
  customer_tokens: "expires_at";
  ended_idp_sessions: "ended_at";
  erased_digests: "erased_at";
  idempotent_answers: "expires_at";
  sign_on_attempts: "forget_at";
  sign_on_statistics: "forget_at";
  sign_on_statistics_parts: "forget_at";
  sign_ons: "started_at";
  integration_deliveries: "forget_at";
};

/** The limits of one sweep. The rows that are left wait for the next sweep. */
export const ROUND = { maxRows: 20_000, withinMs: 200 } as const;

type Deps = { storage: Storage; clock: Clock };

/** Works on one thing after the other until a round's time is over. False: not all was done. */
export async function inOneRound<T>(
  { clock }: Pick<Deps, "clock">,
  several: readonly T[],
  work: (one: T) => Promise<{ isDone: boolean }>,
): Promise<boolean> {
  const untilMs = clock.monotonicMs() + ROUND.withinMs;
  for (const one of several) {
    if (clock.monotonicMs() >= untilMs || !(await work(one)).isDone) return false;
  }
  return true;
}

type SweptKey<T extends keyof Tables> = keyof Tables[T] & string;

/** Deletes expired rows, as many as fit into a round. True: there are more. */
export async function deleteOld<T extends keyof Swept>(
  deps: Deps,
  table: T,
  key: readonly SweptKey<T>[],
  column: Swept[T],
  untilMs: number,
): Promise<boolean> {
  const { db } = deps.storage;
  const { ref } = db.dynamic;
  const deleteSome = async (limit: number) => {
    const over = db
      .selectFrom(table as "sign_ons")
      .select(key.map((one) => ref<"id">(one)))
      .where(ref(column), "<=", untilMs)
      .orderBy(ref(column))
      .limit(atMost(limit));
    // Instances that sweep at the same time take different rows, and do not wait for each other.
    const free = forChangeIfFree(db, over);
    const { numDeletedRows } = await db
      .deleteFrom(table as "sign_ons")
      .where(sql<SqlBool>`(${sql.join(key.map((one) => sql.ref(one)))}) in ${free}`)
      .executeTakeFirst();
    return Number(numDeletedRows);
  };
  return !(await inBatches(deps, deleteSome, ROUND)).isDone;
}
