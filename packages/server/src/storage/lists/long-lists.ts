import { createMemo } from "../../lib/memo.ts";

/**
 * Lists that were found to have more rows than are counted. For a minute the next page is not counted again: who walks a list, or
 * orders it otherwise, asks for many pages, and each would step along as many index entries to learn the same.
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
