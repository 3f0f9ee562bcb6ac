import type { Storage, Trx } from "./storage.ts";

/**
 * A change of the tables. Most migrations only add (expand): the release before goes on working on the new tables, so
 * that instances can be upgraded one after the other, and back. A migration that removes something (contract) names in
 * `needsVersion` the migration that a release must know to run on the tables after it.
 */
export type Migration = {
  /** The number of its file. */
  version: number;
  name: string;
  needsVersion?: number;
  up(trx: Trx, engine: Storage["engine"]): Promise<void>;
};
