import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Erasure } from "../events/erase.ts";
import type { Clock } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { ROUND } from "../storage/delete-old.ts";
import type { Database, Storage } from "../storage/storage.ts";

/** What a record of a sign-on says of a person, maybe in the provider's own words. How it ended, and why, stays. */
const OF_A_PERSON = {
  email_digest: null,
  network: null,
  browser: null,
  operating_system: null,
  idp_answer: null,
} as const;

/**
 * Takes a person out of the records of sign-ons, as many as fit into a round: those of the customer, who is then no longer named there, and
 * those under the same address that came to nobody. True: done.
 */
export async function eraseRecords(
  deps: { storage: Storage; clock: Clock },
  { storeId, personId, emailDigest }: Erasure,
): Promise<boolean> {
  const { db } = deps.storage;
  const erase = (where: RawBuilder<SqlBool>, set: object) => {
    const eraseSome = async (limit: number) => {
      const some = db
        .selectFrom("sign_ons")
        .select("id")
        .where("store_id", "=", storeId)
        .where(where)
        .orderBy("started_at")
        .orderBy("id")
        .limit(atMost(limit));
      const { numUpdatedRows } = await db
        .updateTable("sign_ons")
        .set(set)
        .where("id", "in", some)
        .executeTakeFirst();
      return Number(numUpdatedRows);
    };
    return inBatches(deps, eraseSome, ROUND);
  };
  const own = await erase(sql`customer_id = ${personId}`, { ...OF_A_PERSON, customer_id: null });
  if (!own.isDone || emailDigest === null) return own.isDone;
  return (await erase(sql`email_digest = ${emailDigest}`, OF_A_PERSON)).isDone;
}

/** The latest record of a customer. */
export const findRecord = (
  db: Database,
  { storeId, personId }: Pick<Erasure, "storeId" | "personId">,
): Promise<{ email_digest: string | null } | undefined> =>
  db
    .selectFrom("sign_ons")
    .select("email_digest")
    .where("store_id", "=", storeId)
    .where("customer_id", "=", personId)
    .orderBy("started_at", "desc")
    .limit(atMost(1))
    .executeTakeFirst();
