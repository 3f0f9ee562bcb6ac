import { expect, test } from "vitest";
import { secondsOf, secondTicks } from "./seconds.ts";

test("a bar is so many seconds ago, and keeps its place when a second has passed", () => {
  const [older, newer] = [
    secondsOf({ asked: [5, 7, 9], refused: [0, 2, 0] }),
    secondsOf({ asked: [7, 9, 1], refused: [2, 0, 0] }),
  ];
  expect(older.map(({ when, values }) => [when, ...values])).toEqual([
    ["3 seconds ago", 5, 0],
    ["2 seconds ago", 5, 2],
    ["1 second ago", 9, 0],
  ]);
  expect(newer.map(({ from }) => from)).toEqual(older.map(({ from }) => from));
});

test("ticks are half a minute apart, at the seconds that they name", () => {
  expect(secondTicks(90)).toEqual([
    { at: -90, label: "90 s ago" },
    { at: -60, label: "60 s ago" },
    { at: -30, label: "30 s ago" },
  ]);
  expect(secondTicks(20)).toEqual([]);
});
