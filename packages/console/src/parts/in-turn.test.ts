import { expect, test } from "vitest";
import { inTurn } from "./in-turn.ts";

test("at most two works run at once, in the order in which they came, also after a failure", async () => {
  const ask = inTurn(2);
  let [running, most] = [0, 0];
  const done: number[] = [];
  const work = (at: number) =>
    ask(async () => {
      most = Math.max(most, ++running);
      await Promise.resolve();
      running--;
      done.push(at);
      if (at === 0) throw new Error("refused");
      return at;
    });
  const results = await Promise.allSettled([0, 1, 2, 3, 4].map(work));
  expect(results.map(({ status }) => status)).toEqual(["rejected", ...Array(4).fill("fulfilled")]);
  expect([most, done, running]).toEqual([2, [0, 1, 2, 3, 4], 0]);
});
