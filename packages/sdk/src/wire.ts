import type { Exchange, Fetch, Wire } from "./exchange.ts";

/** Defaults for the options that replace the network, the clock and the timer. */

type Outside = {
  baseUrl: string;
  fetch?: Fetch | undefined;
  now?: (() => number) | undefined;
  sleep?: ((ms: number) => Promise<unknown>) | undefined;
  onExchange?: ((exchange: Exchange) => void) | undefined;
};

export const wireOf = ({ baseUrl, fetch, onExchange }: Outside, tell: Wire["tell"]): Wire => ({
  baseUrl: withoutSlashes(baseUrl),
  // Calls `fetch` without a receiver: browsers reject `fetch` as a method of another object.
  fetch: (url, init) => (fetch ?? globalThis.fetch)(url, init),
  onExchange,
  tell,
});

function withoutSlashes(url: string): string {
  let end = url.length;
  while (url.endsWith("/", end)) end--;
  return url.slice(0, end);
}

export const clockOf = ({ now, sleep }: Outside) => ({
  now: now ?? Date.now,
  sleep: sleep ?? ((ms: number) => new Promise((resolve) => setTimeout(resolve, ms))),
});
