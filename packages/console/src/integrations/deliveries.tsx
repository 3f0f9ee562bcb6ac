import type { Integration, IntegrationDelivery } from "@latchkey/sdk/admin";
import { useQueryClient } from "@tanstack/react-query";
import { useAct } from "../parts/forms/use-act.ts";
import { Empty } from "../parts/lists/empty.tsx";
import { Listing } from "../parts/lists/items.tsx";
import { useListed } from "../parts/lists/listed.ts";
import { Instant } from "../parts/text/instant.tsx";
import { say } from "../parts/text/notices.tsx";
import { Pill, type Tone } from "../parts/text/pill.tsx";
import { Problem } from "../parts/text/problem.tsx";
import { useCan } from "../session/can.ts";
import { useAdmin } from "../session/session.ts";
import { Attempt } from "./attempt.tsx";
import { whyNoMore } from "./delivery-words.ts";

const STATUS: Record<IntegrationDelivery["status"], { tone: Tone; word: string }> = {
  waiting: { tone: "warn", word: "Waiting" },
  delivered: { tone: "good", word: "Delivered" },
  failed: { tone: "bad", word: "Failed" },
};

/** Deliveries and the receiver's answers, the latest first. */
export function Deliveries({ of: { id, enabled } }: { of: Integration }) {
  const admin = useAdmin();
  const query = useListed(
    ["integrations", id, "deliveries"],
    (page) => admin.integrations.deliveries(id, page),
    { limit: 25 },
    3000,
  );
  return (
    <section className="stack" aria-labelledby="deliveries">
      <h2 id="deliveries">Deliveries</h2>
      <Listing
        query={query}
        empty={
          <Empty title="Nothing sent yet">
            The next event that it hears of is here, with the answer. Send a test message to try the address.
          </Empty>
        }
      >
        {(delivery) => <Delivery integrationId={id} isEnabled={enabled} delivery={delivery} />}
      </Listing>
    </section>
  );
}

type DeliveryProps = { integrationId: string; isEnabled: boolean; delivery: IntegrationDelivery };

function Delivery({ integrationId, isEnabled, delivery }: DeliveryProps) {
  const admin = useAdmin();
  const can = useCan();
  const queries = useQueryClient();
  const { isBusy, error, run } = useAct(async () => {
    await admin.integrations.redeliver(integrationId, delivery.id);
    say("It is sent again.");
    await queries.invalidateQueries({ queryKey: ["integrations", integrationId] });
  });
  const { tone, word } = STATUS[delivery.status];
  const noMore = whyNoMore(delivery, isEnabled);
  return (
    <details className="event">
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
      <div className="event-body stack">
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
      </div>
    </details>
  );
}
