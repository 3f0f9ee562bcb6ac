import { expect, test } from "vitest";
import { gather } from "./gather.ts";

test("values noted during the handler or the pause are handled together, without duplicates", async () => {
  const dealt: string[][] = [];
  let turn = Promise.withResolvers<void>();
  const next = async () => {
    const { resolve } = turn;
    turn = Promise.withResolvers<void>();
    resolve();
    // Everything that follows from it, before the next look.
    await new Promise((done) => setImmediate(done));
  };
  const note = gather<string>(
    async (noted) => {
      dealt.push([...noted]);
      await turn.promise;
    },
    () => turn.promise,
  );
  note("a");
  expect(dealt).toEqual([["a"]]);
  for (let at = 0; at < 100; at++) note(at % 2 ? "a" : "b");
  await next();
  note("c");
  expect(dealt).toHaveLength(1);
  await next();
  expect(dealt).toEqual([["a"], ["b", "a", "c"]]);
  await next();
  await next();
  note("d");
  expect(dealt.slice(2)).toEqual([["d"]]);
});

test("the pause gets the duration of the handler before it", async () => {
  let nowMs = 1000;
  const { promise: rested, resolve } = Promise.withResolvers<number>();
  const note = gather<string>(
    async () => {
      nowMs += 250;
    },
    async (tookMs) => resolve(tookMs),
    () => nowMs,
  );
  note("a");
  expect(await rested).toBe(250);
});
