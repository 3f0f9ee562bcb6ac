import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createGroupCache } from "./cache.ts";

/** A load that ends when the test says so. */
function loadInHand<T>() {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  let started = 0;
  const load = () => {
    started++;
    return promise;
  };
  return { load, resolve, reject, started: () => started };
}

const never = (): Promise<never> => {
  throw new Error("this should have been known");
};

test("a loaded value is kept", async () => {
  const cache = createGroupCache<string>(10);
  expect(cache.get("store", "key")).toBeUndefined();
  expect(await cache.getOrLoad("store", "key", async () => "value")).toBe("value");
  expect(cache.get("store", "key")).toBe("value");
  expect(await cache.getOrLoad("store", "key", never)).toBe("value");
  expect(cache.size()).toBe(1);
});

test("a loaded null is kept too", async () => {
  const cache = createGroupCache<string | null>(10);
  await cache.getOrLoad("store", "key", async () => null);
  expect(cache.get("store", "key")).toBeNull();
  expect(await cache.getOrLoad("store", "key", never)).toBeNull();
});

test("a value that must not be kept is loaded each time", async () => {
  const cache = createGroupCache<number>(10, (value) => value > 1);
  for (const value of [1, 1, 2]) expect(await cache.getOrLoad("store", "key", async () => value)).toBe(value);
  expect(await cache.getOrLoad("store", "key", never)).toBe(2);
  expect(cache.size()).toBe(1);
});

test("the same key in two groups is two entries", async () => {
  const cache = createGroupCache<string>(10);
  await cache.getOrLoad("a", "key", async () => "of a");
  await cache.getOrLoad("b", "key", async () => "of b");
  expect([cache.get("a", "key"), cache.get("b", "key"), cache.size()]).toEqual(["of a", "of b", 2]);
});

describe("loads under way", () => {
  test("are shared: many calls at once load once", async () => {
    const cache = createGroupCache<string>(10);
    const { load, resolve, started } = loadInHand<string>();
    const answers = [1, 2, 3].map(() => cache.getOrLoad("store", "key", load));
    resolve("value");
    expect(await Promise.all(answers)).toEqual(["value", "value", "value"]);
    expect(started()).toBe(1);
  });

  test("are not shared between keys, nor between groups", async () => {
    const cache = createGroupCache<string>(10);
    const loads = [loadInHand<string>(), loadInHand<string>(), loadInHand<string>()] as const;
    const answers = [
      cache.getOrLoad("a", "x", loads[0].load),
      cache.getOrLoad("a", "y", loads[1].load),
      cache.getOrLoad("b", "x", loads[2].load),
    ];
    loads.forEach(({ resolve }, index) => {
      resolve(`${index}`);
    });
    expect(await Promise.all(answers)).toEqual(["0", "1", "2"]);
  });

  test("that fail reject all waiting calls, and the next call loads again", async () => {
    const cache = createGroupCache<string>(10);
    const { load, reject } = loadInHand<string>();
    const answers = [cache.getOrLoad("store", "key", load), cache.getOrLoad("store", "key", load)];
    reject(new Error("no database"));
    for (const answer of answers) await expect(answer).rejects.toThrow("no database");
    expect(cache.size()).toBe(0);
    expect(await cache.getOrLoad("store", "key", async () => "value")).toBe("value");
  });

  test.each([
    ["its group is dropped", "drop"],
    ["everything is dropped", "dropAll"],
  ] as const)("are answered but not kept when %s meanwhile", async (_, how) => {
    const cache = createGroupCache<string>(10);
    const { load, resolve } = loadInHand<string>();
    const answer = cache.getOrLoad("store", "key", load);
    cache[how]("store");
    resolve("of before");
    expect(await answer).toBe("of before");
    expect(cache.get("store", "key")).toBeUndefined();
    expect(cache.size()).toBe(0);
  });

  test("a call after a drop starts a new load and ignores the old one", async () => {
    const cache = createGroupCache<string>(10);
    const before = loadInHand<string>();
    const after = loadInHand<string>();
    const early = cache.getOrLoad("store", "key", before.load);
    cache.drop("store");
    const late = cache.getOrLoad("store", "key", after.load);
    before.resolve("of before");
    expect(await early).toBe("of before");
    const later = cache.getOrLoad("store", "key", never);
    after.resolve("of after");
    expect([await late, await later]).toEqual(["of after", "of after"]);
    expect(cache.get("store", "key")).toBe("of after");
  });
});

test("dropping a group forgets all of it, and no other group", async () => {
  const cache = createGroupCache<number>(10);
  for (const [group, key] of ["ax", "ay", "bx"]) await cache.getOrLoad(`${group}`, `${key}`, async () => 1);
  cache.drop("a");
  expect([cache.get("a", "x"), cache.get("a", "y"), cache.get("b", "x")]).toEqual([undefined, undefined, 1]);
  expect(cache.size()).toBe(1);
  cache.drop("never seen");
  expect(cache.size()).toBe(1);
});

test("after dropAll the cache is empty", async () => {
  const cache = createGroupCache<number>(10);
  for (const group of ["a", "b"]) await cache.getOrLoad(group, "x", async () => 1);
  cache.dropAll();
  expect([cache.get("a", "x"), cache.get("b", "x"), cache.size()]).toEqual([undefined, undefined, 0]);
});

test("a full cache drops the group that was filled first", async () => {
  const cache = createGroupCache<number>(3);
  for (const [group, key] of ["ax", "bx", "ay", "cx"])
    await cache.getOrLoad(`${group}`, `${key}`, async () => 1);
  expect([cache.get("a", "x"), cache.get("a", "y"), cache.get("b", "x"), cache.get("c", "x")]).toEqual([
    undefined,
    undefined,
    1,
    1,
  ]);
});

test("for any sequence of calls: correct size, bounded, returns the last value", async () => {
  const step = fc.oneof(
    { weight: 8, arbitrary: fc.record({ group: fc.nat(3), key: fc.nat(4) }) },
    { weight: 1, arbitrary: fc.record({ drop: fc.nat(3) }) },
    { weight: 1, arbitrary: fc.constant("dropAll" as const) },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 8 }),
      fc.array(step, { maxLength: 60 }),
      async (bound, steps) => {
        const cache = createGroupCache<string>(bound);
        for (const step of steps) {
          if (step === "dropAll") cache.dropAll();
          else if ("drop" in step) cache.drop(`${step.drop}`);
          else {
            const value = `${step.group} ${step.key}`;
            expect(await cache.getOrLoad(`${step.group}`, `${step.key}`, async () => value)).toBe(value);
            expect(cache.get(`${step.group}`, `${step.key}`)).toBe(value);
          }
          const known = [0, 1, 2, 3].flatMap((group) =>
            [0, 1, 2, 3, 4].filter((key) => cache.get(`${group}`, `${key}`) !== undefined),
          );
          expect(cache.size()).toBe(known.length);
          expect(cache.size()).toBeLessThanOrEqual(bound);
        }
      },
    ),
  );
});
