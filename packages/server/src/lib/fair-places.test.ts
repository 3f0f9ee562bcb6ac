import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createFairPlaces, type FairPlacesOptions, type Leave } from "./fair-places.ts";

/** Places, with time in the test's hand: `entered` keeps who asked, and what became of them. */
function setup({
  places,
  waiting = 100,
  waitMs = 1000,
  random = () => 0.999,
}: Partial<FairPlacesOptions> & { places: number }) {
  let nowMs = 0;
  const timers = new Set<{ atMs: number; work: () => void }>();
  const fair = createFairPlaces({
    places,
    waiting,
    waitMs,
    random,
    after(ms, work) {
      const timer = { atMs: nowMs + ms, work };
      timers.add(timer);
      return () => timers.delete(timer);
    },
  });
  type Entry = { source: string; state: "waits" | "in" | "out" | "refused"; leave: Leave };
  const entered: Entry[] = [];
  const settle = () => new Promise<void>((resolve) => setImmediate(resolve));

  async function enter(source: string, kind = "kind"): Promise<Entry> {
    const entry: Entry = { source, state: "waits", leave: () => {} };
    entered.push(entry);
    void fair.enter(kind, source).then((leave) => {
      entry.state = leave ? "in" : "refused";
      entry.leave = () => {
        entry.state = "out";
        leave?.();
      };
    });
    await settle();
    return entry;
  }
  const all = async (source: string, count: number) => {
    const entries: Entry[] = [];
    for (let n = 0; n < count; n++) entries.push(await enter(source));
    return entries;
  };
  const leave = async (entry: Entry | undefined) => {
    entry?.leave();
    await settle();
  };
  const advance = async (ms: number) => {
    nowMs += ms;
    for (const timer of [...timers]) {
      if (timer.atMs > nowMs) continue;
      timers.delete(timer);
      timer.work();
    }
    await settle();
  };
  const count = (state: Entry["state"], source?: string) =>
    entered.filter((entry) => entry.state === state && (source === undefined || entry.source === source))
      .length;
  const inside = (source?: string) =>
    entered.filter((entry) => entry.state === "in" && (source === undefined || entry.source === source));
  return { enter, all, leave, advance, count, inside, entered, timers };
}

describe("a source", () => {
  test("alone may hold half of the places; its further requests wait until it gives one back", async () => {
    const { all, leave, count, inside, timers } = setup({ places: 50 });
    await all("office", 60);
    expect([count("in"), count("waits")]).toEqual([25, 35]);
    while (count("in") > 0) await leave(inside()[0]);
    expect([count("out"), timers.size]).toEqual([60, 0]);
  });

  test("without a place gets one at once, whatever one other source does", async () => {
    const { all, enter } = setup({ places: 50 });
    await all("flood", 100);
    expect((await enter("shopper")).state).toBe("in");
  });

  test("without a place is served before the second request of an earlier source", async () => {
    const { all, enter, leave, inside } = setup({ places: 2 });
    await all("a", 1);
    await all("b", 3);
    const shopper = await enter("c");
    const [first] = inside("a");
    await leave(first);
    await leave(inside("b")[0]);
    expect(shopper.state).toBe("in");
  });

  test("takes no place of another kind", async () => {
    const { all, enter } = setup({ places: 1 });
    await all("a", 3);
    expect((await enter("a", "another kind")).state).toBe("in");
  });

  test("gives a place back once, however often it calls the function", async () => {
    const { all, enter, leave, inside, count } = setup({ places: 2 });
    const [first] = await all("a", 1);
    await enter("b");
    await leave(first);
    await leave(first);
    await all("c", 1);
    await all("d", 1);
    expect([inside().length, count("waits")]).toEqual([2, 1]);
  });
});

describe("a waiting source", () => {
  test("is refused after its time, and makes room in the queue", async () => {
    const { all, enter, advance, count, timers } = setup({ places: 1, waiting: 1, waitMs: 1000 });
    await all("a", 1);
    const late = await enter("b");
    await advance(999);
    expect(late.state).toBe("waits");
    await advance(1);
    expect(late.state).toBe("refused");
    expect((await enter("c")).state).toBe("waits");
    expect([count("in"), timers.size]).toEqual([1, 1]);
  });

  test("is refused if the queue is full, unless another source has more waiting; that source then loses its latest request", async () => {
    const { all, enter, count } = setup({ places: 1, waiting: 4 });
    await all("holder", 1);
    const flood = await all("flood", 4);
    expect((await enter("flood")).state).toBe("refused");
    expect((await enter("shopper")).state).toBe("waits");
    expect(flood.map(({ state }) => state)).toEqual(["waits", "waits", "waits", "refused"]);
    for (const name of ["b", "c"]) expect((await enter(name)).state).toBe("waits");
    expect((await enter("d")).state).toBe("refused");
    expect(count("waits")).toBe(4);
  });

  test("is as likely to stay as the others if the queue is full of sources with one request each", async () => {
    const drawn = [0, 0.5, 0.999];
    const { enter, all } = setup({ places: 1, waiting: 2, random: () => drawn.shift() ?? 0 });
    await all("holder", 1);
    const first = [await enter("a"), await enter("b"), await enter("c")];
    expect(first.map(({ state }) => state)).toEqual(["refused", "waits", "waits"]);
    const next = [await enter("d"), await enter("e")];
    expect([...first, ...next].map(({ state }) => state)).toEqual([
      "refused",
      "waits",
      "refused",
      "waits",
      "refused",
    ]);
  });
});

type Step = { do: "enter"; source: number } | { do: "leave"; which: number } | { do: "advance"; ms: number };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("enter" as const), source: fc.nat(5) }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("leave" as const), which: fc.nat(100) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("advance" as const), ms: fc.nat(400) }) },
);

test("for random histories: the number of places is kept, no usable place stays free, the queue is bounded, every call settles", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(step, { maxLength: 60 }),
      async (places, steps) => {
        const waiting = 6;
        const s = setup({ places, waiting });
        for (const one of steps) {
          if (one.do === "enter") await s.enter(`${one.source}`);
          else if (one.do === "advance") await s.advance(one.ms);
          else await s.leave(s.inside()[one.which % Math.max(1, s.inside().length)]);
          const free = places - s.count("in");
          expect(free).toBeGreaterThanOrEqual(0);
          expect(s.count("waits")).toBeLessThanOrEqual(waiting);
          for (const { source, state } of s.entered)
            if (state === "waits") expect(s.count("in", source)).toBeGreaterThanOrEqual(free);
        }
        await s.advance(1000);
        expect([s.count("waits"), s.timers.size]).toEqual([0, 0]);
      },
    ),
    { numRuns: 150 },
  );
});

test("a source without a place waits for at most one place of each other waiting source", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 6 }),
      fc.array(fc.tuple(fc.nat(4), fc.integer({ min: 1, max: 12 })), { minLength: 1, maxLength: 5 }),
      fc.array(fc.nat(100), { minLength: 10, maxLength: 10 }),
      async (places, crowds, picks) => {
        const s = setup({ places });
        for (const [source, count] of crowds) await s.all(`crowd ${source}`, count);
        const shopper = await s.enter("shopper");
        const others = new Set(
          s.entered.filter(({ state }) => state === "waits").map(({ source }) => source),
        );
        for (let left = 0; left <= others.size && shopper.state === "waits"; left++) {
          await s.leave(s.inside()[(picks[left] ?? 0) % s.inside().length]);
          // More of those who crowd come all the time.
          await s.enter(`crowd ${left}`);
        }
        expect(shopper.state).toBe("in");
      },
    ),
    { numRuns: 150 },
  );
});
