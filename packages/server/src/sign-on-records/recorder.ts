import { limits } from "../contract/limits.ts";
import type { ProblemCode } from "../contract/problems.ts";
import type { IdpAnswer, SignOnCheck, SignOnReason } from "../contract/sign-on-reasons.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { createCap } from "../rate-limit/cap.ts";
import { inBatches } from "../storage/batches.ts";
import { isUnavailable, type Storage, type Trx } from "../storage/storage.ts";
import { presentForLog } from "./resource.ts";
import {
  hasFailed,
  joinRecords,
  type RecordRow as Row,
  writeAttempts,
  writeExchanges,
} from "./write-records.ts";

/**
 * What became of each sign-on, for the people who have to find out why one failed. Records are kept in memory and
 * written once a second: they can neither slow a sign-on nor fail one. When there are too many to keep, the oldest go,
 * and a metric counts them. What no identity provider has signed may be a stranger's doing: it can take a tenth of the
 * room and no more, and is marked, so that only so much of it is kept.
 */
export type Recorder = {
  /** An attempt that came back, or was refused at once. */
  note(record: SignOnRecord): void;
  /** What became of its code. May be written before the attempt itself, by another instance. */
  noteExchange(exchange: ExchangeRecord): void;
  flush(): Promise<void>;
  waiting(): number;
  /** Whether this one is among them. */
  isWaiting(id: string): boolean;
  /** The stores that strangers have caused records in since this was last asked. */
  takeStrangerStores(): string[];
  dropped(): number;
  /** Counts it, whether there is a record of it or not: strangers' refusals are recorded within bounds only. */
  count: CountSignOn;
};

/** `started`: sent on to an identity provider. `expired`: the storefront never redeemed the code. */
type SignOnStep = "started" | Outcome | "expired";
export type CountSignOn = (step: SignOnStep, reason?: RecordedReason, times?: number) => void;

type Outcome = "code_issued" | "exchanged" | "failed" | "tested" | "logout_refused";
/** A refusal that was shown as a page has the problem's code. */
type RecordedReason = SignOnReason | ProblemCode;

type SignOnRecord = Head & {
  outcome: Outcome;
  reason: RecordedReason | null;
  error: string | null;
  checks: readonly SignOnCheck[];
  timings: Readonly<Record<string, number>>;
  /** An administrator's: it is in no figures and no event. */
  isTest?: true;
};

type ExchangeRecord = Head & {
  outcome: Outcome;
  reason: RecordedReason | null;
  customerId: string | null;
};

type Head = {
  id: string;
  storeId: string;
  realmId: string;
  profileId: string | null;
  profileName: string | null;
  reference: string;
  startedAt: number;
  idpAnswer?: IdpAnswer | undefined;
  /** Of a failure: what the caller may name. A sign-on that came through is found by the events of its requests. */
  requestId?: string | null;
  facts?: Facts;
};

/** What support would otherwise ask the caller for. The address that it came from and the e-mail are not kept as they are. */
export type Facts = {
  redirectUri: string | null;
  browser: string | null;
  operatingSystem: string | null;
  network: string | null;
  emailDigest: string | null;
};

const MAX_WAITING = 20_000;
const MAX_STRANGERS_WAITING = MAX_WAITING / 10;

/** Anybody can come back with a made-up code; what the provider has signed is always worth a record. */
export const isSigned = ({ checks }: { checks: readonly SignOnCheck[] }): boolean =>
  checks.some(
    ({ check, passed }) => passed && (check === "id_token.signature" || check === "logout_token.signature"),
  );

const countStrangers = (rows: readonly Row[]): number => rows.filter((row) => row.by_stranger === 1).length;

type RecorderDeps = { storage: Storage; clock: Clock; count?: CountSignOn };

export function createRecorder({ storage, clock, count = () => {} }: RecorderDeps): Recorder {
  let attempts: Row[] = [];
  let exchanges: Row[] = [];
  let strangersWaiting = 0;
  let strangerStores = new Set<string>();
  let dropped = 0;
  // What strangers cause stays in the log until it is old, whatever the records of it come to. Each instance counts for
  // itself: a transaction does not wait for Valkey.
  const strangerEvents = createCap(
    { clock },
    { name: "events", rate: limits.strangerEventsPerMinute / 60, burst: limits.strangerEventsAtOnce },
  );
  /** A transaction that the database has undone runs again, and takes nothing for the same record then. */
  const isTaken = new WeakSet<Row>();

  /** A record that a sign-on has failed, which was not there before, is an event. */
  async function noteFailed(
    trx: Trx,
    rows: readonly Row[],
    written: readonly { id: string }[],
  ): Promise<void> {
    const isNew = new Set(written.map(({ id }) => id));
    const failed: Row[] = [];
    for (const row of rows) {
      if (!hasFailed(row) || !isNew.has(row.id) || row.test === 1) continue;
      const isLeft =
        row.by_stranger === 0 || isTaken.has(row) || (await strangerEvents.take(row.store_id)) === undefined;
      if (!isLeft) continue;
      isTaken.add(row);
      failed.push(row);
    }
    for (const [storeId, ofStore] of Map.groupBy(failed, (row) => row.store_id)) {
      const happenings = ofStore.map((row) => ({
        type: "sign_on.failed" as const,
        subject: row.id,
        resource: presentForLog(row),
      }));
      await noteEvents(trx, { clock }, byService(storeId), happenings);
    }
  }

  function keep(rows: Row[], row: Row): void {
    rows.push(row);
    if (rows.length <= MAX_WAITING) return;
    rows.shift();
    dropped++;
  }

  function bounded(rows: Row[]): Row[] {
    dropped += Math.max(0, rows.length - MAX_WAITING);
    return rows.slice(-MAX_WAITING);
  }

  const rowOf = (head: Head, rest: Pick<Row, "outcome" | "reason"> & Partial<Row>): Row => ({
    id: head.id,
    store_id: head.storeId,
    realm_id: head.realmId,
    profile_id: head.profileId,
    profile_name: head.profileName,
    reference: head.reference,
    error: null,
    checks: "[]",
    timings: "{}",
    customer_id: null,
    by_stranger: 0,
    counted: 1,
    redirect_uri: head.facts?.redirectUri ?? null,
    browser: head.facts?.browser ?? null,
    operating_system: head.facts?.operatingSystem ?? null,
    network: head.facts?.network ?? null,
    email_digest: head.facts?.emailDigest ?? null,
    test: null,
    request_id: rest.outcome === "failed" ? (head.requestId ?? null) : null,
    idp_answer: head.idpAnswer ? JSON.stringify(head.idpAnswer) : null,
    started_at: head.startedAt,
    updated_at: clock.now(),
    ...rest,
  });

  return {
    note(record) {
      // Whoever has the address of a test is no stranger.
      const byStranger = !record.isTest && !isSigned(record);
      if (byStranger && strangersWaiting >= MAX_STRANGERS_WAITING) {
        dropped++;
        return;
      }
      if (byStranger) {
        strangersWaiting++;
        strangerStores.add(record.storeId);
      }
      const row = rowOf(record, {
        outcome: record.outcome,
        reason: record.reason,
        error: record.error,
        checks: JSON.stringify(record.checks),
        timings: JSON.stringify(record.timings),
        by_stranger: byStranger ? 1 : 0,
        test: record.isTest ? 1 : null,
      });
      keep(attempts, row);
    },
    noteExchange: ({ outcome, reason, customerId, ...head }) =>
      keep(exchanges, rowOf(head, { outcome, reason, customer_id: customerId })),
    async flush() {
      const waiting = joinRecords(attempts, exchanges);
      attempts = [];
      exchanges = [];
      const unwritten = await writeAll(waiting.attempts, (rows) => writeWith(rows, writeAttempts));
      attempts = bounded([...unwritten, ...attempts]);
      strangersWaiting = countStrangers(attempts);
      const unwrittenToo = await writeAll(waiting.exchanges, (rows) => writeWith(rows, writeExchanges));
      exchanges = bounded([...unwrittenToo, ...exchanges]);
    },
    waiting: () => attempts.length + exchanges.length,
    isWaiting: (id) => attempts.some((row) => row.id === id),
    takeStrangerStores() {
      const taken = [...strangerStores];
      strangerStores = new Set();
      return taken;
    },
    dropped: () => dropped,
    count,
  };

  function writeWith(
    rows: Row[],
    write: (trx: Trx, storage: Storage, rows: Row[]) => Promise<{ id: string }[]>,
  ): Promise<void> {
    return storage.transact(async (trx) => noteFailed(trx, rows, await write(trx, storage, rows)));
  }

  /** Says what is still to be written: what the database could not take now is kept for the next time. */
  async function writeAll(rows: Row[], write: (rows: Row[]) => Promise<void>): Promise<Row[]> {
    let at = 0;
    const writeSome = async (limit: number) => {
      const batch = rows.slice(at, at + limit);
      if (batch.length > 0) await write(batch).catch((error) => writeEach(error, batch, write));
      at += batch.length;
      return batch.length;
    };
    // Sign-ons go on in the pauses between.
    await inBatches({ storage, clock }, writeSome).catch(() => {});
    return rows.slice(at);
  }

  /** One record that cannot be written, because its store is gone, must not take the others with it. */
  async function writeEach(
    error: unknown,
    rows: Row[],
    write: (rows: Row[]) => Promise<void>,
  ): Promise<void> {
    if (isUnavailable(error)) throw error;
    for (const row of rows) {
      await write([row]).catch(() => {
        dropped++;
      });
    }
  }
}
