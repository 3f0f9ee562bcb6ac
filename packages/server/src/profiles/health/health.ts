import type { Valkey } from "../../counters/valkey.ts";
import type { Clock } from "../../lib/clock.ts";
import {
  type HealthOutcome,
  HealthStates,
  type HealthStatus,
  REST_MS,
  type ShownHealth,
} from "./health-states.ts";
import { SharedHealth } from "./shared-health.ts";

/**
 * The health of each profile's provider. After five failures in a row the provider is down and rests for five seconds.
 * Then one request finds out whether it answers again; the next rest begins with that request. Only providers that have
 * failed have a state.
 *
 * With Valkey all instances count, rest and find out together. An instance sends what it notes, and reads the changes
 * of the others twice a second; a request to a provider that is well makes no call to Valkey. While Valkey is away each
 * instance goes on alone from what it knew; when Valkey is back, the states in Valkey count.
 */
export type Health = ReturnType<typeof createHealth>;

export type HealthDeps = {
  clock: Clock;
  valkey?: Pick<Valkey, "run" | "isAway"> | undefined;
  /** Called once per change of status, by the instance that notes it; by each while Valkey is away. */
  onHealthChanged?: (profileId: string, status: HealthStatus) => void;
};

/** So that a provider that fails every second request does not fill the log. */
const LASTS_MS = 10_000;

export function createHealth({ clock, valkey, onHealthChanged = () => {} }: HealthDeps) {
  const states = new HealthStates(clock);
  const shared = valkey && new SharedHealth({ clock, valkey, onHealthChanged }, states);
  /** The status last reported for each profile that this process has asked. Undefined after a start. */
  const reported = new Map<string, HealthStatus | undefined>();

  return {
    /** Whether the provider may be asked now. */
    async mayAsk(profileId: string): Promise<boolean> {
      if (states.get(profileId)?.status !== "down") return true;
      if (states.isResting(profileId)) return false;
      const mayAsk = shared && (await shared.note("ask", profileId));
      if (mayAsk !== undefined) return mayAsk;
      // Another request may have gone to find out while this one waited for Valkey.
      if (states.isResting(profileId)) return false;
      // This request finds out; until it has, the others wait.
      const state = states.get(profileId);
      if (state) state.restUntilMs = clock.monotonicMs() + REST_MS;
      return true;
    },
    async note(profileId: string, outcome: HealthOutcome): Promise<void> {
      if (!reported.has(profileId)) reported.set(profileId, undefined);
      const status = states.get(profileId)?.status ?? "up";
      // No call to Valkey when the outcome changes nothing.
      if (outcome === "well" && status === "up") return;
      if (outcome === "reached" && status === "degraded") return;
      const noted = shared && (await shared.note(outcome, profileId));
      if (noted !== undefined) return;
      const changed = states.note(profileId, outcome);
      if (changed) onHealthChanged(profileId, changed);
    },
    healthOf(profileId: string): ShownHealth | undefined {
      const state = states.get(profileId);
      return state && { status: state.status, since: state.since };
    },
    /** Whether the provider is down and its rest is over, so that a request may ask it. */
    hasRested: (profileId: string) => states.hasRested(profileId),
    /** All of those profiles, the longest rested first. */
    rested: () => states.rested(),
    count: () => states.count(),
    async forget(profileId: string): Promise<void> {
      states.forget(profileId);
      reported.delete(profileId);
      await shared?.note("forget", profileId);
    },
    /** After another instance has changed the profile's URL: with Valkey, that instance has cleared the state there. */
    forgetAlone(profileId: string): void {
      if (!valkey || valkey.isAway()) states.forget(profileId);
    },
    /** Profiles whose health is not the reported one: down at once, any other after ten seconds. */
    unreported(): { profileId: string; status: HealthStatus }[] {
      const all = [...reported].map(([profileId, last]) => {
        const { status, since } = states.get(profileId) ?? { status: "up" as const, since: 0 };
        return { profileId, status, since, last };
      });
      return all.filter(
        ({ status, since, last }) =>
          status !== last && (status === "down" || clock.now() - since >= LASTS_MS),
      );
    },
    markReported(profileId: string, status: HealthStatus): void {
      if (reported.has(profileId)) reported.set(profileId, status);
    },
    /** Reads what other instances have changed. */
    refresh: async () => shared?.refresh(),
  };
}
