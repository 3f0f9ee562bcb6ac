import { hash as digestOnce } from "node:crypto";
import { toIso } from "../lib/clock.ts";
import type { EventRow } from "./event.ts";

/**
 * Each event carries the hash of the one before, so that nobody can take one out, change it or swap two without changing all
 * that follow. The hash covers the data only by its digest, and the digest begins with a random salt: where data and salt are
 * erased, the chain stays whole, and nobody can find out by trying what the data was.
 */

/** SHA-256 over the bytes of the salt and then the canonical form of the data, which is how the data is kept. */
export const digestOf = (salt: Buffer, data: string): string =>
  digestOnce("sha256", Buffer.concat([salt, Buffer.from(data)]), "base64url");

/** What the hash of an event covers. `verify.ts` compares the other columns with these and with the data. */
export const HASHED_COLUMNS = [
  "store_id",
  "sequence",
  "id",
  "type",
  "subject",
  "source",
  "time",
  "digest",
  "previous_hash",
] as const satisfies (keyof EventRow)[];

export type Hashed = Pick<EventRow, (typeof HASHED_COLUMNS)[number]>;

/** A time that has a written form. SQLite keeps any number in the column; the hash covers whole milliseconds. */
export const isTime = (time: unknown): time is number =>
  Number.isInteger(time) && !Number.isNaN(new Date(Number(time)).getTime());

/** SHA-256 over the canonical form of all attributes but `hash`, `data` and `salt`: written out, in the order that RFC 8785 asks for. */
export const hashOf = (event: Hashed): string =>
  digestOnce(
    "sha256",
    `{"datacontenttype":"application/json","digest":"${event.digest}","id":"${event.id}","previoushash":"${event.previous_hash}",` +
      `"sequence":"${event.sequence}","source":${JSON.stringify(event.source)},"specversion":"1.0","storeid":"${event.store_id}",` +
      `"subject":${JSON.stringify(event.subject)},"time":"${toIso(event.time)}","type":"${event.type}"}`,
    "base64url",
  );
