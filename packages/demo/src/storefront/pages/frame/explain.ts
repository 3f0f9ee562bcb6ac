import { ApiError, type ErrorCode } from "@latchkey/sdk";
import { refusals } from "./refusals.ts";

/** A failure in words for shoppers: a sentence, the reference if there is one, and whether to retry. */
export type Explained = {
  code: ErrorCode | "page_failed";
  /** Default: "That did not work". */
  title?: string | undefined;
  sentence: string;
  reference: string | undefined;
  /** Whether a retry may succeed. */
  isWorthTrying: boolean;
};

/** A retry gives these codes again: the service refuses the person, or the shop's request. */
const FINAL = new Set<string>([
  "sign_on_refused",
  "email_taken",
  "server_error",
  "invalid_request",
  "invalid_scope",
  "unsupported_response_type",
  "unauthorized_client",
]);

/**
 * The answer was used before, or belongs to no open sign-on. That is no failure if its first use succeeded.
 */
export const wasUsedBefore = ({ code }: Explained): boolean =>
  code === "callback_replay" || code === "state_unknown" || code === "code_already_used";

/** The person was refused: in the redirect or, with a direct provider, at the exchange. */
export const wasRefused = ({ code }: Explained): boolean =>
  code === "access_denied" || code === "sign_on_refused";

/**
 * The service has not refused the answer, so a reload may succeed: the SDK sends the same Idempotency-Key.
 */
export const isStillGood = ({ code }: Explained): boolean => STILL_GOOD.has(code);

const STILL_GOOD = new Set<string>([
  "network_failed",
  "answer_unreadable",
  "idp_unavailable",
  "internal_error",
  "rate_limit_exceeded",
  "storage_unavailable",
  "page_failed",
]);

export function explain(failure: unknown): Explained {
  if (!(failure instanceof ApiError))
    return {
      code: "page_failed",
      sentence: "Something went wrong in this page. Please try again.",
      reference: undefined,
      isWorthTrying: true,
    };
  const { code, reference, reason = "" } = failure;
  const [, refusal] = refusals.find(([pattern]) => pattern.test(reason)) ?? [];
  return {
    code,
    title: refusal?.title ?? TITLES[code],
    sentence: refusal?.sentence ?? fieldSentence(failure) ?? failure.message,
    reference,
    isWorthTrying: refusal?.isWorthTrying ?? !FINAL.has(code),
  };
}

const TITLES: Partial<Record<Explained["code"], string>> = {
  temporarily_unavailable: "That sign-in service isn’t responding",
  idp_unavailable: "That sign-in service isn’t responding",
  network_failed: "The line went dead",
};

/** Messages for the fields of the shop's forms. The service's own messages are for developers. */
const FIELDS: Record<string, string> = {
  "/data/name": "Please enter your name, with at most 255 characters.",
  "/data/email": "This does not look like an e-mail address. Please check it.",
  "/data/password": "Please choose a password of 8 to 128 characters.",
};

function fieldSentence({ code, errors }: ApiError): string | undefined {
  if (code !== "member_invalid" && code !== "member_missing") return undefined;
  const source = errors[0]?.source;
  return source && "pointer" in source ? FIELDS[source.pointer] : undefined;
}
