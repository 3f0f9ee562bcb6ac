import type * as contract from "../contract/events.ts";
import type { Output } from "../contract/operation.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { type Signer, signJws } from "../lib/jws.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { type Hashed, isTime } from "./chain.ts";

/**
 * Both ends of a store's log: the last number and its hash, and the first that is kept, with the hash of the one before. `forgotten_event` is
 * that event without its data: its time shows that it was old enough to be forgotten, and its hash that the time is right.
 */
export type Head = Omit<Tables["event_heads"], "store_id" | "oldest_time">;

export const EMPTY: Head = {
  last_sequence: 0,
  last_hash: "",
  latest_time: 0,
  first_sequence: 1,
  forgotten_hash: "",
  forgotten_event: null,
};

/** Its store and number are those of the head, whatever else is written there. */
export function forgottenEvent(
  { first_sequence, forgotten_event }: Head,
  storeId: string,
): Hashed | undefined {
  if (forgotten_event === null) return undefined;
  try {
    const kept = { ...JSON.parse(forgotten_event), store_id: storeId, sequence: first_sequence - 1 };
    return isTime(kept.time) ? kept : undefined;
  } catch {
    return undefined;
  }
}

export const writeForgotten = ({ id, type, subject, source, time, digest, previous_hash }: Hashed): string =>
  JSON.stringify({ id, type, subject, source, time, digest, previous_hash });

/** Of a store in which nothing was numbered yet, the ends of an empty log. */
export const readHead = async (db: Database, storeId: string): Promise<Head> =>
  (await findHead.first(db, { storeId })) ?? EMPTY;

const findHead = statement((db, of: { storeId: string }) =>
  db
    .selectFrom("event_heads")
    .select([
      "last_sequence",
      "last_hash",
      "latest_time",
      "first_sequence",
      "forgotten_hash",
      "forgotten_event",
    ])
    .where("store_id", "=", of.storeId),
);

export const HEAD_TYPE = "event-head+jwt";

type Deps = { storage: Storage; clock: Clock; signingKeys: { current(): Promise<Signer> } };

/** Signed for a witness outside, who can then tell a rewritten log from ours, too. */
export async function signHead(deps: Deps, storeId: string): Promise<Output<typeof contract.getEventHead>> {
  const signer = await deps.signingKeys.current();
  const head = await readHead(deps.storage.db, storeId);
  const ends = {
    sequence: String(head.last_sequence),
    hash: head.last_hash,
    first_sequence: String(head.first_sequence),
    forgotten_hash: head.forgotten_hash,
  };
  const claims = { store: storeId, ...ends, time: toIso(deps.clock.now()) };
  return { data: { ...ends, signature: signJws(signer, HEAD_TYPE, claims) } };
}
