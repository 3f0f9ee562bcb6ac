import fc from "fast-check";
import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { createSourceLimiter, SOURCE_BURST, SOURCE_RATE } from "./source-limiter.ts";

function build() {
  const clock = handClock();
  const limiter = createSourceLimiter({ clock });
  const served = (source: string, asked: number): number =>
    Array.from({ length: asked }, () => limiter.take(source)).filter(Boolean).length;
  return { clock, limiter, served };
}

test("a source has its burst, then its rate", () => {
  const { clock, served } = build();
  expect(served("198.51.100.1", 1000)).toBe(SOURCE_BURST);
  clock.advance(1000);
  expect(served("198.51.100.1", 1000)).toBe(SOURCE_RATE);
  clock.advance(500);
  expect(served("198.51.100.1", 1000)).toBe(SOURCE_RATE / 2);
});

test("a source that was refused is served again after the window, and has its burst again after two (T35)", () => {
  const { clock, served } = build();
  served("198.51.100.1", 1000);
  clock.advance(1000);
  expect(served("198.51.100.1", 1)).toBe(1);
  clock.advance(2000);
  expect(served("198.51.100.1", 1000)).toBe(SOURCE_BURST);
});

test("one source's flood takes nothing from another", () => {
  const { served } = build();
  served("198.51.100.1", 10_000);
  expect(served("198.51.100.2", SOURCE_BURST)).toBe(SOURCE_BURST);
});

test("the time of day has no say", () => {
  const { clock, served } = build();
  served("198.51.100.1", SOURCE_BURST);
  clock.set(clock.now() + 3_600_000);
  expect(served("198.51.100.1", 10)).toBe(0);
  clock.set(clock.now() - 7_200_000);
  clock.advance(100);
  expect(served("198.51.100.1", 100)).toBe(SOURCE_RATE / 10);
});

test("sweeping forgets sources that have all their burst again, and only those", () => {
  const { clock, limiter, served } = build();
  served("busy", 1000);
  served("quiet", 10);
  clock.advance(100);
  limiter.sweep();
  expect(limiter.size()).toBe(1);
  expect(served("busy", 1000)).toBe(SOURCE_RATE / 10);
  clock.advance(2000);
  limiter.sweep();
  expect(limiter.size()).toBe(0);
});

test("sweeping changes no decision", () => {
  const step = fc.record({ gapMs: fc.nat(1500), source: fc.constantFrom("a", "b", "c"), asked: fc.nat(250) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const [swept, left] = [build(), build()];
      for (const { gapMs, source, asked } of steps) {
        swept.clock.advance(gapMs);
        left.clock.advance(gapMs);
        swept.limiter.sweep();
        expect(swept.served(source, asked)).toBe(left.served(source, asked));
      }
    }),
  );
});

test("a hundred thousand sources are remembered, and the one that came first makes room for the next", () => {
  const { limiter, served } = build();
  served("first", 1000);
  served("second", 1000);
  for (let i = 2; i < 100_000; i++) limiter.take(`${i}`);
  expect(limiter.size()).toBe(100_000);
  limiter.take("one more");
  expect(limiter.size()).toBe(100_000);
  expect(limiter.take("second")).toBe(false);
  expect(limiter.take("first")).toBe(true);
});
