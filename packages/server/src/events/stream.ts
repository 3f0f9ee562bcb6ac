import type { GateResult } from "../contract/gate.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { isUnavailable } from "../storage/failures.ts";
import type { Storage } from "../storage/storage.ts";
import type { EventRow } from "./event.ts";
import { presentEventFor } from "./for-reader.ts";
import { readHead } from "./head.ts";
import { readAfter, startAfter } from "./read.ts";

/**
 * Event streams over open connections. A stream reads its next page when its store has new numbers and the client has
 * taken the page before, so a slow client costs one page of memory. This process's sequencer reports new numbers at
 * once; those of other instances are read twice a second, with one statement for all streams.
 */
export type Streams = {
  open(request: StreamRequest): Promise<AsyncIterableIterator<string>>;
  onNumbered(lastByStore: ReadonlyMap<string, number>): void;
  /** Ends all streams and opens no new one. */
  close(): void;
  count(): number;
};

type StreamRequest = {
  storeId: string;
  after: number | undefined;
  /** The role of the access token now. Read before each page, because a role can change while the stream is open. */
  roleNow: GateResult["roleNow"];
};

type Deps = { storage: Storage; clock: Clock };

const LOOK_EVERY_MS = 500;
const COMMENT_EVERY_MS = 15_000;
const PAGE = 100;
/** How long a client waits before it reconnects. */
const RETRY_MS = 2000;

export function createStreams({ storage, clock }: Deps): Streams {
  const counts = new Map<string, number>();
  const lasts = new Map<string, number>();
  let tick = Promise.withResolvers<void>();
  let timer: NodeJS.Timeout | undefined;
  let isClosed = false;

  /** Makes every stream check for new events. */
  function turn(): void {
    tick.resolve();
    tick = Promise.withResolvers<void>();
  }

  function note(storeId: string, last: number): void {
    if (counts.has(storeId)) lasts.set(storeId, Math.max(last, lasts.get(storeId) ?? 0));
  }

  async function look(): Promise<void> {
    const rows = await storage.db
      .selectFrom("event_heads")
      .select(["store_id", "last_sequence"])
      .where("store_id", "in", [...counts.keys()])
      .execute();
    for (const row of rows) note(row.store_id, row.last_sequence);
  }

  function take(storeId: string): void {
    const count = counts.get(storeId) ?? 0;
    if (count >= limits.eventStreams || isClosed)
      throw new Problem("streams_exceeded", {
        meta: { streams: limits.eventStreams },
        retryAfterSeconds: 5,
      });
    counts.set(storeId, count + 1);
    timer ??= setInterval(() => {
      // While the database does not answer, streams wait, and their comments keep the connection alive.
      look()
        .catch(() => {})
        .finally(turn);
    }, LOOK_EVERY_MS).unref();
  }

  function release(storeId: string): void {
    const count = (counts.get(storeId) ?? 1) - 1;
    if (count > 0) counts.set(storeId, count);
    else {
      counts.delete(storeId);
      lasts.delete(storeId);
    }
    if (counts.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  }

  /** Reads nothing while the database does not answer; a later check finds the events, and the stream continues. */
  const readUnlessAway = (wanted: Parameters<typeof readAfter.all>[1]): Promise<EventRow[]> =>
    readAfter.all(storage.db, wanted).catch((error) => {
      if (isUnavailable(error)) return [];
      throw error;
    });

  async function* pieces(
    { storeId, roleNow }: StreamRequest,
    start: number,
    isOver: () => boolean,
  ): AsyncGenerator<string, void, undefined> {
    // Sends the number alone, so that a client without new events still knows where to resume.
    yield `retry: ${RETRY_MS}\nid: ${start}\n\n`;
    let spokeAtMs = clock.monotonicMs();
    for (let sequence = start; !isOver() && !isClosed; ) {
      const role = await roleNow();
      if (role === "ended") return;
      const next = tick.promise;
      const to = role === "unknown" ? 0 : (lasts.get(storeId) ?? 0);
      const rows = to > sequence ? await readUnlessAway({ storeId, from: sequence, to, limit: PAGE }) : [];
      const last = rows.at(-1);
      if (last) {
        // Retention deleted the next event before this client had read it. The client gets an error event and must
        // begin again.
        if (rows[0]?.sequence !== sequence + 1) return;
        sequence = last.sequence;
        yield rows.map((row) => message(role, row)).join("");
      } else if (clock.monotonicMs() - spokeAtMs >= COMMENT_EVERY_MS) yield ": still here\n\n";
      else {
        await next;
        continue;
      }
      spokeAtMs = clock.monotonicMs();
    }
  }

  return {
    async open(request) {
      const { storeId, after } = request;
      const head = await readHead(storage.db, storeId);
      const last = head.last_sequence;
      // A restore sets numbers back. A client that is ahead of the log gets the events from now on.
      const start = after === undefined ? last : Math.min(startAfter(head, after), last);
      take(storeId);
      note(storeId, last);
      let isOver = false;
      const running = pieces(request, start, () => isOver);
      const end = async () => {
        if (!isOver) release(storeId);
        isOver = true;
        // The stream may be waiting for its next check.
        turn();
        return { done: true, value: undefined } as const;
      };
      const stream: AsyncIterableIterator<string> = {
        [Symbol.asyncIterator]: () => stream,
        next: async () => {
          try {
            const piece = await running.next();
            if (piece.done) await end();
            return piece;
          } catch (error) {
            await end();
            throw error;
          }
        },
        return: end,
      };
      return stream;
    },
    onNumbered(lastByStore) {
      if (counts.size === 0) return;
      for (const [storeId, last] of lastByStore) note(storeId, last);
      turn();
    },
    close() {
      isClosed = true;
      turn();
    },
    count: () => [...counts.values()].reduce((sum, count) => sum + count, 0),
  };
}

const message = (role: string | null, row: EventRow): string =>
  `id: ${row.sequence}\ndata: ${JSON.stringify(presentEventFor(role, row))}\n\n`;

/** `Last-Event-ID` wins over `after`: a browser sends the header by itself when it reconnects to the first URL. */
export function toResumed(lastEventId: string | undefined, after: number | undefined): number | undefined {
  if (!lastEventId) return after;
  if (/^\d{1,15}$/.test(lastEventId)) return Number(lastEventId);
  throw new Problem("parameter_invalid", {
    detail: "`Last-Event-ID`: expected the number of an event.",
    source: { header: "Last-Event-ID" },
  });
}
