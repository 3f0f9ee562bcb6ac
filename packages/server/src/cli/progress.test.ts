import { expect, test } from "vitest";
import { createProgress } from "./progress.ts";

function watched(isTTY: boolean) {
  const written: string[] = [];
  let atMs = 0;
  const out = { isTTY, write: (text: string) => written.push(text) };
  const progress = createProgress("deleting", { out, nowMs: () => atMs });
  return { written, progress, passMs: (ms: number) => (atMs += ms) };
}

test("in a terminal a bar moves on one line, ten times a second at most", () => {
  const { written, progress, passMs } = watched(true);
  for (let done = 0; done <= 100; done++) {
    progress.show(done, 100);
    passMs(10);
  }
  progress.end();
  expect(written.length).toBeLessThan(15);
  expect(written[0]).toBe(`\rdeleting: [${" ".repeat(30)}] 0 of 100 rows, 0 %`);
  expect(written.at(-2)).toBe(`\rdeleting: [${"#".repeat(30)}] 100 of 100 rows, 100 %`);
  expect(written.at(-1)).toBe("\n");
});

test("elsewhere it is a line every five seconds, and one at the end", () => {
  const { written, progress, passMs } = watched(false);
  for (let second = 1; second <= 12; second++) {
    passMs(1000);
    progress.show(second, undefined);
  }
  progress.end();
  expect(written).toEqual(["deleting: 5 rows\n", "deleting: 10 rows\n", "deleting: 12 rows\n"]);
});

test("what was never begun shows nothing", () => {
  const { written, progress } = watched(true);
  progress.end();
  expect(written).toEqual([]);
});
