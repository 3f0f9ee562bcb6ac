import { expect, test } from "vitest";
import { createGiveBack } from "./give-back.ts";

function build() {
  const process = { busyShare: 0.001, heapBytes: 50e6, keptBytes: 20e6, collected: 0 };
  const { look } = createGiveBack({
    busyShare: () => process.busyShare,
    heapBytes: () => process.heapBytes,
    keptBytes: () => process.keptBytes,
    collect() {
      process.collected++;
      process.heapBytes = 30e6;
    },
  });
  const looks = (times: number) => {
    for (let time = 0; time < times; time++) look();
  };
  return { process, looks };
}

test("a process that has started and is idle gives memory back", () => {
  const { process, looks } = build();
  looks(1);
  expect(process.collected).toBe(1);
});

test("later, after six idle checks in a row", () => {
  const { process, looks } = build();
  looks(1);
  process.heapBytes = 100e6;
  looks(5);
  process.busyShare = 0.03;
  looks(1);
  process.busyShare = 0.001;
  looks(5);
  expect(process.collected).toBe(1);
  looks(1);
  expect(process.collected).toBe(2);
});

test("only when the heap has grown by half since the last time", () => {
  const { process, looks } = build();
  looks(1);
  process.heapBytes = 44e6;
  looks(100);
  expect(process.collected).toBe(1);
  process.heapBytes = 46e6;
  looks(1);
  expect(process.collected).toBe(2);
});

test("not while there is work", () => {
  const { process, looks } = build();
  process.busyShare = 0.03;
  looks(100);
  expect(process.collected).toBe(0);
});

test("V8 can give memory back: the heap is smaller afterwards", () => {
  let kept: unknown = Array.from({ length: 500_000 }, (_, index) => ({ index }));
  expect(kept).toHaveLength(500_000);
  kept = undefined;
  const sizes: number[] = [];
  const heapBytes = () => {
    sizes.push(process.memoryUsage().heapTotal);
    return sizes.at(-1) as number;
  };
  const before = heapBytes();
  createGiveBack({ busyShare: () => 0, heapBytes, keptBytes: () => 0 }).look();
  expect(sizes.at(-1)).toBeLessThan(before);
});

test("not while the heap is large, because the collection would take long", () => {
  const { process, looks } = build();
  process.keptBytes = 60e6;
  looks(20);
  expect(process.collected).toBe(0);
});
