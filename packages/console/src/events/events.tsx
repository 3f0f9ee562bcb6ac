import { type Admin, ApiError, type Event } from "@latchkey/sdk/admin";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useId } from "react";
import { useSearchParams } from "wouter";
import { Asked } from "../parts/asked.tsx";
import { Copy } from "../parts/copy.tsx";
import { Empty } from "../parts/empty.tsx";
import { Instant } from "../parts/instant.tsx";
import { More } from "../parts/more.tsx";
import { Screen } from "../parts/screen.tsx";
import { useAdmin } from "../session/session.ts";
import { actorInWords, eventInWords, KINDS, valueInWords } from "./event-words.ts";

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
    select: ({ pages }) => pages.flatMap(({ events }) => events),
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
        <Asked
          query={query}
          empty={(events) =>
            events.length === 0 &&
            !query.hasNextPage && (
              <Empty title="Nothing of this kind yet">
                Every change of the store’s data leaves one event here, with who made it. Nobody can alter or
                remove one unnoticed: each carries the hash of the one before.
              </Empty>
            )
          }
        >
          {(events) => (
            <>
              <ol className="list">
                {events.map((event) => (
                  <li key={event.sequence}>
                    <EventItem event={event} />
                  </li>
                ))}
              </ol>
              <More
                show={query.hasNextPage}
                isBusy={query.isFetchingNextPage}
                onMore={() => void query.fetchNextPage()}
              />
            </>
          )}
        </Asked>
      </div>
    </Screen>
  );
}

function EventItem({ event }: { event: Event }) {
  const { data } = event;
  return (
    <details className="event">
      <summary className="item">
        <span className="item-words">
          <span className="item-name">{eventInWords(event)}</span>
          <br />
          <span className="quiet small">
            {data === "(erased)" ? "the person was erased" : actorInWords(data.actor)}
          </span>
        </span>
        <span className="item-side">
          <span className="number">no. {event.sequence}</span>
          <Instant at={event.time} />
        </span>
      </summary>
      <div className="event-body stack">
        {data !== "(erased)" && data.changes && (
          <div className="stack">
            {Object.entries(data.changes).map(([member, change]) => (
              <div key={member}>
                <h3>{member}</h3>
                {change === "(changed)" ? (
                  <p className="quiet">(changed)</p>
                ) : (
                  <dl className="diff">
                    <dt className="diff-before">before</dt>
                    <dd className="diff-before">{valueInWords(change.before)}</dd>
                    <dt className="diff-after">after</dt>
                    <dd className="diff-after">{valueInWords(change.after)}</dd>
                  </dl>
                )}
              </div>
            ))}
          </div>
        )}
        <dl className="facts small">
          <dt>Type</dt>
          <dd>
            <code>{event.type}</code>
          </dd>
          <dt>Subject</dt>
          <dd>
            <code>{event.subject}</code>
          </dd>
          {data !== "(erased)" && data.request_id && (
            <>
              <dt>Request</dt>
              <dd>
                <code>{data.request_id}</code>
              </dd>
            </>
          )}
        </dl>
        <p>
          <Copy
            text={JSON.stringify(event, null, 2)}
            what={`event ${event.sequence} as JSON`}
            label="Copy as JSON"
          />
        </p>
      </div>
    </details>
  );
}
