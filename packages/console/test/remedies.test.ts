import { expect, test } from "vitest";
import { problems } from "../../server/src/contract/problems.ts";
import { REMEDIES_AT_CONSOLE, remedies } from "../remedies.ts";

test.each(Object.entries(REMEDIES_AT_CONSOLE))(
  "the remedy of %s at the console is for a person: no member, method or command",
  (_, remedy) => {
    expect(remedy).toMatch(/^[A-Z].*\.$/);
    expect(remedy).not.toMatch(/`|_|\b(GET|PUT|POST|DELETE|If-Match|ETag)\b|\bmeta\b/);
  },
);

test("every problem has a remedy", () => {
  expect(Object.keys(remedies())).toEqual(Object.keys(problems));
});
