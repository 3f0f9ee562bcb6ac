import type { Event } from "@latchkey/sdk/admin";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useAddress } from "../parts/lists/address.ts";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { FilterChoice, FilterSpan, Filters } from "../parts/lists/filters.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { readSpan, spanConditions } from "../parts/lists/span.ts";
import { type Column, TableListing } from "../parts/lists/table.tsx";
import { Screen } from "../parts/screen.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { useAdmin } from "../session/session.ts";
import { EventDetail, Said } from "./event-item.tsx";
import { actorInWords, eventInWords, KINDS } from "./event-words.ts";
import { readBefore } from "./read-before.ts";

export function Events() {
  const admin = useAdmin();
  const [search, change] = useAddress();
  const types = search.get("types") ?? "";
  const span = readSpan(search);
  const filter = spanConditions("time", span).join(":");
  const isNarrowed = types !== "" || filter !== "";
  const wanted = { ...(types && { types: types.split(",") }), ...(filter && { filter }) };
  const query = useInfiniteQuery({
    queryKey: ["events", types, filter],
    queryFn: ({ pageParam }) => readBefore(admin, wanted, pageParam),
    initialPageParam: undefined as number | undefined,
    getNextPageParam: ({ before }) => before,
    select: ({ pages }) => ({
      items: pages.flatMap(({ events }) => events),
      total: 0,
      totalIsAtLeast: false,
    }),
  });
  return (
    <Screen
      title="Events"
      lead="Who changed what, the newest first. What happens while you look appears by itself."
    >
      <div className="stack">
        <Filters>
          <FilterChoice
            label="Show"
            options={KINDS}
            value={types}
            onChoose={(next) => change({ types: next })}
          />
          <FilterSpan value={span} onChoose={change} />
          {isNarrowed && (
            <button
              type="button"
              className="button-word"
              onClick={() => change({ types: undefined, from: undefined, to: undefined })}
            >
              Clear filters
            </button>
          )}
        </Filters>
        <TableListing
          label="Events"
          columns={COLUMNS}
          query={query}
          keyOf={({ sequence }) => sequence}
          detail={(event) => <EventDetail event={event} />}
          head={() => (
            <ListHead>
              <ExportCsv name="events" read={(options) => admin.events.csv({ ...wanted, ...options })} />
            </ListHead>
          )}
          empty={
            isNarrowed ? (
              <Empty title="No event found">No event of this kind was written in this time.</Empty>
            ) : (
              <Empty title="No event yet">
                Every change of the store’s data leaves one event here, with who made it. An event cannot be
                altered or removed unnoticed: each carries the hash of the one before.
              </Empty>
            )
          }
        />
      </div>
    </Screen>
  );
}

const COLUMNS: readonly Column<Event>[] = [
  {
    title: "What",
    cell: (event) => (
      <span>
        <Said of={eventInWords(event)} />
      </span>
    ),
  },
  {
    title: "Who",
    cell: ({ data }) =>
      data === "(erased)" ? (
        <span className="quiet">The person was erased</span>
      ) : (
        <Said of={actorInWords(data.actor)} />
      ),
  },
  { title: "No.", kind: "number", cell: ({ sequence }) => sequence },
  { title: "When", kind: "short", cell: ({ time }) => <Instant at={time} /> },
];
