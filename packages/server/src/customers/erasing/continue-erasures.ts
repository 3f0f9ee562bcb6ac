import {
  beginErasure,
  type Erasure,
  endErasure,
  eraseSome,
  findErasing,
  isLongAgo,
  listErasures,
  type OnErased,
} from "../../events/erase.ts";
import type { By } from "../../events/event.ts";
import { noteEvents } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { inOneRound, ROUND } from "../../storage/delete-old.ts";
import type { Storage, Trx } from "../../storage/storage.ts";
import type { EmailDigests } from "../email-digest.ts";
import { eraseOwnRecords, eraseRecordsOf } from "./erase-sign-on-records.ts";
import { keepDigests, listDigests, noteTraces, type PersonTraces } from "./erased-digests.ts";

export type EraseDeps = { storage: Storage; clock: Clock; emailDigests: EmailDigests };

/** `isKnown`: this transaction has deleted the person's row. */
type PersonToErase = {
  personId: string;
  isKnown: boolean;
  emailDigest: string | null;
  identities: PersonTraces["identities"];
};

/** Stores the order to erase a person, and notes the events, in the transaction that deletes the person's row. */
export async function orderErasure(
  trx: Trx,
  deps: EraseDeps,
  by: By,
  kind: "customer" | "member",
  { personId, isKnown, emailDigest, identities }: PersonToErase,
): Promise<Erasure> {
  const begun = await beginErasure(trx, deps, { storeId: by.storeId, personId, emailDigest });
  if (begun.emailDigest !== null) await keepDigests(trx, begun, [begun.emailDigest]);
  await noteTraces(trx, deps, begun, { emails: [], identities });
  const about = { subject: personId, resource: { type: kind, id: personId } };
  await noteEvents(trx, deps, by, [
    ...(isKnown ? [{ type: `${kind}.deleted`, ...about } as const] : []),
    { type: `${kind}.erased`, ...about },
  ]);
  return begun;
}

/**
 * Runs one round of an erasure: first the person's own sign-on records, then the person's events, then the records with
 * a digest of any address that the first two contained. The erasure is complete when SQLite's files contain no
 * overwritten pages either.
 */
export async function eraseAll(deps: EraseDeps, erasure: Erasure) {
  const { storage, emailDigests } = deps;
  const { storeId } = erasure;
  await emailDigests.ready();
  const own = await eraseOwnRecords(deps, erasure);
  if (!own.isDone) return { events: 0, isDone: false };
  const keepTraces: OnErased = (trx, erased) => noteTraces(trx, deps, erasure, tracesIn(erased));
  const { events, isDone } = await eraseSome(deps, erasure, keepTraces);
  let rows = own.rows + events;
  if (!isDone) return { events, isDone };
  const digests = new Set(await listDigests(storage.db, erasure));
  if (erasure.emailDigest !== null) digests.add(erasure.emailDigest);
  for (const digest of digests) {
    const under = await eraseRecordsOf(deps, storeId, digest);
    rows += under.rows;
    if (!under.isDone) return { events, isDone: false };
  }
  const isOver = isLongAgo(deps, erasure);
  if ((rows > 0 || isOver) && !(await storage.forgetOverwritten())) return { events, isDone: false };
  if (isOver) await endErasure(deps, erasure);
  return { events, isDone: true };
}

/** The addresses and identities that these events contain. */
function tracesIn(events: readonly { data: string }[]): PersonTraces {
  const emails: string[] = [];
  const identities: PersonTraces["identities"][number][] = [];
  for (const { data } of events) {
    const { resource, changes } = JSON.parse(data);
    for (const email of [resource?.email, changes?.email?.before, changes?.email?.after])
      if (typeof email === "string") emails.push(email);
    if (resource?.type === "customer-identity") identities.push(resource);
  }
  return { emails, identities };
}

/**
 * Continues the erasures that requests have begun, store by store. A finished erasure stays in the list for two
 * minutes, so a store that erases many people always has some. In each round a store gets one batch, which begins after
 * the store's last batch.
 */
export function createErasing(deps: EraseDeps): () => Promise<void> {
  let storeId = "";
  const lastOf = new Map<string, string>();

  async function goOn(): Promise<void> {
    const behind = await listErasures(deps, storeId, lastOf.get(storeId) ?? "");
    lastOf.delete(storeId);
    const next = behind.length > 0 ? behind : await listErasures(deps, storeId, "");
    await inOneRound(deps, next, (erasure) => {
      lastOf.set(storeId, erasure.personId);
      return eraseAll(deps, erasure);
    });
  }

  return async () => {
    const untilMs = deps.clock.monotonicMs() + ROUND.withinMs;
    do {
      const found = await findErasing(deps, storeId);
      if (found === undefined && storeId === "") lastOf.clear();
      storeId = found ?? "";
      if (found !== undefined) await goOn();
    } while (storeId !== "" && deps.clock.monotonicMs() < untilMs);
  };
}
