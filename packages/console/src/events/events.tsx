import { type Admin, ApiError, type Event } from "@latchkey/sdk/admin";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useId } from "react";
import { useSearchParams } from "wouter";
import { Empty } from "../parts/empty.tsx";
import { Listing } from "../parts/items.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAdmin } from "../session/session.ts";
import { EventItem } from "./event-item.tsx";
import { KINDS } from "./event-words.ts";

/** The service lists the oldest first. Here the newest come first, so one page is read from so many numbers before its end. */
const WINDOW = 50;
type Read = { events: Event[]; before: number };

async function readBefore(admin: Admin, before: number | undefined, types: string): Promise<Read> {
  const end = before ?? Number((await admin.events.head()).sequence) + 1;
  const after = Math.max(0, end - 1 - WINDOW);
  const events: Event[] = [];
  const wanted = types ? { types: types.split(",") } : {};
  for (
    let query: Parameters<Admin["events"]["list"]>[0] = { after: String(after), limit: WINDOW, ...wanted };
    query;
  ) {
    const page = await admin.events.list(query);
    events.push(...page.data.filter(({ sequence }) => Number(sequence) < end));
    const last = Number(page.next?.after ?? end);
    query = page.next && last < end - 1 ? page.next : undefined;
  }
  return { events: events.reverse(), before: after + 1 };
}

/** Older than what is kept is an end like any other. */
const orGone = (reading: Promise<Read>): Promise<Read> =>
  reading.catch((error) => {
    if (error instanceof ApiError && error.code === "events_gone") return { events: [], before: 1 };
    throw error;
  });

export function Events() {
  const admin = useAdmin();
  const [search, setSearch] = useSearchParams();
  const types = search.get("types") ?? "";
  const query = useInfiniteQuery({
    queryKey: ["events", types],
    queryFn: ({ pageParam }) =>
      pageParam === undefined
        ? readBefore(admin, undefined, types)
        : orGone(readBefore(admin, pageParam, types)),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ before }) => (before > 1 ? before : undefined),
    select: ({ pages }) => ({
      items: pages.flatMap(({ events }) => events),
      total: 0,
      totalIsAtLeast: false,
    }),
  });
  const select = useId();
  return (
    <Screen
      title="Events"
      lead="Who changed what, the newest first. What happens while you look appears by itself."
    >
      <div className="stack">
        <div className="field">
          <label htmlFor={select}>Show</label>
          <select
            id={select}
            className="input"
            value={types}
            onChange={(event) => setSearch(event.target.value ? { types: event.target.value } : {})}
          >
            {KINDS.map(({ value, label }) => (
              <option key={label} value={value}>
                {label}
              </option>
            ))}
          </select>
        </div>
        <Listing
          query={query}
          keyOf={({ sequence }) => sequence}
          empty={
            <Empty title="Nothing of this kind yet">
              Every change of the store’s data leaves one event here, with who made it. Nobody can alter or
              remove one unnoticed: each carries the hash of the one before.
            </Empty>
          }
        >
          {(event) => <EventItem event={event} />}
        </Listing>
      </div>
    </Screen>
  );
}
