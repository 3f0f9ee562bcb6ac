import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { networkOf } from "../lib/source-address.ts";
import { createSourceLimiter } from "../rate-limit/source-limiter.ts";

/**
 * How many refusals are recorded that no identity provider has signed: anybody can cause those, with any number of
 * addresses. So there is a bound for each source, where IPv6 counts by /48, and one for each store over all sources.
 */
export type RecordLimiter = { take(storeId: string, source: string): boolean; sweep(): void };

export function createRecordLimiter({ clock }: { clock: Clock }): RecordLimiter {
  const sources = createSourceLimiter(
    { clock },
    { rate: limits.strangerRecordsOfSourcePerSecond, burst: limits.strangerRecordsOfSourceAtOnce },
  );
  const stores = createSourceLimiter(
    { clock },
    { rate: limits.strangerRecordsPerSecond, burst: limits.strangerRecordsAtOnce },
  );
  return {
    // The source first: what it may not have recorded takes nothing from the store's others.
    take: (storeId, source) => sources.take(networkOf(source)) && stores.take(storeId),
    sweep() {
      sources.sweep();
      stores.sweep();
    },
  };
}
