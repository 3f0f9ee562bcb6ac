import { toIso } from "./clock.ts";
import type { LineWriter } from "./line-writer.ts";

const LEVELS = ["debug", "info", "warn", "error"] as const;
type Level = (typeof LEVELS)[number];

/** Lines below the configured level are not even formatted. */
export type Log = Record<Level, (line: { event: string; [field: string]: unknown }) => void>;

/** The levels an operator can configure. `trace` is the same as `debug`. */
export const LOG_LEVELS = ["trace", ...LEVELS, "silent"] as const;

/** Writes one JSON object per line. Every line has the members of `base`. */
export function createLog(
  least: (typeof LOG_LEVELS)[number],
  lines: Pick<LineWriter, "write">,
  base: Record<string, unknown> = {},
): Log {
  const common = JSON.stringify(base).slice(1, -1);
  const at = (level: Level): Log[Level] => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(least)) return () => {};
    const start = `{"level":"${level}","time":"`;
    const then = common === "" ? '",' : `",${common},`;
    return (line) => lines.write(`${start}${toIso(Date.now())}${then}${JSON.stringify(line).slice(1)}\n`);
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}
