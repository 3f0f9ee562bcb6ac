import type { Clock } from "../lib/clock.ts";
import { inBatches } from "../storage/batches.ts";
import type { Storage } from "../storage/storage.ts";
import { addFigures, type MinuteTally, minuteOf, noFigures } from "./figures.ts";
import { insertTallies } from "./tallies.ts";
import type { Trail } from "./trail.ts";

/** Each combination of store, profile, key and minute is a tally. Redirects of further combinations are dropped. */
const MAX_TALLIES = 20_000;

type StartedTrail = Pick<Trail, "storeId" | "profile" | "keyId" | "isOfMembers" | "startedAt">;

/**
 * Counts redirects to identity providers, for `started` in the statistics. Strangers can cause them, so they are
 * counted in memory and written once a minute, and never cost a row each. The process that is killed loses the counts
 * since its last write. One store gets a tenth of the tallies, so it cannot use up the counts of other stores.
 */
export type StartedCounts = ReturnType<typeof createStartedCounts>;

export function createStartedCounts(
  { storage, clock }: { storage: Storage; clock: Clock },
  maxTallies = MAX_TALLIES,
) {
  const maxOfStore = maxTallies / 10;
  let tallies = new Map<string, MinuteTally>();
  /** The number of tallies by store. */
  let ofStores = new Map<string, number>();
  let dropped = 0;

  function add({ figures, ...of }: MinuteTally): void {
    const name = Object.values(of).join(" ");
    const known = tallies.get(name);
    const ofStore = ofStores.get(of.store_id) ?? 0;
    if (known) addFigures(known.figures, figures);
    else if (tallies.size < maxTallies && ofStore < maxOfStore) {
      tallies.set(name, { ...of, figures });
      ofStores.set(of.store_id, ofStore + 1);
    } else dropped += figures.outcomes.started ?? 0;
  }

  return {
    note({ storeId, profile, keyId, isOfMembers, startedAt }: StartedTrail): void {
      add({
        store_id: storeId,
        profile_id: profile?.id ?? "",
        key_id: keyId ?? "",
        of_members: isOfMembers ? 1 : 0,
        minute: minuteOf(startedAt),
        figures: { ...noFigures(), outcomes: { started: 1 } },
      });
    },
    /** Writes the counts. If the answer of a commit is lost, its counts are written again. */
    async flush(): Promise<void> {
      const taken = [...tallies.values()];
      tallies = new Map();
      ofStores = new Map();
      let written = 0;
      const writeSome = async (limit: number) => {
        const some = taken.slice(written, written + limit);
        if (some.length > 0) await storage.transact((trx) => insertTallies(trx, some));
        written += some.length;
        return some.length;
      };
      try {
        await inBatches({ storage, clock }, writeSome);
      } finally {
        for (const tally of taken.slice(written)) add(tally);
      }
    },
    /** Redirects that were not counted, because too many tallies of all stores or of their store waited. */
    dropped: () => dropped,
  };
}
