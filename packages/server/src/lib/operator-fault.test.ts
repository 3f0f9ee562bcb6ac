import { expect, test } from "vitest";
import { isOperatorFault, operatorFault } from "./operator-fault.ts";

test("an operator fault is distinguished from a bug, and keeps its cause", () => {
  const cause = new Error("EADDRINUSE");
  const fault = operatorFault("the port is taken", cause);
  expect(isOperatorFault(fault)).toBe(true);
  expect(fault.message).toBe("the port is taken");
  expect(fault.cause).toBe(cause);
});

test.each([new Error("x"), new TypeError("x"), { name: "OperatorFault" }, "OperatorFault", undefined, null])(
  "%s is no operator's fault",
  (error) => {
    expect(isOperatorFault(error)).toBe(false);
  },
);
