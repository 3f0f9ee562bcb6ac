import { expect, test } from "vitest";
import { refusalsInWords } from "./refusals.ts";

test("the figure compares the refusals with and without the change", () => {
  const keys = [{ id: "k", asked: 1204, refused: { before: 1, after: 12 } }];
  expect(refusalsInWords({ keys }, "k")).toBe(
    "1,204 requests with this key in the last hour: 12 would have been refused, and 1 was.",
  );
});

test("a key without requests loses none", () => {
  expect(refusalsInWords({ keys: [] }, "k")).toBe("No request with this key in the last hour.");
});
