import { createHash } from "node:crypto";
import type { Caller } from "../contract/caller.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import { seal, unseal } from "../lib/seal.ts";
import { deleteOld } from "../storage/delete-old.ts";
import type { Storage, Trx } from "../storage/storage.ts";

/**
 * A request with `Idempotency-Key` can be repeated for 30 seconds and gets the same answer: the first answer may have
 * been lost, or a page may have sent the request twice. The transaction of the work stores the sealed answer. The
 * idempotency key is hashed with the application key's id, so the keys of two programs never collide. A hash of the
 * request is part of the seal's context and is not stored: from a stored hash of a body, the password in it could be
 * guessed.
 */
export type Remember<T> = (trx: Trx, answer: T) => Promise<void>;

type Deps = { storage: Storage; clock: Clock; keyring: Keyring };

const PURPOSE = "idempotent-answer";

export async function answerOnce<T>(
  deps: Deps,
  caller: Caller,
  request: { idempotencyKey: string | undefined; body: unknown },
  work: (remember: Remember<T>) => Promise<T>,
): Promise<T> {
  if (request.idempotencyKey === undefined) return work(async () => {});
  const keyHash = hash(`${caller.storeId} ${caller.holder.id} ${request.idempotencyKey}`);
  const requestHash = hash(JSON.stringify(request.body));
  const find = () => findAnswer<T>(deps, keyHash, requestHash);
  const known = await find();
  if (known) return known.answer;
  try {
    return await work((trx, answer) => rememberAnswer(trx, deps, caller, { keyHash, requestHash, answer }));
  } catch (error) {
    // Another request with the same key may have committed meanwhile. Its answer then replaces this error.
    const other = error instanceof Problem || error === ALREADY_STORED ? await find() : undefined;
    if (other) return other.answer;
    throw error;
  }
}

/** Thrown to roll back the transaction when another request with the same key has stored its answer first. */
const ALREADY_STORED = new Error("another request has stored its answer under this idempotency key");

async function findAnswer<T>(
  { storage, clock, keyring }: Deps,
  keyHash: string,
  requestHash: string,
): Promise<{ answer: T } | undefined> {
  const row = await storage.db
    .selectFrom("idempotent_answers")
    .selectAll()
    .where("key_hash", "=", keyHash)
    .where("expires_at", ">", clock.now())
    .executeTakeFirst();
  if (!row) return undefined;
  const text = unseal(keyring, PURPOSE, `${keyHash} ${requestHash}`, row.sealed_answer);
  if (text === undefined)
    throw new Problem("idempotency_key_reused", { source: { header: "Idempotency-Key" } });
  return { answer: JSON.parse(text) };
}

async function rememberAnswer(
  trx: Trx,
  { clock, keyring }: Deps,
  { storeId }: Caller,
  { keyHash, requestHash, answer }: { keyHash: string; requestHash: string; answer: unknown },
): Promise<void> {
  // An expired answer under the same key is deleted, so that the insert does not conflict with it.
  await trx
    .deleteFrom("idempotent_answers")
    .where("key_hash", "=", keyHash)
    .where("expires_at", "<=", clock.now())
    .execute();
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto("idempotent_answers")
    .values({
      key_hash: keyHash,
      store_id: storeId,
      sealed_answer: seal(keyring, PURPOSE, `${keyHash} ${requestHash}`, JSON.stringify(answer)),
      expires_at: clock.now() + limits.replaySeconds * 1000,
    })
    .onConflict((conflict) => conflict.column("key_hash").doNothing())
    .executeTakeFirst();
  if (numInsertedOrUpdatedRows === 0n) throw ALREADY_STORED;
}

/** Returns true while there are more to delete. */
export const forgetOldAnswers = (deps: Pick<Deps, "storage" | "clock">): Promise<boolean> =>
  deleteOld(deps, "idempotent_answers", deps.clock.now());

const hash = (text: string): string => createHash("sha256").update(text).digest("hex");
