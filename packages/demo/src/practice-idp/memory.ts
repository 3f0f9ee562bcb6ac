type Row = { uid?: string; grantId?: string; consumed?: number };
type Kept = { row: Row; model: string; expiresAtMs: number };

const SWEEP_FROM = 1000;

/** The provider's database, in memory. A provider that replaces another uses the same database. */
export function createMemory() {
  const kept = new Map<string, Kept>();

  function sweep(): void {
    const nowMs = Date.now();
    for (const [key, { expiresAtMs }] of kept) if (expiresAtMs < nowMs) kept.delete(key);
  }

  return (model: string) => {
    const keyOf = (id: string) => `${model} ${id}`;
    return {
      async upsert(id: string, row: Row, lifetimeSeconds?: number) {
        if (kept.size >= SWEEP_FROM) sweep();
        const expiresAtMs = Date.now() + (lifetimeSeconds ?? Number.POSITIVE_INFINITY) * 1000;
        kept.set(keyOf(id), { row, model, expiresAtMs });
      },
      // The library reads from the row whether it has expired.
      find: async (id: string) => kept.get(keyOf(id))?.row,
      findByUid: async (uid: string) =>
        [...kept.values()].find((entry) => entry.model === model && entry.row.uid === uid)?.row,
      findByUserCode: async () => undefined,
      async consume(id: string) {
        const row = kept.get(keyOf(id))?.row;
        if (row) row.consumed = Math.floor(Date.now() / 1000);
      },
      destroy: async (id: string) => void kept.delete(keyOf(id)),
      async revokeByGrantId(grantId: string) {
        for (const [key, { row }] of kept) if (row.grantId === grantId) kept.delete(key);
      },
    };
  };
}

export type Memory = ReturnType<typeof createMemory>;
