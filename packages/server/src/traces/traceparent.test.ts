import { describe, expect, test } from "vitest";
import { readTraceparent } from "./traceparent.ts";

const TRACE = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN = "00f067aa0ba902b7";

describe("a traceparent", () => {
  test("names the caller's span, and says whether it is sampled (Trace Context 3.2)", () => {
    expect(readTraceparent(`00-${TRACE}-${SPAN}-01`)).toEqual({
      traceId: TRACE,
      spanId: SPAN,
      isSampled: true,
    });
    expect(readTraceparent(`00-${TRACE}-${SPAN}-02`)?.isSampled).toBe(false);
  });

  test("a later version is read as far as it is known (Trace Context 3.2.4)", () => {
    expect(readTraceparent(`cc-${TRACE}-${SPAN}-01-what-comes`)?.traceId).toBe(TRACE);
  });

  test.each([
    ["none", undefined],
    ["an empty one", ""],
    ["no trace", `00-${"0".repeat(32)}-${SPAN}-01`],
    ["no span", `00-${TRACE}-${"0".repeat(16)}-01`],
    ["version ff", `ff-${TRACE}-${SPAN}-01`],
    ["more in version 00", `00-${TRACE}-${SPAN}-01-x`],
    ["upper case", `00-${TRACE.toUpperCase()}-${SPAN}-01`],
    ["two of them", `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`],
    ["a line break at its end", `00-${TRACE}-${SPAN}-01\n`],
    ["anything long", "x".repeat(10_000)],
  ])("%s is ignored", (_, header) => {
    expect(readTraceparent(header)).toBeUndefined();
  });
});
