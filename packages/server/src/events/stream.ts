import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/events.ts";
import type { GateResult } from "../contract/gate.ts";
import { limits } from "../contract/limits.ts";
import type { Input } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { withEnd } from "../lib/pieces.ts";
import { isUnavailable } from "../storage/failures.ts";
import type { Storage } from "../storage/storage.ts";
import type { EventRow } from "./event.ts";
import { presentEventFor } from "./for-reader.ts";
import { readHead } from "./head.ts";
import { readAfter, startAfter } from "./read.ts";

type StreamRequest = Pick<Input<typeof contract.streamEvents>, "query"> & {
  caller: Pick<Caller, "storeId">;
  lastEventId: string | undefined;
  /** The role of the access token now. Read before each page, because a role can change while the stream is open. */
  roleNow: GateResult["roleNow"];
};

const LOOK_EVERY_MS = 500;
const COMMENT_EVERY_MS = 15_000;
const PAGE = 100;
/** How long a client waits before it reconnects. */
const RETRY_MS = 2000;

/**
 * Event streams over open connections. A stream reads its next page when its store has new numbers and the client has
 * taken the page before, so a slow client costs one page of memory. This process's sequencer reports new numbers at
 * once; those of other instances are read twice a second, with one statement for all streams.
 */
export class Streams {
  readonly #storage: Storage;
  readonly #clock: Clock;
  readonly #counts = new Map<string, number>();
  readonly #lasts = new Map<string, number>();
  #tick = Promise.withResolvers<void>();
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor({ storage, clock }: { storage: Storage; clock: Clock }) {
    this.#storage = storage;
    this.#clock = clock;
  }

  async open({ caller, query, lastEventId, roleNow }: StreamRequest): Promise<AsyncIterableIterator<string>> {
    const { storeId } = caller;
    const after = resumedAfter(lastEventId, query.after);
    const head = await readHead(this.#storage.db, storeId);
    const last = head.last_sequence;
    // A restore sets numbers back. A client that is ahead of the log gets the events from now on.
    const start = after === undefined ? last : Math.min(startAfter(head, after), last);
    this.#take(storeId);
    this.#note(storeId, last);
    let isOver = false;
    const end = () => {
      if (!isOver) this.#release(storeId);
      isOver = true;
      // The stream may be waiting for its next check.
      this.#wake();
    };
    return withEnd(
      this.#pieces(storeId, roleNow, start, () => isOver),
      end,
    );
  }

  onNumbered(lastByStore: ReadonlyMap<string, number>): void {
    if (this.#counts.size === 0) return;
    for (const [storeId, last] of lastByStore) this.#note(storeId, last);
    this.#wake();
  }

  /** Ends all streams and opens no new one. */
  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  count(): number {
    return [...this.#counts.values()].reduce((sum, count) => sum + count, 0);
  }

  /** Makes every stream check for new events. */
  #wake(): void {
    this.#tick.resolve();
    this.#tick = Promise.withResolvers();
  }

  #note(storeId: string, last: number): void {
    if (this.#counts.has(storeId)) this.#lasts.set(storeId, Math.max(last, this.#lasts.get(storeId) ?? 0));
  }

  async #look(): Promise<void> {
    const rows = await this.#storage.db
      .selectFrom("event_heads")
      .select(["store_id", "last_sequence"])
      .where("store_id", "in", [...this.#counts.keys()])
      .execute();
    for (const row of rows) this.#note(row.store_id, row.last_sequence);
  }

  #take(storeId: string): void {
    const count = this.#counts.get(storeId) ?? 0;
    if (count >= limits.eventStreams || this.#isClosed)
      throw new Problem("streams_exceeded", {
        meta: { streams: limits.eventStreams },
        retryAfterSeconds: 5,
      });
    this.#counts.set(storeId, count + 1);
    this.#timer ??= setInterval(() => {
      // While the database does not answer, streams wait, and their comments keep the connection alive.
      this.#look()
        .catch(() => {})
        .finally(() => this.#wake());
    }, LOOK_EVERY_MS).unref();
  }

  #release(storeId: string): void {
    const count = (this.#counts.get(storeId) ?? 1) - 1;
    if (count > 0) this.#counts.set(storeId, count);
    else {
      this.#counts.delete(storeId);
      this.#lasts.delete(storeId);
    }
    if (this.#counts.size > 0) return;
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  async *#pieces(
    storeId: string,
    roleNow: GateResult["roleNow"],
    start: number,
    isOver: () => boolean,
  ): AsyncGenerator<string, void, undefined> {
    // Sends the number alone, so that a client without new events still knows where to resume.
    yield `retry: ${RETRY_MS}\nid: ${start}\n\n`;
    let spokeAtMs = this.#clock.monotonicMs();
    for (let sequence = start; !isOver() && !this.#isClosed; ) {
      const role = await roleNow();
      if (role === "ended") return;
      const next = this.#tick.promise;
      const rows = role === "unknown" ? [] : await this.#read(storeId, sequence);
      const last = rows.at(-1);
      if (last) {
        // Retention deleted the next event unread. The client gets an error event and must begin again.
        if (rows[0]?.sequence !== sequence + 1) return;
        sequence = last.sequence;
        yield rows.map((row) => message(role, row)).join("");
      } else if (this.#clock.monotonicMs() - spokeAtMs >= COMMENT_EVERY_MS) yield ": still here\n\n";
      else {
        await next;
        continue;
      }
      spokeAtMs = this.#clock.monotonicMs();
    }
  }

  /** Reads nothing while the database does not answer; a later check finds the events, and the stream continues. */
  async #read(storeId: string, from: number): Promise<EventRow[]> {
    const to = this.#lasts.get(storeId) ?? 0;
    if (to <= from) return [];
    return readAfter.all(this.#storage.db, { storeId, from, to, limit: PAGE }).catch((error) => {
      if (isUnavailable(error)) return [];
      throw error;
    });
  }
}

const message = (role: string | null, row: EventRow): string =>
  `id: ${row.sequence}\ndata: ${JSON.stringify(presentEventFor(role, row))}\n\n`;

/** `Last-Event-ID` wins over `after`: a browser sends the header by itself when it reconnects to the first URL. */
function resumedAfter(lastEventId: string | undefined, after: number | undefined): number | undefined {
  if (!lastEventId) return after;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Problem("parameter_invalid", {
    detail: "`Last-Event-ID`: expected the number of an event.",
    source: { header: "Last-Event-ID" },
  });
}
