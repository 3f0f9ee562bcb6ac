import type { SignOn } from "@latchkey/sdk/admin";

/**
 * The sentence that support reads aloud to a caller whose sign-on failed: the cause, and whether trying again helps.
 * "We" is the store. The caller may be a shopper, or a member at the console. No sentence asks for what only an
 * administrator can do, or says whether an account with an address exists.
 */
const SHOP = "Our sign-in has a fault. Trying again won’t help until we’ve fixed it.";
const SERVICE =
  "The sign-in service sent something we couldn’t verify. Trying again won’t help until it’s fixed.";
const CONNECTION =
  "Our connection to the sign-in service isn’t set up correctly. Trying again won’t help until it’s fixed.";
const DOWN = "That sign-in service isn’t responding. Try again in a minute.";
/** The provider may have changed its key: Latchkey reads the keys again at the next try, ten seconds later. */
const NEW_KEY =
  "We couldn’t verify the sign-in service’s answer yet. Try again in a minute; if it fails again, it has to be fixed.";
const UNVERIFIED = "We couldn’t verify your sign-in. Trying again won’t help until we’ve found out why.";
const AS_BEFORE =
  "We couldn’t sign you in with this account. Trying it again won’t help: sign in the way you did before.";
const BROKE_OFF =
  "The last step of the sign-in failed. Start again from the sign-in page; if it fails again, we have to fix it.";

const WORDS: Record<string, string> = {
  // The storefront's request
  parameter_repeated: SHOP,
  parameter_too_long: SHOP,
  state_missing: SHOP,
  response_type_missing: SHOP,
  response_type_unsupported: SHOP,
  scope_incomplete: SHOP,
  challenge_missing: SHOP,
  challenge_method_unsupported: SHOP,
  challenge_invalid: SHOP,
  nonce_invalid: SHOP,
  max_age_invalid: SHOP,
  hint_unmatched:
    "You signed in with another account than before. Try again with the account you used before.",
  request_not_supported: SHOP,
  request_uri_not_supported: SHOP,
  registration_not_supported: SHOP,
  redirect_uri_unregistered: SHOP,
  profile_unknown: SHOP,
  profile_direct: SHOP,
  profile_unchosen: SHOP,
  profile_none: "Signing in is switched off right now. Trying again won’t help until we’ve switched it on.",
  profile_disabled: "This way to sign in is switched off. Trying it again won’t help: choose another way.",
  idp_unavailable: DOWN,
  source_busy: "Too many people are signing in at the same time. Try again in a minute.",

  // The browser
  attempt_expired: "The sign-in took longer than ten minutes. Start again from the sign-in page.",
  browser_changed:
    "The sign-in changed to another browser, or yours blocks cookies. Allow cookies, and start again in one browser.",
  callback_replay:
    "This sign-in was already used. If you aren’t signed in now, start again from the sign-in page.",

  // The identity provider's redirect
  "response.iss_mismatch": UNVERIFIED,
  "response.iss_missing": SERVICE,
  "response.code_missing": SERVICE,
  "response.parameter_repeated": UNVERIFIED,
  idp_error: "The sign-in service refused the sign-in. Trying again won’t help until it’s fixed.",
  "idp_error.par_required": CONNECTION,
  "idp_error.flow_off": CONNECTION,
  "idp_error.scope": CONNECTION,
  "idp_error.redirect_uri": CONNECTION,
  "idp_error.acr_required": CONNECTION,

  // The exchange at the identity provider
  "token.refused": CONNECTION,
  "token.redirect_uri": CONNECTION,
  "token.client_refused": CONNECTION,
  "token.method_refused": CONNECTION,
  "token.encryption_refused": CONNECTION,
  "token.flow_off": CONNECTION,
  "token.scope": CONNECTION,
  "token.unavailable": DOWN,
  "token.type": SERVICE,

  // The ID token
  "id_token.missing": SERVICE,
  "id_token.encrypted": SERVICE,
  "id_token.malformed": SERVICE,
  "id_token.json": SERVICE,
  "id_token.alg": SERVICE,
  "id_token.key": NEW_KEY,
  "id_token.keys_unread": DOWN,
  "id_token.signature": NEW_KEY,
  "id_token.iss": SERVICE,
  "id_token.aud": SERVICE,
  "id_token.azp": SERVICE,
  "id_token.exp": SERVICE,
  "id_token.iat": SERVICE,
  "id_token.nbf": SERVICE,
  "id_token.nonce": UNVERIFIED,
  "id_token.sub": SERVICE,
  "id_token.auth_time_missing": SERVICE,
  "id_token.auth_time":
    "Your sign-in at the sign-in service is too old. Sign out there, then start again from the sign-in page.",
  "id_token.at_hash": UNVERIFIED,

  // UserInfo and claims
  "userinfo.unavailable": DOWN,
  "userinfo.malformed": SERVICE,
  "userinfo.json": SERVICE,
  "userinfo.encrypted": SERVICE,
  "userinfo.signature": SERVICE,
  "userinfo.sub": SERVICE,
  "claims.email_missing":
    "The sign-in service sent no e-mail address for you. Trying again won’t help until it sends one.",
  "claims.email_invalid":
    "We can’t use your e-mail address as the sign-in service has it. Trying again won’t help until it’s corrected there.",

  // The person
  email_unverified: AS_BEFORE,
  email_taken: AS_BEFORE,
  several_matches:
    "We can’t tell which account is yours. Trying again won’t help until we’ve sorted that out.",
  provisioning_off:
    "You need an account with us to sign in this way. Trying again won’t help until you have one.",
  member_unknown:
    "This account isn’t a member of the store. Try again with the invited account; without one, ask to be invited.",
  member_email_unverified:
    "The sign-in service doesn’t confirm that your e-mail address is yours. Trying again won’t help until it does.",
  member_bound:
    "You’ve signed in here before with another account. Try again with that one; if it’s gone, ask to be invited again.",

  // The last step
  code_expired: "The sign-in wasn’t finished in time. Start again from the sign-in page.",
  redirect_uri_mismatch: BROKE_OFF,
  verifier_mismatch: BROKE_OFF,
  client_mismatch: BROKE_OFF,
  session_ended:
    "The sign-in service signed you out before you had finished. Start again from the sign-in page.",
  person_erased:
    "The account was deleted during the sign-in. If you want a new account, start again from the sign-in page.",
  code_replayed:
    "The sign-in was used a second time, so you were signed out to be safe. Start again from the sign-in page.",

  // Latchkey itself
  storage_unavailable: "Something went wrong on our side. Try again in a minute.",
  internal_error:
    "Something went wrong on our side. Try again in a minute; if it fails again, we have to fix it.",
};

/** `idp_error` by the provider's own error. */
const ASKS =
  "The sign-in service needs to ask you something. Start again from the sign-in page, and answer what it asks.";
const REFUSALS: Record<string, string> = {
  access_denied:
    "The sign-in was cancelled, or the sign-in service refused it. You can try again, or choose another way.",
  consent_required: ASKS,
  login_required: ASKS,
  interaction_required: ASKS,
  account_selection_required: ASKS,
  temporarily_unavailable: DOWN,
};

type Ended = Pick<SignOn, "outcome" | "reason" | "test"> & Partial<Pick<SignOn, "error">>;

/** Undefined if there is no caller: a successful sign-on, a test, a refused logout token. */
export function wordsForCaller({ outcome, reason, error, test }: Ended): string | undefined {
  if (test || outcome === "logout_refused") return undefined;
  if (reason === null) return outcome === "expired" ? WORDS.code_expired : undefined;
  return (reason === "idp_error" && REFUSALS[error ?? ""]) || WORDS[reason];
}
