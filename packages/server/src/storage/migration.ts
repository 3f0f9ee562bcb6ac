import type { Storage, Trx } from "./storage.ts";

/**
 * One step of the tables. Most steps only add (expand): the release before them goes on working on the new tables, so
 * that instances can be upgraded one after the other, and back. A step that takes something away (contract) says in
 * `needsVersion` which migration code must know to run on what is left.
 */
export type Migration = {
  /** The number of its file. */
  version: number;
  name: string;
  needsVersion?: number;
  up(trx: Trx, engine: Storage["engine"]): Promise<void>;
};
