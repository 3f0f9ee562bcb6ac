import type { OwnUseLog } from "../../src/rate-limit/use-log.ts";

export type Use = { keyId: string; second: number; asked: number; refused?: number };

/** The use of a store as rows, from one second on. */
export const readUses = (log: OwnUseLog, storeId: string, sinceSecond: number): Use[] =>
  log
    .read(storeId)
    .flatMap(({ keyIds, seconds, asked }) =>
      keyIds.map((keyId, at) => ({ keyId, second: seconds[at] as number, asked: asked[at] as number })),
    )
    .filter(({ second }) => second >= sinceSecond);
