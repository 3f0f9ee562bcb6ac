import { expect, test } from "vitest";
import { counted, countedList, sentence } from "./counts.ts";

test("a count has its noun in the right number", () => {
  expect([0, 1, 1204].map((count) => counted(count, "sign-on"))).toEqual([
    "no sign-on",
    "1 sign-on",
    "1,204 sign-ons",
  ]);
  expect(counted(2, "delivery", "deliveries")).toBe("2 deliveries");
});

test("a list that is longer than the service counts says so", () => {
  expect(countedList({ total: 10_000, totalIsAtLeast: true }, "customer")).toBe("10,000 or more customers");
  expect(countedList({ total: 1, totalIsAtLeast: false }, "customer")).toBe("1 customer");
});

test("a sentence begins with a capital", () => {
  expect(sentence("no sign-on went through it.")).toBe("No sign-on went through it.");
});
