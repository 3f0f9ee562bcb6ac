import { expect, test } from "vitest";
import { problems } from "../../server/src/contract/problems.ts";
import type { ErrorCode } from "../src/index.ts";
import { readSignOnError, tellShopper } from "../src/shopper-messages.ts";

const DETAIL = "For developers.";
const own: ErrorCode[] = ["state_unknown", "issuer_mismatch", "network_failed", "answer_unreadable"];
/** Errors that a shopper can meet in a shop without faults. */
const met: ErrorCode[] = [
  ...own,
  "access_denied",
  "callback_replay",
  "login_required",
  "temporarily_unavailable",
  "server_error",
  "code_already_used",
  "code_expired",
  "credentials_wrong",
  "customer_token_invalid",
  "email_taken",
  "idp_unavailable",
  "internal_error",
  "password_queue_full",
  "profile_not_found",
  "rate_limit_exceeded",
  "sign_in_attempts_exceeded",
  "sign_on_refused",
  "storage_unavailable",
];

test.each(met)("%s has a message of one or two sentences, without technical words", (code) => {
  const message = tellShopper(code, DETAIL);
  expect(message).not.toBe(DETAIL);
  expect(message).toMatch(/^[A-Z].*\.$/);
  expect(message.length).toBeLessThanOrEqual(100);
  expect(message).not.toMatch(
    /token|code\b|state\b|issuer|request|server|HTTP|provider|customer|client|OIDC|`|_/,
  );
});

test("an error that only a developer can correct has the service's message", () => {
  expect(tellShopper("redirect_uri_unregistered", problems.redirect_uri_unregistered.means)).toBe(
    problems.redirect_uri_unregistered.means,
  );
});

test("an unknown `error` of a redirect becomes server_error", () => {
  expect(readSignOnError("login_required")).toBe("login_required");
  for (const strange of ["", "hasOwnProperty", "state_unknown", "LOGIN_REQUIRED"])
    expect(readSignOnError(strange)).toBe("server_error");
});
