import type { Clock } from "../lib/clock.ts";
import { inBatches } from "../storage/batches.ts";
import type { Storage } from "../storage/storage.ts";
import { addFigures, type MinuteTally, minuteOf, noFigures } from "./figures.ts";
import { insertTallies } from "./tallies.ts";
import type { Trail } from "./trail.ts";

/** Each combination of store, profile, key and minute is a tally. Redirects of further combinations are dropped. */
const MAX_TALLIES = 20_000;

/**
 * Counts redirects to identity providers, for `started` in the statistics. Strangers can cause them, so they are
 * counted in memory and written once a minute, and never cost a row each. The process that is killed loses the counts
 * since its last write.
 */
export type StartedCounts = {
  note(trail: Pick<Trail, "storeId" | "profile" | "keyId" | "isOfMembers" | "startedAt">): void;
  /** Writes the counts. If the answer of a commit is lost, its counts are written again. */
  flush(): Promise<void>;
  /** Redirects that were not counted, because `MAX_TALLIES` others waited. */
  dropped(): number;
};

export function createStartedCounts(
  { storage, clock }: { storage: Storage; clock: Clock },
  maxTallies = MAX_TALLIES,
): StartedCounts {
  let tallies = new Map<string, MinuteTally>();
  let dropped = 0;

  function add({ figures, ...of }: MinuteTally): void {
    const name = Object.values(of).join(" ");
    const known = tallies.get(name);
    if (known) addFigures(known.figures, figures);
    else if (tallies.size < maxTallies) tallies.set(name, { ...of, figures });
    else dropped += figures.outcomes.started ?? 0;
  }

  return {
    note({ storeId, profile, keyId, isOfMembers, startedAt }) {
      add({
        store_id: storeId,
        profile_id: profile?.id ?? "",
        key_id: keyId ?? "",
        of_members: isOfMembers ? 1 : 0,
        minute: minuteOf(startedAt),
        figures: { ...noFigures(), outcomes: { started: 1 } },
      });
    },
    async flush() {
      const taken = [...tallies.values()];
      tallies = new Map();
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
    dropped: () => dropped,
  };
}
