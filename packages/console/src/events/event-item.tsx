import type { Event, EventData } from "@latchkey/sdk/admin";
import { Link } from "wouter";
import { Copy } from "../parts/forms/copy.tsx";
import { Instant } from "../parts/text/instant.tsx";
import { actorInWords, eventInWords, type Sentence, valueInWords } from "./event-words.ts";

export const Said = ({ of: { before, name, after } }: { of: Sentence }) => (
  <>
    {before} <bdi>{name}</bdi> {after}
  </>
);

/** An event and its actor. Opened, it shows the changes and the details. */
export function EventItem({ event }: { event: Event }) {
  const { data } = event;
  return (
    <details className="event">
      <summary className="item">
        <span className="item-words">
          <span className="item-name">
            <Said of={eventInWords(event)} />
          </span>
          <br />
          <span className="quiet small">
            {data === "(erased)" ? "the person was erased" : <Said of={actorInWords(data.actor)} />}
          </span>
        </span>
        <span className="item-side">
          <span className="number">no. {event.sequence}</span>
          <Instant at={event.time} />
        </span>
      </summary>
      <EventDetail event={event} />
    </details>
  );
}

/** The changes of an event, and its ids. */
export function EventDetail({ event }: { event: Event }) {
  const { data } = event;
  return (
    <div className="event-body stack">
      {data !== "(erased)" && data.withheld && (
        <p className="quiet">Parts of this event are shown to administrators only.</p>
      )}
      {data !== "(erased)" && data.changes && <Changes of={data.changes} />}
      <dl className="facts small">
        <dt>When</dt>
        <dd>
          <Instant at={event.time} isExact />
        </dd>
        <dt>Type</dt>
        <dd>
          <code>{event.type}</code>
        </dd>
        <dt>Subject</dt>
        <dd>
          <Link href={`/find?q=${event.subject}`}>
            <code>{event.subject}</code>
          </Link>
        </dd>
        {data !== "(erased)" && data.request_id && (
          <>
            <dt>Request</dt>
            <dd>
              <Link href={`/find?q=${data.request_id}`}>
                <code>{data.request_id}</code>
              </Link>
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
  );
}

const Changes = ({ of: changes }: { of: NonNullable<EventData["changes"]> }) => (
  <div className="stack">
    {Object.entries(changes).map(([member, change]) => (
      <div key={member}>
        <p>
          <strong>{member}</strong>
        </p>
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
);
