import { expect, test } from "vitest";
import { signOnReasons } from "../../../server/src/contract/sign-on-reasons.ts";
import { actorInWords, timelineOf, whoCanFix } from "./journey.ts";

const check = (name: string, passed = true) => ({ check: name, passed });
const statuses = (record: Omit<Parameters<typeof timelineOf>[0], "test">, isTest = false) =>
  timelineOf({ ...record, test: isTest }).map(({ status }) => status);

test("a successful sign-on has every step done, each with its timings and checks", () => {
  const steps = timelineOf({
    outcome: "exchanged",
    reason: null,
    test: false,
    checks: [check("response.iss"), check("token.type"), check("id_token.iss"), check("claims.email")],
    timings: { discovery: 3, wait: 2, token: 40, identify: 0, write: 5 },
  });
  expect(new Set(steps.map(({ status }) => status))).toEqual(new Set(["done"]));
  expect(steps.map(({ leg }) => leg)).toEqual([1, 2, 2, 2, 2, 1, 1]);
  expect(steps.map(({ ms }) => ms)).toEqual([undefined, 3, 42, undefined, undefined, 5, undefined]);
  expect(steps.flatMap(({ checks }) => checks)).toHaveLength(4);
});

test("a failure is at the step of its reason; later steps were not reached", () => {
  const record = { outcome: "failed", reason: "id_token.iat", checks: [], timings: {} } as const;
  expect(statuses({ ...record, checks: [] })).toEqual([
    ...["done", "done", "done", "failed"],
    ...["unreached", "unreached", "unreached"],
  ]);
});

test("a reason of the storefront's request is at the first step", () => {
  const steps = statuses({ outcome: "failed", reason: "challenge_invalid", checks: [], timings: {} });
  expect(steps.indexOf("failed")).toBe(0);
});

test.each([
  ["attempt_expired", 1],
  ["browser_changed", 1],
  ["provisioning_off", 5],
  ["several_matches", 5],
  ["member_unknown", 5],
  ["verifier_mismatch", 6],
  ["redirect_uri_mismatch", 6],
  ["client_mismatch", 6],
  ["session_ended", 6],
])("%s is at step %d, whatever was checked before", (reason, step) => {
  const checks = [check("response.iss"), check("id_token.iss"), check("claims.email")];
  const steps = statuses({ outcome: "failed", reason, checks, timings: {} });
  expect(steps.indexOf("failed")).toBe(step);
});

test("a reason without its own step is at the last step with checks", () => {
  const checks = [check("response.iss"), check("id_token.iss"), check("claims.email")];
  const steps = statuses({ outcome: "failed", reason: "something_new", checks, timings: {} });
  expect(steps.indexOf("failed")).toBe(4);
});

test("an expired code fails at the last step; a code that still works has not reached it", () => {
  const record = { reason: null, checks: [], timings: {} };
  expect(statuses({ ...record, outcome: "expired" }).at(-1)).toBe("failed");
  expect(statuses({ ...record, outcome: "code_issued" }).at(-1)).toBe("unreached");
});

test("a successful test sign-on has all its steps done, and ends before a code is issued", () => {
  const record = { outcome: "tested", reason: null, checks: [check("claims.email")], timings: {} } as const;
  expect(statuses({ ...record, checks: [...record.checks] }, true)).toEqual(Array(6).fill("done"));
  const refused = { outcome: "failed", reason: "provisioning_off", checks: [], timings: {} } as const;
  expect(statuses({ ...refused, checks: [] }, true).at(-1)).toBe("failed");
});

test("a refused logout token has a single step with its checks", () => {
  const checks = [check("logout_token.alg"), check("logout_token.key", false)];
  const record = { outcome: "logout_refused", reason: "logout_token.key", test: false, timings: {} } as const;
  const steps = timelineOf({ ...record, checks });
  expect(steps.map(({ status, checks }) => [status, checks.length])).toEqual([["failed", 2]]);
  expect(whoCanFix(record)).toBe("provider");
});

test.each([
  ["failed", "id_token.aud", "provider"],
  ["failed", "token.unavailable", "provider"],
  ["failed", "idp_unavailable", "provider"],
  ["failed", "challenge_missing", "storefront"],
  ["failed", "challenge_invalid", "storefront"],
  ["failed", "profile_unknown", "storefront"],
  ["failed", "request_not_supported", "storefront"],
  ["failed", "profile_disabled", "store"],
  ["failed", "several_matches", "store"],
  ["failed", "member_unknown", "store"],
  ["failed", "member_bound", "store"],
  ["failed", "member_email_unverified", "provider"],
  ["failed", "token.client_refused", "store"],
  ["failed", "redirect_uri_unregistered", "store"],
  ["failed", "redirect_uri_mismatch", "storefront"],
  ["failed", "id_token.auth_time", "storefront"],
  ["failed", "id_token.auth_time_missing", "provider"],
  ["failed", "sign_on_client_unknown", "storefront"],
  ["failed", "storage_unavailable", "operator"],
  ["failed", "internal_error", "operator"],
  ["failed", "callback_replay", "shopper"],
  ["failed", "session_ended", "shopper"],
  ["expired", null, "storefront"],
  ["exchanged", null, "none"],
  ["tested", null, "none"],
] as const)("%s, %s: %s can fix it", (outcome, reason, actor) => {
  expect(whoCanFix({ outcome, reason })).toBe(actor);
});

test.each(Object.entries(signOnReasons))(
  "%s: the same person as on the page of the reason",
  (reason, { by }) => {
    expect(whoCanFix({ outcome: "failed", reason })).toBe(by);
  },
);

test("if the provider ended the sign-on, the shopper can fix it after Cancel or prompt=none, else the provider", () => {
  const ended = { outcome: "failed", reason: "idp_error" } as const;
  for (const error of ["access_denied", "login_required", "interaction_required", "consent_required"])
    expect(whoCanFix({ ...ended, error })).toBe("shopper");
  expect(whoCanFix({ ...ended, error: "server_error" })).toBe("provider");
  expect(whoCanFix(ended)).toBe("provider");
});

test("a failed step is titled by what failed; the others by what was done", () => {
  const record = { reason: "id_token.aud", checks: [], timings: {}, test: false } as const;
  const titles = (outcome: "failed" | "exchanged") =>
    timelineOf({ ...record, outcome, checks: [] }).map(({ title }) => title);
  expect(titles("failed")[3]).toBe("ID token check failed");
  expect(titles("exchanged")[3]).toBe("ID token checked");
});

test("a member's steps name the console, and neither a storefront nor a shopper", () => {
  const record = { outcome: "exchanged", reason: null, test: false, checks: [], timings: {} } as const;
  const titles = timelineOf({ ...record, checks: [] }, true).map(({ title }) => title);
  expect(titles).toHaveLength(7);
  expect(titles.join()).not.toMatch(/storefront|shopper|customer/);
  for (const reason of ["callback_replay", "code_expired"])
    expect(actorInWords({ outcome: "failed", reason }, true)).toBe("The member, by signing in again");
  expect(actorInWords({ outcome: "failed", reason: "code_expired" }, false)).toBe(
    "The developers of the storefront",
  );
  expect(actorInWords({ outcome: "failed", reason: "member_unknown" }, true)).toBe(
    "An administrator of the store, in this console",
  );
});
