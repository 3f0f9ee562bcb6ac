import { expect, test } from "vitest";
import { readReference, referenceOf } from "./reference.ts";

test.each(["7K2P-M0XN", "7k2pm0xn", "7K2P M0XN", " 7k2p–m0xn ", "7K2P_MOXN", "7k2p.mo xn"])(
  "%j is one reference, however it was typed",
  (typed) => expect(readReference(typed)).toBe("7K2P-M0XN"),
);

test("letters that look like digits are read as the digits", () => {
  expect(readReference("iLoO-1100")).toBe("1100-1100");
});

test.each(["", "7K2P-M0X", "7K2P-M0XNN", "7K2P-M0XU", "7K2P-M0X!"])("%j is no reference", (typed) =>
  expect(readReference(typed)).toBeUndefined(),
);

test("what is made can be read", () => {
  for (let at = 0; at < 100; at++) {
    const made = referenceOf(`attempt ${at}`);
    expect(readReference(made.toLowerCase().replace("-", " "))).toBe(made);
  }
});
