import { ApiError, type ErrorCode } from "@latchkey/sdk";
import { refusals } from "./refusals.ts";

/** A failure as a shopper is told: one sentence, the reference if there is one, and what can be done. */
export type Explained = {
  code: ErrorCode | "page_failed";
  /** Where there is a better one than that it did not work. */
  title?: string | undefined;
  sentence: string;
  reference: string | undefined;
  /** Whether the same, once more, may work. */
  isWorthTrying: boolean;
};

/** Codes that a retry gives again: the person or the shop's own request is what was refused. */
const FINAL = new Set<string>([
  "sign_on_refused",
  "email_taken",
  "invalid_request",
  "invalid_scope",
  "unsupported_response_type",
  "unauthorized_client",
]);

/** An answer that was used before, or that nobody here waits for. Nothing is wrong if the first time worked. */
export const wasUsedBefore = ({ code }: Explained): boolean =>
  code === "callback_replay" || code === "state_unknown" || code === "code_already_used";

/** The person was refused: in the redirect, or, with a provider that is used directly, in the exchange. */
export const wasRefused = ({ code }: Explained): boolean =>
  code === "access_denied" || code === "sign_on_refused";

/** Nobody has said no, so the same answer, shown once more, may do: the SDK repeats it with the same key. */
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
  temporarily_unavailable: "Nobody answers there",
  idp_unavailable: "Nobody answers there",
  network_failed: "The line went dead",
};

/** What the service says of a member of the body is written for developers; a shopper sees a form. */
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
