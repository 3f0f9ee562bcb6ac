import type { IntegrationRow } from "./integration.ts";

/**
 * The places of a process that serve integrations, shared between stores. A store may take a place while it holds fewer
 * places than are free: one store alone gets half of them, each of k stores gets a (k + 1)th, and a store without a
 * place gets one while any is free.
 */
export type Lane = ReturnType<typeof createLane>;

type HeldPlace = { integration: IntegrationRow; work: Promise<void> };

export function createLane(places: number) {
  const held = new Map<string, HeldPlace>();

  const free = () => places - held.size;

  function countByStore(): Map<string, number> {
    const counts = new Map<string, number>();
    for (const { integration } of held.values())
      counts.set(integration.store_id, (counts.get(integration.store_id) ?? 0) + 1);
    return counts;
  }

  return {
    held,
    /** The stores that may take no more places now. */
    fullStores: () => [...countByStore()].flatMap(([storeId, count]) => (count < free() ? [] : [storeId])),
    /**
     * How many places can be given at once if all go to the store that holds the most of those that may take one. 0:
     * none is free.
     */
    atOnce(): number {
      const most = Math.max(0, ...[...countByStore().values()].filter((count) => count < free()));
      // With each place that the store takes, it holds one more and one fewer is free.
      return Math.ceil((free() - most) / 2);
    },
    hold: (integration: IntegrationRow, work: Promise<void>) =>
      void held.set(integration.id, { integration, work }),
    leave: (integrationId: string) => void held.delete(integrationId),
  };
}
