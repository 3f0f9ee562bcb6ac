import type { Figure } from "../measure/figures.ts";
import type { Contestant, Engine } from "../workloads/workload.ts";

/** Names and figures as the reports print them. */

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

/** Microseconds below a millisecond, milliseconds above. */
export const time = (us: number): string =>
  us < 1000 ? `${Math.round(us)} µs` : `${(us / 1000).toFixed(us < 10_000 ? 2 : 1)} ms`;

/** 0.42 is printed as 42 %, 3.5 as 3.5 times, each with the lowest and the highest round. */
export function share({ median, low, high }: Figure): string {
  return median < 1
    ? `${percent(median)} % (${percent(low)} to ${percent(high)})`
    : `${times(median)} × (${times(low)} to ${times(high)})`;
}

const percent = (part: number): string => String(Math.round(part * 100));
export const times = (factor: number): string => factor.toFixed(factor < 10 ? 2 : 0);
export const megabytes = (bytes: number): string => `${Math.round(bytes / 1e6)} MB`;
export const milliseconds = (ms: number): string => `${Math.round(ms)} ms`;
export const verdict = (isMet: boolean): string => (isMet ? "met" : "not met");

export const spread = ({ median, low, high }: Figure, show: (value: number) => string): string =>
  `${show(median)} (${show(low)} to ${show(high)})`;
