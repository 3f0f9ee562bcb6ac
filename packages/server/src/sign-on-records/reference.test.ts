import { expect, test } from "vitest";
import { readReference, referenceOf } from "./reference.ts";

test.each(["7K2P-M0XN", "7k2pm0xn", "7K2P M0XN", " 7k2p–m0xn ", "7K2P_MOXN", "7k2p.mo xn"])(
  "%j is read as 7K2P-M0XN",
  (typed) => expect(readReference(typed)).toBe("7K2P-M0XN"),
);

test("I, L and O are read as digits", () => {
  expect(readReference("iLoO-1100")).toBe("1100-1100");
});

test.each(["", "7K2P-M0X", "7K2P-M0XNN", "7K2P-M0XU", "7K2P-M0X!"])("%j is not a reference", (typed) =>
  expect(readReference(typed)).toBeUndefined(),
);

test("a made reference can be read", () => {
  for (let at = 0; at < 100; at++) {
    const made = referenceOf(`attempt ${at}`);
    expect(readReference(made.toLowerCase().replace("-", " "))).toBe(made);
  }
});
