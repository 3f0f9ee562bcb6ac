import type { Fixer } from "./fixers.ts";

/**
 * Why a sign-on failed, in one table: stable codes that programs may look at, what support reads, and the `error`
 * that the storefront gets (RFC 6749 4.1.2.1, OpenID Connect Core 3.1.2.6). A dot names the thing that the
 * identity provider sent and the part of it that was wrong. `by` is who can fix it.
 */
type ReasonEntry = { by: Fixer; error: SignOnError; means: string; remedy: string };

export type SignOnError =
  | "invalid_request"
  | "unsupported_response_type"
  | "invalid_scope"
  | "access_denied"
  | "server_error"
  | "temporarily_unavailable"
  | "callback_replay"
  | "login_required"
  | "request_not_supported"
  | "request_uri_not_supported"
  | "registration_not_supported";

const AT_IDP = "Change it at the identity provider, then try again.";
const FORGED = "If it happens again, look at who could have changed the answer on its way.";

export const signOnReasons = {
  // The storefront's request
  parameter_repeated: {
    by: "storefront",
    error: "invalid_request",
    means: "The storefront sent a parameter twice.",
    remedy: "Send each parameter once.",
  },
  parameter_too_long: {
    by: "storefront",
    error: "invalid_request",
    means:
      "The request has a display of more than 64 characters, a prompt of more than 128, a ui_locales of more than 256 or a login_hint of more than 320.",
    remedy: "Send a shorter value, or leave the parameter out.",
  },
  state_missing: {
    by: "storefront",
    error: "invalid_request",
    means: "The storefront sent no state, or one of more than 2048 characters, or more than fits into a URL.",
    remedy: "Send a random `state` with every request, and compare it when the shopper comes back.",
  },
  response_type_missing: {
    by: "storefront",
    error: "invalid_request",
    means: "The storefront sent no response_type.",
    remedy: "Send `response_type=code`.",
  },
  response_type_unsupported: {
    by: "storefront",
    error: "unsupported_response_type",
    means: "The storefront asked for a response type other than code.",
    remedy: "Send `response_type=code`.",
  },
  scope_incomplete: {
    by: "storefront",
    error: "invalid_scope",
    means: "The scope lacks openid, or email, which this client must send.",
    remedy:
      "Send `scope=openid email`. An application key with `openid_client` `standard` may leave out `email`.",
  },
  challenge_missing: {
    by: "storefront",
    error: "invalid_request",
    means: "The request has no PKCE challenge.",
    remedy:
      "Send `code_challenge`, made from a new verifier for each sign-on (RFC 7636 4.2), and `code_challenge_method=S256`. An application key with `openid_client` `standard` may leave both out and send a `nonce`.",
  },
  challenge_method_unsupported: {
    by: "storefront",
    error: "invalid_request",
    means: "The method of the PKCE challenge is missing or is not S256.",
    remedy:
      "Send `code_challenge_method=S256`, in these letters. Without it the method would be `plain`, which Latchkey does not accept.",
  },
  challenge_invalid: {
    by: "storefront",
    error: "invalid_request",
    means: "The PKCE challenge is not 43 characters of base64url.",
    remedy:
      "Send the SHA-256 of the verifier as base64url without padding (RFC 7636 4.2). It has 43 characters; base64 with `+`, `/` or `=` and hex have another form.",
  },
  nonce_invalid: {
    by: "storefront",
    error: "invalid_request",
    means: "The storefront's nonce is longer than 512 characters, or has control characters in it.",
    remedy: "Send a shorter `nonce`, or none.",
  },
  max_age_invalid: {
    by: "storefront",
    error: "invalid_request",
    means: "The storefront's max_age is not a whole number of seconds of at most ten digits.",
    remedy: "Send `max_age` as digits alone, or leave it out.",
  },
  hint_unmatched: {
    by: "storefront",
    error: "login_required",
    means:
      "The client's id_token_hint is not an ID token of this realm, or names another customer than the one who signed on.",
    remedy: "Send no `id_token_hint` if any customer may sign on.",
  },
  request_not_supported: {
    by: "storefront",
    error: "request_not_supported",
    means: "The storefront sent a request object, which is not supported.",
    remedy: "Send the parameters themselves, and no `request`.",
  },
  request_uri_not_supported: {
    by: "storefront",
    error: "request_uri_not_supported",
    means: "The storefront sent the address of a request object, which is not supported.",
    remedy: "Send the parameters themselves, and no `request_uri`.",
  },
  registration_not_supported: {
    by: "storefront",
    error: "registration_not_supported",
    means: "The storefront sent metadata of its client with the request, which is not supported.",
    remedy: "Send no `registration`.",
  },
  profile_unknown: {
    by: "storefront",
    error: "invalid_request",
    means: "The realm has no such identity provider.",
    remedy: "Use the `authorization-endpoint` link of one of the realm's OIDC profiles.",
  },
  profile_direct: {
    by: "storefront",
    error: "invalid_request",
    means: "This identity provider is used directly, not through Latchkey.",
    remedy: "Send the shopper to the profile's `authorization-endpoint` link.",
  },
  profile_unchosen: {
    by: "storefront",
    error: "server_error",
    means:
      "The realm has several identity providers, the request named none, and its `prompt=none` forbids to ask which one.",
    remedy: "Send `profile` with `prompt=none`.",
  },
  profile_none: {
    by: "store",
    error: "temporarily_unavailable",
    means: "The realm has no enabled identity provider.",
    remedy: "Enable one of the realm's OIDC profiles.",
  },
  profile_disabled: {
    by: "store",
    error: "access_denied",
    means: "The identity provider was disabled or removed.",
    remedy: "Enable the OIDC profile, or offer its button no longer.",
  },
  idp_unavailable: {
    by: "provider",
    error: "temporarily_unavailable",
    means: "The identity provider does not answer.",
    remedy: "Look at the profile's health and run its checks. Sign-ons work again as soon as it does.",
  },

  source_busy: {
    by: "shopper",
    error: "temporarily_unavailable",
    means: "Too many sign-ons wait for the identity provider, most of them from this address.",
    remedy:
      "Try again in a moment. Many made-up codes from one address look like this; so does a provider that answers slowly.",
  },

  // The identity provider's redirect
  callback_replay: {
    by: "shopper",
    error: "callback_replay",
    means: "The browser came back a second time with the same answer: Back, reload, or a copied address.",
    remedy: "Nothing is wrong if the first time worked. Otherwise start again.",
  },
  "response.iss_mismatch": {
    by: "provider",
    error: "server_error",
    means: "The redirect names another issuer than the one of this sign-on.",
    remedy: FORGED,
  },
  "response.iss_missing": {
    by: "provider",
    error: "server_error",
    means: "The identity provider's document promises the issuer in the redirect, and the redirect has none.",
    remedy:
      "Let it send `iss` in every redirect to this client, beside errors too (RFC 9207), or no longer list `authorization_response_iss_parameter_supported`.",
  },
  "response.code_missing": {
    by: "provider",
    error: "server_error",
    means: "The redirect brought neither a code nor an error.",
    remedy: AT_IDP,
  },
  "response.parameter_repeated": {
    by: "provider",
    error: "server_error",
    means: "The redirect has a parameter twice.",
    remedy: FORGED,
  },
  idp_error: {
    by: "provider",
    error: "server_error",
    means: "The identity provider refused the sign-on; `error` and `idp_answer` have its answer.",
    remedy:
      "access_denied, consent_required: the person or the provider refused. login_required, interaction_required, account_selection_required: with `prompt=none` the provider may not ask the person, and had to; sign in without it. For any other, look into the provider's own log.",
  },
  "idp_error.par_required": {
    by: "provider",
    error: "server_error",
    means: "The identity provider demands that requests are pushed to it or signed (requirement R3).",
    remedy: "Do not demand pushed authorization requests or signed request objects for this client.",
  },
  "idp_error.flow_off": {
    by: "provider",
    error: "server_error",
    means: "The identity provider does not allow this client the Authorization Code Flow (requirement R3).",
    remedy: "Allow the response type `code` and the grant `authorization_code` for this client.",
  },
  "idp_error.scope": {
    by: "provider",
    error: "server_error",
    means:
      "The identity provider does not allow this client the scopes that were asked for (requirement R4).",
    remedy: "Allow the scopes `openid` and `email` for this client, and `profile` where it is asked for.",
  },
  "idp_error.redirect_uri": {
    by: "provider",
    error: "server_error",
    means: "The identity provider does not know Latchkey's callback URL for this client.",
    remedy: "Register exactly the profile's `callback-endpoint` link there.",
  },
  "idp_error.acr_required": {
    by: "provider",
    error: "server_error",
    means: "The identity provider demands the parameter `acr_values` (requirement R8).",
    remedy: "Do not demand it for this client; set a default level there if one is needed.",
  },

  // The exchange at the identity provider
  "token.refused": {
    by: "provider",
    error: "server_error",
    means: "The identity provider did not accept the code that it had just given.",
    remedy:
      "`idp_answer` has its words. Most often the code was used already or is too old; compare the callback URL registered there with the profile's `callback-endpoint` link, too.",
  },
  "token.redirect_uri": {
    by: "provider",
    error: "server_error",
    means: "The identity provider answered that Latchkey's callback URL is not the registered one.",
    remedy: "Register exactly the profile's `callback-endpoint` link there, and no similar URL.",
  },
  "token.client_refused": {
    by: "store",
    error: "server_error",
    means: "The identity provider does not accept the profile's client id and secret.",
    remedy:
      "Enter the current client secret in the profile; with `client_secret_next` that needs no outage. If it is right, allow `client_secret_basic` for this client.",
  },
  "token.method_refused": {
    by: "provider",
    error: "server_error",
    means:
      "The identity provider requires another authentication method than client_secret_basic for this client (requirement R2).",
    remedy: "Set the client's authentication at the token endpoint to client secret, by HTTP Basic.",
  },
  "token.encryption_refused": {
    by: "provider",
    error: "server_error",
    means: "The identity provider is set to encrypt for this client, and has no key for it (requirement R6).",
    remedy: "Turn off encryption of ID tokens and UserInfo for this client.",
  },
  "token.flow_off": {
    by: "provider",
    error: "server_error",
    means: "The identity provider does not allow this client the grant authorization_code (requirement R3).",
    remedy: "Allow the grant `authorization_code` for this client.",
  },
  "token.scope": {
    by: "provider",
    error: "server_error",
    means:
      "The identity provider does not allow this client the scopes that were asked for (requirement R4).",
    remedy: "Allow the scopes `openid` and `email` for this client, and `profile` where it is asked for.",
  },
  "token.unavailable": {
    by: "provider",
    error: "temporarily_unavailable",
    means:
      "The identity provider's token endpoint gave no usable answer: none in time, a server error, too many requests, or something that cannot be read.",
    remedy: "Look at the profile's health and run its checks.",
  },
  "token.type": {
    by: "provider",
    error: "server_error",
    means: "The token type is not Bearer.",
    remedy: AT_IDP,
  },

  // The ID token
  "id_token.missing": {
    by: "provider",
    error: "server_error",
    means: "The identity provider gave no ID token.",
    remedy: "Allow the scope `openid` for this client.",
  },
  "id_token.encrypted": {
    by: "provider",
    error: "server_error",
    means: "The ID token is encrypted (requirement R6).",
    remedy: "Turn off encryption of ID tokens for this client.",
  },
  "id_token.malformed": {
    by: "provider",
    error: "server_error",
    means: "The ID token is not a signed JSON web token in its compact form.",
    remedy: AT_IDP,
  },
  "id_token.json": {
    by: "provider",
    error: "server_error",
    means: "The JSON in the ID token has a member twice, half of a surrogate pair, or more than 8 levels.",
    remedy:
      "`checks` says which of the three, and at which member. Change that member at the identity provider, or no longer send it to this client.",
  },
  "id_token.alg": {
    by: "provider",
    error: "server_error",
    means: "The ID token is signed with an algorithm that is not accepted for this provider.",
    remedy: "Sign with RS256, PS256, ES256 or EdDSA, and list it in the discovery document.",
  },
  "id_token.key": {
    by: "provider",
    error: "server_error",
    means: "The key that the ID token names is not in the provider's key set, or several of its keys match.",
    remedy:
      "Publish the key at `jwks_uri`, with a `kid`, before signing with it. If it is published, try again in ten seconds: for a key that it does not know Latchkey reads the key set at most that often.",
  },
  "id_token.keys_unread": {
    by: "provider",
    error: "temporarily_unavailable",
    means:
      "The provider's key set could not be read, and the key that the ID token names was not known before.",
    remedy: "Run the profile's checks. Sign-ons work again as soon as its `jwks_uri` answers.",
  },
  "id_token.signature": {
    by: "provider",
    error: "server_error",
    means: "The ID token's signature is not valid.",
    remedy: FORGED,
  },
  "id_token.iss": {
    by: "provider",
    error: "server_error",
    means: "The ID token names an unexpected issuer.",
    remedy: "The issuer in the token must be exactly the one of the discovery document.",
  },
  "id_token.aud": {
    by: "provider",
    error: "server_error",
    means: "The ID token is not for the profile's client id alone (requirement R7).",
    remedy: "Let the provider put only this client's id into `aud`.",
  },
  "id_token.azp": {
    by: "provider",
    error: "server_error",
    means: "The ID token was given to another client.",
    remedy: "Let the provider leave `azp` out, or set it to this client's id.",
  },
  "id_token.exp": {
    by: "provider",
    error: "server_error",
    means: "The ID token has expired, or has no expiry (`exp`).",
    remedy: "Compare the clocks: the profile's checks say how far apart they are.",
  },
  "id_token.iat": {
    by: "provider",
    error: "server_error",
    means: "The ID token has no time of issue (`iat`), or one that is too long ago or in the future.",
    remedy: "Compare the clocks: the profile's checks say how far apart they are.",
  },
  "id_token.nbf": {
    by: "provider",
    error: "server_error",
    means: "The ID token is not valid yet (`nbf`).",
    remedy: "Compare the clocks: the profile's checks say how far apart they are.",
  },
  "id_token.nonce": {
    by: "provider",
    error: "server_error",
    means: "The ID token does not belong to this sign-on.",
    remedy:
      "The provider must repeat the `nonce` of the request. If it does, the answer was mixed up or forged.",
  },
  "id_token.sub": {
    by: "provider",
    error: "server_error",
    means: "The ID token has no subject, or one that is not 1 to 255 ASCII characters.",
    remedy: AT_IDP,
  },
  "id_token.auth_time_missing": {
    by: "provider",
    error: "login_required",
    means:
      "The storefront wants a recent sign-in (`max_age`), and the identity provider does not say when it was.",
    remedy: "Let the identity provider put `auth_time` into its ID tokens, or leave `max_age` out.",
  },
  "id_token.auth_time": {
    by: "storefront",
    error: "login_required",
    means: "The shopper's last sign-in at the provider is older than the storefront allows (`max_age`).",
    remedy: "Send `prompt=login`, so that the identity provider asks again, or allow a larger `max_age`.",
  },
  "id_token.at_hash": {
    by: "provider",
    error: "server_error",
    means: "The ID token belongs to another access token.",
    remedy: FORGED,
  },

  // UserInfo and claims
  "userinfo.unavailable": {
    by: "provider",
    error: "temporarily_unavailable",
    means: "The ID token has no e-mail, and the UserInfo endpoint gave no usable answer.",
    remedy: "Put the e-mail into the ID token, or look at the provider's UserInfo endpoint.",
  },
  "userinfo.malformed": {
    by: "provider",
    error: "server_error",
    means: "The UserInfo answer is neither a JSON object nor a signed JSON web token.",
    remedy: AT_IDP,
  },
  "userinfo.json": {
    by: "provider",
    error: "server_error",
    means:
      "The JSON in the UserInfo answer has a member twice, half of a surrogate pair, or more than 8 levels.",
    remedy:
      "`checks` says which of the three. Change that member at the identity provider, or no longer send it to this client.",
  },
  "userinfo.encrypted": {
    by: "provider",
    error: "server_error",
    means: "The UserInfo answer is encrypted (requirement R6).",
    remedy: "Turn off encryption of UserInfo answers for this client. They may be signed.",
  },
  "userinfo.signature": {
    by: "provider",
    error: "server_error",
    means: "The UserInfo answer is signed, and its signature, issuer or audience is wrong.",
    remedy:
      "It must be signed like an ID token: with RS256, PS256, ES256 or EdDSA, by a key of `jwks_uri`, with the provider's issuer and this client's id where it names them.",
  },
  "userinfo.sub": {
    by: "provider",
    error: "server_error",
    means: "The UserInfo answer is about another subject than the ID token.",
    remedy: AT_IDP,
  },
  "claims.email_missing": {
    by: "provider",
    error: "access_denied",
    means: "The identity provider gave no e-mail for this person (requirement R4).",
    remedy: "Release the claim `email` to this client; check that this person has an address there.",
  },
  "claims.email_invalid": {
    by: "provider",
    error: "access_denied",
    means: "The e-mail that the identity provider gave is not one plain address.",
    remedy: "Correct the address at the identity provider.",
  },

  // Which customer it is
  email_unverified: {
    by: "store",
    error: "access_denied",
    means:
      "The e-mail belongs to an existing customer, and the identity provider does not say that it has verified it.",
    remedy: "Let the provider send `email_verified: true`, or let the shopper sign in as before.",
  },
  email_taken: {
    by: "store",
    error: "access_denied",
    means:
      "The e-mail is the verified address of an existing customer, and the realm's `duplicate_email_policy` is `disallowed`.",
    remedy: "Let the shopper sign in as before, or change the policy.",
  },
  several_matches: {
    by: "store",
    error: "access_denied",
    means: "Several customers have this e-mail, so Latchkey cannot choose one.",
    remedy: "Merge or correct those customers.",
  },
  provisioning_off: {
    by: "store",
    error: "access_denied",
    means: "This person is not a customer yet, and the profile's `provisioning` is `existing`.",
    remedy: "Create the customer first, or set `provisioning` to `create`.",
  },

  // Which member it is
  member_unknown: {
    by: "store",
    error: "access_denied",
    means: "This person is not a member of the store.",
    remedy:
      "Let an administrator invite them under Members with the e-mail that the identity provider has for them, or sign in with the account that was invited.",
  },
  member_email_unverified: {
    by: "provider",
    error: "access_denied",
    means:
      "This person has not signed in before, and the identity provider does not say that it has verified their e-mail.",
    remedy:
      "Let the provider send `email_verified: true` in the same answer as the e-mail, then sign in again.",
  },
  member_bound: {
    by: "store",
    error: "access_denied",
    means: "The member with this e-mail has signed in before as another account of an identity provider.",
    remedy:
      "Sign in with the account of the first time. If it is gone, let an administrator remove the member and invite them again.",
  },

  // The exchange of the code of Latchkey, by the storefront or the console
  code_expired: {
    by: "storefront",
    error: "access_denied",
    means: "The code was not redeemed in time.",
    remedy: "Redeem it as soon as the browser is back.",
  },
  redirect_uri_mismatch: {
    by: "storefront",
    error: "access_denied",
    means: "The code was redeemed with another redirect URI than the sign-on began with. The code is void.",
    remedy: "Send exactly the same redirect URI.",
  },
  verifier_mismatch: {
    by: "storefront",
    error: "access_denied",
    means: "The code was redeemed with a verifier that does not match the challenge. The code is void.",
    remedy: "Keep one verifier for each `state`: several tabs must not share one.",
  },
  client_mismatch: {
    by: "storefront",
    error: "access_denied",
    means: "The code was redeemed by another client than it was given to. The code is void.",
    remedy: "Send the `client_id` that the sign-on began with.",
  },
  session_ended: {
    by: "shopper",
    error: "access_denied",
    means: "The identity provider ended its session before the code was redeemed. The code is void.",
    remedy: "Nothing, if the person signed out there. They can sign in again.",
  },
  person_erased: {
    by: "shopper",
    error: "access_denied",
    means: "The customer was erased while this sign-on was under way. The code is void.",
    remedy: "Nothing. A new sign-on creates a new customer.",
  },
  code_replayed: {
    by: "storefront",
    error: "access_denied",
    means:
      "The code was used a second time in a way that no retry explains; the token it had given was revoked.",
    remedy: "Redeem a code once. If your code redeems it only once, the code was stolen.",
  },

  // Logout tokens: no sign-on fails, but each leaves a record
  "logout_token.malformed": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token is not a signed JSON web token in its compact form.",
    remedy: AT_IDP,
  },
  "logout_token.json": {
    by: "provider",
    error: "invalid_request",
    means:
      "The JSON in the logout token has a member twice, half of a surrogate pair, or more than 8 levels.",
    remedy:
      "`checks` says which of the three, and at which member. Change that member at the identity provider, or no longer send it to this client.",
  },
  "logout_token.encrypted": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token is encrypted.",
    remedy: "Turn off encryption of tokens for this client.",
  },
  "logout_token.alg": {
    by: "provider",
    error: "invalid_request",
    means:
      "The logout token is signed with another algorithm than this provider's ID tokens, or with one that is not accepted for it.",
    remedy:
      "Sign logout tokens as ID tokens are signed (Back-Channel Logout 2.6): with RS256, PS256, ES256 or EdDSA, and list it in the discovery document. After a change of the algorithm one sign-on makes the new one known; a test sign-on is enough.",
  },
  "logout_token.key": {
    by: "provider",
    error: "invalid_request",
    means: "The key that the logout token names is not in the provider's key set.",
    remedy:
      "Publish the key at `jwks_uri` before signing with it. If it is published, the next logout token is accepted ten seconds later: for a key that it does not know Latchkey reads the key set at most that often.",
  },
  "logout_token.keys_unread": {
    by: "provider",
    error: "temporarily_unavailable",
    means:
      "The provider's key set could not be read, and the key that the logout token names was not known before.",
    remedy:
      "Run the profile's checks. The provider got an answer that asks for a repeat. Some providers do not repeat: the session may stay valid.",
  },
  "logout_token.signature": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token's signature is not valid.",
    remedy: "Anyone can send such a token, and it changes nothing.",
  },
  "logout_token.iss": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token names an unexpected issuer.",
    remedy: "The issuer in the token must be exactly the one of the discovery document.",
  },
  "logout_token.aud": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token is not for the profile's client id alone.",
    remedy: "Register the `backchannel-logout-endpoint` link for this client and for no other.",
  },
  "logout_token.azp": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token was given to another client.",
    remedy: "Let the provider leave `azp` out, or set it to this client's id.",
  },
  "logout_token.exp": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token has expired.",
    remedy: "Compare the clocks: the profile's checks say how far apart they are.",
  },
  "logout_token.iat": {
    by: "provider",
    error: "invalid_request",
    means:
      "The logout token has no time of issue (`iat`), or one that is more than ten minutes ago or in the future.",
    remedy:
      "Compare the clocks: the profile's checks say how far apart they are. A logout that is delivered late ends nothing.",
  },
  "logout_token.nbf": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token is not valid yet (`nbf`).",
    remedy: "Compare the clocks: the profile's checks say how far apart they are.",
  },
  "logout_token.events": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token lacks the event of back-channel logout.",
    remedy: AT_IDP,
  },
  "logout_token.nonce": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token has a nonce, which only ID tokens may have.",
    remedy: AT_IDP,
  },
  "logout_token.sub": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token names neither a subject nor a session, or has an invalid subject.",
    remedy: AT_IDP,
  },
  "logout_token.sid": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token names a session in a form that Latchkey does not accept.",
    remedy: AT_IDP,
  },
  "logout_token.jti": {
    by: "provider",
    error: "invalid_request",
    means: "The logout token has no id of its own.",
    remedy: AT_IDP,
  },

  // Latchkey itself
  storage_unavailable: {
    by: "operator",
    error: "temporarily_unavailable",
    means: "Latchkey's database could not be reached.",
    remedy: "Try again in a moment.",
  },
  internal_error: {
    by: "operator",
    error: "server_error",
    means: "Something went wrong on our side.",
    remedy: "Try again; if it stays, look for the reference in the service's log.",
  },
} as const satisfies Record<string, ReasonEntry>;

export type SignOnReason = keyof typeof signOnReasons;

export const signOnReasonEntry = (reason: SignOnReason): ReasonEntry => signOnReasons[reason];

/** A further remedy, if a sign-on was refused and this check did not pass. */
const furtherRemedies: Record<string, string> = {
  "token.encoded_credentials":
    "The client id or the secret has characters that are sent percent-encoded (RFC 6749 2.3.1), such as `~`, `+`, `/`, `=`, `%` or `:`, and some providers decode them wrongly or not at all: a secret of letters, digits, `-`, `.` and `_` is read by all.",
};

/** The remedy of a refusal, with the further remedies of its checks. */
export const remedyOf = (reason: SignOnReason, checks: readonly SignOnCheck[]): string =>
  [
    signOnReasonEntry(reason).remedy,
    ...checks.flatMap(({ check, passed }) => {
      const further = passed ? undefined : furtherRemedies[check];
      return further === undefined ? [] : [further];
    }),
  ].join(" ");

/** An identity provider's error codes that storefronts know and get unchanged (OpenID Connect Core 3.1.2.6). */
const passedOnErrors = [
  "access_denied",
  "login_required",
  "interaction_required",
  "consent_required",
  "account_selection_required",
  "temporarily_unavailable",
  "server_error",
  "invalid_request",
  "unauthorized_client",
  "unsupported_response_type",
  "invalid_scope",
] as const;

export const isPassedOn = (error: string): boolean => passedOnErrors.some((known) => known === error);

/** One check of a sign-on. Never a token, code or secret; texts from outside are cut short. */
export type SignOnCheck = { check: string; passed: boolean; expected?: string; found?: string };

/**
 * The identity provider's answer to a sign-on that failed there. Its texts are cut short and made safe to show;
 * secrets, codes and tokens are left out.
 */
export type IdpAnswer = {
  /** `authorize`: the provider's redirect, which anyone can forge. */
  call: "discovery" | "authorize" | "token" | "userinfo";
  /** Null: there was no answer. */
  status: number | null;
  /** Why there was no usable answer. */
  fault: string | null;
  error: string | null;
  error_description: string | null;
};
