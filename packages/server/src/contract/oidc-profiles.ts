import { z } from "zod";
import { limits } from "./limits.ts";
import { profileMeta } from "./oidc-profile-meta.ts";
import { operation } from "./operation.ts";
import { newProviderReport, providerReport } from "./provider-report.ts";
import { clientId } from "./realms.ts";
import { bodyOf, resource } from "./resource.ts";
import { id, name, pageOf, timestamp, url } from "./shapes.ts";

const flow = z.enum(["brokered", "direct"]);
const provisioning = z.enum(["create", "existing"]);

const profileMembers = {
  id,
  type: z.literal("oidc-profile"),
  name: z.string(),
  discovery_url: z.string().meta({ format: "uri" }),
  client_id: z.string(),
  enabled: z.boolean(),
  flow,
  provisioning,
  propagate_logout: z.boolean(),
  meta: profileMeta,
};

const links = z.strictObject({
  self: url,
  "authorization-endpoint": url
    .nullable()
    .describe("Where a storefront sends the shopper; append parameters with &"),
  "callback-endpoint": url.describe("Register this redirect URI at the identity provider"),
  "backchannel-logout-endpoint": url.describe("Register this URI at a provider with back-channel logout"),
  "signed-out-endpoint": url.describe(
    "Register this post-logout redirect URI at the provider, for `propagate_logout`",
  ),
  "client-discovery-url": url,
});

const profile = z.strictObject(profileMembers).meta({ id: "OidcProfile" });
const profileAnswer = z.strictObject({ data: profile, links });

/** An administrator's change moves this time; facts that the service learns by itself do not. */
const versioned = {
  schema: profileAnswer,
  version: ({ data }: z.input<typeof profileAnswer>): string => data.meta.updated_at,
};

const secret = z.string().min(1).max(1024);

const writable = {
  enabled: z
    .boolean()
    .optional()
    .meta({ examples: [false] }),
  flow: flow.optional().meta({ examples: ["brokered"] }),
  provisioning: provisioning.optional().meta({ examples: ["create"] }),
  propagate_logout: z
    .boolean()
    .optional()
    .meta({
      description:
        "Whether a shopper who signs out is sent to the identity provider's `end_session_endpoint`, if it has one on the host of its `authorization_endpoint`; default: false",
      examples: [false],
    }),
  client_secret_next: secret
    .nullable()
    .optional()
    .describe("Tried if the identity provider refuses `client_secret`; replaces it when it works"),
};
const ADOPTED =
  "A deleted profile with the same issuer and client id; this profile takes over its identities";
const adoptDeleted = id.toLowerCase().optional().describe(ADOPTED);
const moveChoice = {
  adopt_identities_of: id
    .toLowerCase()
    .nullable()
    .optional()
    .describe(
      `${ADOPTED}. If a change gives this profile another issuer: the profile's own id keeps its identities, by subject; null drops them`,
    ),
  confirm: z
    .string()
    .max(limits.nameLength)
    .optional()
    .describe("The profile's name; required to keep its identities under another issuer"),
};
const discoveryUrl = z
  .string()
  .trim()
  .min(1)
  .max(2048)
  .meta({ format: "uri", examples: ["https://idp.example/.well-known/openid-configuration"] });

const ofRealm = { realm: "realm_not_found" } as const;
const profiles = resource({
  tag: "Identity providers",
  access: "authentication_settings",
  path: "/v2/authentication-realms/{realm}/oidc-profiles",
  ids: { ...ofRealm, id: "profile_not_found" },
});

const saveProblems = [
  "idp_requirement_not_met",
  "idp_unreachable",
  "direct_profile_exists",
  "direct_client_id_mismatch",
  "direct_pkce_missing",
  "members_profile_direct",
  "adoption_impossible",
  "discovery_tries_exceeded",
] as const;

const moveProblems = ["identities_left_behind", "confirmation_wrong"] as const;

export const listProfiles = operation({
  id: "listProfiles",
  ...profiles.list,
  summary: "List the identity providers of a realm",
  description:
    "A storefront shows a button for each, which leads to its `authorization-endpoint` link. With an implicit token the first page can be up to a second old.",
  ids: ofRealm,
  success: {
    status: 200,
    description: "One page of profiles, oldest first, each with its authorization-endpoint link",
    schema: pageOf(z.strictObject({ ...profileMembers, links })),
  },
});

export const createProfile = operation({
  id: "createProfile",
  ...profiles.create,
  summary: "Add an identity provider",
  description:
    "Reads its discovery document and runs the nine checks; a requirement that is not met gets 422. With `enabled: false` the profile is saved whatever the checks find, and needs no secret yet.",
  ids: ofRealm,
  body: {
    schema: z.object({
      data: z
        .object({
          type: z.literal("oidc-profile"),
          name: name.meta({ examples: ["Company account"] }),
          discovery_url: discoveryUrl,
          client_id: clientId.meta({ examples: ["latchkey"] }),
          client_secret: secret.optional().describe("Required unless `enabled` is false"),
          ...writable,
          adopt_identities_of: adoptDeleted,
        })
        .refine(({ enabled, client_secret }) => enabled === false || client_secret !== undefined, {
          path: ["client_secret"],
          // Checked even when other members are missing, so that all faults are reported together; not without any
          // members.
          when: ({ issues }) => issues.every(({ path = [] }) => path.length > 0),
        })
        .meta({
          if: { properties: { enabled: { const: false } }, required: ["enabled"] },
          else: { required: ["client_secret"] },
        }),
    }),
  },
  success: { status: 201, description: "The profile", ...versioned },
  problems: saveProblems,
});

export const getProfile = operation({
  id: "getProfile",
  ...profiles.get,
  summary: "Get an identity provider",
  description: "The client secret is never shown. Send the `ETag` as `If-Match` with a change.",
  success: { status: 200, description: "The profile", ...versioned },
});

export const updateProfile = operation({
  id: "updateProfile",
  ...profiles.update,
  summary: "Change an identity provider",
  description:
    "Absent members stay unchanged. A new discovery URL or client id needs `client_secret` too. Send the `ETag` of what you read as `If-Match`, so that you do not overwrite another person's change.",
  conditional: true,
  body: bodyOf({
    type: z.literal("oidc-profile"),
    name: name.optional(),
    discovery_url: discoveryUrl.optional(),
    client_id: clientId.optional(),
    client_secret: secret.optional(),
    ...writable,
    ...moveChoice,
  }),
  success: { status: 200, description: "The profile as it is now", ...versioned },
  problems: ["client_secret_required", "profile_changed", ...moveProblems, ...saveProblems],
});

export const deleteProfile = operation({
  id: "deleteProfile",
  ...profiles.delete,
  summary: "Remove an identity provider",
  description: "Ends the customer tokens of its sign-ons at once.",
  success: { status: 204, description: "The profile is removed" },
});

export const checkProfile = operation({
  id: "checkProfile",
  ...profiles.action("checks"),
  summary: "Check an identity provider now",
  description:
    "Reads the provider's documents now, and reports the result for each of the nine requirements.",
  role: "support",
  success: {
    status: 200,
    description: "The result for each requirement",
    schema: z.strictObject({ data: providerReport, links }),
  },
  problems: ["discovery_tries_exceeded"],
});

export const checkBeforeSaving = operation({
  id: "checkBeforeSaving",
  ...profiles.create,
  path: `${profiles.create.path}/checks`,
  summary: "Examine an identity provider before it is added",
  description:
    "Answers what `POST …/{id}/checks` would answer, and saves nothing. A requirement that is not met is no error here. With `client_id`, `meta.adoptable` has the deleted profiles whose people a new profile could take over.",
  ids: ofRealm,
  body: bodyOf({
    type: z.literal("oidc-profile-checks"),
    discovery_url: discoveryUrl,
    client_id: clientId.optional().meta({ examples: ["latchkey"] }),
  }),
  success: {
    status: 200,
    description: "What was found, requirement by requirement",
    schema: z.strictObject({ data: newProviderReport }),
  },
  problems: ["discovery_tries_exceeded"],
});

export const approveDrift = operation({
  id: "approveDrift",
  ...profiles.action("approve-drift"),
  summary: "Approve a change of an identity provider's document",
  description:
    "From now on Latchkey uses the new document. `digest` is the one of `meta.pending_change`; if another document waits by now, nothing is approved.",
  body: bodyOf({ digest: z.string().min(1).max(64), ...moveChoice }),
  success: { status: 200, description: "The profile as it is now", ...versioned },
  problems: [
    "no_pending_change",
    "drift_changed",
    "direct_pkce_missing",
    "adoption_impossible",
    ...moveProblems,
  ],
});

export const testSignOn = operation({
  id: "testSignOn",
  ...profiles.action("test-sign-on"),
  summary: "Sign in once as a person, to see every check",
  description:
    "Returns a URL that works once, in one browser, within ten minutes. The sign-on ends on a page of Latchkey that shows every check with expected and found values, the time of each step, and the result of the requirements R4 and R6 to R9. It leaves a record with `test: true`, and creates no customer, identity, code, token or event. Also for a profile that is not enabled yet.",
  role: "support",
  success: {
    status: 200,
    description: "The URL to open",
    schema: z.strictObject({
      data: z.strictObject({
        type: z.literal("test-sign-on"),
        url,
        expires_at: timestamp,
        reference: z.string().describe("Finds the record, which exists within a second of the test's end"),
      }),
      links,
    }),
  },
  problems: ["test_sign_on_direct"],
});
