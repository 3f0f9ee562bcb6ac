import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { createGiveBack } from "./give-back.ts";

function build() {
  const clock = handClock();
  const process = { busyShare: 0.001, heapBytes: 50e6, collected: 0 };
  const { look } = createGiveBack({
    clock,
    busyShare: () => process.busyShare,
    heapBytes: () => process.heapBytes,
    collect() {
      process.collected++;
      process.heapBytes = 30e6;
    },
  });
  return { clock, process, look };
}

test("an idle process gives memory back once, and again when the heap has grown by half", () => {
  const { clock, process, look } = build();
  look();
  expect(process.collected).toBe(1);
  clock.advance(3_600_000);
  process.heapBytes = 44e6;
  look();
  expect(process.collected).toBe(1);
  process.heapBytes = 46e6;
  look();
  expect(process.collected).toBe(2);
});

test("at most once a minute", () => {
  const { clock, process, look } = build();
  look();
  process.heapBytes = 100e6;
  clock.advance(59_000);
  look();
  expect(process.collected).toBe(1);
  clock.advance(1_000);
  look();
  expect(process.collected).toBe(2);
});

test("never while there is work", () => {
  const { process, look } = build();
  process.busyShare = 0.03;
  look();
  expect(process.collected).toBe(0);
});

test("V8 has a way to give room back: the heap is smaller after it", () => {
  let kept: unknown = Array.from({ length: 500_000 }, (_, index) => ({ index }));
  expect(kept).toHaveLength(500_000);
  kept = undefined;
  const sizes: number[] = [];
  const heapBytes = () => {
    sizes.push(process.memoryUsage().heapTotal);
    return sizes.at(-1) as number;
  };
  const before = heapBytes();
  createGiveBack({ clock: handClock(), busyShare: () => 0, heapBytes }).look();
  expect(sizes.at(-1)).toBeLessThan(before);
});
