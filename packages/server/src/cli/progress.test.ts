import { expect, test } from "vitest";
import { createProgress } from "./progress.ts";

function watched(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  let atMs = 0;
  const out = { isTTY, columns, write: (text: string) => written.push(text) };
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
  expect(written[0]).toBe(`\r\u001b[Kdeleting: [${" ".repeat(30)}] 0 of 100 rows, 0 %`);
  expect(written.at(-1)).toBe(`\r\u001b[Kdeleting: [${"#".repeat(30)}] 100 of 100 rows, 100 %\n`);
});

test("in a narrow terminal it stays on one line, which can be overwritten: the bar is left out first", () => {
  const figures = watched(true, 40);
  figures.progress.show(50, 100);
  expect(figures.written).toEqual(["\r\u001b[Kdeleting: 50 of 100 rows, 50 %"]);
  const { written, progress } = watched(true, 20);
  progress.show(50, 100);
  expect(written).toEqual(["\r\u001b[Kdeleting: 50 of 100"]);
});

test("without a terminal it prints a line every five seconds, and one at the end", () => {
  const { written, progress, passMs } = watched(false);
  for (let second = 1; second <= 12; second++) {
    passMs(1000);
    progress.show(second, undefined);
  }
  progress.end();
  expect(written).toEqual(["deleting: 5 rows\n", "deleting: 10 rows\n", "deleting: 12 rows\n"]);
});

test("work that never started shows nothing", () => {
  const { written, progress } = watched(true);
  progress.end();
  expect(written).toEqual([]);
});
