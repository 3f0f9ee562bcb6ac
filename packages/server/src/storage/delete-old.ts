import type { Database } from "./storage.ts";
import type { Tables } from "./tables.ts";

const BATCH = 1000;

/** The sweepers' tables, and the column that says from when on a row is over. */
type Swept = {
  access_token_revocations: "expires_at";
  customer_tokens: "expires_at";
  idempotent_answers: "expires_at";
  sign_on_attempts: "forget_at";
  sign_ons: "started_at";
};

/** Rows that are over, in small portions: a large backlog must neither stop the service nor run into its time limit. */
export async function deleteOld<T extends keyof Swept>(
  db: Database,
  table: T,
  key: keyof Tables[T] & string,
  column: Swept[T],
  untilMs: number,
): Promise<void> {
  const { ref } = db.dynamic;
  for (let deleted = BATCH; deleted === BATCH; ) {
    const over = db
      .selectFrom(table as "sign_ons")
      .select(ref<"id">(key))
      .where(ref(column), "<=", untilMs)
      .orderBy(ref(column))
      .limit(BATCH);
    const { numDeletedRows } = await db
      .deleteFrom(table as "sign_ons")
      .where(ref(key), "in", over)
      .executeTakeFirst();
    deleted = Number(numDeletedRows);
  }
}
