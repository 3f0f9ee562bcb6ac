import { z } from "zod";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { answerOf, bodyOf, listOf, resource } from "./resource.ts";
import { id, name, textOrNull, timestamp } from "./shapes.ts";

const format = z
  .enum(["cloudevents", "integration"])
  .describe("`cloudevents`: the event as in the log; `integration`: the shape that older receivers expect");

const secretKey = z
  .string()
  .min(1)
  .max(limits.webhookSecretKeyLength)
  .regex(/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/, { error: "printable ASCII" })
  .describe("Sent as `X-Moltin-Secret-Key`, for receivers that check it. The signature is the better proof");

export const httpStatus = z.int().nullable().describe("HTTP status of the answer; null: no answer");
export const reason = textOrNull.describe(
  "Why the attempt failed, as a code: `status`, `too_slow`, `connect_failed`, …",
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
    secret_key: textOrNull.describe("For administrators; null for other roles, and if there is none"),
    format,
  }),
  meta: z.strictObject({
    timestamps: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
    status: z.enum(["healthy", "failing", "disabled"]),
    failing_since: timestamp.nullable().describe("All attempts have failed since then"),
    disabled_reason: z
      .enum(["gone", "failing", "restored"])
      .nullable()
      .describe(
        "Why it was disabled: the receiver answered 410, all attempts failed for five days, or a restore brought it back",
      ),
    last_delivery: z
      .strictObject({ at: timestamp, delivered: z.boolean(), status: httpStatus, reason })
      .nullable()
      .describe("The last attempt"),
    previous_secret_until: timestamp.nullable().describe("Until then messages have two signatures"),
    replay: z
      .strictObject({ after: z.string(), before: z.string() })
      .nullable()
      .describe("The events that the replay still has to send"),
  }),
};

const integration = z.strictObject(integrationMembers).meta({ id: "Integration" });
const integrationWithSecret = z
  .strictObject({
    ...integrationMembers,
    signing_secret: z.string().describe("Only this answer shows it: `whsec_` and base64 (Standard Webhooks)"),
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
  .describe("https; an address inside the operator's network only if the operator allows it")
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
      enabled: z.boolean().optional().describe("Default: true"),
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
    "Each new event of the observed types is sent to its URL by POST, signed as Standard Webhooks defines. At least once, and in order for each `subject`.",
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
    "With its state and its last delivery. Only the answers of creation and rotation show the signing secret.",
  success: { status: 200, description: "The integration", schema: one },
});

export const updateIntegration = operation({
  id: "updateIntegration",
  ...integrations.update,
  summary: "Change an integration",
  description:
    "Absent members stay unchanged; `null` removes `description` and `secret_key`. An integration that is enabled again sends new events and its undelivered messages. `replay` sends the events from the time when it was disabled.",
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
  description: "Its waiting messages are not sent any more.",
  success: { status: 204, description: "Deleted" },
});

export const rotateIntegrationSecret = operation({
  id: "rotateIntegrationSecret",
  ...integrations.action("rotate"),
  summary: "Give an integration a new signing secret",
  description:
    "For 24 hours every message has two signatures, one by the new secret and one by the previous secret. A receiver can check either.",
  success: {
    status: 200,
    description: "The integration with its new signing secret",
    schema: answerOf(integrationWithSecret),
  },
});
