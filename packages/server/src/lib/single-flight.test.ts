import { expect, test } from "vitest";
import { createSingleFlight } from "./single-flight.ts";

/** Work that counts how often it was begun and ends when it is told to. */
function work() {
  const ends: PromiseWithResolvers<number>[] = [];
  const begin = () => {
    const end = Promise.withResolvers<number>();
    ends.push(end);
    return end.promise;
  };
  return { ends, begin };
}

test("all calls during one run get its result", async () => {
  const once = createSingleFlight<number>();
  const { ends, begin } = work();
  const asked = Array.from({ length: 1000 }, () => once("a", begin));
  expect(ends).toHaveLength(1);
  ends[0]?.resolve(7);
  expect(new Set(await Promise.all(asked))).toEqual(new Set([7]));
});

test("a call after the end starts a new run", async () => {
  const once = createSingleFlight<number>();
  const { ends, begin } = work();
  const first = once("a", begin);
  ends[0]?.resolve(1);
  await first;
  const second = once("a", begin);
  ends[1]?.resolve(2);
  expect(await second).toBe(2);
  expect(ends).toHaveLength(2);
});

test("all calls during one run get its failure, and the next call starts a new run", async () => {
  const once = createSingleFlight<number>();
  const { ends, begin } = work();
  const asked = [once("a", begin), once("a", begin)];
  const fault = new Error("no");
  ends[0]?.reject(fault);
  expect(await Promise.allSettled(asked)).toEqual([
    { status: "rejected", reason: fault },
    { status: "rejected", reason: fault },
  ]);
  const again = once("a", begin);
  ends[1]?.resolve(2);
  expect(await again).toBe(2);
});

test("work that throws synchronously is not kept", async () => {
  const once = createSingleFlight<number>();
  const thrower = () => {
    throw new Error("no");
  };
  await expect(async () => once("a", thrower)).rejects.toThrow("no");
  expect(await once("a", async () => 1)).toBe(1);
});

test.each([
  ["a", "b"],
  ["a", "A"],
  ["", " "],
  ["__proto__", "constructor"],
])("calls with different keys run separately: %j and %j", async (one, other) => {
  const once = createSingleFlight<string>();
  expect(await Promise.all([once(one, async () => "one"), once(other, async () => "other")])).toEqual([
    "one",
    "other",
  ]);
});

test("two instances share nothing", async () => {
  const { ends, begin } = work();
  void createSingleFlight<number>()("a", begin);
  void createSingleFlight<number>()("a", begin);
  expect(ends).toHaveLength(2);
});
