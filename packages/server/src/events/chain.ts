import { hash as digestOnce } from "node:crypto";
import { toIso } from "../lib/clock.ts";
import type { EventRow } from "./event.ts";

/**
 * Each event carries the hash of the event before it, so removing, changing or swapping events changes all later
 * hashes. The hash covers the data through its digest only, and the digest starts with a random salt. When data and
 * salt are erased, the chain still verifies, and the data cannot be guessed from the digest.
 */

/** SHA-256 over the salt and the canonical JSON of the data, which is how the data is stored. */
export const digestOf = (salt: Buffer, data: string): string =>
  digestOnce("sha256", Buffer.concat([salt, Buffer.from(data)]), "base64url");

/** The attributes that the hash covers. `verify.ts` compares the other columns with them and with the data. */
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

/** True for whole milliseconds that ISO 8601 can write. SQLite stores any number in the column. */
export const isTime = (time: unknown): time is number =>
  Number.isInteger(time) && !Number.isNaN(new Date(Number(time)).getTime());

/** SHA-256 over the canonical JSON (RFC 8785) of all attributes except `hash`, `data` and `salt`. */
export const hashOf = (event: Hashed): string =>
  digestOnce(
    "sha256",
    `{"datacontenttype":"application/json","digest":"${event.digest}","id":"${event.id}","previoushash":"${event.previous_hash}",` +
      `"sequence":"${event.sequence}","source":${JSON.stringify(event.source)},"specversion":"1.0","storeid":"${event.store_id}",` +
      `"subject":${JSON.stringify(event.subject)},"time":"${toIso(event.time)}","type":"${event.type}"}`,
    "base64url",
  );
