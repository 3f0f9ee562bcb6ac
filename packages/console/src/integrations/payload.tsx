import {
  type Admin,
  ApiError,
  type Event,
  type Integration,
  type IntegrationDelivery,
} from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { Copy } from "../parts/forms/copy.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { SkeletonRows } from "../parts/lists/skeleton.tsx";
import { useAdmin } from "../session/session.ts";

type Props = {
  format: Integration["configuration"]["format"];
  event: IntegrationDelivery["event"];
};

/** The event of a delivery, from the log: the service keeps no copy of what it sends. */
export function Payload({ format, event }: Props) {
  const admin = useAdmin();
  const query = useQuery({
    queryKey: ["event-of-delivery", event.id],
    queryFn: () => readEvent(admin, event),
  });
  return (
    <Asked query={query} skeleton={<SkeletonRows rows={3} />}>
      {(found) =>
        found === null ? (
          <p className="quiet">The log no longer has this event.</p>
        ) : (
          <div className="stack-tight">
            <p className="quiet small">{aboutIt(found, format)}</p>
            <pre className="answer">{JSON.stringify(found, null, 2)}</pre>
            <p>
              <Copy text={JSON.stringify(found, null, 2)} what="payload" label="Copy as JSON" />
            </p>
          </div>
        )
      }
    </Asked>
  );
}

/** Null if the log has deleted it. The log finds an event by its number. */
async function readEvent(
  { events }: Pick<Admin, "events">,
  { id, sequence }: IntegrationDelivery["event"],
): Promise<Event | null> {
  const after = String(Number(sequence) - 1);
  const { data } = await events.list({ after, limit: 1 }).catch((refusal) => {
    if (refusal instanceof ApiError && refusal.code === "events_gone") return { data: [] };
    throw refusal;
  });
  const [event] = data;
  return event?.id === id ? event : null;
}

function aboutIt({ data }: Event, format: Props["format"]): string {
  if (data === "(erased)") return "The person was erased, so their data is no longer shown.";
  if (data.withheld) return "Your role can see only parts of this event. The receiver gets all of it.";
  return format === "cloudevents"
    ? "The body of the message, as it is in the log."
    : "The event. The message has the older format, with the resource as its payload.";
}
