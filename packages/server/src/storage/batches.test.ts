import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { inBatches } from "./batches.ts";

/** Rows that take so long each, how many of them each batch took, and the pauses in between, which nobody waits for. */
function pile(rows: number, msPerRow: number) {
  const clock = handClock();
  const batches: number[] = [];
  const pausesMs: number[] = [];
  let left = rows;
  const work = async (limit: number) => {
    const taken = Math.min(limit, left);
    left -= taken;
    batches.push(taken);
    clock.advance(taken * msPerRow);
    return taken;
  };
  const sleep = async (ms: number) => {
    pausesMs.push(ms);
  };
  return { work, batches, pausesMs, deps: { storage: { engine: "sqlite" as const }, clock, sleep } };
}

test("all rows are processed, in batches that grow while they are quick, up to a limit", async () => {
  const { work, batches, deps } = pile(2300, 0.001);
  expect(await inBatches(deps, work)).toEqual({ rows: 2300, isDone: true });
  expect(batches).toEqual([20, 40, 80, 160, 320, 500, 500, 500, 180, 0]);
});

test("batches shrink to what fits into the time that a batch may take, and not below twenty rows", async () => {
  const { work, batches, deps } = pile(385, 0.04);
  await inBatches(deps, work);
  expect(batches).toEqual([20, 40, 80, 125, 120, 0]);
  const slow = pile(60, 0.5);
  await inBatches(slow.deps, slow.work);
  expect(slow.batches).toEqual([20, 20, 20, 0]);
});

test.each([
  ["as long as a batch took", undefined, [10, 10]],
  ["what part of that the caller says", { rest: 0.25 }, [2.5, 2.5]],
])("the pause before the next batch is %s", async (_, bounds, expected) => {
  const { work, pausesMs, deps } = pile(40, 0.5);
  await inBatches(deps, work, bounds);
  expect(pausesMs).toEqual(expected);
});

test.each([
  ["rows", { maxRows: 250 }],
  ["time", { withinMs: 0.25 }],
])(
  "a bound of %s ends it after the batch that reaches it, and reports that there is more",
  async (_, bounds) => {
    const { work, deps } = pile(10_000, 0.001);
    expect(await inBatches(deps, work, bounds)).toEqual({ rows: 300, isDone: false });
  },
);

test("a small batch is not the last: another transaction may have locked the other rows", async () => {
  const { deps } = pile(0, 1);
  const found = [20, 3, 10, 0];
  expect(await inBatches(deps, async () => found.shift() ?? 0)).toEqual({ rows: 33, isDone: true });
});

test("without rows there is one query", async () => {
  const { work, batches, deps } = pile(0, 1);
  expect(await inBatches(deps, work)).toEqual({ rows: 0, isDone: true });
  expect(batches).toEqual([0]);
});

test("if it may wait, it waits for a database that is away for a moment, then continues with few rows", async () => {
  const { work, batches, deps } = pile(1000, 0.001);
  const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
  let calls = 0;
  const failing = (limit: number) => (++calls === 3 ? Promise.reject(away) : work(limit));
  expect(await inBatches(deps, failing, { retries: 1 })).toEqual({ rows: 1000, isDone: true });
  expect(batches).toEqual([20, 40, 20, 40, 80, 160, 320, 320, 0]);
  await expect(inBatches(deps, () => Promise.reject(away), { retries: 1 })).rejects.toThrow("away");
  await expect(inBatches(deps, () => Promise.reject(away))).rejects.toThrow("away");
});

test("a failure is not retried here, and reaches the caller", async () => {
  const { deps } = pile(0, 1);
  const work = () => Promise.reject(new Error("no"));
  await expect(inBatches(deps, work)).rejects.toThrow("no");
});
