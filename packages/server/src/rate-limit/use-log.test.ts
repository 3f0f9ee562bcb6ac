import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readUses, type Use } from "../../test/support/uses.ts";
import { createUseLog, USE_LOG_SECONDS } from "./use-log.ts";

const ENTRIES = 128;
const CHUNK_BYTES = ENTRIES * 20;

const use = fc.record({
  keyId: fc.constantFrom("a", "b", "c"),
  second: fc.nat(3000),
  asked: fc.nat(2 ** 32 - 1),
});
const inOrder = (uses: Use[]): Use[] => uses.toSorted((a, b) => a.second - b.second);

describe("reading", () => {
  test("gives each store its own entries", () => {
    const uses = fc.array(fc.record({ storeId: fc.constantFrom("x", "y", "z"), use }), { maxLength: 600 });
    fc.assert(
      fc.property(uses, (uses) => {
        const log = createUseLog();
        for (const { storeId, use } of uses) log.add(storeId, use.keyId, use.second, use.asked);
        for (const storeId of ["x", "y", "z"]) {
          const own = uses.filter((entry) => entry.storeId === storeId).map((entry) => entry.use);
          expect(readUses(log, storeId, 0)).toEqual(own);
        }
      }),
    );
  });

  test("gives no entry from before the requested second", () => {
    fc.assert(
      fc.property(fc.array(use, { maxLength: 300 }), fc.nat(3000), (uses, since) => {
        const log = createUseLog();
        for (const { keyId, second, asked } of uses) log.add("store", keyId, second, asked);
        expect(readUses(log, "store", since)).toEqual(uses.filter(({ second }) => second >= since));
      }),
    );
  });

  test("an unknown store has no entries", () => {
    expect(readUses(createUseLog(), "store", 0)).toEqual([]);
  });
});

describe("memory", () => {
  test("an empty log takes none, and a store takes a chunk at a time", () => {
    const log = createUseLog();
    expect(log.bytes()).toBe(0);
    for (let i = 0; i < ENTRIES; i++) log.add("x", "a", i, 1);
    expect(log.bytes()).toBe(CHUNK_BYTES);
    log.add("x", "a", ENTRIES, 1);
    log.add("y", "a", ENTRIES, 1);
    expect(log.bytes()).toBe(3 * CHUNK_BYTES);
  });

  test("stays under its ceiling, and loses the oldest entries first", () => {
    const sizes = fc.record({ chunks: fc.integer({ min: 1, max: 5 }), odd: fc.nat(CHUNK_BYTES - 1) });
    fc.assert(
      fc.property(sizes, fc.array(use, { maxLength: 1000, size: "max" }), ({ chunks, odd }, uses) => {
        const maxBytes = chunks * CHUNK_BYTES + odd;
        const log = createUseLog(maxBytes);
        for (const { keyId, second, asked } of inOrder(uses)) {
          log.add("store", keyId, second, asked);
          expect(log.bytes()).toBeLessThanOrEqual(maxBytes);
        }
        const kept = readUses(log, "store", 0);
        expect(kept).toEqual(inOrder(uses).slice(uses.length - kept.length));
        expect(kept.length).toBeGreaterThanOrEqual(Math.min(uses.length, (chunks - 1) * ENTRIES + 1));
      }),
    );
  });

  test("stays under its ceiling however many stores there are, and each reads only its own", () => {
    const maxBytes = 4 * CHUNK_BYTES;
    const log = createUseLog(maxBytes);
    for (let i = 0; i < 5000; i++) {
      log.add(`store ${i % 7}`, `key of ${i % 7}`, i, i);
      expect(log.bytes()).toBeLessThanOrEqual(maxBytes);
    }
    for (let store = 0; store < 7; store++) {
      for (const { keyId, second } of readUses(log, `store ${store}`, 0)) {
        expect([keyId, second % 7]).toEqual([`key of ${store}`, store]);
      }
    }
    expect(readUses(log, `store ${4999 % 7}`, 4999)).toEqual([
      { keyId: `key of ${4999 % 7}`, second: 4999, asked: 4999 },
    ]);
  });

  test("a store that lost its last chunk starts again with the right names", () => {
    const log = createUseLog(CHUNK_BYTES);
    log.add("x", "first", 1, 1);
    log.add("y", "other", 2, 1);
    expect(readUses(log, "x", 0)).toEqual([]);
    log.add("x", "second", 3, 5);
    expect(readUses(log, "x", 0)).toEqual([{ keyId: "second", second: 3, asked: 5 }]);
    expect(readUses(log, "y", 0)).toEqual([]);
  });

  test("only entries older than an hour are dropped to make room", () => {
    const log = createUseLog();
    for (let i = 0; i < ENTRIES; i++) log.add("x", "a", 100, 1);
    for (let i = 0; i < ENTRIES; i++) log.add("x", "a", 101, 1);
    log.add("x", "a", 101 + USE_LOG_SECONDS, 1);
    expect(log.bytes()).toBe(2 * CHUNK_BYTES);
    expect(new Set(readUses(log, "x", 0).map(({ second }) => second))).toEqual(
      new Set([101, 101 + USE_LOG_SECONDS]),
    );
  });

  test("a store's use drops another store's entries older than an hour", () => {
    const log = createUseLog();
    log.add("idle", "a", 100, 1);
    for (let i = 0; i <= ENTRIES; i++) log.add("busy", "a", 101 + USE_LOG_SECONDS, 1);
    expect(readUses(log, "idle", 0)).toEqual([]);
    expect(log.bytes()).toBe(2 * CHUNK_BYTES);
  });

  test("use of the last hour is not forgotten because an older entry was written after it", () => {
    const log = createUseLog();
    for (let i = 1; i < ENTRIES; i++) log.add("store", "busy", 3700, 1);
    log.add("store", "late", 3630, 1);
    log.add("store", "busy", 3631 + USE_LOG_SECONDS, 1);
    expect(readUses(log, "store", 3700)).toHaveLength(ENTRIES);
  });

  test("if memory is short, a quiet store's newest use is kept longer than a busy store's oldest", () => {
    const log = createUseLog(2 * CHUNK_BYTES);
    log.add("quiet", "a", 1, 1);
    for (let i = 0; i < ENTRIES; i++) log.add("busy", "a", 2, 1);
    log.add("quiet", "a", 100, 1);
    log.add("busy", "a", 100, 1);
    expect(readUses(log, "quiet", 100)).toHaveLength(1);
  });
});
