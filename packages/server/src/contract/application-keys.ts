import { z } from "zod";
import { filterParameter, text } from "./filter.ts";
import { limits } from "./limits.ts";
import { OPENID_CLIENTS } from "./openid-client.ts";
import { operation } from "./operation.ts";
import { answerOf, bodyOf, resource } from "./resource.ts";
import { ROLES } from "./roles.ts";
import { id, integer, links, name, pageLinks, pageMeta, pageQuery, rateLimit, timestamp } from "./shapes.ts";

const reservedRateLimit = rateLimit.describe("Requests per second that no other key can take from this key");

const role = z
  .enum(ROLES)
  .describe(
    "Determines the rights of the key's `client_credentials` tokens, including existing tokens. Implicit tokens have no role",
  );

const openidClient = z
  .enum(OPENID_CLIENTS)
  .describe(
    "What the store's realms require of the key as a confidential client. `pkce`: a PKCE challenge and the scope `email`. `standard`: a challenge or a `nonce`, and only the scope `openid`, for client libraries without PKCE",
  );

const keyMembers = {
  id,
  type: z.literal("application_key"),
  name: z.string(),
  client_id: z.string(),
  reserved_rate_limit: reservedRateLimit,
  role,
  openid_client: openidClient,
  meta: z.strictObject({
    timestamps: z.strictObject({
      last_used_at: timestamp.nullable().describe("null: never used"),
      created_at: timestamp,
      updated_at: timestamp,
    }),
    secrets: z
      .array(
        z.strictObject({
          created_at: timestamp,
          last_used_at: timestamp.nullable(),
          expires_at: timestamp.nullable().describe("null: does not expire"),
        }),
      )
      .describe("The secrets that work now, newest first; never the secrets themselves"),
  }),
};

const key = z.strictObject(keyMembers).meta({ id: "ApplicationKey" });
const keyInList = z.strictObject({ ...keyMembers, links });
const keyWithSecret = z
  .strictObject({
    ...keyMembers,
    client_secret: z.string().describe("The API shows the secret only in this answer"),
  })
  .meta({ id: "ApplicationKeyWithSecret" });

const inForce = z.strictObject({
  effective_by: timestamp.describe("From then on every instance applies the new limits"),
});

const writable = bodyOf({
  type: z.literal("application_key"),
  name: name.meta({ examples: ["My storefront"] }),
  reserved_rate_limit: reservedRateLimit.optional().meta({ examples: [20] }),
  role: role.optional().meta({ examples: ["administrator"] }),
  openid_client: openidClient.optional().meta({ examples: ["pkce"] }),
});

const keys = resource({
  tag: "Application keys",
  access: "application_keys",
  path: "/v2/application-keys",
  ids: { id: "application_key_not_found" },
});

export const listApplicationKeys = operation({
  id: "listApplicationKeys",
  ...keys.list,
  summary: "List the store's application keys",
  description: "`meta` has the sum of their reservations, and the store's limit.",
  query: pageQuery.extend({ filter: filterParameter({ client_id: text }) }),
  success: {
    status: 200,
    description: "One page of keys, oldest first",
    schema: z.strictObject({
      data: z.array(keyInList),
      meta: z.strictObject({
        ...pageMeta,
        total_reserved_rate_limit: z.int().describe("The sum over all keys of the store"),
        rate_limit: z.int().describe("The store's limit, in requests per second"),
      }),
      links: pageLinks,
    }),
  },
});

export const createApplicationKey = operation({
  id: "createApplicationKey",
  ...keys.create,
  summary: "Create an application key",
  description: "Only this answer shows the secret: store it.",
  body: writable,
  success: {
    status: 201,
    description: "The key with its secret",
    schema: z.strictObject({ data: keyWithSecret, meta: inForce, links }),
  },
  problems: ["reservation_exceeds_store_limit"],
});

export const getApplicationKey = operation({
  id: "getApplicationKey",
  ...keys.get,
  summary: "Get an application key",
  description: "Without its secret, which only the answer of its creation or rotation shows.",
  success: { status: 200, description: "The key", schema: answerOf(key) },
});

export const updateApplicationKey = operation({
  id: "updateApplicationKey",
  ...keys.update,
  summary: "Rename an application key, and give it a reserved rate limit or another role",
  description:
    "`name` is required. An absent `reserved_rate_limit`, `role` or `openid_client` stays unchanged. A changed role takes effect on every instance within a second.",
  body: writable,
  success: {
    status: 200,
    description: "The key as it is now",
    schema: z.strictObject({ data: key, meta: inForce, links }),
  },
  problems: ["reservation_exceeds_store_limit"],
});

export const deleteApplicationKey = operation({
  id: "deleteApplicationKey",
  ...keys.delete,
  summary: "Delete an application key",
  description: "Its access tokens stop working on every instance within a second.",
  success: { status: 204, description: "The key is deleted" },
});

export const rotateApplicationKey = operation({
  id: "rotateApplicationKey",
  ...keys.action("rotate"),
  summary: "Give an application key a new secret",
  description:
    "Older secrets keep working for `grace_seconds`, so that you can update your programs one by one.",
  body: {
    optional: true,
    ...bodyOf({
      grace_seconds: integer(0, limits.graceSeconds)
        .optional()
        .describe("How long older secrets keep working; default: 86400")
        .meta({ examples: [3600] }),
    }),
  },
  success: { status: 200, description: "The key with its new secret", schema: answerOf(keyWithSecret) },
  problems: ["too_many_live_secrets"],
});

const verdict = z.strictObject({
  id,
  name: z.string(),
  reserved_rate_limit: z.strictObject({ before: z.int(), after: z.int() }),
  asked: z.int().describe("Requests in the observed time"),
  refused: z
    .strictObject({ before: z.int(), after: z.int() })
    .describe(
      "How many of these requests are refused before and after the change, evaluated second by second",
    ),
});

export const dryRunApplicationKey = operation({
  id: "dryRunApplicationKey",
  ...keys.action("dry-run"),
  summary: "See what an update would do to every key of the store",
  description:
    "Takes the body of an update and changes nothing. It applies the present limits and the new limits to the requests of the last hour. " +
    "With Valkey these are the requests to all instances; without it, those to the answering instance since its start.",
  access: ["application_keys", "read"],
  role: "viewer",
  body: writable,
  success: {
    status: 200,
    description: "For every key of the store that was used or has a reservation",
    schema: z.strictObject({
      data: z.strictObject({
        type: z.literal("application_key_dry_run"),
        observed: z.strictObject({
          from: timestamp,
          to: timestamp,
          seconds: z.int().describe("Seconds in which there was any use"),
        }),
        shared_rate_limit: z
          .strictObject({ before: z.int(), after: z.int() })
          .describe("The rate that no key has reserved"),
        keys: z.array(verdict),
      }),
      links,
    }),
  },
  problems: ["reservation_exceeds_store_limit"],
});
