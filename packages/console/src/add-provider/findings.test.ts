import type { NewProfileReport } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { findingOf, nameFor, otherIssuer, summaryOf } from "./findings.ts";

type Status = "met" | "not_met" | "unknown";

const AT = "https://idp.example";

/** Nine checks, of which the named ones differ from `met`. */
const report = (issuer: string | null, different: Record<string, Status> = {}) =>
  ({
    issuer,
    provider: null,
    checks: Array.from({ length: 9 }, (_, at) => {
      const id = `R${at + 1}`;
      return { id, requirement: "", status: different[id] ?? "met", evidence: "", remedy: null };
    }),
  }) as Pick<NewProfileReport, "issuer" | "provider" | "checks">;

test.each([
  ["fits", report(AT, { R4: "unknown" })],
  ["fits", report(`${AT}/`)],
  ["missing", report(AT, { R2: "not_met" })],
  ["elsewhere", report("https://other.example", { R1: "not_met" })],
  ["unread", report(null, { R5: "not_met" })],
] as const)("a provider is judged: %s", (finding, found) => {
  expect(findingOf(found, AT)).toBe(finding);
});

test("the summary counts what is met, what is missing, and what only a sign-on shows", () => {
  expect(summaryOf(report(AT))).toBe("9 of 9 requirements are met.");
  expect(summaryOf(report(AT, { R6: "unknown", R7: "unknown" }))).toBe(
    "7 of 9 requirements are met, and 2 are checked at the first sign-on.",
  );
  expect(summaryOf(report(AT, { R2: "not_met", R6: "unknown", R7: "unknown" }))).toBe(
    "6 of 9 requirements are met, 1 is not met, and 2 are checked at the first sign-on.",
  );
});

test("a new provider has the name of its product, else that of its host", () => {
  expect(nameFor(report(AT), AT)).toBe("idp.example");
  expect(nameFor(report(null), AT)).toBe("idp.example");
  const provider = { key: "okta", name: "Okta", guide: "", console: {} };
  expect(nameFor({ ...report(AT), provider }, AT)).toBe("Okta");
});

test("an issuer that is no address is not offered", () => {
  expect(otherIssuer({ issuer: "https://other.example/a" })).toBe("https://other.example/a");
  expect(otherIssuer({ issuer: "javascript:alert(1)" })).toBeUndefined();
  expect(otherIssuer({ issuer: null })).toBeUndefined();
});
