import fc from "fast-check";
import { expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import { createWorkQueue } from "./work-queue.ts";

const WAIT_MS = 2000;

/** As many as `waitMs / eachMs` may wait for each place. */
function build({ atOnce = 1, eachMs = 200 } = {}) {
  const clock = handClock();
  const refusal = () => new Error("refused");
  const queue = createWorkQueue({ clock, atOnce, waitMs: WAIT_MS, eachMs, refusal });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  /** Work that ends when the test says so. What became of it, or that it waits. */
  function run(name: string, { group = "group", isWanted = (): boolean => true } = {}) {
    const run = { name, outcome: "none yet", done: Promise.resolve() };
    const work = () => {
      started.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve("served")));
    };
    run.done = queue
      .run(group, work, isWanted)
      .catch((error: Error) => error.message)
      .then((outcome) => {
        run.outcome = outcome;
      });
    return run;
  }
  async function end({ name, done }: ReturnType<typeof run>): Promise<void> {
    ends.get(name)?.();
    await done;
  }
  return { clock, queue, started, run, end };
}

/** A refusal is heard in a later turn of the promises. */
const heard = () => new Promise((resolve) => setImmediate(resolve));

test("a limited number runs at once, the others in the order of their arrival", async () => {
  const { queue, started, run, end } = build({ atOnce: 2 });
  const [a, b, c, d] = ["a", "b", "c", "d"].map((name) => run(name)) as [never, never, never, never];
  expect(started).toEqual(["a", "b"]);
  expect(queue.waiting()).toBe(2);
  await end(b);
  expect(started).toEqual(["a", "b", "c"]);
  await end(a);
  expect(started).toEqual(["a", "b", "c", "d"]);
  for (const one of [c, d]) await end(one);
  expect(queue.waiting()).toBe(0);
});

test("as many tasks wait as can start in time; one more is refused at once", async () => {
  const { queue, run } = build({ atOnce: 2, eachMs: 500 });
  const runs = Array.from({ length: 11 }, (_, index) => run(String(index)));
  await heard();
  expect(runs.map(({ outcome }) => outcome)).toEqual([...Array(10).fill("none yet"), "refused"]);
  expect(queue.waiting()).toBe(8);
});

test("no task waits behind a task that takes longer than the wait; after its end the next one starts", async () => {
  const { run, end, started } = build({ eachMs: 3000 });
  const runs = [run("a"), run("b")] as const;
  await heard();
  expect(runs.map(({ outcome }) => outcome)).toEqual(["none yet", "refused"]);
  await end(runs[0]);
  await end(run("c"));
  expect(started).toEqual(["a", "c"]);
});

test("with instant tasks at most one task per millisecond and place waits", async () => {
  const { queue, run, end } = build();
  for (let round = 0; round < 60; round++) await end(run(`round ${round}`));
  for (let index = 0; index < WAIT_MS + 10; index++) run(`late ${index}`);
  expect(queue.waiting()).toBe(WAIT_MS);
});

test("the duration of the latest tasks decides how many may wait", async () => {
  const { clock, queue, run, end } = build({ eachMs: 1000 });
  for (let round = 0; round < 60; round++) {
    const one = run(`round ${round}`);
    clock.advance(100);
    await end(one);
  }
  for (let index = 0; index < 40; index++) run(`late ${index}`);
  expect(queue.waiting()).toBe(19);
});

test("a task that has waited for the whole time is refused and never starts", async () => {
  const { clock, queue, started, run, end } = build();
  const first = run("first");
  const early = run("early");
  clock.advance(1);
  const late = run("late");
  clock.advance(WAIT_MS - 1);
  await end(first);
  expect([early.outcome, late.outcome]).toEqual(["refused", "none yet"]);
  expect(started).toEqual(["first", "late"]);
  expect(queue.waiting()).toBe(0);
});

test("a group whose tasks have all timed out is skipped, and the next group has its turn", async () => {
  const { clock, started, run, end } = build();
  const first = run("first");
  const late = [run("a"), run("b")];
  clock.advance(WAIT_MS);
  const next = run("next", { group: "another" });
  await end(first);
  await end(next);
  expect(late.map(({ outcome }) => outcome)).toEqual(["refused", "refused"]);
  await end(run("again"));
  expect(started).toEqual(["first", "next", "again"]);
});

test("a task whose caller no longer waits is skipped", async () => {
  const { started, run, end } = build();
  const first = run("first");
  let isWanted = true;
  const gone = run("gone", { isWanted: () => isWanted });
  run("next");
  isWanted = false;
  await end(first);
  await heard();
  expect(gone.outcome).toBe("refused");
  expect(started).toEqual(["first", "next"]);
});

test("groups are served in turn: a late group overtakes the backlog of another", async () => {
  const { started, run, end } = build();
  const loud = ["0", "1", "2", "3"].map((name) => run(name, { group: "loud" }));
  const quiet = run("quiet", { group: "quiet" });
  for (const one of [loud[0], loud[1], quiet, loud[2]]) await end(one as typeof quiet);
  expect(started).toEqual(["0", "1", "quiet", "2", "3"]);
});

test("a full queue accepts a task of another group, and the longest group loses its latest", async () => {
  const { run } = build({ eachMs: 500 });
  const loud = ["0", "1", "2", "3", "4"].map((name) => run(name, { group: "loud" }));
  const quiet = ["5", "6", "7"].map((name) => run(name, { group: "quiet" }));
  await heard();
  const left = (runs: typeof loud) => runs.map(({ outcome }) => outcome === "none yet");
  expect(left(loud)).toEqual([true, true, true, false, false]);
  expect(left(quiet)).toEqual([true, true, false]);
});

test("between groups with as many waiting tasks, the newest loses its latest", async () => {
  const { run } = build({ eachMs: 600 });
  run("first");
  const runs = ["a", "b", "b", "a"].map((group, at) => run(String(at), { group }));
  await heard();
  const outcomes = runs.map(({ outcome }) => outcome);
  expect(outcomes).toEqual(["none yet", "none yet", "none yet", "refused"]);
});

test("work that fails, at once or later, frees its place, and its own caller gets the error", async () => {
  const { queue } = build();
  const fails = [
    () => Promise.reject(new Error("later")),
    () => {
      throw new Error("at once");
    },
  ].map((work) => queue.run("group", work));
  const last = queue.run("group", async () => "served");
  expect((await Promise.allSettled(fails)).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(await last).toBe("served");
});

test("never more tasks than allowed run or wait, and every task is served or refused", async () => {
  const size = fc.record({
    atOnce: fc.integer({ min: 1, max: 4 }),
    eachMs: fc.integer({ min: 300, max: 2500 }),
  });
  const work = fc.record({ group: fc.constantFrom("a", "b", "c"), ticks: fc.nat(3), isWanted: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(size, fc.array(work, { maxLength: 30 }), async ({ atOnce, eachMs }, pieces) => {
      const { queue } = build({ atOnce, eachMs });
      const mayWait = Math.floor(WAIT_MS / eachMs) * atOnce;
      let running = 0;
      const results = pieces.map(({ group, ticks, isWanted }) => {
        const result = queue.run(
          group,
          async () => {
            expect(++running).toBeLessThanOrEqual(atOnce);
            for (let tick = 0; tick < ticks; tick++) await undefined;
            running--;
          },
          () => isWanted,
        );
        expect(queue.waiting()).toBeLessThanOrEqual(mayWait);
        return result;
      });
      const served = (await Promise.allSettled(results)).filter(({ status }) => status === "fulfilled");
      expect(queue.waiting()).toBe(0);
      const wanted = pieces.slice(0, atOnce + mayWait).filter(({ isWanted }, at) => isWanted || at < atOnce);
      if (new Set(pieces.map(({ group }) => group)).size === 1) expect(served).toHaveLength(wanted.length);
    }),
  );
});
