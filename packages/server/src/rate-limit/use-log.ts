/**
 * The requests of each key in each second of the last hour, and how many of them were refused. Only seconds with use
 * take space, twenty bytes each, in chunks from one budget. When the budget is spent, the oldest chunk is dropped, and
 * the log covers less than an hour. So its memory is bounded for any number of keys.
 */
export type UseLog = {
  add(storeId: string, keyId: string, second: number, asked: number, refused?: number): void;
  /** In pieces of a few thousand entries, so that a reader can pause. May include entries before `sinceSecond`. */
  read(storeId: string, sinceSecond?: number): Iterable<Uses> | AsyncIterable<Uses>;
  /** Shares the additions to this store, or to all, with other instances. */
  flush(storeId?: string): void | Promise<void>;
  bytes(): number;
};

/** Parallel columns: key, second and counts of an entry have the same index. */
export type Uses = {
  keyIds: readonly string[];
  seconds: ArrayLike<number>;
  asked: ArrayLike<number>;
  refused: ArrayLike<number>;
};

/** The log of one instance, which decides without waiting. */
export type OwnUseLog = Omit<UseLog, "read"> & {
  read(storeId: string, sinceSecond?: number): readonly Uses[];
};

export const USE_LOG_SECONDS = 3600;
const ENTRIES = 128;
const CHUNK_BYTES = ENTRIES * 20;
const MAX_BYTES = 48 * 1024 * 1024;

type Chunk = {
  storeId: string;
  keyIds: string[];
  seconds: Uint32Array;
  asked: Uint32Array;
  refused: Uint32Array;
  newestSecond: number;
};

export function createUseLog(maxBytes = MAX_BYTES): OwnUseLog {
  const stores = new Map<string, Chunk[]>();
  /** All chunks, oldest first. The oldest chunk overall is always the oldest of its store. */
  const inOrder = new Set<Chunk>();
  const maxChunks = Math.max(1, Math.floor(maxBytes / CHUNK_BYTES));

  function chunkFor(storeId: string, second: number): Chunk {
    const last = stores.get(storeId)?.at(-1);
    if (last && last.keyIds.length < ENTRIES) return last;
    forgetBefore(second - USE_LOG_SECONDS);
    if (inOrder.size >= maxChunks) forgetFirst();
    const column = () => new Uint32Array(ENTRIES);
    const columns = { seconds: column(), asked: column(), refused: column() };
    const chunk = { storeId, keyIds: [], ...columns, newestSecond: 0 };
    const ofStore = stores.get(storeId);
    if (ofStore) ofStore.push(chunk);
    else stores.set(storeId, [chunk]);
    return chunk;
  }

  function forgetBefore(second: number): void {
    for (const chunk of inOrder) {
      if (chunk.newestSecond >= second) return;
      forgetFirst();
    }
  }

  function forgetFirst(): void {
    const [chunk] = inOrder;
    if (!chunk) return;
    inOrder.delete(chunk);
    const ofStore = stores.get(chunk.storeId);
    ofStore?.shift();
    if (ofStore?.length === 0) stores.delete(chunk.storeId);
  }

  return {
    add(storeId, keyId, second, asked, refused = 0) {
      const chunk = chunkFor(storeId, second);
      const at = chunk.keyIds.push(keyId) - 1;
      chunk.seconds[at] = second;
      chunk.asked[at] = asked;
      chunk.refused[at] = refused;
      chunk.newestSecond = Math.max(chunk.newestSecond, second);
      inOrder.delete(chunk);
      inOrder.add(chunk);
    },
    read: (storeId, sinceSecond = 0) =>
      stores.get(storeId)?.filter(({ newestSecond }) => newestSecond >= sinceSecond) ?? [],
    flush() {},
    bytes: () => inOrder.size * CHUNK_BYTES,
  };
}
