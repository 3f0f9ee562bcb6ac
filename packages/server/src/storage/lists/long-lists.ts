import { createMemo } from "../../lib/memo.ts";

/**
 * Lists that have more rows than are counted. For a minute their next pages are not counted again: a caller that pages
 * through a list reads many pages, and each would step along ROWS_COUNTED index entries for the same result.
 */
export type LongLists = { has(list: string): boolean; add(list: string): void };

const BELIEVED_MS = 60_000;
const MAX_LISTS = 10_000;

export function createLongLists(nowMs: () => number = () => performance.now()): LongLists {
  const untilMs = createMemo<number>(MAX_LISTS);
  return {
    has: (list) => (untilMs.get(list) ?? 0) > nowMs(),
    add: (list) => untilMs.keep(list, nowMs() + BELIEVED_MS),
  };
}
