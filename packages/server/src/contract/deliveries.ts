import { z } from "zod";
import { filterParameter, text } from "./filter.ts";
import { httpStatus, ids, integrations, one, reason } from "./integrations.ts";
import { operation } from "./operation.ts";
import { bodyOf } from "./resource.ts";
import { id, pageOf, pageQuery, textOrNull, timestamp } from "./shapes.ts";

const attempt = z.strictObject({
  at: timestamp,
  status: httpStatus,
  reason,
  milliseconds: z.int(),
  answer: textOrNull.describe(
    "The first kilobyte of it, for administrators; null for other roles, and where it was erased with a person",
  ),
});

const delivery = z
  .strictObject({
    id,
    type: z.literal("integration-delivery"),
    status: z
      .enum(["waiting", "delivered", "failed"])
      .describe("waiting: has yet to be sent, or sent again; failed: given up"),
    reason: z
      .enum(["attempts_exceeded", "gone", "event_forgotten"])
      .nullable()
      .describe("Why it was given up"),
    event: z.strictObject({
      id: id.describe("Also the message's `webhook-id`, however often it is sent"),
      type: z.string(),
      subject: z.string(),
      sequence: z.string(),
    }),
    attempts: z.array(attempt).describe("Oldest first; the last 20"),
    next_attempt_at: timestamp
      .nullable()
      .describe("null: it is over, is about to be sent, or an earlier event of its subject goes first"),
    meta: z.strictObject({ timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }) }),
  })
  .meta({ id: "IntegrationDelivery" });

export const listDeliveries = operation({
  id: "listDeliveries",
  ...integrations.part("deliveries"),
  alias: "/v2/integrations/{id}/logs",
  summary: "List what was sent to an integration, and what it answered",
  description:
    "Each with its attempts: status, milliseconds, and for administrators the beginning of what was answered.",
  query: pageQuery.extend({ filter: filterParameter({ status: text, type: text }) }),
  success: {
    status: 200,
    description: "One page of deliveries, the latest event first",
    schema: pageOf(delivery),
  },
  problems: ["filter_too_wide"],
});

export const redeliver = operation({
  id: "redeliver",
  ...integrations.action("deliveries/{delivery}/redeliver"),
  summary: "Send a message again, now",
  description: "Whatever became of it before; out of the order of its subject. Its `webhook-id` is the same.",
  role: "support",
  ids: { ...ids, delivery: "delivery_not_found" },
  success: { status: 202, description: "It is about to be sent", schema: z.strictObject({ data: delivery }) },
  problems: ["integration_disabled"],
});

const sequence = z
  .union([
    z
      .string()
      .regex(/^\d{1,15}$/, { error: "the number of an event" })
      .meta({ examples: ["0"] }),
    z.int().min(0).max(999_999_999_999_999),
  ])
  .transform(Number);

export const replayEvents = operation({
  id: "replayEvents",
  ...integrations.action("replay"),
  summary: "Send events of the past to an integration",
  description:
    "Those of the types that it observes, also such as it has had before, each with its own `webhook-id`. Sent in the order of each subject, beside what happens now.",
  body: bodyOf({
    after: sequence.describe(
      "The number before the first; 0: from the beginning, while that is kept. `events_gone` says what the oldest is",
    ),
    before: sequence
      .optional()
      .describe("The last number; if absent, the last event that the integration has come to"),
  }),
  success: {
    status: 202,
    description: "The replay has begun; `meta.replay` shows what is left of it",
    schema: one,
  },
  problems: ["integration_disabled", "replay_under_way", "events_gone"],
});

export const testIntegration = operation({
  id: "testIntegration",
  ...integrations.action("test"),
  summary: "Send a test message now, and see what the receiver says",
  description:
    "An event of the type `integration.test`, which is in no log, signed and shaped as any other. It is sent once, also where the integration is disabled. One that was `failing` is `healthy` when it is delivered; what waits is sent as the schedule says.",
  role: "support",
  success: {
    status: 200,
    description: "What became of it",
    schema: z.strictObject({
      data: z.strictObject({
        type: z.literal("integration-test"),
        id: id.describe("The message's `webhook-id`"),
        delivered: z.boolean(),
        attempt,
      }),
    }),
  },
  problems: ["tests_exceeded"],
});
