import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "./at-most.ts";
import { inBatches } from "./batches.ts";
import { forChangeIfFree } from "./engine.ts";
import type { Storage } from "./storage.ts";
import type { Tables } from "./tables.ts";

/** The columns that name a row of a swept table, and the time after which a row is deleted, which has an index. */
const SWEPT = {
  access_token_revocations: { key: ["token_id"], time: "expires_at" },
  customer_tokens: { key: ["id"], time: "expires_at" },
  ended_idp_sessions: { key: ["store_id", "profile_id", "subject", "idp_session"], time: "ended_at" },
  erased_digests: { key: ["store_id", "person_id", "digest"], time: "erased_at" },
  idempotent_answers: { key: ["key_hash"], time: "expires_at" },
  integration_deliveries: { key: ["id"], time: "forget_at" },
  setup_links: { key: ["id"], time: "expires_at" },
  sign_on_attempts: { key: ["id"], time: "forget_at" },
  sign_on_statistics: { key: ["store_id", "step", "starts_at", "profile_id"], time: "forget_at" },
  sign_on_statistics_parts: {
    key: ["store_id", "kind", "step", "starts_at", "part_id"],
    time: "forget_at",
  },
  sign_ons: { key: ["id"], time: "started_at" },
} as const satisfies {
  [T in keyof Tables]?: { key: readonly (keyof Tables[T])[]; time: keyof Tables[T] };
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

/** Deletes expired rows, as many as fit into a round. True: there are more. */
export async function deleteOld(deps: Deps, table: keyof typeof SWEPT, untilMs: number): Promise<boolean> {
  const { key, time } = SWEPT[table];
  const { db } = deps.storage;
  const { ref } = db.dynamic;
  const deleteSome = async (limit: number) => {
    const over = db
      .selectFrom(table as "sign_ons")
      .select(key.map((column) => ref<"id">(column)))
      .where(ref(time), "<=", untilMs)
      .orderBy(ref(time))
      .limit(atMost(limit));
    // Instances that sweep at the same time take different rows, and do not wait for each other.
    const free = forChangeIfFree(db, over);
    const { numDeletedRows } = await db
      .deleteFrom(table as "sign_ons")
      .where(sql<SqlBool>`(${sql.join(key.map((column) => sql.ref(column)))}) in ${free}`)
      .executeTakeFirst();
    return Number(numDeletedRows);
  };
  return !(await inBatches(deps, deleteSome, ROUND)).isDone;
}
