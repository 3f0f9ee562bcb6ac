import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { readEventDays } from "../../config.ts";
import { type EventRow, presentEvent } from "../../events/event.ts";
import { HEAD_TYPE, readHead } from "../../events/head.ts";
import { readAfter, startAfter } from "../../events/read.ts";
import {
  type LogFault,
  readPublicKeys,
  type Verdict,
  verifyLog,
  type Witnessed,
} from "../../events/verify.ts";
import { toIso } from "../../lib/clock.ts";
import { readJws } from "../../lib/jws.ts";
import { operatorFault, usageFault } from "../../lib/operator-fault.ts";
import { isUnavailable } from "../../storage/failures.ts";
import type { Storage } from "../../storage/storage.ts";
import { ifGiven, readWhole } from "../options.ts";
import { createProgress } from "../progress.ts";
import { type FromStore, fromStore, requireStore } from "./require-store.ts";

type Jwk = Record<string, unknown>;

export async function verify({
  store,
  head,
  keys,
  json,
}: FromStore & { head: string | undefined; keys: string | undefined }): Promise<void> {
  if (keys !== undefined && head === undefined)
    throw usageFault("--keys is for checking the signature of --head: give both");
  const eventDays = readEventDays(process.env);
  const verdict = await fromStore(store, async ({ storage, clock }, storeId) => {
    const witnessed = head === undefined ? undefined : await readWitnessed(storage, storeId, head, keys);
    const progress = createProgress("verifying");
    const found = await verifyLog({ storage, clock, eventDays }, storeId, witnessed, progress.show).finally(
      progress.end,
    );
    if (found.isWhole && witnessed) refuseForgotten(found, witnessed);
    return found;
  });
  if (json) console.log(JSON.stringify(toJson(verdict)));
  if (!verdict.isWhole) {
    const { what, sequence } = verdict;
    if (!json) throw operatorFault(`the log is not whole: ${FAULTS[what](sequence, eventDays)}`);
    process.exitCode = 1;
  } else if (!json) console.log(describeWhole(verdict));
}

/** Without this check it would be enough to move the beginning of a log behind the witness's number. */
function refuseForgotten({ head }: Extract<Verdict, { isWhole: true }>, { sequence }: Witnessed): void {
  if (sequence >= head.first_sequence - 1) return;
  throw operatorFault(
    `--head is sequence ${sequence}, and the log is kept from ${head.first_sequence} on: there is nothing to compare it with. Give a younger head`,
  );
}

/** The witness's head, if a signing key of the service signed it for this store. */
async function readWitnessed(
  { db }: Storage,
  storeId: string,
  text: string,
  keysFile: string | undefined,
): Promise<Witnessed> {
  const jws = readJws(text);
  if (jws?.typ !== HEAD_TYPE) throw operatorFault("--head is not the signature of a head");
  const keys = keysFile === undefined ? await readPublicKeys(db) : readKeySet(keysFile);
  const jwk = keys.find(({ kid }) => kid === jws.kid);
  if (!jwk)
    throw operatorFault(
      `the key ${JSON.stringify(jws.kid)} that signed this head is not in ${keysFile ?? "the database"}: keys go when they were replaced. ` +
        "Give --keys with the key set that the witness has kept",
    );
  if (!jws.isSignedBy(toPublicKey(jwk, keysFile)))
    throw operatorFault("the signature of this head is not right: it was made up, or changed");
  const { store, sequence, hash, first_sequence, forgotten_hash } = jws.claims;
  if (store !== storeId) throw operatorFault("this head is another store's");
  return {
    sequence: Number(sequence),
    hash: String(hash),
    ...(first_sequence !== undefined && {
      firstSequence: Number(first_sequence),
      forgottenHash: String(forgotten_hash),
    }),
  };
}

function readKeySet(file: string): Jwk[] {
  try {
    const { keys } = JSON.parse(readFileSync(file, "utf8"));
    if (!Array.isArray(keys)) throw new Error("it has no list of keys");
    return keys.filter((key) => typeof key === "object" && key !== null);
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

function toPublicKey(jwk: Jwk, file = "the database"): KeyObject {
  try {
    return createPublicKey({ key: jwk as JsonWebKey, format: "jwk" });
  } catch (cause) {
    throw unreadable(file, cause);
  }
}

const unreadable = (file: string, cause: unknown): Error =>
  operatorFault(`cannot read a key set from ${file}: ${(cause as Error).message}`, cause);

const FAULTS: Record<LogFault["what"], (sequence: number, eventDays: number) => string> = {
  removed: (sequence) => `sequence ${sequence} was removed`,
  altered: (sequence) => `sequence ${sequence} was altered, or another event is in its place`,
  added: (sequence) => `there is a row with sequence ${sequence}, which is outside the log`,
  blanked: (sequence) => `sequence ${sequence} was erased, but no erasure of that person follows`,
  forgotten_early: (sequence, eventDays) =>
    `the log begins behind sequence ${sequence}, which is not ${eventDays} days old yet. ` +
    "If the service keeps events for fewer days, or did until lately, set LATCHKEY_EVENT_DAYS to that",
  beginning_unproven: (sequence) =>
    `the log begins behind sequence ${sequence}, and nothing proves that this event was old enough to be forgotten. ` +
    "An earlier release left no proof: then give --head with a head from since the log begins there",
};

function describeWhole({ events, erased, head }: Extract<Verdict, { isWhole: true }>): string {
  const forgotten = head.first_sequence - 1;
  return (
    `whole: ${events} events, up to sequence ${head.last_sequence}` +
    `${erased > 0 ? `, ${erased} of them erased` : ""}${forgotten > 0 ? `; the first ${forgotten} are no longer kept` : ""}`
  );
}

const toJson = (verdict: Verdict) =>
  verdict.isWhole
    ? {
        whole: true,
        events: verdict.events,
        erased: verdict.erased,
        first_sequence: verdict.head.first_sequence,
        last_sequence: verdict.head.last_sequence,
      }
    : { whole: false, sequence: verdict.sequence, what: verdict.what };

const LOOK_EVERY_MS = 500;
const SHOWN_FIRST = 10;
const PAGE = 100;

export async function tail(given: FromStore & { after: string | undefined; once: boolean }): Promise<void> {
  const after = ifGiven(given.after, (text) => readWhole(text, "--after", 0, Number.MAX_SAFE_INTEGER));
  let isRead = true;
  // The reader has closed the pipe (`| head`); without a listener that would end in a stack.
  process.stdout.on("error", () => {
    isRead = false;
  });
  await fromStore(given.store, async ({ storage }, storeId) => {
    const head = await readHead(storage.db, storeId);
    const last = Math.max(startAfter(head, undefined), head.last_sequence - SHOWN_FIRST);
    let from = after === undefined ? last : startAfter(head, after);
    if (from > head.last_sequence) console.error(describeWait(from, head.last_sequence));
    for (;;) {
      // An unavailable database is awaited like the next event.
      const rows = await readOn(storage, storeId, from).catch((error) => {
        if (given.once || !isUnavailable(error)) throw error;
        return [];
      });
      for (const row of rows) console.log(given.json ? JSON.stringify(presentEvent(row)) : inWords(row));
      from = rows.at(-1)?.sequence ?? from;
      if (rows.length === PAGE && isRead) continue;
      if (given.once || !isRead) return;
      await sleep(LOOK_EVERY_MS);
    }
  });
}

/** A log without new events may belong to a store that was deleted meanwhile. */
async function readOn(storage: Storage, storeId: string, from: number): Promise<EventRow[]> {
  const to = Number.MAX_SAFE_INTEGER;
  const rows = await readAfter.all(storage.db, { storeId, from, to, limit: PAGE });
  if (rows.length === 0) await requireStore({ storage }, storeId);
  return rows;
}

const describeWait = (from: number, last: number): string =>
  `the log ends at sequence ${last}: there is nothing to show before sequence ${from + 1} comes`;

type LoggedData = {
  changes?: Record<string, { before: unknown; after: unknown } | string>;
  actor: { type: string; id: string | null; name: string | null };
};

/** One line per event: number, time, type, subject, actor and changes. */
function inWords({ sequence, time, type, subject, data }: EventRow): string {
  const head = `#${sequence}  ${toIso(time)}  ${type}  ${subject}`;
  const told: LoggedData | string = JSON.parse(data);
  if (typeof told === "string") return `${head}  ${told}`;
  const { actor, changes = {} } = told;
  const by = [actor.type, actor.name ?? actor.id].filter((part) => part !== null).join(" ");
  const changed = Object.entries(changes).map(([member, change]) =>
    typeof change === "string"
      ? `${member} ${change}`
      : `${member} ${JSON.stringify(change.before)} -> ${JSON.stringify(change.after)}`,
  );
  return [`${head}  by ${by}`, ...changed].join("; ");
}
