import { expect, test } from "vitest";
import { createLog, type LOG_LEVELS } from "./log.ts";

function logged(least: (typeof LOG_LEVELS)[number], base?: Record<string, unknown>) {
  const lines: string[] = [];
  const log = createLog(least, { write: (line) => void lines.push(line) }, base);
  return { log, lines };
}

test("a line is one JSON object: level, time, common fields, and its own fields", () => {
  const { log, lines } = logged("info", { worker: 2 });
  log.warn({ event: "degraded", what: 'a "quoted"\nbreak', none: undefined });
  expect(lines).toHaveLength(1);
  const [line = ""] = lines;
  expect(line.indexOf("\n")).toBe(line.length - 1);
  const { time, ...rest } = JSON.parse(line);
  expect(rest).toEqual({ level: "warn", worker: 2, event: "degraded", what: 'a "quoted"\nbreak' });
  expect(new Date(time).toISOString()).toBe(time);
});

test("without common fields a line has only its own fields", () => {
  const { log, lines } = logged("debug");
  log.debug({ event: "webhook" });
  expect(Object.keys(JSON.parse(lines[0] ?? ""))).toEqual(["level", "time", "event"]);
});

test.each([
  ["trace", 4],
  ["debug", 4],
  ["info", 3],
  ["warn", 2],
  ["error", 1],
  ["silent", 0],
] as const)("%s lets %i of four levels through", (least, count) => {
  const { log, lines } = logged(least);
  for (const say of [log.debug, log.info, log.warn, log.error]) say({ event: "x" });
  expect(lines).toHaveLength(count);
});
