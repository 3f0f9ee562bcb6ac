import type { Erasure } from "../../events/erase.ts";
import type { Clock } from "../../lib/clock.ts";
import { atMost } from "../../storage/at-most.ts";
import { inBatches } from "../../storage/batches.ts";
import { ROUND } from "../../storage/delete-old.ts";
import { forChange } from "../../storage/engine.ts";
import type { Database, Storage } from "../../storage/storage.ts";
import { keepDigests } from "./erased-digests.ts";

/** The personal columns of a sign-on record, set to null. Outcome and reason stay. */
export const NO_PERSON = {
  email_digest: null,
  network: null,
  browser: null,
  operating_system: null,
  idp_answer: null,
} as const;

type Deps = { storage: Storage; clock: Clock };
type ErasedRows = { rows: number; isDone: boolean };

/**
 * Erases the records of the customer, its id included. Keeps the digests of their addresses, to find further records
 * by.
 */
export async function eraseOwnRecords(deps: Deps, erasure: Erasure): Promise<ErasedRows> {
  const { storage } = deps;
  const { storeId, personId } = erasure;
  const eraseSome = (limit: number) =>
    storage.transact(async (trx) => {
      const own = recordsWith(trx, storeId, "customer_id", personId).select(["id", "email_digest"]);
      const found = await forChange(trx, own.limit(atMost(limit))).execute();
      if (found.length === 0) return 0;
      const digests = found.map(({ email_digest }) => email_digest).filter((digest) => digest !== null);
      await keepDigests(trx, erasure, [...new Set(digests)]);
      const ids = found.map(({ id }) => id);
      await trx
        .updateTable("sign_ons")
        .set({ ...NO_PERSON, customer_id: null })
        .where("id", "in", ids)
        .execute();
      return found.length;
    });
  return inBatches(deps, eraseSome, ROUND);
}

const recordsWith = (db: Database, storeId: string, column: "customer_id" | "email_digest", value: string) =>
  db
    .selectFrom("sign_ons")
    .where("store_id", "=", storeId)
    .where(column, "=", value)
    .orderBy("started_at")
    .orderBy("id");

/** Erases the records with the digest of an address. A failed sign-on has such a record without a customer. */
export async function eraseRecordsOf(deps: Deps, storeId: string, emailDigest: string): Promise<ErasedRows> {
  const { db } = deps.storage;
  const eraseSome = async (limit: number) => {
    const some = recordsWith(db, storeId, "email_digest", emailDigest).select("id").limit(atMost(limit));
    const { numUpdatedRows } = await db
      .updateTable("sign_ons")
      .set(NO_PERSON)
      .where("id", "in", some)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  };
  return inBatches(deps, eraseSome, ROUND);
}

/** The latest record of a customer. */
export const findRecord = (db: Database, { storeId, personId }: Pick<Erasure, "storeId" | "personId">) =>
  db
    .selectFrom("sign_ons")
    .select("email_digest")
    .where("store_id", "=", storeId)
    .where("customer_id", "=", personId)
    .orderBy("started_at", "desc")
    .limit(atMost(1))
    .executeTakeFirst();
