import { limits } from "../contract/limits.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { networkOf } from "../lib/source-address.ts";
import { createCap } from "../rate-limit/cap.ts";

/**
 * How many refusals are recorded that no identity provider has signed: anybody can cause those, with any number of
 * addresses. So there is a bound for each source, where IPv6 counts by /48, and one for each store over all sources.
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
    // The source first: what it may not have recorded takes nothing from the store's others.
    take: async (storeId, source) =>
      isLeft(await sources.take(networkOf(source))) && isLeft(await stores.take(storeId)),
    sweep() {
      sources.sweep();
      stores.sweep();
    },
  };
}
