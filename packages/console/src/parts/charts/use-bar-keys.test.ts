import { expect, test } from "vitest";
import { placeAfter } from "./use-bar-keys.ts";

const bars = [{ values: [3, 0, 1] }, { values: [0, 0, 0] }, { values: [1, 1, 1] }];
const after = (key: string, bar: number, part = 0) => placeAfter(key, { bar, part }, bars);

test("left, right, Home and End lead to whole bars and stop at the ends", () => {
  expect(after("ArrowRight", 0, 1)).toEqual({ bar: 1, part: 0 });
  expect(after("ArrowRight", 2)).toEqual({ bar: 2, part: 0 });
  expect(after("ArrowLeft", 0)).toEqual({ bar: 0, part: 0 });
  expect(after("Home", 2)).toEqual({ bar: 0, part: 0 });
  expect(after("End", 0)).toEqual({ bar: 2, part: 0 });
});

test("up and down lead through the parts that have entries", () => {
  expect(after("ArrowUp", 0)).toEqual({ bar: 0, part: 1 });
  expect(after("ArrowUp", 0, 1)).toEqual({ bar: 0, part: 3 });
  expect(after("ArrowUp", 0, 3)).toEqual({ bar: 0, part: 3 });
  expect(after("ArrowDown", 0, 3)).toEqual({ bar: 0, part: 1 });
  expect(after("ArrowDown", 0, 1)).toEqual({ bar: 0, part: 0 });
  expect(after("ArrowUp", 1)).toEqual({ bar: 1, part: 0 });
});

test("other keys keep their meaning", () => {
  for (const key of ["Enter", "Tab", "a", " "]) expect(after(key, 0)).toBeUndefined();
});
