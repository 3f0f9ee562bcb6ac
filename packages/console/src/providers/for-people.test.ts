import { expect, test } from "vitest";
import { signOnReasons } from "../../../server/src/contract/sign-on-reasons.ts";
import { exactly } from "../parts/text/instants.ts";
import { forPeople, SEEN_AT_CONSOLE } from "./for-people.ts";

test("an instant in a sentence is shown in the reader's time, and the rest stays", () => {
  const at = "2026-11-19T08:18:00.000Z";
  expect(forPeople(`Confirmed by a sign-on, ${at}.`)).toBe(`Confirmed by a sign-on, ${exactly(at)}.`);
  expect(forPeople("The document lacks jwks_uri.")).toBe("The document lacks jwks_uri.");
});

test.each(SEEN_AT_CONSOLE)("%j is in a remedy of the service, and is replaced", (word, seen) => {
  const remedy = Object.values(signOnReasons).find((reason) => reason.remedy.includes(word))?.remedy ?? "";
  expect(forPeople(remedy)).toContain(seen);
});

test("no remedy names a link of a profile", () => {
  const ofProvider = Object.values(signOnReasons).filter(({ remedy }) =>
    /(callback|logout)-endpoint/.test(remedy),
  );
  expect(ofProvider.length).toBeGreaterThan(1);
  for (const { remedy } of ofProvider) expect(forPeople(remedy)).not.toMatch(/-endpoint/);
});
