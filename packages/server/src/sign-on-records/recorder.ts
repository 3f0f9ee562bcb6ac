import { limits } from "../contract/limits.ts";
import type { ProblemCode } from "../contract/problems.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { type Cap, createCap } from "../rate-limit/cap.ts";
import { inBatches } from "../storage/batches.ts";
import { isUnavailable } from "../storage/failures.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { referenceOf } from "./reference.ts";
import { presentForLog } from "./resource.ts";
import { isSigned, type Trail } from "./trail.ts";
import { hasFailed, joinRecords, type RecordRow, writeAttempts, writeExchanges } from "./write-records.ts";

/** `started`: redirected to an identity provider. `expired`: the storefront did not redeem the code in time. */
type SignOnStep = "started" | SignOnOutcome | "expired";
export type CountSignOn = (step: SignOnStep, reason?: RecordedReason, times?: number) => void;

type SignOnOutcome = "code_issued" | "exchanged" | "failed" | "tested" | "logout_refused";
/** A refusal that was a page has the problem's code. */
type RecordedReason = SignOnReason | ProblemCode;

type SignOnEnd = { outcome: SignOnOutcome; reason: RecordedReason | null; customerId?: string | null };

/** `error`: as the storefront got it. `isTest`: statistics and events leave the record out. */
type JourneyEnd = SignOnEnd & { error?: string | null; isTest?: boolean };

/** The row of an attempt whose code was used. */
type UsedAttempt = Pick<
  Tables["sign_on_attempts"],
  "id" | "store_id" | "realm_id" | "profile_id" | "exchanged_at" | "code_expires_at" | "forget_at"
>;

/** `keyId`: the key whose token or secret redeemed the code. */
type ExchangeEnd = SignOnEnd & { isOfMembers: boolean; keyId?: string | undefined; requestId?: string };

const MAX_WAITING = 20_000;
const MAX_STRANGERS_WAITING = MAX_WAITING / 10;

/** The columns that the record of a callback fills, in the record of an exchange. */
const OF_CALLBACK = {
  profile_name: null,
  error: null,
  checks: "[]",
  timings: "{}",
  by_stranger: 0,
  counted: 1,
  redirect_uri: null,
  browser: null,
  operating_system: null,
  network: null,
  email_digest: null,
  test: null,
  idp_answer: null,
} as const;

type WriteRows = (trx: Trx, rows: RecordRow[]) => Promise<{ id: string }[]>;

/**
 * Collects the outcome of each sign-on in memory and writes the records once a second, so records never delay or fail a
 * sign-on. Beyond `MAX_WAITING` the oldest records are dropped, and a metric counts them. Unsigned records may be a
 * stranger's doing: they get a tenth of the room and a mark (`by_stranger`), by which the database keeps only the
 * newest.
 */
export class Recorder {
  /** Counts a step in the metrics, whether or not it is recorded. */
  readonly count: CountSignOn;
  readonly #storage: Storage;
  readonly #clock: Clock;
  /** Limits events caused by strangers. Per instance, because a transaction does not wait for Valkey. */
  readonly #strangerEvents: Cap;
  /** Rows that have taken from `#strangerEvents`: a transaction that runs again does not take twice. */
  readonly #taken = new WeakSet<RecordRow>();
  #attempts: RecordRow[] = [];
  #exchanges: RecordRow[] = [];
  #strangersWaiting = 0;
  #strangerStores = new Set<string>();
  #dropped = 0;

  constructor({ storage, clock, count = () => {} }: { storage: Storage; clock: Clock; count?: CountSignOn }) {
    this.#storage = storage;
    this.#clock = clock;
    this.count = count;
    this.#strangerEvents = createCap(
      { clock },
      { name: "events", rate: limits.strangerEventsPerMinute / 60, burst: limits.strangerEventsAtOnce },
    );
  }

  /** Records a callback, or a sign-on that was refused before it. */
  note(trail: Trail, { outcome, reason, error = null, customerId = null, isTest = false }: JourneyEnd): void {
    const byStranger = !isTest && !isSigned(trail);
    if (byStranger && this.#strangersWaiting >= MAX_STRANGERS_WAITING) {
      this.#dropped++;
      return;
    }
    if (byStranger) {
      this.#strangersWaiting++;
      this.#strangerStores.add(trail.storeId);
    }
    this.#keep(this.#attempts, {
      ...trail.facts,
      id: trail.id,
      store_id: trail.storeId,
      realm_id: trail.realmId,
      profile_id: trail.profile?.id ?? null,
      profile_name: trail.profile?.name ?? null,
      reference: referenceOf(trail.id),
      outcome,
      reason,
      error,
      checks: JSON.stringify(trail.checks),
      timings: JSON.stringify(trail.timings),
      customer_id: customerId,
      by_stranger: byStranger ? 1 : 0,
      counted: 1,
      test: isTest ? 1 : null,
      // Kept for failures only. The events of a sign-on that succeeded have the ids of its requests.
      request_id: outcome === "failed" ? trail.requestId : null,
      idp_answer: trail.idpAnswer ? JSON.stringify(trail.idpAnswer) : null,
      started_at: trail.startedAt,
      updated_at: this.#clock.now(),
      key_id: trail.keyId,
      of_members: trail.isOfMembers ? 1 : null,
    });
  }

  /** Records the use of a code. Another instance may write it before the attempt's own record. */
  noteExchange(
    { id, store_id, realm_id, profile_id, ...attempt }: UsedAttempt,
    { outcome, reason, customerId = null, requestId, isOfMembers, keyId }: ExchangeEnd,
  ): void {
    this.#keep(this.#exchanges, {
      ...OF_CALLBACK,
      id,
      store_id,
      realm_id,
      profile_id,
      reference: referenceOf(id),
      outcome,
      reason,
      customer_id: customerId,
      request_id: requestId ?? null,
      started_at: attempt.exchanged_at ?? attempt.code_expires_at ?? attempt.forget_at,
      updated_at: this.#clock.now(),
      key_id: keyId ?? null,
      of_members: isOfMembers ? 1 : null,
    });
  }

  async flush(): Promise<void> {
    const waiting = joinRecords(this.#attempts, this.#exchanges);
    this.#attempts = [];
    this.#exchanges = [];
    const attemptsLeft = await this.#writeAll(waiting.attempts, writeAttempts);
    this.#attempts = this.#bounded([...attemptsLeft, ...this.#attempts]);
    this.#strangersWaiting = this.#attempts.filter((row) => row.by_stranger === 1).length;
    const exchangesLeft = await this.#writeAll(waiting.exchanges, writeExchanges);
    this.#exchanges = this.#bounded([...exchangesLeft, ...this.#exchanges]);
  }

  waiting(): number {
    return this.#attempts.length + this.#exchanges.length;
  }

  isWaiting(id: string): boolean {
    return this.#attempts.some((row) => row.id === id);
  }

  /** The stores with new records by strangers since the last call. */
  takeStrangerStores(): string[] {
    const taken = [...this.#strangerStores];
    this.#strangerStores = new Set();
    return taken;
  }

  dropped(): number {
    return this.#dropped;
  }

  #keep(rows: RecordRow[], row: RecordRow): void {
    rows.push(row);
    if (rows.length <= MAX_WAITING) return;
    rows.shift();
    this.#dropped++;
  }

  #bounded(rows: RecordRow[]): RecordRow[] {
    this.#dropped += Math.max(0, rows.length - MAX_WAITING);
    return rows.slice(-MAX_WAITING);
  }

  /** Returns the rows that the database could not take now. The next flush writes them. */
  async #writeAll(rows: RecordRow[], write: WriteRows): Promise<RecordRow[]> {
    let at = 0;
    const writeSome = async (limit: number) => {
      const batch = rows.slice(at, at + limit);
      if (batch.length > 0) await this.#writeBatch(batch, write);
      at += batch.length;
      return batch.length;
    };
    // `inBatches` pauses between batches, so sign-ons continue.
    await inBatches({ storage: this.#storage, clock: this.#clock }, writeSome).catch(() => {});
    return rows.slice(at);
  }

  /** Writes the rows of a failed batch one by one: only a row that cannot be written is dropped. */
  async #writeBatch(rows: RecordRow[], write: WriteRows): Promise<void> {
    try {
      await this.#write(rows, write);
    } catch (error) {
      if (isUnavailable(error)) throw error;
      for (const row of rows)
        await this.#write([row], write).catch(() => {
          this.#dropped++;
        });
    }
  }

  #write(rows: RecordRow[], write: WriteRows): Promise<void> {
    return this.#storage.transact(async (trx) => {
      await this.#noteFailed(trx, rows, await write(trx, rows));
    });
  }

  /** Notes a `sign_on.failed` event for each new record of a failure. */
  async #noteFailed(trx: Trx, rows: readonly RecordRow[], written: readonly { id: string }[]): Promise<void> {
    const isNew = new Set(written.map(({ id }) => id));
    const failed: RecordRow[] = [];
    for (const row of rows) {
      if (!hasFailed(row) || !isNew.has(row.id) || row.test === 1) continue;
      const isAllowed =
        row.by_stranger === 0 ||
        this.#taken.has(row) ||
        (await this.#strangerEvents.take(row.store_id)) === undefined;
      if (!isAllowed) continue;
      this.#taken.add(row);
      failed.push(row);
    }
    for (const [storeId, ofStore] of Map.groupBy(failed, (row) => row.store_id)) {
      const drafts = ofStore.map((row) => ({
        type: "sign_on.failed" as const,
        subject: row.id,
        resource: presentForLog(row),
      }));
      await noteEvents(trx, { clock: this.#clock }, byService(storeId), drafts);
    }
  }
}
