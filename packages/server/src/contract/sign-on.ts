import { z } from "zod";
import { clientFields, clientProblems } from "./access-tokens.ts";
import { authorizeParameters } from "./authorization-request.ts";
import { codeProblems, codeVerifier } from "./customer-tokens.ts";
import { limits } from "./limits.ts";
import { operation } from "./operation.ts";
import { id, url } from "./shapes.ts";

/** The legs of the browser, and the realm as an OpenID provider. */

export const REALM = "/sign-on/stores/{store}/realms/{realm}";
export const PROFILE = `${REALM}/profiles/{profile}` as const;
export const ofRealm = { store: "realm_not_found", realm: "realm_not_found" } as const;
export const ofProfile = { ...ofRealm, profile: "profile_not_found" } as const;
/**
 * An attempt is sealed for its profile's path, and does not open under another path, whether that profile exists or
 * not.
 */
const ofAttempt = { ...ofRealm, profile: "attempt_invalid" } as const;

const authorizing = {
  tag: "Sign-on",
  path: `${REALM}/authorize`,
  summary: "Send a shopper to the store's identity provider",
  access: "browser",
  ids: ofRealm,
  legQuery: authorizeParameters,
  success: {
    status: 303,
    description: "To the identity provider, or back to the storefront with an error",
    page: "A choice of identity providers, if `profile` is absent and the realm has several",
  },
  problems: ["sign_on_client_unknown", "redirect_uri_unregistered"],
} as const;

export const authorize = operation({
  id: "authorize",
  method: "GET",
  ...authorizing,
  description:
    "`request`, `request_uri` and `registration` are refused; other parameters that are not listed are ignored. " +
    "While client and redirect URI are not yet checked, a refusal is a page; after that it is a redirect with `error`, `error_description`, `reason` (as in the record: a code of docs/errors.md), `state`, `iss` and `reference`. " +
    "Without `profile`, a realm with several identity providers answers with a page to choose one.",
});

export const authorizeByForm = operation({
  id: "authorizeByForm",
  method: "POST",
  ...authorizing,
  description:
    "The same, with the parameters as a form (OpenID Connect Core 3.1.2.1). Parameters of the query count too; a parameter in both counts as sent twice.",
  legForm: true,
});

export const callback = operation({
  id: "callback",
  tag: "Sign-on",
  method: "GET",
  path: `${PROFILE}/callback`,
  summary: "Take the shopper back from the identity provider",
  description: "Register this address at the identity provider. It ends in a redirect to the storefront.",
  access: "browser",
  ids: ofAttempt,
  success: {
    status: 303,
    description: "To the storefront, with `code`, `state` and `iss`, or with an error",
    page: "The result of a test sign-on",
  },
  problems: ["attempt_expired", "browser_changed", "redirect_uri_unregistered", "test_sign_on_over"],
});

export const beginTest = operation({
  id: "beginTest",
  tag: "Sign-on",
  method: "GET",
  path: `${PROFILE}/test`,
  summary: "Begin a test sign-on",
  description: "The URL that `POST …/test-sign-on` returned, with its `ticket`. Works once.",
  access: "browser",
  ids: ofProfile,
  success: { status: 303, description: "To the identity provider", page: "Why the test cannot begin" },
  problems: ["test_sign_on_over"],
});

export const backchannelLogout = operation({
  id: "backchannelLogout",
  tag: "Sign-on",
  method: "POST",
  path: `${PROFILE}/backchannel-logout`,
  summary: "Back-channel logout: the identity provider reports that a session has ended",
  description:
    "OpenID Connect Back-Channel Logout 1.0. Ends customer tokens of this profile's sign-ons, access tokens of its members, and codes that are not redeemed yet. Only `sid`: ends that session. Only `sub`: ends all sessions of the subject. Both: ends that session of the subject, and the subject's sessions without a `sid`.",
  access: "public",
  ids: ofProfile,
  body: { form: true, schema: z.object({ logout_token: z.string().min(1).max(limits.logoutTokenLength) }) },
  success: {
    status: 200,
    description: "Done, or there was no session to end",
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
  description: "OpenID Connect Discovery 1.0. It lists only what the realm supports.",
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
      revocation_endpoint: url,
      userinfo_endpoint: url,
      end_session_endpoint: url,
      scopes_supported: z.array(z.string()),
      response_types_supported: z.array(z.string()),
      response_modes_supported: z.array(z.string()),
      grant_types_supported: z.array(z.string()),
      subject_types_supported: z.array(z.string()),
      id_token_signing_alg_values_supported: z.array(z.string()),
      token_endpoint_auth_methods_supported: z.array(z.string()),
      revocation_endpoint_auth_methods_supported: z.array(z.string()),
      code_challenge_methods_supported: z.array(z.string()),
      claims_supported: z.array(z.string()),
      authorization_response_iss_parameter_supported: z.literal(true),
      claims_parameter_supported: z.literal(false),
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
  description:
    "For services that verify Latchkey's tokens themselves. Cache it for five minutes; read it again for an unknown key id.",
  access: "public",
  success: {
    status: 200,
    description: "A JWK set (RFC 7517). It has the next key before that key is used",
    cacheControl: PUBLIC_CACHE,
    schema: z.strictObject({
      keys: z.array(
        z.discriminatedUnion("kty", [
          z.strictObject({
            kty: z.literal("EC"),
            crv: z.literal("P-256"),
            x: z.string(),
            y: z.string(),
            kid: z.string(),
            use: z.literal("sig"),
            alg: z.literal("ES256"),
          }),
          z.strictObject({
            kty: z.literal("RSA"),
            n: z.string(),
            e: z.string(),
            kid: z.string(),
            use: z.literal("sig"),
            alg: z.literal("RS256"),
          }),
        ]),
      ),
    }),
  },
});

/** A client id without the form of an application key's id is compared with the settings' client id only. */
const realmClientProblems = [
  "sign_on_client_unknown",
  ...clientProblems.filter((code) => code !== "client_id_mistyped"),
] as const;

export const realmToken = operation({
  id: "realmToken",
  tag: "Sign-on",
  method: "POST",
  path: `${REALM}/token`,
  summary: "Redeem a code as an OpenID Connect client",
  description:
    "The public client of the customer authentication settings sends its `client_id`; an application key also its secret, by HTTP Basic authentication or in the form. " +
    "PKCE is required of both; an application key whose `openid_client` is `standard` sends no verifier for a sign-on that it began without a challenge. The access token is the customer token; `expires_in` is its lifetime.",
  access: "client",
  ids: ofRealm,
  body: {
    form: true,
    grants: ["authorization_code"],
    schema: z.object({
      grant_type: z.literal("authorization_code"),
      code: z.string().min(1).max(4096),
      redirect_uri: z.string().min(1).max(2048).meta({ format: "uri" }),
      ...clientFields,
      code_verifier: codeVerifier.optional(),
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
  problems: [...realmClientProblems, ...codeProblems],
});

export const revokeAtRealm = operation({
  id: "revokeAtRealm",
  tag: "Sign-on",
  method: "POST",
  path: `${REALM}/revoke`,
  summary: "Revoke a customer token as an OpenID Connect client (RFC 7009)",
  description:
    "Revokes a customer token that this realm issued to the calling client: the public client of the customer authentication settings, which sends its `client_id`, or an application key with its secret. Any other token gets 200 too and stays valid.",
  access: "client",
  ids: ofRealm,
  body: {
    form: true,
    schema: z.object({
      token: z.string().min(1).max(4096),
      token_type_hint: z.string().max(1024).optional(),
      ...clientFields,
    }),
  },
  success: {
    status: 200,
    description: "Revoked, or not a token that this client can revoke",
    schema: z.strictObject({}),
  },
  problems: realmClientProblems,
});

const answeringUserinfo = {
  tag: "Sign-on",
  path: `${REALM}/userinfo`,
  summary: "Get the signed-in customer (UserInfo)",
  access: "customer_token",
  ids: ofRealm,
  success: {
    status: 200,
    description: "The customer's claims of the ID token, with their present values",
    schema: z.strictObject({
      sub: id.describe("The customer's id"),
      email: z.string().optional().describe("If the sign-on had the scope `email`"),
      email_verified: z.boolean().optional(),
      name: z.string().optional().describe("If the sign-on had the scope `profile`"),
    }),
  },
} as const;

export const userinfo = operation({
  id: "userinfo",
  method: "GET",
  ...answeringUserinfo,
  description:
    "OpenID Connect Core 5.3. Takes a customer token of this realm as bearer token, and no other token.",
});

export const userinfoByPost = operation({
  id: "userinfoByPost",
  method: "POST",
  ...answeringUserinfo,
  description: "The same. The body is not read: the token is in the `Authorization` header.",
});
