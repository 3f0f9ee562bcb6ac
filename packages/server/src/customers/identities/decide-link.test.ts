import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DuplicateEmailPolicy } from "../../realms/realm.ts";
import { type LinkDecision, type LinkFacts, type LinkPolicy, link } from "./decide-link.ts";

/** The customers with the verified address. Customers with the unverified address do not count. */
type Holders = "nobody" | "one" | "several";
const KNOWN: Record<Holders, Omit<LinkFacts, "linkedTo">> = {
  nobody: { proven: [] },
  one: { proven: ["proven-1"] },
  several: { proven: ["proven-1", "proven-2"] },
};

const IN_WORDS: Record<string, LinkDecision> = {
  new: { action: "create" },
  "proven-1": { action: "link", customerId: "proven-1" },
  off: { action: "refuse", reason: "provisioning_off" },
  taken: { action: "refuse", reason: "email_taken" },
  unverified: { action: "refuse", reason: "email_unverified" },
  several: { action: "refuse", reason: "several_matches" },
};
type Words = keyof typeof IN_WORDS;

/**
 * Columns: policy, holders of the address, verified by the provider; the decision with provisioning create, with
 * existing.
 */
// biome-ignore format: a table
const TABLE: [DuplicateEmailPolicy, Holders, boolean, Words, Words][] = [
  ["allowed",    "nobody",   true,  "new",        "off"],
  ["allowed",    "nobody",   false, "new",        "off"],
  ["allowed",    "one",      true,  "new",        "off"],
  ["allowed",    "one",      false, "new",        "off"],
  ["allowed",    "several",  true,  "new",        "off"],
  ["allowed",    "several",  false, "new",        "off"],
  ["api_only",   "nobody",   true,  "new",        "off"],
  ["api_only",   "nobody",   false, "new",        "off"],
  ["api_only",   "one",      true,  "proven-1",   "proven-1"],
  ["api_only",   "one",      false, "unverified", "unverified"],
  ["api_only",   "several",  true,  "several",    "several"],
  ["api_only",   "several",  false, "unverified", "unverified"],
  ["disallowed", "nobody",   true,  "new",        "off"],
  ["disallowed", "nobody",   false, "new",        "off"],
  ["disallowed", "one",      true,  "taken",      "taken"],
  ["disallowed", "one",      false, "taken",      "taken"],
  ["disallowed", "several",  true,  "taken",      "taken"],
  ["disallowed", "several",  false, "taken",      "taken"],
];

describe.each(TABLE)("%s, the address is held by %s, verified %s", (policy, holders, verified, ...words) => {
  const of = { create: words[0], existing: words[1] };

  test.each(["create", "existing"] as const)(
    "an unknown subject, provisioning %s (T21, A02, A03)",
    (provisioning) => {
      const known = { linkedTo: undefined, ...KNOWN[holders] };
      const decision = link(verified, known, { duplicateEmail: policy, provisioning });
      expect(decision).toEqual(IN_WORDS[of[provisioning]]);
    },
  );

  test.each(["create", "existing"] as const)(
    "a subject that was linked before is that customer, provisioning %s (R113)",
    (provisioning) => {
      const known = { linkedTo: "linked", ...KNOWN[holders] };
      const decision = link(verified, known, { duplicateEmail: policy, provisioning });
      expect(decision).toEqual({ action: "sign_in", customerId: "linked" });
    },
  );
});

test("the table has every combination once", () => {
  expect(new Set(TABLE.map((row) => row.slice(0, 3).join())).size).toBe(3 * 3 * 2);
});

/** Includes facts that no database contains, such as hundreds of customers with the same address. */
const anyKnown: fc.Arbitrary<LinkFacts> = fc.record({
  linkedTo: fc.option(fc.uuid(), { nil: undefined }),
  proven: fc.uniqueArray(fc.uuid(), { maxLength: 4 }),
});
const anyPolicy: fc.Arbitrary<LinkPolicy> = fc.record({
  duplicateEmail: fc.constantFrom("allowed", "api_only", "disallowed"),
  provisioning: fc.constantFrom("create", "existing"),
});
const always = (
  rule: (verified: boolean, known: LinkFacts, policy: LinkPolicy, decision: LinkDecision) => void,
) =>
  fc.assert(
    fc.property(fc.boolean(), anyKnown, anyPolicy, (verified, known, policy) =>
      rule(verified, known, policy, link(verified, known, policy)),
    ),
    { numRuns: 1000 },
  );

describe("for every policy and every known customer", () => {
  test("an unverified e-mail never links (A02)", () => {
    always((verified, _known, _policy, { action }) => {
      if (!verified) expect(action).not.toBe("link");
    });
  });

  test("an identity gets only the customer it is linked to, or the only one with the verified address (A01)", () => {
    always((_verified, known, _policy, decision) => {
      if (!("customerId" in decision)) return;
      const isLinked = decision.action === "sign_in" && decision.customerId === known.linkedTo;
      const isOnlyProven = decision.action === "link" && known.proven.join() === decision.customerId;
      expect(isLinked || isOnlyProven).toBe(true);
    });
  });

  test("a linked identity signs its own customer in, and no other identity does", () => {
    always((_verified, known, _policy, { action }) => {
      expect(action === "sign_in").toBe(known.linkedTo !== undefined);
    });
  });

  test("provisioning existing never creates a customer", () => {
    always((_verified, _known, { provisioning }, { action }) => {
      if (provisioning === "existing") expect(action).not.toBe("create");
    });
  });

  test("policy allowed never links, and never refuses because of an e-mail", () => {
    always((_verified, _known, { duplicateEmail }, decision) => {
      if (duplicateEmail !== "allowed") return;
      expect(decision.action).not.toBe("link");
      if (decision.action === "refuse") expect(decision.reason).toBe("provisioning_off");
    });
  });

  test("policy disallowed never links, and never creates a second customer with a verified address", () => {
    always((_verified, known, { duplicateEmail }, { action }) => {
      if (duplicateEmail !== "disallowed") return;
      expect(action).not.toBe("link");
      if (known.proven.length > 0) expect(action).not.toBe("create");
    });
  });

  test("the order of the found customers does not matter", () => {
    always((verified, known, policy, decision) => {
      const turned = { ...known, proven: [...known.proven].reverse() };
      expect(link(verified, turned, policy)).toEqual(decision);
    });
  });
});
