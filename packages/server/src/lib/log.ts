import pino, { type Logger } from "pino";
import type { LineWriter } from "./line-writer.ts";

/** One JSON object a line. What is in `base` is in every line. */
export function createLog(
  level: string,
  lines: LineWriter,
  base: Record<string, unknown> | null = null,
): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base, timestamp: pino.stdTimeFunctions.isoTime, formatters }, lines);
}
