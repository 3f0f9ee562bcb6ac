import { getEventHead, listEvents } from "../../src/contract/events.ts";
import { HASHED_COLUMNS } from "../../src/events/chain.ts";
import { writeForgotten } from "../../src/events/head.ts";
import { verifyLog } from "../../src/events/verify.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { TestApp, TestStore } from "./app.ts";
import type { Answer } from "./call.ts";

/** A store's log as its back office reads it, page by page. Waiting drafts are numbered first. */
export async function readLog(
  latchkey: TestApp,
  store: TestStore,
  parameters = "",
): Promise<Answer["body"][]> {
  await latchkey.app.tidy();
  const events: Answer["body"][] = [];
  let query = `${parameters}&page[limit]=100`;
  for (let pages = 0; pages < 1000; pages++) {
    const { body } = await store.call(listEvents, { query });
    events.push(...body.data);
    if (body.links.next === null) return events;
    query = body.links.next.slice(body.links.next.indexOf("?") + 1);
  }
  throw new Error("the log has no end");
}

export const typesOf = (events: Answer["body"][]): string[] => events.map(({ type }) => type);

/** The events of an action: type and actor. */
export async function happenedIn(
  latchkey: TestApp,
  store: TestStore,
  work: () => Promise<unknown>,
): Promise<Answer["body"][]> {
  await latchkey.app.tidy();
  const { body } = await store.call(getEventHead);
  await work();
  return readLog(latchkey, store, `after=${body.data.sequence}`);
}

export const isWhole = async (latchkey: TestApp, { store }: TestStore): Promise<boolean> =>
  (await verifyLog({ ...latchkey, eventDays: 90 }, store.id)).isWhole;

/** Deletes the beginning of a log as retention does, however young it is. */
export async function cutOff({ db }: Storage, storeId: string, last: number): Promise<void> {
  const { hash, ...event } = await db
    .selectFrom("events")
    .select([...HASHED_COLUMNS, "hash"])
    .where("store_id", "=", storeId)
    .where("sequence", "=", last)
    .executeTakeFirstOrThrow();
  const beginning = {
    first_sequence: last + 1,
    forgotten_hash: hash,
    forgotten_event: writeForgotten(event),
  };
  await db.updateTable("event_heads").set(beginning).where("store_id", "=", storeId).execute();
  await db.deleteFrom("events").where("store_id", "=", storeId).where("sequence", "<=", last).execute();
}
