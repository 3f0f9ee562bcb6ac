import type { Integration, IntegrationDelivery } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useAct } from "../parts/forms/use-act.ts";
import { useAddress } from "../parts/lists/address.ts";
import { ExportCsv } from "../parts/lists/download.tsx";
import { Empty } from "../parts/lists/empty.tsx";
import { ListHead } from "../parts/lists/list-head.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { type Column, TableListing } from "../parts/lists/table.tsx";
import { counted } from "../parts/text/counts.ts";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { Pill } from "../parts/text/pill.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Attempt } from "./attempt.tsx";
import { queryOf, readFilter, searchOf } from "./delivery-filter.ts";
import { lastAnswer, STATUS_WORDS, whyNoMore } from "./delivery-words.ts";
import { FilterDeliveries } from "./filter-deliveries.tsx";
import { Payload } from "./payload.tsx";

/** Deliveries and the receiver's answers, the latest first. */
export function Deliveries({ of: integration }: { of: Integration }) {
  const admin = useAdmin();
  const { id, observes } = integration;
  const [search, change] = useAddress();
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
        onChange={(next) => change({ status: undefined, type: undefined, ...searchOf(next) })}
      />
      <TableListing
        label="Deliveries"
        columns={COLUMNS}
        query={query}
        detail={(delivery) => <Detail integration={integration} delivery={delivery} />}
        head={(found) => (
          <ListHead found={found}>
            <ExportCsv
              name="deliveries"
              read={(options) =>
                admin.integrations.deliveriesCsv(id, { ...(asked && { filter: asked }), ...options })
              }
            />
          </ListHead>
        )}
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
      />
    </section>
  );
}

const COLUMNS: readonly Column<IntegrationDelivery>[] = [
  { title: "Event", cell: ({ event }) => event.type },
  { title: "No.", kind: "number", cell: ({ event }) => event.sequence },
  {
    title: "State",
    kind: "short",
    cell: ({ status }) => <Pill tone={STATUS_WORDS[status].tone}>{STATUS_WORDS[status].word}</Pill>,
  },
  {
    title: "Attempts",
    kind: "short",
    cell: ({ attempts }) => counted(attempts.length, "attempt"),
  },
  { title: "Last answer", kind: "short", cell: ({ attempts }) => lastAnswer(attempts.at(-1)) },
  { title: "When", kind: "short", cell: ({ meta }) => <Instant at={meta.timestamps.updated_at} /> },
];

type DeliveryProps = { integration: Integration; delivery: IntegrationDelivery };

/** The payload is read when it is opened. In a narrow window it comes last, because it is long. */
const Detail = ({ integration, delivery }: DeliveryProps) => (
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
);

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
          Next attempt <Instant at={delivery.next_attempt_at} isExact isAhead />
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
