import { z } from "zod";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { answerOf, bodyOf, listOf, resource } from "./resource.ts";
import { id, name, textOrNull, timestamp } from "./shapes.ts";

const format = z
  .enum(["cloudevents", "integration"])
  .describe(
    "`cloudevents`: the event as the log has it; `integration`: the shape that older receivers expect",
  );

const secretKey = z
  .string()
  .min(1)
  .max(limits.webhookSecretKeyLength)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, { error: "printable ASCII" })
  .describe("Sent as `X-Moltin-Secret-Key`, for receivers that look for it. The signature proves more");

export const httpStatus = z.int().nullable().describe("HTTP status of the answer; null: no answer came");
export const reason = textOrNull.describe(
  "Why it did not count as delivered, in a word of ours: `status`, `too_slow`, `connect_failed`, …",
);

const integrationMembers = {
  id,
  type: z.literal("integration"),
  name: z.string(),
  description: z.string(),
  enabled: z.boolean(),
  integration_type: z.literal("webhook"),
  observes: z.array(z.string()),
  configuration: z.strictObject({
    url: z
      .string()
      .describe(
        "For administrators; other roles see its origin and `/(hidden)`, because the rest may be a secret",
      ),
    secret_key: textOrNull.describe("For administrators; null for other roles, and where there is none"),
    format,
  }),
  meta: z.strictObject({
    timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
    status: z.enum(["healthy", "failing", "disabled"]),
    failing_since: timestamp.nullable().describe("Nothing but failures since then"),
    disabled_reason: z
      .enum(["gone", "failing", "restored"])
      .nullable()
      .describe(
        "Why it was disabled: the receiver said 410, nothing but failures for five days, or it came back with a backup",
      ),
    last_delivery: z
      .strictObject({ at: timestamp, delivered: z.boolean(), status: httpStatus, reason })
      .nullable()
      .describe("The last attempt"),
    previous_secret_until: timestamp.nullable().describe("Until then messages carry two signatures"),
    replay: z
      .strictObject({ after: z.string(), before: z.string() })
      .nullable()
      .describe("The events that a replay has yet to send"),
  }),
};

const integration = z.strictObject(integrationMembers).meta({ id: "Integration" });
const integrationWithSecret = z
  .strictObject({
    ...integrationMembers,
    signing_secret: z
      .string()
      .describe("Shown here and never again: `whsec_` and base64 (Standard Webhooks)"),
  })
  .meta({ id: "IntegrationWithSecret" });

const description = z.string().max(limits.descriptionLength);
const observes = z
  .array(z.string().max(128))
  .min(1)
  .max(limits.observes)
  .describe("Types of events, and patterns such as `customer.*`")
  .meta({ examples: [["customer.*", "customer_token.created"]] });
const receiverUrl = z
  .string()
  .max(2048)
  .describe("https; an address inside the operator's network only where the operator allows it")
  .meta({ examples: ["https://shop.example/hooks"] });
const integrationType = z
  .string()
  .max(64)
  .describe("`webhook`")
  .meta({ examples: ["webhook"] });

const configuration = z.object({
  url: receiverUrl.optional(),
  secret_key: secretKey.nullable().optional(),
  format: format.optional(),
});

/** Other types have no URL. They are refused for their type, and not for a missing URL. */
const webhookWithoutUrl = z.object({
  integration_type: z.literal("webhook"),
  configuration: z.object({ url: z.undefined().optional() }),
});

const creatable = z.object({
  data: z
    .object({
      type: z.literal("integration"),
      name: name.meta({ examples: ["Newsletter"] }),
      description: description.nullable().optional(),
      enabled: z.boolean().optional().describe("true if absent"),
      integration_type: integrationType,
      observes,
      // In the document as well, because without a URL no webhook is accepted.
      configuration: configuration.meta({ required: ["url"] }),
    })
    .refine((data) => !webhookWithoutUrl.safeParse(data).success, {
      path: ["configuration", "url"],
      // Checked even with other faults, so that all faults are reported together.
      when: () => true,
    }),
});

export const ids = { id: "integration_not_found" } as const;
export const integrations = resource({
  tag: "Integrations",
  access: "integrations",
  path: "/v2/integrations",
  ids: ids,
});
const refusals = ["integration_type_unsupported", "webhook_url_not_allowed", "event_type_unknown"] as const;
export const one = answerOf(integration);

export const listIntegrations = operation({
  id: "listIntegrations",
  ...integrations.list,
  summary: "List the store's integrations",
  description: "Oldest first, each with its state and its last delivery.",
  success: {
    status: 200,
    description: "One page of integrations, oldest first",
    schema: listOf(integrationMembers),
  },
});

export const createIntegration = operation({
  id: "createIntegration",
  ...integrations.create,
  summary: "Create an integration: a webhook",
  description:
    "From now on each event of the types that it observes is posted to its address, signed as Standard Webhooks say. At least once, and in order for each `subject`.",
  body: { schema: creatable },
  success: {
    status: 201,
    description: "The integration with its signing secret",
    schema: answerOf(integrationWithSecret),
  },
  problems: [...refusals, "too_many_integrations"],
});

export const getIntegration = operation({
  id: "getIntegration",
  ...integrations.get,
  summary: "Get an integration",
  description:
    "With its state and its last delivery. The signing secret is shown once, when it is made or rotated.",
  success: { status: 200, description: "The integration", schema: one },
});

export const updateIntegration = operation({
  id: "updateIntegration",
  ...integrations.update,
  summary: "Change an integration",
  description:
    "Members that are absent stay as they are; `null` takes `description` and `secret_key` away. One that is enabled again goes on with what happens from then on, and with what it had not delivered before: `replay` sends what happened meanwhile.",
  body: bodyOf({
    type: z.literal("integration"),
    name: name.optional(),
    description: description.nullable().optional(),
    enabled: z.boolean().optional(),
    integration_type: integrationType.optional(),
    observes: observes.optional(),
    configuration: configuration.optional(),
  }),
  success: { status: 200, description: "The integration as it is now", schema: one },
  problems: refusals,
});

export const deleteIntegration = operation({
  id: "deleteIntegration",
  ...integrations.delete,
  summary: "Delete an integration and its deliveries",
  description: "Nothing more is delivered to it, not even what waits.",
  success: { status: 204, description: "Deleted" },
});

export const rotateIntegrationSecret = operation({
  id: "rotateIntegrationSecret",
  ...integrations.action("rotate"),
  summary: "Give an integration a new signing secret",
  description:
    "For 24 hours every message carries two signatures, by the new secret and by the one before: a receiver that checks with either is right.",
  success: {
    status: 200,
    description: "The integration with its new signing secret",
    schema: answerOf(integrationWithSecret),
  },
});
