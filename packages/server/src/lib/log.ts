import pino, { type Logger } from "pino";
import { toIso } from "./clock.ts";
import type { LineWriter } from "./line-writer.ts";

/** One JSON object a line. What is in `base` is in every line. */
export function createLog(
  level: string,
  lines: LineWriter,
  base: Record<string, unknown> | null = null,
): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = () => `,"time":"${toIso(Date.now())}"`;
  return pino({ level, base, timestamp, formatters }, lines);
}
