import type { presentEvent } from "../events/event.ts";
import type { Format, IntegrationRow } from "./integration.ts";

/** What is posted: the media type and the body. `id` is also the `webhook-id`, however often the same event is sent. */
export type Message = { id: string; mediaType: string; body: string };

type Event = Pick<ReturnType<typeof presentEvent>, "id" | "type" | "storeid" | "data">;

/** `attempt` counts from 1. */
export function messageOf(integration: IntegrationRow, event: Event, attempt: number): Message {
  const { id } = event;
  if ((integration.format as Format) === "cloudevents")
    return { id, mediaType: "application/cloudevents+json", body: JSON.stringify(event) };
  const body = {
    id,
    triggered_by: event.type,
    attempt,
    integration: {
      id: integration.id,
      integration_type: "webhook",
      name: integration.name,
      description: integration.description,
    },
    // Of somebody who was erased nothing is left but this word.
    payload: typeof event.data === "string" ? event.data : { data: event.data.resource },
    store_id: event.storeid,
  };
  return { id, mediaType: "application/json", body: JSON.stringify(body) };
}
