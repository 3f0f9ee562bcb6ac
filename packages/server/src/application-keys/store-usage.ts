import type { Output } from "../contract/operation.ts";
import type * as contract from "../contract/store.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { createPauses } from "../lib/pauses.ts";
import type { Limiter } from "../rate-limit/limiter.ts";
import type { UseLog } from "../rate-limit/use-log.ts";
import type { Storage } from "../storage/storage.ts";
import { getStore } from "../stores/store.ts";
import { findPlannedKeys, listReservingKeys, type PlannedKey } from "./application-key.ts";

type Deps = { storage: Storage; clock: Clock; limiter: Limiter; useLog: UseLog; publicUrl: string };
type StoreUsage = Output<typeof contract.getStoreUsage>;

/** A number for each second, oldest first. */
type UseFigures = { asked: number[]; refused: number[] };

/** An instance adds a second to the shared log within one second of its end. */
const BEHIND_SECONDS = 1;
/** The bound for all keys and seconds together, so that an answer has at most a megabyte. */
const MAX_FIGURES = 100_000;

/**
 * The requests and refusals of a store's keys, second by second, up to the last second that every instance has added to
 * the log. Reads the log twice: first to find the keys with the most requests, then for their figures, so that memory
 * is used for the shown keys only.
 */
export async function readUsage(deps: Deps, storeId: string, seconds: number): Promise<StoreUsage> {
  const { searches } = deps.storage;
  searches.refuseCrowd(storeId);
  return searches.inTurn(storeId, () => read(deps, storeId, seconds));
}

async function read(deps: Deps, storeId: string, seconds: number): Promise<StoreUsage> {
  const { rate_limit: rateLimit, total_reserved_rate_limit: totalReserved } = await getStore(deps, storeId);
  await deps.limiter.settle(storeId);
  const nowMs = deps.clock.monotonicMs();
  const endSecond = Math.floor(nowMs / 1000) - BEHIND_SECONDS;
  const span = { storeId, firstSecond: endSecond - seconds, seconds };
  const keys = await keysByUse(deps, span);
  const shown = keys.slice(0, Math.max(1, Math.floor(MAX_FIGURES / seconds)));
  const figuresOf = new Map(shown.map(({ keyId }) => [keyId, noFigures(seconds)]));
  const rest = noFigures(seconds);
  await walk(deps, span, (keyId, place, asked, refused) => {
    const figures = figuresOf.get(keyId) ?? rest;
    figures.asked[place] = (figures.asked[place] as number) + asked;
    figures.refused[place] = (figures.refused[place] as number) + refused;
  });
  const toMs = deps.clock.now() - (nowMs - endSecond * 1000);
  const others = keys.length > shown.length && { count: keys.length - shown.length, ...rest };
  return {
    data: {
      type: "store-usage",
      from: toIso(toMs - seconds * 1000),
      to: toIso(toMs),
      rate_limit: rateLimit,
      shared_pool: rateLimit - totalReserved,
      keys: shown.map(({ keyId, name, reserved }) => ({
        id: keyId,
        name,
        reserved_rate_limit: reserved,
        ...(figuresOf.get(keyId) ?? rest),
      })),
      ...(others && { other_keys: others }),
    },
    links: { self: `${deps.publicUrl}/v2/store/usage` },
  };
}

type UseSpan = { storeId: string; firstSecond: number; seconds: number };

/** The existing keys that have sent requests or have a reservation. The key with the most requests comes first. */
async function keysByUse(deps: Deps, span: UseSpan): Promise<PlannedKey[]> {
  const asked = new Map<string, number>();
  await walk(deps, span, (keyId, _, count) => asked.set(keyId, (asked.get(keyId) ?? 0) + count));
  const reserving = await listReservingKeys(deps.storage, span.storeId);
  const isReserving = new Set(reserving.map(({ keyId }) => keyId));
  const others = [...asked.keys()].filter((keyId) => !isReserving.has(keyId));
  const keys = [...reserving, ...(await findPlannedKeys(deps.storage, span.storeId, others))];
  const use = ({ keyId }: PlannedKey) => asked.get(keyId) ?? 0;
  return keys.sort((a, b) => use(b) - use(a) || b.reserved - a.reserved || a.createdAt - b.createdAt);
}

async function walk(
  { useLog }: Deps,
  { storeId, firstSecond, seconds }: UseSpan,
  visit: (keyId: string, place: number, asked: number, refused: number) => void,
): Promise<void> {
  const pause = createPauses();
  for await (const uses of useLog.read(storeId, firstSecond)) {
    await pause(uses.keyIds.length);
    for (const [at, keyId] of uses.keyIds.entries()) {
      const place = (uses.seconds[at] as number) - firstSecond;
      if (place < 0 || place >= seconds) continue;
      visit(keyId, place, uses.asked[at] as number, uses.refused[at] as number);
    }
  }
}

const noFigures = (seconds: number): UseFigures => ({
  asked: new Array<number>(seconds).fill(0),
  refused: new Array<number>(seconds).fill(0),
});
