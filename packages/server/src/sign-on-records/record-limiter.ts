import { limits } from "../contract/limits.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { networkOf } from "../lib/source-address.ts";
import { createCap } from "../rate-limit/cap.ts";

/**
 * Limits records of refusals that no identity provider has signed, because anyone can cause them. Each source has a
 * limit (IPv6 by /48), and each store has a limit over all sources.
 */
export type RecordLimiter = { take(storeId: string, source: string): Promise<boolean>; sweep(): void };

export function createRecordLimiter(deps: { clock: Clock; valkey?: Valkey | undefined }): RecordLimiter {
  const sources = createCap(deps, {
    name: "records",
    rate: limits.strangerRecordsOfSourcePerSecond,
    burst: limits.strangerRecordsOfSourceAtOnce,
  });
  const stores = createCap(deps, {
    name: "records",
    rate: limits.strangerRecordsPerSecond,
    burst: limits.strangerRecordsAtOnce,
  });
  const isLeft = (wait: number | undefined): boolean => wait === undefined;
  return {
    // The source first: a record that its own limit refuses takes nothing from the store's limit.
    take: async (storeId, source) =>
      isLeft(await sources.take(networkOf(source))) && isLeft(await stores.take(storeId)),
    sweep() {
      sources.sweep();
      stores.sweep();
    },
  };
}
