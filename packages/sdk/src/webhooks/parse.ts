import { ApiError } from "../api-error.ts";
import type { WebhookEvent } from "./types.ts";
import { type VerifyOptions, verifyWebhook, type WebhookHeaders } from "./verify.ts";

/**
 * Verifies a message of the format `cloudevents`, and returns the event. Any other content throws
 * `webhook_unreadable`.
 */
export async function parseWebhook(
  body: string | Uint8Array,
  headers: WebhookHeaders,
  secrets: string | readonly string[],
  options?: VerifyOptions,
): Promise<WebhookEvent> {
  const { id } = await verifyWebhook(body, headers, secrets, options);
  const event = readEvent(typeof body === "string" ? body : new TextDecoder().decode(body));
  // The signature covers the header and the body. Different ids mean that the message was assembled from two.
  if (event?.specversion === "1.0" && event.id === id && typeof event.type === "string") return event;
  throw new ApiError("webhook_unreadable", "The message holds no event: is its format `cloudevents`?");
}

function readEvent(text: string): WebhookEvent | undefined {
  try {
    return JSON.parse(text) ?? undefined;
  } catch {
    return undefined;
  }
}
