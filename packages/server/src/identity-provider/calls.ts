import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { type Egress, type EgressAnswer, type EgressRequest, egressFault } from "./egress.ts";

/**
 * Requests to identity providers, by profile, so that one that is dead or slow costs nobody else: at most fifty under
 * way for each, and after five failures in a row none for ten seconds, then one to see whether it is back.
 */
export type Calls = {
  send(profileId: string, request: EgressRequest): Promise<EgressAnswer>;
  healthOf(profileId: string): Health | undefined;
  /** How many profiles are not well. */
  count(): { down: number; degraded: number };
  forget(profileId: string): void;
};

type HealthStatus = "up" | "degraded" | "down";
type Health = { status: HealthStatus; since: number };

type State = { inFlight: number; failures: number; restUntilMs: number; status: HealthStatus; since: number };

const DOWN_AFTER = 5;
const REST_MS = 10_000;

export function createCalls({ egress, clock }: { egress: Egress; clock: Clock }): Calls {
  const states = new Map<string, State>();

  function stateOf(profileId: string): State {
    let state = states.get(profileId);
    if (!state) {
      state = { inFlight: 0, failures: 0, restUntilMs: 0, status: "up", since: clock.now() };
      states.set(profileId, state);
    }
    return state;
  }

  function note(state: State, isWell: boolean): void {
    state.failures = isWell ? 0 : state.failures + 1;
    if (state.failures >= DOWN_AFTER) state.restUntilMs = clock.monotonicMs() + REST_MS;
    const status = isWell ? "up" : state.failures >= DOWN_AFTER ? "down" : "degraded";
    if (status === state.status) return;
    state.status = status;
    state.since = clock.now();
  }

  async function send(profileId: string, request: EgressRequest): Promise<EgressAnswer> {
    const state = stateOf(profileId);
    if (state.inFlight >= limits.idpInFlight) throw egressFault("busy");
    if (state.status === "down") {
      if (clock.monotonicMs() < state.restUntilMs) throw egressFault("resting");
      // This one finds out; until it has, the others rest on.
      state.restUntilMs = clock.monotonicMs() + REST_MS;
    }
    state.inFlight++;
    try {
      const answer = await egress.send(request);
      note(state, answer.status < 500);
      return answer;
    } catch (error) {
      note(state, false);
      throw error;
    } finally {
      // Of the state that is there now: the profile may have been forgotten meanwhile, but not what is under way.
      const now = stateOf(profileId);
      now.inFlight--;
      if (now !== state && now.inFlight === 0 && now.status === "up") states.delete(profileId);
    }
  }

  return {
    send,
    healthOf(profileId) {
      const state = states.get(profileId);
      return state && { status: state.status, since: state.since };
    },
    count() {
      const all = [...states.values()];
      const of = (status: HealthStatus) => all.filter((state) => state.status === status).length;
      return { down: of("down"), degraded: of("degraded") };
    },
    forget(profileId) {
      // Those under way go on, and still count: they hold connections.
      const inFlight = states.get(profileId)?.inFlight ?? 0;
      states.delete(profileId);
      if (inFlight > 0) stateOf(profileId).inFlight = inFlight;
    },
  };
}
