import fc from "fast-check";
import { expect, test } from "vitest";
import { steadyClock, toIso } from "./clock.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** A machine whose two clocks are in the test's hand: `pass` moves both, `setForward` only the time of day. */
function machineInHand(startMs = Date.parse("2026-01-01T00:00:00Z")) {
  let wallMs = startMs;
  let monotonicMs = 5_000;
  const clock = steadyClock({ wallMs: () => wallMs, monotonicMs: () => monotonicMs });
  return {
    clock,
    startMs,
    pass(ms: number) {
      wallMs += ms;
      monotonicMs += ms;
    },
    setForward(ms: number) {
      wallMs += ms;
    },
  };
}

test("the time of day starts as that of the machine and moves with it", () => {
  const { clock, startMs, pass } = machineInHand();
  expect(clock.now()).toBe(startMs);
  pass(1234);
  expect(clock.now()).toBe(startMs + 1234);
  expect(clock.monotonicMs()).toBe(5_000 + 1234);
  expect(clock.stepMs()).toBe(0);
});

test.each([HOUR, -HOUR, MINUTE, -MINUTE])(
  "a step of %d ms is reported and does not move the time",
  (step) => {
    const { clock, startMs, pass, setForward } = machineInHand();
    setForward(step);
    expect(clock.now()).toBe(startMs);
    expect(clock.stepMs()).toBe(step);
    pass(MINUTE);
    expect(clock.now()).toBe(startMs + MINUTE);
    expect(clock.stepMs()).toBe(step);
  },
);

test.each([1, -1, 59_999, -59_999])("a step of %d ms is adopted at once and not reported", (step) => {
  const { clock, startMs, setForward } = machineInHand();
  setForward(step);
  expect(clock.stepMs()).toBe(0);
  expect(clock.now()).toBe(startMs + step);
});

test.each([HOUR, -HOUR])("a step of %d ms is adopted after five minutes", (step) => {
  const { clock, startMs, pass, setForward } = machineInHand();
  setForward(step);
  clock.now();
  pass(5 * MINUTE - 1);
  expect(clock.now()).toBe(startMs + 5 * MINUTE - 1);
  pass(1);
  expect(clock.now()).toBe(startMs + 5 * MINUTE + step);
  expect(clock.stepMs()).toBe(0);
});

test("`stepMs` notices a step too: the five minutes run from the first call", () => {
  const { clock, startMs, pass, setForward } = machineInHand();
  setForward(HOUR);
  clock.stepMs();
  pass(5 * MINUTE);
  expect(clock.now()).toBe(startMs + 5 * MINUTE + HOUR);
});

test("a second step starts the five minutes again", () => {
  const { clock, startMs, pass, setForward } = machineInHand();
  setForward(HOUR);
  clock.now();
  pass(4 * MINUTE);
  setForward(HOUR);
  clock.now();
  pass(4 * MINUTE);
  expect(clock.now()).toBe(startMs + 8 * MINUTE);
  expect(clock.stepMs()).toBe(2 * HOUR);
  pass(MINUTE);
  expect(clock.now()).toBe(startMs + 9 * MINUTE + 2 * HOUR);
});

test("a wrong clock that is slewed meanwhile is adopted after the same five minutes", () => {
  const { clock, startMs, pass, setForward } = machineInHand();
  setForward(HOUR);
  clock.now();
  pass(5 * MINUTE);
  setForward(-59_999);
  expect(clock.now()).toBe(startMs + 5 * MINUTE + HOUR - 59_999);
});

test("a step that is undone ends the report and changes nothing", () => {
  const { clock, startMs, pass, setForward } = machineInHand();
  setForward(HOUR);
  clock.now();
  pass(4 * MINUTE);
  setForward(-HOUR);
  expect(clock.stepMs()).toBe(0);
  expect(clock.now()).toBe(startMs + 4 * MINUTE);

  setForward(HOUR);
  clock.now();
  pass(4 * MINUTE);
  expect(clock.now()).toBe(startMs + 8 * MINUTE);
});

test("steps that are undone within five minutes do not change the time of day", () => {
  const stepMs = fc.oneof(
    fc.integer({ min: MINUTE, max: 48 * HOUR }),
    fc.integer({ min: -48 * HOUR, max: -MINUTE }),
  );
  const slip = fc.record({ beforeMs: fc.nat(10 * MINUTE), stepMs, standsMs: fc.nat(5 * MINUTE - 1) });
  fc.assert(
    fc.property(fc.array(slip, { maxLength: 10 }), (slips) => {
      const { clock, startMs, pass, setForward } = machineInHand();
      let passedMs = 0;
      const expectRight = () => expect(clock.now()).toBe(startMs + passedMs);
      for (const { beforeMs, stepMs, standsMs } of slips) {
        pass(beforeMs);
        passedMs += beforeMs;
        expectRight();
        setForward(stepMs);
        expectRight();
        pass(standsMs);
        passedMs += standsMs;
        expectRight();
        expect(clock.stepMs()).toBe(stepMs);
        setForward(-stepMs);
        expectRight();
        expect(clock.stepMs()).toBe(0);
      }
    }),
  );
});

test("the time of day is a whole number of milliseconds, also during a step", () => {
  const { clock, startMs, pass, setForward } = machineInHand();
  setForward(HOUR);
  pass(0.4);
  expect(clock.now()).toBe(startMs);
  pass(0.2);
  expect(clock.now()).toBe(startMs + 1);
});

test("instants are written in UTC with milliseconds", () => {
  expect(toIso(0)).toBe("1970-01-01T00:00:00.000Z");
});

test("any instant is written as Date writes it", () => {
  const instant = fc.oneof(
    fc.integer({ min: -8.64e15, max: 8.64e15 }),
    fc.integer({ min: 0, max: 4e12 }),
    fc.double({ min: -1e6, max: 4e12, noNaN: true }),
  );
  fc.assert(
    fc.property(instant, (ms) => {
      expect(toIso(ms)).toBe(new Date(ms).toISOString());
    }),
    { numRuns: 2000 },
  );
});
