import { type Clock, MAX_CLOCK_DIFFERENCE_MS } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { ROUND } from "../storage/delete-old.ts";
import { forChange } from "../storage/engine.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import { ERASED } from "./event.ts";

type Deps = { storage: Storage; clock: Clock };
type PersonOfStore = { storeId: string; personId: string };
/** `emailDigest` is the digest of the person's address. `askedAt` is the time of the first request. */
export type Erasure = PersonOfStore & { emailDigest: string | null; askedAt: number };
/** Runs in the transaction that erases a round of events, with what the log contained about the person. */
export type OnErased = (trx: Trx, erased: readonly { data: string }[]) => Promise<void>;

/** Whether the log or the outbox contains data of this person. */
export async function isInLog(db: Database, { storeId, personId }: PersonOfStore): Promise<boolean> {
  const isIn = (table: "events" | "event_outbox") =>
    db
      .selectFrom(table)
      .select("store_id")
      .where("store_id", "=", storeId)
      .where("person_id", "=", personId)
      .limit(atMost(1))
      .executeTakeFirst();
  return [await isIn("event_outbox"), await isIn("events")].some(Boolean);
}

/** Whether an erasure of this person has begun and is not finished. */
export const isBeingErased = async (db: Database, { storeId, personId }: PersonOfStore): Promise<boolean> =>
  (await db
    .selectFrom("event_erasures")
    .select("person_id")
    .where("store_id", "=", storeId)
    .where("person_id", "=", personId)
    .executeTakeFirst()) !== undefined;

/**
 * Stored before the first event is erased, so that an interrupted erasure continues. A second request may know less
 * than the first, because the customer is gone; the function merges both and returns the result.
 */
export async function beginErasure(
  trx: Trx,
  { clock }: Pick<Deps, "clock">,
  { storeId, personId, emailDigest }: Omit<Erasure, "askedAt">,
): Promise<Erasure> {
  const { email_digest, asked_at } = await trx
    .insertInto("event_erasures")
    .values({ store_id: storeId, person_id: personId, email_digest: emailDigest, asked_at: clock.now() })
    .onConflict((conflict) =>
      conflict.columns(["store_id", "person_id"]).doUpdateSet(({ fn, ref }) => ({
        email_digest: fn.coalesce("event_erasures.email_digest", ref("excluded.email_digest")),
      })),
    )
    .returning(["email_digest", "asked_at"])
    .executeTakeFirstOrThrow();
  return { storeId, personId, emailDigest: email_digest, askedAt: asked_at };
}

/**
 * Replaces the data of the person's events, at most one round of them. The hash of an event covers its data through the
 * digest only, so the chain still verifies; without the salt the data cannot be guessed.
 */
export async function eraseSome(
  deps: Deps,
  { storeId, personId }: PersonOfStore,
  onErased: OnErased = async () => {},
): Promise<{ events: number; isDone: boolean }> {
  const { storage } = deps;
  // The outbox first: if the sequencer is moving a row, this statement waits, and the row is then found in the log.
  const waiting = await storage.transact(async (trx) => {
    const rows = trx
      .selectFrom("event_outbox")
      .select(["position", "data"])
      .where("store_id", "=", storeId)
      .where("person_id", "=", personId);
    const found = await forChange(trx, rows).execute();
    await trx
      .updateTable("event_outbox")
      .set({ data: ERASED, person_id: null, actor_id: null })
      .where("store_id", "=", storeId)
      .where("person_id", "=", personId)
      .execute();
    await onErased(trx, found);
    return found.length;
  });
  const eraseNext = (limit: number) => eraseBatch(storage, { storeId, personId }, limit, onErased);
  const { rows, isDone } = await inBatches(deps, eraseNext, ROUND);
  return { events: waiting + rows, isDone };
}

async function eraseBatch(
  storage: Storage,
  { storeId, personId }: PersonOfStore,
  limit: number,
  onErased: OnErased,
): Promise<number> {
  const sequences = await storage.transact(async (trx) => {
    const some = trx
      .selectFrom("events")
      .select(["sequence", "data"])
      .where("store_id", "=", storeId)
      .where("person_id", "=", personId)
      .orderBy("sequence")
      .limit(atMost(limit));
    const found = await forChange(trx, some).execute();
    if (found.length === 0) return [];
    const taken = found.map(({ sequence }) => sequence);
    await trx
      .updateTable("events")
      .set({ data: ERASED, salt: null, person_id: null, actor_id: null })
      .where("store_id", "=", storeId)
      .where("sequence", "in", taken)
      .execute();
    await onErased(trx, found);
    return taken;
  });
  await eraseAnswersOf(storage, storeId, sequences);
  return sequences.length;
}

/** True when no event of the person is left and none can arrive, so the erasure can be removed from its table. */
export async function endErasure(
  { storage: { db } }: Pick<Deps, "storage">,
  { storeId, personId }: PersonOfStore,
): Promise<void> {
  await db
    .deleteFrom("event_erasures")
    .where("store_id", "=", storeId)
    .where("person_id", "=", personId)
    .execute();
}

/** Whether all instances have written the sign-on records that they held in memory when the erasure was requested. */
export const isLongAgo = ({ clock }: Pick<Deps, "clock">, { askedAt }: Pick<Erasure, "askedAt">): boolean =>
  askedAt <= clock.now() - NOTED_MS;

/**
 * Instances hold sign-on records in memory for a second (sign-on-records/recorder.ts). A round after this time finds
 * them too, even if the request came from the slowest clock and the round runs on the fastest.
 */
const NOTED_MS = 5000 + 2 * MAX_CLOCK_DIFFERENCE_MS;
/** Erasures per round. A finished erasure costs two statements per round until it is removed. */
const AT_ONCE = 20;

/** A store with erasures, after the given store. */
export const findErasing = async (
  { storage: { db } }: Pick<Deps, "storage">,
  afterStoreId: string,
): Promise<string | undefined> => {
  const found = await db
    .selectFrom("event_erasures")
    .select("store_id")
    .where("store_id", ">", afterStoreId)
    .orderBy("store_id")
    .limit(atMost(1))
    .executeTakeFirst();
  return found?.store_id;
};

/** The erasures of a store that requests have begun, until two minutes after their end, after the given person. */
export const listErasures = (
  { storage: { db } }: Pick<Deps, "storage">,
  storeId: string,
  afterPersonId: string,
): Promise<Erasure[]> =>
  db
    .selectFrom("event_erasures")
    .select([
      "store_id as storeId",
      "person_id as personId",
      "email_digest as emailDigest",
      "asked_at as askedAt",
    ])
    .where("store_id", "=", storeId)
    .where("person_id", ">", afterPersonId)
    .orderBy("person_id")
    .limit(atMost(AT_ONCE))
    .execute();

/**
 * Answers of webhook receivers may repeat the data that they were sent. They are erased after the events: an answer
 * written later is checked against the erased event (integrations/settle.ts). One commit per integration, because a
 * commit per delivery would wait for the disk thousands of times.
 */
async function eraseAnswersOf(
  storage: Storage,
  storeId: string,
  sequences: readonly number[],
): Promise<void> {
  if (sequences.length === 0) return;
  const { db } = storage;
  const integrations = await db
    .selectFrom("integrations")
    .select("id")
    .where("store_id", "=", storeId)
    .execute();
  for (const { id } of integrations) {
    const deliveriesIn = (db: Database) =>
      db
        .selectFrom("integration_deliveries")
        .select(["id", "attempts"])
        .where("store_id", "=", storeId)
        .where("integration_id", "=", id)
        .where("sequence", "in", sequences)
        .execute();
    if ((await deliveriesIn(db)).length === 0) continue;
    await storage.transact(async (trx) => {
      const rows = trx
        .selectFrom("integrations")
        .select("id")
        .where("store_id", "=", storeId)
        .where("id", "=", id);
      // Waits for a transaction that is writing an answer, which may have read the event before it was erased.
      await forChange(trx, rows).execute();
      await eraseAnswers(trx, storeId, await deliveriesIn(trx));
    });
  }
}

export async function eraseAnswers(
  trx: Trx,
  storeId: string,
  deliveries: readonly { id: string; attempts: string }[],
): Promise<void> {
  for (const { id, attempts } of deliveries) {
    const erased = withoutAnswers(attempts);
    if (erased !== attempts) await eraseAnswer.all(trx, { storeId, id, erased });
  }
}

const eraseAnswer = statement((db, of: { storeId: string; id: string; erased: string }) =>
  db
    .updateTable("integration_deliveries")
    .set({ attempts: of.erased })
    .where("store_id", "=", of.storeId)
    .where("id", "=", of.id),
);

/** The attempts of a delivery without the receivers' answers. */
const withoutAnswers = (attempts: string): string =>
  JSON.stringify((JSON.parse(attempts) as object[]).map((attempt) => ({ ...attempt, answer: null })));
