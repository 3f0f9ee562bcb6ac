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
    "The first kilobyte of the answer, for administrators. Null for other roles, and if it was erased with a person",
  ),
});

const delivery = z
  .strictObject({
    id,
    type: z.literal("integration-delivery"),
    status: z
      .enum(["waiting", "delivered", "failed"])
      .describe("waiting: will be sent or repeated; failed: no more attempts"),
    reason: z
      .enum(["attempts_exceeded", "gone", "event_forgotten"])
      .nullable()
      .describe("Why there are no more attempts"),
    event: z.strictObject({
      id: id.describe("Also the message's `webhook-id`, the same in every attempt"),
      type: z.string(),
      subject: z.string(),
      sequence: z.string(),
    }),
    attempts: z.array(attempt).describe("Oldest first; the last 20"),
    next_attempt_at: timestamp
      .nullable()
      .describe(
        "null: there are no more attempts, one is about to start, or an earlier event of the same subject goes first",
      ),
    meta: z.strictObject({ timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }) }),
  })
  .meta({ id: "IntegrationDelivery" });

export const listDeliveries = operation({
  id: "listDeliveries",
  ...integrations.part("deliveries"),
  alias: "/v2/integrations/{id}/logs",
  summary: "List the messages to an integration, with its answers",
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
  description:
    "Works for a delivery in any state, and does not wait for other events of its subject. Its `webhook-id` stays the same.",
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
  summary: "Send past events to an integration",
  description:
    "Sends the observed events again, including delivered ones, each with its own `webhook-id`. Events of one subject keep their order. New events are sent at the same time.",
  body: bodyOf({
    after: sequence.describe(
      "Events after this number; 0: from the oldest kept event. `events_gone` has the number of the oldest",
    ),
    before: sequence
      .optional()
      .describe("The last number; default: the last event that the integration has processed"),
  }),
  success: {
    status: 202,
    description: "The replay has begun; `meta.replay` shows its remaining events",
    schema: one,
  },
  problems: ["integration_disabled", "replay_under_way", "events_gone"],
});

export const testIntegration = operation({
  id: "testIntegration",
  ...integrations.action("test"),
  summary: "Send a test message now, and get the receiver's answer",
  description:
    "Sends one event of type `integration.test`, signed and formatted like any other, but not in the log. It also works for a disabled integration. If it is delivered, a `failing` integration becomes `healthy`; waiting messages keep their schedule.",
  role: "support",
  success: {
    status: 200,
    description: "The result",
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
