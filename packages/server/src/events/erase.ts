import { type Clock, MAX_CLOCK_DIFFERENCE_MS } from "../lib/clock.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { ROUND } from "../storage/delete-old.ts";
import { forChange } from "../storage/for-change.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import { ERASED } from "./event.ts";

type Deps = { storage: Storage; clock: Clock };
type Person = { storeId: string; personId: string };
/** `emailDigest`: that of the address which the person had. `askedAt`: when the first request for it came. */
export type Erasure = Person & { emailDigest: string | null; askedAt: number };
/** What the log said of the person, in the transaction that takes it out. */
export type OnErased = (trx: Trx, data: readonly string[]) => Promise<void>;

/** Whether the log holds data of this person, or is about to. */
export async function isInLog(db: Database, { storeId, personId }: Person): Promise<boolean> {
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

/**
 * Written down before the first event is erased, so that whoever is interrupted goes on. Who asks again may know less than it was
 * begun with, since the customer is gone: what is known of both counts, and is what this returns.
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
 * Replaces what the log says of a person, as much as fits into a round. The hash of an event covers its data by the digest alone, so
 * the chain stays whole, and without the salt nobody can find out by trying what the data was.
 */
export async function eraseSome(
  deps: Deps,
  { storeId, personId }: Person,
  onErased: OnErased = async () => {},
): Promise<{ events: number; isDone: boolean }> {
  const { storage } = deps;
  // Those that wait first: a row that the sequencer is just taking is waited for, and is in the log when we look there.
  const waiting = await storage.transact(async (trx) => {
    const rows = trx
      .selectFrom("event_outbox")
      .select(["position", "data"])
      .where("store_id", "=", storeId)
      .where("person_id", "=", personId);
    const found = await forChange(storage, rows).execute();
    await trx
      .updateTable("event_outbox")
      .set({ data: ERASED, person_id: null, actor_id: null })
      .where("store_id", "=", storeId)
      .where("person_id", "=", personId)
      .execute();
    await onErased(
      trx,
      found.map(({ data }) => data),
    );
    return found.length;
  });
  const { rows, isDone } = await inBatches(
    deps,
    (limit) => eraseBatch(storage, { storeId, personId }, limit, onErased),
    ROUND,
  );
  return { events: waiting + rows, isDone };
}

async function eraseBatch(
  storage: Storage,
  { storeId, personId }: Person,
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
    const found = await forChange(storage, some).execute();
    if (found.length === 0) return [];
    const taken = found.map(({ sequence }) => sequence);
    await trx
      .updateTable("events")
      .set({ data: ERASED, salt: null, person_id: null, actor_id: null })
      .where("store_id", "=", storeId)
      .where("sequence", "in", taken)
      .execute();
    await onErased(
      trx,
      found.map(({ data }) => data),
    );
    return taken;
  });
  await eraseAnswersOf(storage, storeId, sequences);
  return sequences.length;
}

/** Nothing is left of it, and nothing can come any more: it need not be noted any longer. */
export async function endErasure(
  { storage: { db } }: Pick<Deps, "storage">,
  { storeId, personId }: Person,
): Promise<void> {
  await db
    .deleteFrom("event_erasures")
    .where("store_id", "=", storeId)
    .where("person_id", "=", personId)
    .execute();
}

/** Whether records of sign-ons that instances had in memory at the time have been written by now. */
export const isLongAgo = ({ clock }: Pick<Deps, "clock">, { askedAt }: Pick<Erasure, "askedAt">): boolean =>
  askedAt <= clock.now() - NOTED_MS;

/**
 * Instances keep records of sign-ons in memory for a second (sign-on-records/recorder.ts): a round after this time finds those, too, also where
 * it was asked for by the slowest clock and the round goes by the fastest.
 */
const NOTED_MS = 5000 + 2 * MAX_CLOCK_DIFFERENCE_MS;
/** A round goes on with so many: of one that is done, it finds out in two statements that there is nothing more. */
const AT_ONCE = 20;

/** A store of which there are some, behind another. */
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

/** Those of a store that requests have begun and that are not done, or not for long, from behind a person on. */
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
 * What receivers of webhooks have answered may repeat what they were sent. After the events: whoever writes an answer from now on sees
 * that its event was erased (integrations/settle.ts). A commit for each integration: one for each delivery would wait for the disk
 * thousands of times.
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
      // Waits for who is just writing an answer, and may have looked at the event before it was erased.
      await forChange(storage, rows).execute();
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

/** The attempts of a delivery, without what was answered. */
const withoutAnswers = (attempts: string): string =>
  JSON.stringify((JSON.parse(attempts) as object[]).map((attempt) => ({ ...attempt, answer: null })));
