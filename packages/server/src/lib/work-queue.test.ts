import fc from "fast-check";
import { expect, test } from "vitest";
import { createWorkQueue } from "./work-queue.ts";

/** Work that ends when the test says so. */
function pieces() {
  const started: number[] = [];
  const ends: (() => void)[] = [];
  const piece = (name: number) => () => {
    started.push(name);
    return new Promise<number>((resolve) => {
      ends[name] = () => resolve(name);
    });
  };
  return { started, piece, end: (name: number) => ends[name]?.() };
}

test("so many run at once, so many wait, and one more is refused at once", async () => {
  const queue = createWorkQueue({ maxRunning: 2, maxWaiting: 1 });
  const { started, piece, end } = pieces();
  const results = [0, 1, 2].map((name) => queue.run("group", piece(name)));
  expect(started).toEqual([0, 1]);
  expect(queue.run("group", piece(3))).toBeUndefined();
  end(1);
  expect(await results[1]).toBe(1);
  expect(started).toEqual([0, 1, 2]);
  end(0);
  end(2);
  expect(await Promise.all(results)).toEqual([0, 1, 2]);
});

test("work that fails, at once or later, makes room like any other, and says so to its own caller", async () => {
  const queue = createWorkQueue({ maxRunning: 1, maxWaiting: 5 });
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

test("without room to wait, only those that can run are taken", async () => {
  const queue = createWorkQueue({ maxRunning: 1, maxWaiting: 0 });
  const { piece, end } = pieces();
  const first = queue.run("group", piece(0));
  expect(queue.run("group", piece(1))).toBeUndefined();
  end(0);
  await first;
  expect(queue.run("group", async () => 2)).toBeDefined();
});

test("never more than allowed run, all that were taken are served, in the order in which they came", async () => {
  const sizes = fc.record({ maxRunning: fc.integer({ min: 1, max: 4 }), maxWaiting: fc.nat(8) });
  await fc.assert(
    fc.asyncProperty(sizes, fc.array(fc.nat(3), { maxLength: 30 }), async (size, turns) => {
      const queue = createWorkQueue(size);
      const started: number[] = [];
      let running = 0;
      const results = turns.map((ticks, name) =>
        queue.run("group", async () => {
          started.push(name);
          running++;
          expect(running).toBeLessThanOrEqual(size.maxRunning);
          for (let tick = 0; tick < ticks; tick++) await undefined;
          running--;
          return name;
        }),
      );
      const taken = turns.map((_, name) => name).slice(0, size.maxRunning + size.maxWaiting);
      expect(await Promise.all(results.filter((result) => result !== undefined))).toEqual(taken);
      expect(started).toEqual(taken);
    }),
  );
});

test("groups are served in turn, and none may fill the queue", async () => {
  const queue = createWorkQueue({ maxRunning: 1, maxWaiting: 4, maxWaitingOfGroup: 3 });
  const { started, piece, end } = pieces();
  const results = [0, 1, 2, 3].map((name) => queue.run("loud", piece(name)));
  expect(queue.run("loud", piece(4))).toBeUndefined();
  results.push(queue.run("quiet", piece(5)));
  expect(queue.run("third", piece(6))).toBeUndefined();
  for (const name of [0, 1, 5, 2, 3]) {
    end(name);
    await results.filter((result) => result !== undefined)[name === 5 ? 4 : name];
  }
  expect(started).toEqual([0, 1, 5, 2, 3]);
});
