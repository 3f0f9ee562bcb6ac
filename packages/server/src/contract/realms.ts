import { z } from "zod";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { answerOf, bodyOf, changing, listOf, reading, resource } from "./resource.ts";
import { id, links, name, textOrNull, timestamp } from "./shapes.ts";

// Customer authentication settings

const settings = z
  .strictObject({
    id: id.describe("The store's id"),
    type: z.literal("customer-authentication-settings"),
    client_id: z.string(),
    realm_id: id,
    meta: z.strictObject({ client_id: z.string().describe("The same client id, for older clients") }),
    relationships: z.strictObject({
      "authentication-realm": z.strictObject({
        data: z.strictObject({ id, type: z.literal("authentication-realm"), links }),
      }),
    }),
  })
  .meta({ id: "CustomerAuthenticationSettings" });

const settingsAnswer = answerOf(settings);
const settingsPaths = {
  path: "/v2/customer-authentication-settings",
  alias: "/v2/settings/customer-authentication",
} as const;

/** A client id at a storefront or provider: printable ASCII with spaces (RFC 6749, appendix A.1), not blank. */
export const clientId = z
  .string()
  .min(1, { abort: true })
  .max(255)
  .regex(/^ *[!-~][ -~]*$/, { error: "printable ASCII characters, not blank" });

const SETTINGS = { tag: "Realms", access: "authentication_settings" } as const;

export const getAuthenticationSettings = operation({
  id: "getAuthenticationSettings",
  ...reading(SETTINGS),
  ...settingsPaths,
  summary: "Get the customer authentication settings",
  description:
    "What a storefront needs to begin a sign-on. With an implicit token it can be up to a second old.",
  success: {
    status: 200,
    description: "The settings, with the client id and realm id that sign-on needs",
    schema: settingsAnswer,
  },
});

export const getAuthenticationSettingsById = operation({
  id: "getAuthenticationSettingsById",
  ...reading(SETTINGS),
  path: "/v2/settings/customer-authentication/{id}",
  summary: "Get the customer authentication settings by their id",
  description: "The same as without the id, for clients that send one. A store has only one.",
  ids: { id: "settings_not_found" },
  success: { status: 200, description: "The settings", schema: settingsAnswer },
});

/** Some clients of this API family look for a realm in this shape. */
const settingsFor = (type: "settings" | "account_authentication_settings") =>
  z.strictObject({
    data: z.strictObject({
      id: id.describe("The store's id"),
      type: z.literal(type),
      meta: z.strictObject({ client_id: z.string() }),
      relationships: z.strictObject({
        authentication_realm: z.strictObject({
          data: z.strictObject({ id, type: z.literal("authentication-realm"), links }),
        }),
      }),
    }),
    links,
  });

export const getStoreSettings = operation({
  id: "getStoreSettings",
  ...reading(SETTINGS),
  path: "/v2/settings",
  summary: "Get where customers sign in, for the command-line client of this API family",
  description: "The realm and client id of the customer authentication settings, in another shape.",
  success: { status: 200, description: "The settings", schema: settingsFor("settings") },
});

export const getAccountAuthenticationSettings = operation({
  id: "getAccountAuthenticationSettings",
  ...reading(SETTINGS),
  path: "/v2/settings/account-authentication",
  summary: "Get the realm of accounts: it has no identity providers, because Latchkey has no accounts",
  description:
    "Clients of this API family that sign in customers and accounts read both settings, and list the identity providers of both realms. " +
    "This realm has none, so they offer no sign-on for accounts. It is in no list and cannot be changed. Customers sign in to the realm of " +
    "the customer authentication settings.",
  success: {
    status: 200,
    description: "The settings",
    schema: settingsFor("account_authentication_settings"),
  },
});

export const updateAuthenticationSettings = operation({
  id: "updateAuthenticationSettings",
  ...changing(SETTINGS),
  method: "PUT",
  ...settingsPaths,
  summary: "Change the client id or the realm that customers sign in with",
  description: "Absent members stay unchanged.",
  ofStore: true,
  body: bodyOf({
    type: z.literal("customer-authentication-settings"),
    client_id: clientId.optional(),
    realm_id: z.string().max(64).toLowerCase().optional().meta({ format: "uuid" }),
  }),
  success: { status: 200, description: "The settings as they are now", schema: settingsAnswer },
  problems: ["realm_unknown", "direct_client_id_mismatch"],
});

// Realms

const duplicateEmailPolicy = z.enum(["allowed", "api_only", "disallowed"]);

const idTokenAlgorithm = z.enum(["RS256", "ES256"]);
const profileUpdates = z
  .enum(["always", "first"])
  .describe(
    "Whether a customer's name and e-mail follow the identity provider at each sign-on, or are copied at the first sign-on only. The linking rules also apply to a changed e-mail",
  );
const purpose = z
  .enum(["customers", "members"])
  .describe("Who signs in there: the shop's customers, or the people of the store, at the console");

const HOME =
  "The shop's own page: the target of \"Back to the shop\" on Latchkey's pages. https; null: no such link";
const LOGO = "The shop's logo: Latchkey's pages load it from this address. https; null: the name alone";
const ACCENT =
  "The shop's colour, `#rrggbb`, for links and buttons on Latchkey's pages. Latchkey makes it darker or lighter if its contrast is too low; null: Latchkey's colour";

const realmMembers = {
  id,
  type: z.literal("authentication-realm"),
  name: z
    .string()
    .describe("Latchkey's pages show it as the shop's name, unless it is `Customers`, as in a new store"),
  purpose,
  redirect_uris: z.array(z.string().meta({ format: "uri" })),
  duplicate_email_policy: duplicateEmailPolicy,
  id_token_signed_response_alg: idTokenAlgorithm.describe("How its ID tokens are signed"),
  profile_updates: profileUpdates,
  home_url: textOrNull.meta({ format: "uri", description: HOME }),
  logo_url: textOrNull.meta({ format: "uri", description: LOGO }),
  accent_color: textOrNull.describe(ACCENT),
  relationships: z.strictObject({
    origin: z.strictObject({
      data: z.strictObject({ id, type: z.literal("customer-authentication-settings") }),
    }),
  }),
  meta: z.strictObject({ created_at: timestamp, updated_at: timestamp }),
};
const realm = z.strictObject(realmMembers).meta({ id: "AuthenticationRealm" });
const realmAnswer = answerOf(realm);

const versioned = {
  schema: realmAnswer,
  version: ({ data }: z.input<typeof realmAnswer>): string => data.meta.updated_at,
};

const shownUrl = z.string().max(limits.redirectUriLength).nullable().optional().meta({ format: "uri" });

const writableRealm = {
  purpose: purpose.optional().meta({ examples: ["customers"] }),
  redirect_uris: z
    .array(z.string().max(limits.redirectUriLength).meta({ format: "uri" }))
    .max(limits.redirectUris)
    .optional()
    .meta({ examples: [["https://shop.example/signed-in"]] }),
  duplicate_email_policy: duplicateEmailPolicy.optional().meta({ examples: ["allowed"] }),
  id_token_signed_response_alg: idTokenAlgorithm.optional().meta({
    description: "How ID tokens are signed; `RS256` for a new realm, because client libraries assume it",
    examples: ["RS256"],
  }),
  profile_updates: profileUpdates.optional().meta({ examples: ["always"] }),
  home_url: shownUrl.meta({ description: HOME, examples: ["https://shop.example/"] }),
  logo_url: shownUrl.meta({ description: LOGO, examples: ["https://shop.example/logo.svg"] }),
  accent_color: z
    .string()
    .regex(/^#[0-9a-fA-F]{6}$/, { error: "a colour as #rrggbb" })
    .nullable()
    .optional()
    .meta({ description: ACCENT, examples: ["#0b5f52"] }),
};

const realms = resource({
  tag: "Realms",
  access: "authentication_settings",
  path: "/v2/authentication-realms",
  ids: { id: "realm_not_found" },
});

export const listRealms = operation({
  id: "listRealms",
  ...realms.list,
  summary: "List the store's authentication realms",
  description: "A new store has one, which its customers sign in to.",
  success: { status: 200, description: "One page of realms, oldest first", schema: listOf(realmMembers) },
});

export const createRealm = operation({
  id: "createRealm",
  ...realms.create,
  summary: "Create an authentication realm",
  description:
    "A separate way in: its own identity providers, redirect URIs, and rule for two people with one e-mail. `purpose` is `customers` by " +
    "default and cannot be changed. A store has at most one realm for `members`: public tokens do not see it, its redirect URIs are the " +
    "console's by default, and its client id is `members`.",
  body: bodyOf({
    type: z.literal("authentication-realm"),
    name: name.meta({ examples: ["Wholesale"] }),
    ...writableRealm,
  }),
  success: { status: 201, description: "The realm", ...versioned },
  problems: ["redirect_uri_invalid", "shown_url_invalid", "members_realm_exists"],
});

export const getRealm = operation({
  id: "getRealm",
  ...realms.get,
  summary: "Get an authentication realm",
  description: "With the redirect URIs that storefronts may use.",
  success: { status: 200, description: "The realm", ...versioned },
});

export const updateRealm = operation({
  id: "updateRealm",
  ...realms.update,
  summary: "Change an authentication realm",
  description:
    "Absent members stay unchanged; `null` removes `home_url`, `logo_url` and `accent_color`. `redirect_uris` is replaced as a whole: send the `ETag` of what you read as `If-Match`, so that you do not overwrite another person's change.",
  body: {
    schema: z.object({
      data: z.object({ type: z.literal("authentication-realm"), name: name.optional(), ...writableRealm }),
    }),
  },
  conditional: true,
  success: { status: 200, description: "The realm as it is now", ...versioned },
  problems: ["redirect_uri_invalid", "shown_url_invalid", "realm_purpose_fixed", "realm_changed"],
});

export const deleteRealm = operation({
  id: "deleteRealm",
  ...realms.delete,
  summary: "Delete an authentication realm",
  description: "Refused for the realm that the settings name, and for a realm with identity providers.",
  success: { status: 204, description: "The realm is deleted" },
  problems: ["realm_in_use", "realm_has_profiles"],
});
