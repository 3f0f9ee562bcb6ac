import fc from "fast-check";
import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { describeCounting } from "../../test/support/counting.ts";
import { createHourlyCap, type HourlyCap } from "./hourly-cap.ts";

const HOUR_MS = 3_600_000;

async function takeAll(cap: HourlyCap, key: string, most: number, asked: number) {
  const takes = await Promise.all(Array.from({ length: asked }, () => cap.take("slot", [{ key, most }])));
  return {
    uses: takes.filter((take) => "giveBack" in take),
    waits: takes.flatMap((take) => ("giveBack" in take ? [] : [take.retryAfterSeconds])),
  };
}

describeCounting((begin, runs) => {
  test("allows `limit` uses at once, then returns the time until the oldest is an hour old", async () => {
    const { clock, valkey } = begin();
    const cap = createHourlyCap({ clock, valkey });
    expect((await takeAll(cap, "a", 3, 1)).uses).toHaveLength(1);
    clock.advance(600_000);
    const { uses, waits } = await takeAll(cap, "a", 3, 5);
    expect([uses.length, waits]).toEqual([2, [3000, 3000, 3000]]);
    expect((await takeAll(cap, "b", 3, 1)).uses).toHaveLength(1);
    clock.advance(HOUR_MS - 600_000 - 1);
    expect((await takeAll(cap, "a", 3, 1)).waits).toEqual([1]);
    clock.advance(1);
    expect((await takeAll(cap, "a", 3, 2)).uses).toHaveLength(1);
  });

  test("takes from both counters or from neither, and names the full one", async () => {
    const { clock, valkey } = begin();
    const cap = createHourlyCap({ clock, valkey });
    const take = (network: string) =>
      cap.take("slot", [
        { key: network, most: 1 },
        { key: "all", most: 2 },
      ]);
    expect(await take("one")).toHaveProperty("giveBack");
    expect(await take("one")).toMatchObject({ key: "one" });
    expect(await take("two")).toHaveProperty("giveBack");
    expect(await take("three")).toMatchObject({ key: "all", retryAfterSeconds: 3600 });
    clock.advance(HOUR_MS);
    expect(await take("three")).toHaveProperty("giveBack");
  });

  test("a use that is given back can be used again at once", async () => {
    const { clock, valkey } = begin();
    const cap = createHourlyCap({ clock, valkey });
    const { uses } = await takeAll(cap, "a", 2, 3);
    await (uses[0] as { giveBack(): Promise<void> }).giveBack();
    expect((await takeAll(cap, "a", 2, 3)).uses).toHaveLength(1);
  });

  test("a lowered limit applies at once", async () => {
    const { clock, valkey } = begin();
    const cap = createHourlyCap({ clock, valkey });
    await takeAll(cap, "a", 10, 4);
    expect((await takeAll(cap, "a", 3, 1)).uses).toHaveLength(0);
    expect((await takeAll(cap, "a", 5, 2)).uses).toHaveLength(1);
  });

  const step = fc.record({ gapMs: fc.nat(HOUR_MS), asked: fc.nat(4), isElsewhere: fc.boolean() });

  test("no hour has more uses than the limit, on any instances, and no use is refused while an hour has fewer", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const { clock, valkey } = begin();
        const here = createHourlyCap({ clock, valkey });
        const elsewhere = valkey ? createHourlyCap({ clock, valkey }) : here;
        const most = 5;
        const letIn: number[] = [];
        for (const { gapMs, asked, isElsewhere } of steps) {
          clock.advance(gapMs);
          const nowMs = clock.monotonicMs();
          const { uses } = await takeAll(isElsewhere ? elsewhere : here, "a", most, asked);
          const recent = letIn.filter((atMs) => atMs > nowMs - HOUR_MS).length;
          expect(uses.length).toBe(Math.min(asked, most - recent));
          for (const _ of uses) letIn.push(nowMs);
          here.sweep();
        }
      }),
      runs(100),
    );
  });
});

test("while Valkey is away each instance allows its part; uses that Valkey allowed count too", async () => {
  const clock = handClock();
  let isAway = false;
  const valkey = { run: async () => (isAway ? undefined : 0), instances: () => 3 };
  const caps = [1, 2, 3].map(() => createHourlyCap({ clock, valkey }));
  for (const cap of caps) await takeAll(cap, "a", 30, 4);
  isAway = true;
  for (const cap of caps) expect((await takeAll(cap, "a", 30, 100)).uses).toHaveLength(6);
  clock.advance(HOUR_MS);
  for (const cap of caps) expect((await takeAll(cap, "a", 30, 100)).uses).toHaveLength(10);
});

test("sweeping forgets a counter whose last use is an hour old", async () => {
  const clock = handClock();
  const cap = createHourlyCap({ clock });
  await takeAll(cap, "a", 2, 2);
  cap.sweep();
  expect(cap.size()).toBe(1);
  clock.advance(HOUR_MS);
  cap.sweep();
  expect(cap.size()).toBe(0);
});
