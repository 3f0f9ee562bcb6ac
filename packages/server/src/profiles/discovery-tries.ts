import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { createCap } from "../rate-limit/cap.ts";

/** Limits a store's saves and checks of profiles: each sends requests to an address of the store's choice. */
export type DiscoveryTries = ReturnType<typeof createDiscoveryTries>;

export function createDiscoveryTries(deps: { clock: Clock; valkey?: Valkey | undefined }) {
  const stores = createCap(deps, {
    name: "discovery",
    rate: limits.discoveryTriesPerMinute / 60,
    burst: limits.discoveryTries,
  });
  return {
    /** Takes one try, or throws 429. */
    async take(storeId: string): Promise<void> {
      const retryAfterSeconds = await stores.take(storeId);
      if (retryAfterSeconds === undefined) return;
      throw new Problem("discovery_tries_exceeded", {
        meta: { at_once: limits.discoveryTries, per_minute: limits.discoveryTriesPerMinute },
        retryAfterSeconds,
      });
    },
    sweep: stores.sweep,
  };
}
