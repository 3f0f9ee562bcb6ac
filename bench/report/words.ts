import type { Figure } from "../measure/measure.ts";
import type { Contestant, Engine } from "../workloads/workload.ts";

/** Figures as people read them. */

export const engineNames: Record<Engine, string> = { sqlite: "SQLite", postgres: "PostgreSQL" };

export const contestantNames: Record<Contestant, string> = {
  latchkey: "Latchkey",
  before: "Latchkey before",
  limit: "the limit",
  hono: "bare Hono",
  argon2: "bare Argon2id",
  "better-auth": "better-auth",
  "oidc-provider": "oidc-provider",
  "dex-memory": "dex in memory",
  "dex-sqlite": "dex on SQLite",
};

/** Microseconds, or milliseconds where there are many. */
export const time = (us: number): string =>
  us < 1000 ? `${Math.round(us)} µs` : `${(us / 1000).toFixed(us < 10_000 ? 2 : 1)} ms`;

/** 0.42 is 42 %; 3.5 is 3.5 times. With both ends of what the rounds showed. */
export function share({ median, low, high }: Figure): string {
  return median < 1
    ? `${percent(median)} % (${percent(low)} to ${percent(high)})`
    : `${times(median)} × (${times(low)} to ${times(high)})`;
}

const percent = (part: number): string => String(Math.round(part * 100));
export const times = (factor: number): string => factor.toFixed(factor < 10 ? 2 : 0);

export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;

export const verdict = (isMet: boolean): string => (isMet ? "met" : "not met");

export function spread({ median, low, high }: Figure, show: (value: number) => string): string {
  return `${show(median)} (${show(low)} to ${show(high)})`;
}
