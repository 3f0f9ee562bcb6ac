import type { presentEvent } from "../events/event.ts";
import type { IntegrationRow } from "./integration.ts";

/** A message: media type and body. `id` is the `webhook-id`, and stays the same for every attempt. */
export type Message = { id: string; mediaType: string; body: string };

type Event = Pick<ReturnType<typeof presentEvent>, "id" | "type" | "storeid" | "data">;

/** `attempt` counts from 1. */
export function messageOf(integration: IntegrationRow, event: Event, attempt: number): Message {
  const { id } = event;
  if (integration.format === "cloudevents")
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
    // An erased event has this word in place of its data.
    payload: typeof event.data === "string" ? event.data : { data: event.data.resource },
    store_id: event.storeid,
  };
  return { id, mediaType: "application/json", body: JSON.stringify(body) };
}
