import { z } from "zod";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { id, name, pageLinks, pageMeta, pageQuery, timestamp, url } from "./shapes.ts";

const links = z.strictObject({ self: url });

// Customer authentication settings

const settings = z
  .strictObject({
    id: id.describe("The store's"),
    type: z.literal("customer-authentication-settings"),
    client_id: z.string(),
    realm_id: id,
    meta: z.strictObject({ client_id: z.string().describe("The same, where older clients look") }),
    relationships: z.strictObject({
      "authentication-realm": z.strictObject({
        data: z.strictObject({ id, type: z.literal("authentication-realm"), links }),
      }),
    }),
  })
  .meta({ id: "CustomerAuthenticationSettings" });

const settingsAnswer = z.strictObject({ data: settings, links });
const settingsPaths = {
  path: "/v2/customer-authentication-settings",
  alias: "/v2/settings/customer-authentication",
} as const;

/** What a storefront or an identity provider calls a client: printable ASCII, spaces included (RFC 6749 A.1). */
export const clientId = z
  .string()
  .min(1)
  .max(255)
  .regex(/^[\x20-\x7e]*$/, { error: "printable ASCII characters" });

export const getAuthenticationSettings = operation({
  id: "getAuthenticationSettings",
  tag: "Realms",
  method: "GET",
  ...settingsPaths,
  summary: "Get the customer authentication settings",
  access: ["authentication_settings", "read"],
  role: "viewer",
  success: {
    status: 200,
    description: "The settings, with the client id and realm id that sign-on needs",
    schema: settingsAnswer,
  },
});

export const updateAuthenticationSettings = operation({
  id: "updateAuthenticationSettings",
  tag: "Realms",
  method: "PUT",
  ...settingsPaths,
  summary: "Change the client id or the realm that customers sign in with",
  access: ["authentication_settings", "write"],
  role: "administrator",
  body: {
    schema: z.object({
      data: z.object({
        type: z.literal("customer-authentication-settings"),
        client_id: clientId.optional(),
        realm_id: z.string().max(64).optional(),
      }),
    }),
  },
  success: { status: 200, description: "The settings as they are now", schema: settingsAnswer },
  problems: ["realm_unknown", "direct_client_id_mismatch"],
});

// Realms

export const duplicateEmailPolicy = z.enum(["allowed", "api_only", "disallowed"]);

export const idTokenAlgorithm = z.enum(["RS256", "ES256"]);
const profileUpdates = z
  .enum(["always", "first"])
  .describe(
    "Whether name and e-mail of a customer follow the identity provider at each sign-on, or are taken over at the first alone. An e-mail follows only where the linking rules would let it in",
  );
const purpose = z
  .enum(["customers", "members"])
  .describe("Who signs in there: the shop's customers, or the people of the store, at the console");

const realmMembers = {
  id,
  type: z.literal("authentication-realm"),
  name: z.string(),
  purpose,
  redirect_uris: z.array(z.string()),
  duplicate_email_policy: duplicateEmailPolicy,
  id_token_signed_response_alg: idTokenAlgorithm.describe("How its ID tokens are signed"),
  profile_updates: profileUpdates,
  relationships: z.strictObject({
    origin: z.strictObject({
      data: z.strictObject({ id, type: z.literal("customer-authentication-settings") }),
    }),
  }),
  meta: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
};
const realm = z.strictObject(realmMembers).meta({ id: "AuthenticationRealm" });
const realmAnswer = z.strictObject({ data: realm, links });

const writableRealm = {
  purpose: purpose.optional().meta({ examples: ["customers"] }),
  redirect_uris: z
    .array(z.string().max(limits.redirectUriLength))
    .max(limits.redirectUris)
    .optional()
    .meta({ examples: [["https://shop.example/signed-in"]] }),
  duplicate_email_policy: duplicateEmailPolicy.optional().meta({ examples: ["allowed"] }),
  id_token_signed_response_alg: idTokenAlgorithm.optional().meta({
    description: "How ID tokens are signed; `RS256` for a new realm, because client libraries assume it",
    examples: ["RS256"],
  }),
  profile_updates: profileUpdates.optional().meta({ examples: ["always"] }),
};

const ids = { id: "realm_not_found" } as const;

export const listRealms = operation({
  id: "listRealms",
  tag: "Realms",
  method: "GET",
  path: "/v2/authentication-realms",
  summary: "List the store's authentication realms",
  access: ["authentication_settings", "read"],
  role: "viewer",
  query: pageQuery,
  success: {
    status: 200,
    description: "One page of realms, oldest first",
    schema: z.strictObject({
      data: z.array(z.strictObject({ ...realmMembers, links })),
      meta: z.strictObject(pageMeta),
      links: pageLinks,
    }),
  },
});

export const createRealm = operation({
  id: "createRealm",
  tag: "Realms",
  method: "POST",
  path: "/v2/authentication-realms",
  summary: "Create an authentication realm",
  description:
    "`purpose` is `customers` unless it says otherwise, and stays. A store has at most one realm for `members`: public tokens do not see it, its " +
    "redirect URIs are the console's unless others are given, and its client id is `members`.",
  access: ["authentication_settings", "write"],
  role: "administrator",
  body: {
    schema: z.object({
      data: z.object({
        type: z.literal("authentication-realm"),
        name: name.meta({ examples: ["Wholesale"] }),
        ...writableRealm,
      }),
    }),
  },
  success: { status: 201, description: "The realm", schema: realmAnswer },
  problems: ["redirect_uri_invalid", "members_realm_exists"],
});

export const getRealm = operation({
  id: "getRealm",
  tag: "Realms",
  method: "GET",
  path: "/v2/authentication-realms/{id}",
  summary: "Get an authentication realm",
  access: ["authentication_settings", "read"],
  role: "viewer",
  ids,
  success: { status: 200, description: "The realm", schema: realmAnswer },
});

export const updateRealm = operation({
  id: "updateRealm",
  tag: "Realms",
  method: "PUT",
  path: "/v2/authentication-realms/{id}",
  summary: "Change an authentication realm",
  description: "Members that are absent stay as they are.",
  access: ["authentication_settings", "write"],
  role: "administrator",
  ids,
  body: {
    schema: z.object({
      data: z.object({ type: z.literal("authentication-realm"), name: name.optional(), ...writableRealm }),
    }),
  },
  success: { status: 200, description: "The realm as it is now", schema: realmAnswer },
  problems: ["id_mismatch", "redirect_uri_invalid", "realm_purpose_fixed"],
});

export const deleteRealm = operation({
  id: "deleteRealm",
  tag: "Realms",
  method: "DELETE",
  path: "/v2/authentication-realms/{id}",
  summary: "Delete an authentication realm",
  access: ["authentication_settings", "write"],
  role: "administrator",
  ids,
  success: { status: 204, description: "The realm is gone" },
  problems: ["realm_in_use", "realm_has_profiles"],
});
