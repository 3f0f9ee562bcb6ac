import type { Clock } from "../../lib/clock.ts";

/** `reached`: the request could be sent, and no more is known. */
export type HealthOutcome = "well" | "failed" | "reached";
export type HealthStatus = "up" | "degraded" | "down";
export type ShownHealth = { status: HealthStatus; since: number };
type HealthState = ShownHealth & { failures: number; restUntilMs: number };
/** A profile's state as Valkey has it. */
export type SharedState = [status: HealthStatus | "gone", since: number, failures: number, restMs: number];

export const DOWN_AFTER = 5;
export const REST_MS = 5_000;

/** The states that this process knows: the state of each profile whose provider has failed. */
export class HealthStates {
  readonly #clock: Clock;
  readonly #states = new Map<string, HealthState>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get(profileId: string): HealthState | undefined {
    return this.#states.get(profileId);
  }

  forget(profileId: string): void {
    this.#states.delete(profileId);
  }

  clear(): void {
    this.#states.clear();
  }

  adopt(profileId: string, [status, since, failures, restMs]: SharedState): void {
    if (status === "gone") this.#states.delete(profileId);
    else {
      const restUntilMs = this.#clock.monotonicMs() + restMs;
      this.#states.set(profileId, { status, since, failures, restUntilMs });
    }
  }

  /** Counts an outcome without Valkey. Returns the status if it has changed. */
  note(profileId: string, outcome: HealthOutcome): HealthStatus | undefined {
    const before = this.#states.get(profileId) ?? { status: "up", since: 0, failures: 0, restUntilMs: 0 };
    const failures = failuresAfter(before.failures, outcome);
    const status = outcome === "well" ? "up" : failures >= DOWN_AFTER ? "down" : "degraded";
    const hasChanged = status !== before.status;
    const since = hasChanged ? this.#clock.now() : before.since;
    const restUntilMs = hasChanged ? this.#clock.monotonicMs() + REST_MS : before.restUntilMs;
    this.#states.set(profileId, { status, since, failures, restUntilMs });
    return hasChanged ? status : undefined;
  }

  isResting(profileId: string): boolean {
    const state = this.#states.get(profileId);
    return state?.status === "down" && this.#clock.monotonicMs() < state.restUntilMs;
  }

  hasRested(profileId: string): boolean {
    return this.#states.get(profileId)?.status === "down" && !this.isResting(profileId);
  }

  /** Profiles that have rested, the longest rested first. */
  rested(): string[] {
    return [...this.#states]
      .filter(([profileId]) => this.hasRested(profileId))
      .sort(([, a], [, b]) => a.restUntilMs - b.restUntilMs)
      .map(([profileId]) => profileId);
  }

  count(): { down: number; degraded: number } {
    const all = { up: 0, down: 0, degraded: 0 };
    for (const { status } of this.#states.values()) all[status]++;
    return { down: all.down, degraded: all.degraded };
  }
}

function failuresAfter(failures: number, outcome: HealthOutcome): number {
  if (outcome === "well") return 0;
  return outcome === "failed" ? failures + 1 : Math.min(failures, DOWN_AFTER - 1);
}
