import fc from "fast-check";
import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeCounting } from "../../test/support/counting.ts";
import { ANONYMOUS, createCap } from "./cap.ts";

const { rate: RATE, burst: BURST } = ANONYMOUS;

describeCounting((begin, runs) => {
  function build() {
    const { clock, valkey } = begin();
    const cap = createCap({ clock, valkey }, ANONYMOUS);
    const served = async (key: string, asked: number): Promise<number> => {
      const waits = await Promise.all(Array.from({ length: asked }, () => cap.take(key)));
      return waits.filter((wait) => wait === undefined).length;
    };
    return { clock, valkey, cap, served };
  }

  test("a key gets its burst, then its rate, and the time to wait", async () => {
    const { clock, cap, served } = build();
    expect(await served("198.51.100.1", 1000)).toBe(BURST);
    expect(await cap.take("198.51.100.1")).toBe(1);
    clock.advance(1000);
    expect(await served("198.51.100.1", 1000)).toBe(RATE);
    clock.advance(500);
    expect(await served("198.51.100.1", 1000)).toBe(RATE / 2);
  });

  test("a refused key is served again after one window, and has its burst again after two (T35)", async () => {
    const { clock, served } = build();
    await served("198.51.100.1", 1000);
    clock.advance(1000);
    expect(await served("198.51.100.1", 1)).toBe(1);
    clock.advance(2000);
    expect(await served("198.51.100.1", 1000)).toBe(BURST);
  });

  test("a flood of one key takes nothing from other keys or other caps", async () => {
    const { clock, valkey, served } = build();
    await served("198.51.100.1", 2000);
    expect(await served("198.51.100.2", BURST)).toBe(BURST);
    const other = createCap({ clock, valkey }, { name: "other", rate: 1, burst: 1 });
    expect(await other.take("198.51.100.1")).toBeUndefined();
    expect(await other.take("198.51.100.1")).toBe(1);
  });

  test("only the monotonic clock counts", async () => {
    const { clock, served } = build();
    await served("198.51.100.1", BURST);
    clock.set(clock.now() + 3_600_000);
    expect(await served("198.51.100.1", 10)).toBe(0);
    clock.set(clock.now() - 7_200_000);
    clock.advance(100);
    expect(await served("198.51.100.1", 100)).toBe(RATE / 10);
  });

  test("a cap below one per second returns the seconds to wait", async () => {
    const { clock, valkey } = begin();
    const cap = createCap({ clock, valkey }, { name: "slow", rate: 0.1, burst: 1 });
    await cap.take("a");
    expect(await cap.take("a")).toBe(10);
    clock.advance(8500);
    expect(await cap.take("a")).toBe(2);
  });

  test("sweeping forgets only keys that have their whole burst again", async () => {
    const { clock, cap, served } = build();
    await served("busy", 1000);
    await served("quiet", 10);
    clock.advance(100);
    cap.sweep();
    expect(cap.size()).toBe(1);
    expect(await served("busy", 1000)).toBe(RATE / 10);
    clock.advance(2000);
    cap.sweep();
    expect(cap.size()).toBe(0);
  });

  const step = fc.record({
    gapMs: fc.nat(1500),
    key: fc.constantFrom("a", "b", "c"),
    asked: fc.nat(250),
    isElsewhere: fc.boolean(),
  });

  test("neither sweeping nor a second instance changes a decision, or how long to wait", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, valkey, cap: here } = build();
        const elsewhere = valkey ? createCap({ clock, valkey }, ANONYMOUS) : here;
        const model = createCap({ clock }, ANONYMOUS);
        for (const { gapMs, key, asked, isElsewhere } of steps) {
          clock.advance(gapMs);
          here.sweep();
          const cap = isElsewhere ? elsewhere : here;
          const takes = Array.from({ length: asked }, () => key);
          const decided = await Promise.all(takes.map((key) => cap.take(key)));
          expect(decided).toEqual(await Promise.all(takes.map((key) => model.take(key))));
        }
      }),
      runs(100),
    );
  });
});

test("a hundred thousand keys are remembered; the next one replaces the oldest", async () => {
  const cap = createCap({ clock: handClock() }, { name: "n", rate: 1, burst: 1 });
  await cap.take("first");
  await cap.take("second");
  for (let i = 2; i < 100_000; i++) void cap.take(`${i}`);
  expect(cap.size()).toBe(100_000);
  await cap.take("one more");
  expect(cap.size()).toBe(100_000);
  expect(await cap.take("second")).toBe(1);
  expect(await cap.take("first")).toBeUndefined();
});
