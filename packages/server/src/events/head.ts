import type * as contract from "../contract/events.ts";
import type { Output } from "../contract/operation.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { type Signer, signJws } from "../lib/jws.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** Both ends of a store's log: the last number and its hash, and the first that is kept, with the hash of the one before. */
export type Head = Pick<
  Tables["event_heads"],
  "last_sequence" | "last_hash" | "first_sequence" | "forgotten_hash"
>;

export const EMPTY: Head = { last_sequence: 0, last_hash: "", first_sequence: 1, forgotten_hash: "" };

/** Of a store in which nothing was numbered yet, the ends of an empty log. */
export const readHead = async (db: Database, storeId: string): Promise<Head> =>
  (await findHead.first(db, { storeId })) ?? EMPTY;

const findHead = statement((db, of: { storeId: string }) =>
  db
    .selectFrom("event_heads")
    .select(["last_sequence", "last_hash", "first_sequence", "forgotten_hash"])
    .where("store_id", "=", of.storeId),
);

export const HEAD_TYPE = "event-head+jwt";

type Deps = { storage: Storage; clock: Clock; signingKeys: { current(): Promise<Signer> } };

/** Signed for a witness outside, who can then tell a rewritten log from ours, too. */
export async function signHead(deps: Deps, storeId: string): Promise<Output<typeof contract.getEventHead>> {
  const signer = await deps.signingKeys.current();
  const head = await readHead(deps.storage.db, storeId);
  const [sequence, hash] = [String(head.last_sequence), head.last_hash];
  const claims = { store: storeId, sequence, hash, time: toIso(deps.clock.now()) };
  return { data: { sequence, hash, signature: signJws(signer, HEAD_TYPE, claims) } };
}
