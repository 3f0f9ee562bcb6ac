import { describe, expect, test } from "vitest";
import {
  type SignOnReason,
  signOnReasonEntry,
  signOnReasons,
} from "../../../server/src/contract/sign-on-reasons.ts";
import { wordsForCaller } from "./caller-words.ts";

/** Refusals that were a page: their records have the code of the problem. */
const PAGES = ["attempt_expired", "browser_changed", "redirect_uri_unregistered"];
const reasons = (Object.keys(signOnReasons) as SignOnReason[]).filter(
  (reason) => !reason.startsWith("logout_token."),
);

const tell = (reason: string | null, more: { error?: string; test?: boolean } = {}): string =>
  wordsForCaller({ outcome: "failed", reason, test: false, ...more }) ?? "";

const USELESS = /Trying (it )?again won’t help/;
const LATER = /Try again in a minute/;
const NOW = /[Ss]tart again|Try again with|You can try again/;

describe("what to tell the caller", () => {
  test.each([...reasons, ...PAGES])(
    "%s: one line to read aloud, which says whether trying again helps",
    (reason) => {
      const words = tell(reason);
      expect(words).toMatch(/^[A-Z].*\.$/);
      expect(words.length).toBeLessThanOrEqual(130);
      expect([USELESS, LATER, NOW].filter((help) => help.test(words))).toHaveLength(1);
      expect(words).not.toMatch(
        /token|\bcode\b|issuer|request|server|HTTP|provider|client|redirect|OIDC|Latchkey|secret|scope|setting|nobody|['`_]/i,
      );
    },
  );

  test.each(reasons)("%s: says the same about trying again as docs/troubleshooting.md", (reason) => {
    const { error } = signOnReasonEntry(reason);
    const words = tell(reason);
    // The exceptions: the page for Latchkey's own failures says so, and the remedy of a key that is not known.
    const isPassing = ["internal_error", "id_token.key", "id_token.signature"].includes(reason);
    // No provider is enabled until a person enables one.
    if (isPassing) expect(words).toMatch(LATER);
    else if (reason === "profile_none") expect(words).toMatch(USELESS);
    else if (error === "temporarily_unavailable") expect(words).toMatch(LATER);
    else if (error === "callback_replay") expect(words).toMatch(NOW);
    else if (error !== "access_denied" && error !== "login_required") expect(words).toMatch(USELESS);
  });

  test("a reason that only an administrator or a developer can correct asks nothing of the caller", () => {
    for (const reason of reasons.filter((one) => /^(id_token|userinfo|token|response)\./.test(one)))
      if (reason !== "id_token.auth_time") expect(tell(reason), reason).not.toMatch(NOW);
  });

  test.each([
    ["access_denied", NOW],
    ["login_required", NOW],
    ["interaction_required", NOW],
    ["consent_required", NOW],
    ["account_selection_required", NOW],
    ["temporarily_unavailable", LATER],
    ["server_error", USELESS],
    ["unauthorized_client", USELESS],
  ])("a refusal of the provider is told by its own error: %s", (error, help) => {
    expect(tell("idp_error", { error })).toMatch(help);
  });

  test("a code that was never redeemed has the sentence of an expired code", () => {
    expect(wordsForCaller({ outcome: "expired", reason: null, test: false })).toBe(tell("code_expired"));
  });

  test("a test, a success and a refused logout token have no caller", () => {
    expect(wordsForCaller({ outcome: "failed", reason: "id_token.aud", test: true })).toBeUndefined();
    expect(wordsForCaller({ outcome: "exchanged", reason: null, test: false })).toBeUndefined();
    expect(
      wordsForCaller({ outcome: "logout_refused", reason: "logout_token.key", test: false }),
    ).toBeUndefined();
  });
});
