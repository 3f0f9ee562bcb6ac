import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { plotLimiter } from "../../bench/limiter/plot.ts";
import { createQueue } from "../../bench/limiter/queue.ts";
import { PATIENCE_MS, type Setting, simulate, WAYS } from "../../bench/limiter/simulation.ts";

import { pages } from "../../bench/scale.ts";
import { limiterResults } from "../../bench/simulate-limiter.ts";

/** A short run of the simulation of docs/scale.md: properties that hold for any figures. */

const good = { fromMs: 0, name: "good", delayMs: 0.5, loss: 0, isAway: false };
const SHORT: Setting = { instances: 20, seconds: 6, rateLimit: 1000, seed: 7, weather: [good] };
const STORM: Setting = {
  ...SHORT,
  weather: [
    good,
    { fromMs: 1000, name: "lossy", delayMs: 10, loss: 0.05, isAway: false },
    { fromMs: 2000, name: "away", delayMs: 0.5, loss: 0, isAway: true },
    { fromMs: 4000, name: "back", delayMs: 0.5, loss: 0, isAway: false },
  ],
};

describe("the simulation", () => {
  test("gives the same figures for the same seed, and others for another", () => {
    for (const way of WAYS) expect(simulate(way, STORM)).toEqual(simulate(way, STORM));
    expect(simulate("exact", { ...STORM, seed: 8 }).served).not.toEqual(simulate("exact", STORM).served);
  });

  test("decides each request once", () => {
    const totals = WAYS.map((way) => simulate(way, STORM).asked.reduce((sum, asked) => sum + asked, 0));
    expect(new Set(totals).size).toBe(1);
    expect(totals[0]).toBeGreaterThan(10_000);
  });

  test.each(WAYS)("%s refuses no request within a floor, whatever the network does", (way) => {
    expect(simulate(way, STORM).floorsRefused).toBe(0);
  });

  test.each(WAYS)("%s delays no request beyond the patience", (way) => {
    expect(simulate(way, STORM).waitedMostMs).toBeLessThan(PATIENCE_MS + 0.001);
  });
});

describe("exact", () => {
  test("serves no more than the limit after its first second; independent instances serve more", () => {
    const [, ...served] = simulate("exact", SHORT).served;
    for (const second of served) expect(second).toBeLessThanOrEqual(SHORT.rateLimit);
    expect(Math.max(...served)).toBeGreaterThan(SHORT.rateLimit * 0.95);
    for (const second of simulate("independent", SHORT).served)
      expect(second).toBeGreaterThan(SHORT.rateLimit * 2);
  });

  test("is exact again within a second after the counter's return", () => {
    const { served } = simulate("exact", STORM);
    expect(served[5]).toBeLessThanOrEqual(STORM.rateLimit);
  });

  test("gives keys with little use what they request, and shares the rest equally", () => {
    const { smallServed, fairness } = simulate("exact", SHORT);
    expect(smallServed).toBeGreaterThan(0.99);
    for (const index of fairness.slice(1)) expect(index).toBeGreaterThan(0.98);
  });
});

test("events of the same time run in the order in which they were planned", () => {
  const queue = createQueue();
  const happened: string[] = [];
  for (const [time, name] of [
    [2, "c"],
    [1, "a"],
    [2, "d"],
    [1, "b"],
    [3, "e"],
    [4, "too late"],
  ] as const)
    queue.at(time, () => happened.push(name));
  queue.run(3, () => {});
  expect(happened.join("")).toBe("abcde");
});

test("the picture has a row for each mode, and colours for light and dark", () => {
  const svg = plotLimiter(
    SHORT,
    WAYS.map((way) => simulate(way, SHORT)),
  );
  expect(svg.match(/<polyline/g)).toHaveLength(WAYS.length);
  expect(svg).toContain("prefers-color-scheme: dark");
  expect(svg).not.toMatch(/NaN|undefined|Infinity/);
});

test("bench/results has the figures of the simulation: run `npm run simulate:limiter`", () => {
  for (const [name, text] of Object.entries(limiterResults().files))
    expect(readFileSync(new URL(`../../bench/results/${name}`, import.meta.url), "utf8"), name).toBe(text);
});

test("docs/scale.md and docs/several-instances.md say what was counted and measured: run `npm run scale`", () => {
  for (const [path, page] of Object.entries(pages()))
    expect(readFileSync(new URL(`../../${path}`, import.meta.url), "utf8"), path).toBe(page);
});
