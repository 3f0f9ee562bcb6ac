import { useInfiniteQuery } from "@tanstack/react-query";
import { useId } from "react";
import { useSearchParams } from "wouter";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAdmin } from "../session/session.ts";
import { EventItem } from "./event-item.tsx";
import { KINDS } from "./event-words.ts";
import { readBefore } from "./read-before.ts";

export function Events() {
  const admin = useAdmin();
  const [search, setSearch] = useSearchParams();
  const types = search.get("types") ?? "";
  const query = useInfiniteQuery({
    queryKey: ["events", types],
    queryFn: ({ pageParam }) => readBefore(admin, types ? { types: types.split(",") } : {}, pageParam),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ before }) => before,
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
            {/* The URL may contain any types. */}
            {!KINDS.some(({ value }) => value === types) && <option value={types}>{types}</option>}
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
