import { expect, test } from "vitest";
import { leftBehind, peopleInWords } from "./left-behind.ts";

const fault = (code: string, meta: Record<string, unknown>) => ({
  errors: [{ status: "409", code, title: "", detail: "", links: { about: "" }, id: "", meta }],
});

test("the count is read from identities_left_behind, and from no other refusal", () => {
  const meta = { identities: 3, issuer: "https://a.example", new_issuer: null };
  expect(leftBehind(fault("identities_left_behind", meta))).toEqual({
    identities: 3,
    issuer: "https://a.example",
    newIssuer: null,
  });
  expect(leftBehind(fault("profile_changed", {}))).toBeUndefined();
});

test.each([
  [1, "One person"],
  [1234, "1,234 people"],
  [10_000, "10,000 or more people"],
])("%d are %s", (count, words) => {
  expect(peopleInWords(count)).toBe(words);
});
