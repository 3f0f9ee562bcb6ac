import type * as contract from "../contract/events.ts";
import type { Output } from "../contract/operation.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { type Signer, signJws } from "../lib/jws.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { type Hashed, isTime } from "./chain.ts";

/**
 * Both ends of a store's log: the last number with its hash, and the first kept number with the hash before it.
 * `forgotten_event` is the event before the first, without its data: its time proves that it was old enough to delete,
 * and its hash proves the time.
 */
export type LogHead = Omit<Tables["event_heads"], "store_id" | "oldest_time">;

export const EMPTY: LogHead = {
  last_sequence: 0,
  last_hash: "",
  latest_time: 0,
  first_sequence: 1,
  forgotten_hash: "",
  forgotten_event: null,
};

/** Store and number come from the head, whatever the stored JSON says. */
export function forgottenEvent(
  { first_sequence, forgotten_event }: LogHead,
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

/** The ends of an empty log, for a store without numbered events. */
export const readHead = async (db: Database, storeId: string): Promise<LogHead> =>
  (await findHead.first(db, { storeId })) ?? EMPTY;

const findHead = statement((db, of: { storeId: string }) =>
  db.selectFrom("event_heads").selectAll().where("store_id", "=", of.storeId),
);

export const HEAD_TYPE = "event-head+jwt";

type Deps = { storage: Storage; clock: Clock; signingKeys: { current(): Promise<Signer> } };

/** Signs the head for an external witness, who can then detect a log that was rewritten as a whole. */
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
