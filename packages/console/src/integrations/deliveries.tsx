import type { Integration, IntegrationDelivery } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "wouter";
import { useAct } from "../parts/forms/use-act.ts";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Attempt } from "./attempt.tsx";
import { queryOf, readFilter, searchOf } from "./delivery-filter.ts";
import { STATUS_WORDS, whyNoMore } from "./delivery-words.ts";
import { FilterDeliveries } from "./filter-deliveries.tsx";
import { Payload } from "./payload.tsx";

/** Deliveries and the receiver's answers, the latest first. */
export function Deliveries({ of: integration }: { of: Integration }) {
  const admin = useAdmin();
  const { id, observes } = integration;
  const [search, setSearch] = useSearchParams();
  const filter = readFilter(search);
  const asked = queryOf(filter);
  const query = useListed(
    ["integrations", id, "deliveries", asked],
    (page) => admin.integrations.deliveries(id, page),
    { limit: 25, ...(asked && { filter: asked }) },
    3000,
  );
  return (
    <section className="stack" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <FilterDeliveries
        observes={observes}
        filter={filter}
        onChange={(next) => setSearch(searchOf(next), { replace: true })}
      />
      <Listing
        query={query}
        empty={
          asked ? (
            <Empty title="No such delivery">No delivery of this integration has this state and event.</Empty>
          ) : (
            <Empty title="Nothing sent yet">
              The next subscribed event appears here, with the receiver’s answer. Send a test message to try
              the address.
            </Empty>
          )
        }
      >
        {(delivery) => <Delivery integration={integration} delivery={delivery} />}
      </Listing>
    </section>
  );
}

type DeliveryProps = { integration: Integration; delivery: IntegrationDelivery };

function Delivery({ integration, delivery }: DeliveryProps) {
  const [isOpen, setOpen] = useState(false);
  const { tone, word } = STATUS_WORDS[delivery.status];
  return (
    <details className="event" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary className="item">
        <span className="item-words">
          <span className="item-name">{delivery.event.type}</span>{" "}
          <span className="quiet small">event {delivery.event.sequence}</span>
        </span>
        <span className="item-side">
          <Pill tone={tone}>{word}</Pill>
          <span>
            {delivery.attempts.length} {delivery.attempts.length === 1 ? "attempt" : "attempts"}
          </span>
          <Instant at={delivery.meta.timestamps.updated_at} />
        </span>
      </summary>
      {/* The payload is read when it is opened. In a narrow window it comes last, because it is long. */}
      {isOpen && (
        <div className="event-body two">
          <section className="stack" aria-label="Answers">
            <h3>Answers</h3>
            <Answers integration={integration} delivery={delivery} />
          </section>
          <section className="stack-tight" aria-label="Payload">
            <h3>Payload</h3>
            <Payload format={integration.configuration.format} event={delivery.event} />
          </section>
        </div>
      )}
    </details>
  );
}

function Answers({ integration: { id, enabled }, delivery }: DeliveryProps) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const { isBusy, error, run } = useAct(async () => {
    await admin.integrations.redeliver(id, delivery.id);
    say("It is sent again.");
    await queries.invalidateQueries({ queryKey: ["integrations", id] });
  });
  const noMore = whyNoMore(delivery, enabled);
  return (
    <>
      {delivery.attempts.length === 0 && <p className="quiet">There is no answer yet.</p>}
      {delivery.attempts.map((attempt) => (
        <Attempt key={attempt.at} attempt={attempt} />
      ))}
      {noMore && <p className="quiet">{noMore}</p>}
      {!noMore && delivery.next_attempt_at && (
        <p className="quiet">
          Next attempt <Instant at={delivery.next_attempt_at} isExact />
        </p>
      )}
      {error !== undefined && <Problem error={error} />}
      {can("redeliver") && (
        <p>
          <button
            type="button"
            className="button button-plain button-small"
            disabled={isBusy}
            onClick={() => run()}
          >
            Send again
          </button>
        </p>
      )}
    </>
  );
}
