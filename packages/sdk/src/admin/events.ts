import type { Event, EventHead } from "../contract.ts";
import { type CsvQuery, readCsv } from "./csv.ts";
import { type AdminApi, readEvents } from "./event-stream.ts";
import { withQuery } from "./listing.ts";

const PATH = "/v2/events";

export type EventQuery = {
  /** Only events with a higher number. Default: begins with the oldest event that the service keeps. */
  after?: string | undefined;
  /** Exact types, or patterns such as `customer.*`. */
  types?: readonly string[] | undefined;
  /**
   * `eq(subject,…)`, `eq(actor,…)`, `eq(request_id,…)`, `eq(type,…)`, `ge(time,2026-01-01)`; joined by `:`.
   */
  filter?: string | undefined;
  /** Events per page, 1 to 100. Default: 25. */
  limit?: number | undefined;
};

export type EventPage = {
  data: Event[];
  /** The number of the store's last event. */
  lastSequence: string;
  /** The query of the next page; undefined if there are no more events yet. */
  next: EventQuery | undefined;
};

type WireList = { data: Event[]; meta: { last_sequence: string }; links: { next: string | null } };

const EVERY_MS = 1000;

/** The store's event log. */
export function events(api: AdminApi, sleep: (ms: number) => Promise<unknown>) {
  async function list(query: EventQuery = {}): Promise<EventPage> {
    const { after, types, filter, limit } = query;
    const parameters = { after, types: types?.join(","), filter, "page[limit]": limit };
    const { data, meta, links } = await api<WireList>({ method: "GET", path: withQuery(PATH, parameters) });
    const further = links.next && new URL(links.next).searchParams.get("after");
    return {
      data,
      lastSequence: meta.last_sequence,
      next: further ? { ...query, after: further } : undefined,
    };
  }

  return {
    list,
    /** The log as CSV, piece by piece, oldest first: from `after` on, or from the oldest event that is kept. */
    csv: ({ types, ...query }: CsvQuery<EventQuery> & { after?: string | undefined } = {}) =>
      readCsv(api, PATH, { ...query, types: types?.join(",") }),
    /**
     * Gives every event in order of its number, and polls for new events without end: leave the loop to stop.
     * Keep the `sequence` of the last event that you have processed, and pass it as `after` the next time.
     */
    async *follow(
      query: EventQuery & { everyMs?: number | undefined } = {},
    ): AsyncGenerator<Event, never, undefined> {
      const { everyMs = EVERY_MS, ...wanted } = query;
      for (let asked: EventQuery = { limit: 100, ...wanted }; ; ) {
        const page = await list(asked);
        yield* page.data;
        asked = page.next ?? { ...asked, after: page.lastSequence };
        if (!page.next) await sleep(everyMs);
      }
    },
    /**
     * Gives each event as it happens, over one connection. The iteration ends or throws when the connection
     * breaks or the access token expires: call it again with the `sequence` of the last event, so that none
     * is missed. `signal` closes the connection.
     */
    async *stream(
      options: { after?: string | undefined; signal?: AbortSignal | undefined } = {},
    ): AsyncGenerator<Event, void, undefined> {
      const { after, signal } = options;
      const search = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
      try {
        const { stream } = await api.open(`${PATH}/stream${search}`, { signal });
        yield* readEvents(stream);
      } catch (error) {
        if (!signal?.aborted) throw error;
      }
    },
    /**
     * The first and last event of the log, signed. A copy kept elsewhere proves later whether the log was
     * rewritten or cut.
     */
    head: async (): Promise<EventHead> =>
      (await api<{ data: EventHead }>({ method: "GET", path: `${PATH}/head` })).data,
  };
}
