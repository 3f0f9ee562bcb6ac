import type { Api } from "../access.ts";
import type { Event, EventHead } from "../contract.ts";
import { type Open, readEvents } from "./event-stream.ts";
import { withQuery } from "./listing.ts";

const PATH = "/v2/events";

export type EventQuery = {
  /** Only events with a higher number; without it, from the oldest that is kept. */
  after?: string | undefined;
  /** Exact types, and `customer.*`. */
  types?: readonly string[] | undefined;
  /** `eq(subject,…)`, `eq(actor,…)`, `eq(request_id,…)`, `eq(type,…)`, `ge(time,2026-01-01)`; joined by `:`. */
  filter?: string | undefined;
  /** How many on a page, 1 to 100; 25 unless said otherwise. */
  limit?: number | undefined;
};

export type EventPage = {
  data: Event[];
  /** The number of the store's last event. */
  lastSequence: string;
  /** Asks for the page after this one; undefined where there is nothing more for now. */
  next: EventQuery | undefined;
};

type WireList = { data: Event[]; meta: { last_sequence: string }; links: { next: string | null } };

const EVERY_MS = 1000;

/** The log of what happened in the store. */
export function events(api: Api, open: Open, sleep: (ms: number) => Promise<unknown>) {
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
    /**
     * Every event in the order of the numbers, those that are there and then each as it comes, without an end: leave the loop when you
     * have seen enough. Keep the `sequence` of the last one that you have dealt with, and begin with `after` the next time.
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
     * Each event as it happens, without asking again and again. It ends, or throws, when the connection or the access token does: call
     * it again with the `sequence` of the last event that you have seen, and nothing is missed. `signal` ends it from your side.
     */
    async *stream(
      options: { after?: string | undefined; signal?: AbortSignal | undefined } = {},
    ): AsyncGenerator<Event, void, undefined> {
      const { after, signal } = options;
      const search = after === undefined ? "" : `?after=${encodeURIComponent(after)}`;
      try {
        yield* readEvents(await open(`${PATH}/stream${search}`, signal));
      } catch (error) {
        if (!signal?.aborted) throw error;
      }
    },
    /** Both ends of the log, signed: keep it elsewhere, and the log up to there cannot be rewritten, or cut at its beginning, unnoticed. */
    head: async (): Promise<EventHead> =>
      (await api<{ data: EventHead }>({ method: "GET", path: `${PATH}/head` })).data,
  };
}
