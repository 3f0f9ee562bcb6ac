import { limits } from "../contract/limits.ts";
import type { Valkey } from "../counters/valkey.ts";
import type { Clock } from "../lib/clock.ts";
import { networkOf } from "../lib/source-address.ts";
import { createCap } from "../rate-limit/cap.ts";

/** Limits records of unsigned refusals, which anyone can cause: by source (IPv6 by /48), then by store. */
export type RecordLimiter = ReturnType<typeof createRecordLimiter>;

export function createRecordLimiter(deps: { clock: Clock; valkey?: Valkey | undefined }) {
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
    take: async (storeId: string, source: string): Promise<boolean> =>
      isLeft(await sources.take(networkOf(source))) && isLeft(await stores.take(storeId)),
    sweep(): void {
      sources.sweep();
      stores.sweep();
    },
  };
}
