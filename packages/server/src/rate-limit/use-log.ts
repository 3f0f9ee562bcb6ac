/**
 * How many requests each key made in each second of the last hour, for the planner. Only seconds with use take space,
 * twelve bytes each, in chunks that all stores draw from one budget: when it is spent, the oldest chunk goes, and the
 * log reaches back less than an hour. So its memory has a ceiling, however many keys there are.
 */
export type Use = { keyId: string; second: number; asked: number };

export type UseLog = {
  add(storeId: string, keyId: string, second: number, asked: number): void;
  read(storeId: string, sinceSecond: number): Use[];
  bytes(): number;
};

export const USE_LOG_SECONDS = 3600;
const ENTRIES = 128;
const FIELDS = 3;
const CHUNK_BYTES = ENTRIES * FIELDS * Uint32Array.BYTES_PER_ELEMENT;
const MAX_BYTES = 48 * 1024 * 1024;

type Chunk = { storeId: string; cells: Uint32Array; entries: number };
type StoreLog = { chunks: Chunk[]; slots: Map<string, number>; keyIds: string[] };

export function createUseLog(maxBytes = MAX_BYTES): UseLog {
  const stores = new Map<string, StoreLog>();
  /** All chunks, oldest first. A store's own chunks are in the same order, so its first is the one that goes. */
  const inOrder = new Set<Chunk>();
  const maxChunks = Math.max(1, Math.floor(maxBytes / CHUNK_BYTES));

  function chunkFor(storeId: string, log: StoreLog, second: number): Chunk {
    const last = log.chunks.at(-1);
    if (last && last.entries < ENTRIES) return last;
    forgetBefore(second - USE_LOG_SECONDS);
    if (inOrder.size >= maxChunks) forgetOldest();
    const chunk = { storeId, cells: new Uint32Array(ENTRIES * FIELDS), entries: 0 };
    log.chunks.push(chunk);
    inOrder.add(chunk);
    stores.set(storeId, log);
    return chunk;
  }

  function forgetBefore(second: number): void {
    for (const chunk of inOrder) {
      const newest = chunk.cells[(chunk.entries - 1) * FIELDS] ?? 0;
      if (newest >= second) return;
      forgetOldest();
    }
  }

  function forgetOldest(): void {
    const [chunk] = inOrder;
    if (!chunk) return;
    inOrder.delete(chunk);
    const log = stores.get(chunk.storeId);
    log?.chunks.shift();
    if (log?.chunks.length === 0) stores.delete(chunk.storeId);
  }

  return {
    add(storeId, keyId, second, asked) {
      const log: StoreLog = stores.get(storeId) ?? { chunks: [], slots: new Map(), keyIds: [] };
      const chunk = chunkFor(storeId, log, second);
      let slot = log.slots.get(keyId);
      if (slot === undefined) {
        slot = log.keyIds.push(keyId) - 1;
        log.slots.set(keyId, slot);
      }
      chunk.cells.set([second, slot, asked], chunk.entries * FIELDS);
      chunk.entries++;
    },
    read(storeId, sinceSecond) {
      const log = stores.get(storeId);
      const uses: Use[] = [];
      for (const { cells, entries } of log?.chunks ?? []) {
        for (let at = 0; at < entries * FIELDS; at += FIELDS) {
          const second = cells[at] as number;
          if (second < sinceSecond) continue;
          uses.push({
            keyId: log?.keyIds[cells[at + 1] as number] as string,
            second,
            asked: cells[at + 2] as number,
          });
        }
      }
      return uses;
    },
    bytes: () => inOrder.size * CHUNK_BYTES,
  };
}
