import { z } from "zod";
import { codeProblems, codeVerifier } from "./customer-tokens.ts";
import { operation } from "./operation.ts";
import { url } from "./shapes.ts";

/** The legs that a browser walks, and the realm as an OpenID provider. */

const REALM = "/sign-on/stores/{store}/realms/{realm}";
const PROFILE = `${REALM}/profiles/{profile}` as const;
const ofRealm = { store: "realm_not_found", realm: "realm_not_found" } as const;
const ofProfile = { ...ofRealm, profile: "profile_not_found" } as const;
/** An attempt is sealed for its profile's path; under another it does not open, whether that profile exists or not. */
const ofAttempt = { ...ofRealm, profile: "attempt_invalid" } as const;

export const authorize = operation({
  id: "authorize",
  tag: "Sign-on",
  method: "GET",
  path: `${REALM}/authorize`,
  summary: "Send a shopper to the store's identity provider",
  description:
    "Takes `profile`, `scope` (with `openid` and `email`), `response_type=code`, `client_id`, `redirect_uri`, `state`, `code_challenge_method=S256` and `code_challenge`; " +
    "`display`, `prompt` and `ui_locales` are passed on unchanged; `nonce` comes back in our ID token. Anything else is ignored. " +
    "Until client and redirect URI are known to be good a refusal is a page; after that it is a redirect with `error`, `error_description`, `state`, `iss` and `reference`. " +
    "Without `profile`, a realm with several identity providers answers with a page to choose one.",
  access: "browser",
  ids: ofRealm,
  success: { status: 303, description: "To the identity provider, or back to the storefront with an error" },
  problems: ["sign_on_client_unknown", "redirect_uri_unregistered"],
});

export const callback = operation({
  id: "callback",
  tag: "Sign-on",
  method: "GET",
  path: `${PROFILE}/callback`,
  summary: "Where the identity provider sends the shopper back to",
  description: "Register this address at the identity provider. It ends in a redirect to the storefront.",
  access: "browser",
  ids: ofAttempt,
  success: {
    status: 303,
    description: "To the storefront, with `code`, `state` and `iss`, or with an error",
  },
  problems: ["attempt_expired", "browser_changed", "redirect_uri_unregistered", "test_sign_on_over"],
});

export const beginTest = operation({
  id: "beginTest",
  tag: "Sign-on",
  method: "GET",
  path: `${PROFILE}/test`,
  summary: "Where a test sign-on begins",
  description:
    "The address that `POST …/test-sign-on` gave, with its `ticket`. Works once. Answers with a page instead where the provider cannot be asked.",
  access: "browser",
  ids: ofProfile,
  success: { status: 303, description: "To the identity provider" },
  problems: ["test_sign_on_over"],
});

export const backchannelLogout = operation({
  id: "backchannelLogout",
  tag: "Sign-on",
  method: "POST",
  path: `${PROFILE}/backchannel-logout`,
  summary: "Where the identity provider says that a session has ended",
  description:
    "OpenID Connect Back-Channel Logout 1.0. Ends customer tokens that came through this profile, and codes that were not redeemed yet. `sid` alone: those of that session. `sub` alone: all of the subject's. Both: the subject's of that session, and the subject's that came without a `sid`.",
  access: "public",
  ids: ofProfile,
  body: { form: true, schema: z.object({ logout_token: z.string().min(1).max(16_384) }) },
  success: {
    status: 200,
    description: "Done, also when there was nothing to end",
    schema: z.strictObject({}),
  },
  problems: ["logout_token_invalid", "idp_unavailable"],
});

const PUBLIC_CACHE = "public, max-age=300";

export const realmMetadata = operation({
  id: "realmMetadata",
  tag: "Sign-on",
  method: "GET",
  path: `${REALM}/.well-known/openid-configuration`,
  summary: "The realm as an OpenID provider",
  access: "public",
  ids: ofRealm,
  success: {
    status: 200,
    description: "The discovery document, for any OpenID Connect client library",
    cacheControl: PUBLIC_CACHE,
    schema: z.strictObject({
      issuer: url,
      authorization_endpoint: url,
      token_endpoint: url,
      jwks_uri: url,
      scopes_supported: z.array(z.string()),
      response_types_supported: z.array(z.string()),
      response_modes_supported: z.array(z.string()),
      grant_types_supported: z.array(z.string()),
      subject_types_supported: z.array(z.string()),
      id_token_signing_alg_values_supported: z.array(z.string()),
      token_endpoint_auth_methods_supported: z.array(z.string()),
      code_challenge_methods_supported: z.array(z.string()),
      claims_supported: z.array(z.string()),
      authorization_response_iss_parameter_supported: z.literal(true),
      request_parameter_supported: z.literal(false),
      request_uri_parameter_supported: z.literal(false),
    }),
  },
});

export const jwks = operation({
  id: "jwks",
  tag: "Sign-on",
  method: "GET",
  path: "/.well-known/jwks.json",
  summary: "The keys that customer tokens and ID tokens are signed with",
  access: "public",
  success: {
    status: 200,
    description: "A JWK set (RFC 7517), with the next key before it is used",
    cacheControl: PUBLIC_CACHE,
    schema: z.strictObject({
      keys: z.array(
        z.strictObject({
          kty: z.literal("EC"),
          crv: z.literal("P-256"),
          x: z.string(),
          y: z.string(),
          kid: z.string(),
          use: z.literal("sig"),
          alg: z.literal("ES256"),
        }),
      ),
    }),
  },
});

export const realmToken = operation({
  id: "realmToken",
  tag: "Sign-on",
  method: "POST",
  path: `${REALM}/token`,
  summary: "Redeem a code as an OpenID Connect client",
  description:
    "For public clients: the client id, and PKCE. The access token is the customer token; `expires_in` is its life.",
  access: "client",
  ids: ofRealm,
  body: {
    form: true,
    schema: z.object({
      grant_type: z.string().max(64),
      code: z.string().min(1).max(4096),
      redirect_uri: z.string().min(1).max(2048),
      client_id: z.string().min(1).max(255),
      code_verifier: codeVerifier,
    }),
  },
  success: {
    status: 200,
    description: "Customer token and ID token",
    schema: z.strictObject({
      access_token: z.string(),
      token_type: z.literal("Bearer"),
      expires_in: z.int(),
      id_token: z.string(),
      scope: z.string(),
    }),
  },
  problems: ["grant_unsupported", "sign_on_client_unknown", "credentials_in_url", ...codeProblems],
});
