import type { ErrorCode, SignOnErrorCode } from "./error-codes.ts";

/**
 * Messages for shoppers, in English; `messages/` has the other languages. The service's texts for developers are in
 * `errors`.
 */

const USELESS = "We couldn't sign you in. Trying again won't help. Try another way, or contact us.";
const OVER = "This sign-in has ended. Please start again.";
const PLEASE = "Please sign in to continue.";
const AWAY = "This way to sign in does not work right now. Please try again soon, or choose another.";
const BUSY = "We are very busy right now. Please try again in a moment.";

const signOnMessages = {
  access_denied: "You were not signed in. You can try again, or choose another way.",
  account_selection_required: PLEASE,
  callback_replay: "This sign-in was used already. If you are not signed in, please start again.",
  consent_required: PLEASE,
  interaction_required: PLEASE,
  invalid_request: USELESS,
  invalid_scope: USELESS,
  request_uri_not_supported: USELESS,
  request_not_supported: USELESS,
  registration_not_supported: USELESS,
  login_required: PLEASE,
  server_error: USELESS,
  temporarily_unavailable: AWAY,
  unauthorized_client: USELESS,
  unsupported_response_type: USELESS,
} as const satisfies Record<SignOnErrorCode, string>;

const TOO_MANY = "Too many tries. Please wait a little.";

const messages = {
  ...signOnMessages,
  state_unknown: "This sign-in has ended or was started in another browser. Please start again.",
  issuer_mismatch: "We couldn't verify your sign-in. Please start again.",
  network_failed: "The connection broke off. Please try again.",
  answer_unreadable: "The answer could not be read. Please try again.",
  code_already_used: OVER,
  code_expired: OVER,
  code_invalid: OVER,
  redirect_uri_mismatch: OVER,
  verifier_mismatch: OVER,
  sign_on_refused: "We couldn't sign you in with this account. Try another way, or contact us.",
  credentials_wrong: "Wrong e-mail or password.",
  sign_in_attempts_exceeded: TOO_MANY,
  sign_ups_exceeded: TOO_MANY,
  customer_token_invalid: PLEASE,
  email_taken: "This e-mail already has an account.",
  idp_unavailable: AWAY,
  internal_error: "Something went wrong on our side. Please try again.",
  password_by_back_office_only: "You sign in with your other account, so you have no password here.",
  password_queue_full: BUSY,
  profile_not_found: AWAY,
  rate_limit_exceeded: BUSY,
  storage_unavailable: BUSY,
} as const satisfies Partial<Record<ErrorCode, string>>;

/** Every sentence; several codes may share one. */
export type Sentence = (typeof messages)[keyof typeof messages];

/** Undefined: only a developer can correct this error. */
export const sentenceOf = (code: ErrorCode): Sentence | undefined =>
  (messages as Partial<Record<ErrorCode, Sentence>>)[code];

export const tellShopper = (code: ErrorCode, detail: string): string => sentenceOf(code) ?? detail;

/** The redirect names Latchkey's own failures `server_error`, too. Unlike a provider's, they may be over at once. */
export const codeToTell = (code: ErrorCode, reason?: string): ErrorCode =>
  reason === "internal_error" ? reason : code;

/** A direct provider may send any `error`; an unknown value counts as its failure, `server_error`. */
export const readSignOnError = (error: string): SignOnErrorCode =>
  Object.hasOwn(signOnMessages, error) ? (error as SignOnErrorCode) : "server_error";
