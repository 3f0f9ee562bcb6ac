import type { Clock } from "../lib/clock.ts";
import type { Egress } from "./egress.ts";
import { type EgressAnswer, type EgressRequest, egressFault, isEgressFault } from "./egress-message.ts";

/**
 * Requests to identity providers, by profile, so that one that is dead costs nobody else: after five failures in a row there
 * are none for ten seconds, then one to see whether it is back.
 *
 * What a provider makes of one code says nothing of its health, because anybody can bring a made-up one. A request about a
 * code counts against the provider only when it could not be sent, and never against the address that brought it, which
 * others may share: what silence costs is bounded by the places at a provider and the time of a request.
 */
export type Calls = Caller & {
  /** For requests that are about a code which somebody brought. */
  aboutCodes: Caller;
  healthOf(profileId: string): Health | undefined;
  /** How many profiles are not well. */
  count(): { down: number; degraded: number };
  forget(profileId: string): void;
  /** Whose health is another than was last told: down at once, anything else when it has stood for a while. */
  untold(): { profileId: string; status: HealthStatus }[];
  told(profileId: string, status: HealthStatus): void;
};

export type Caller = { send(profileId: string, request: EgressRequest): Promise<EgressAnswer> };
export type HealthStatus = "up" | "degraded" | "down";
type Health = { status: HealthStatus; since: number };

type Breaker = { failures: number; restUntilMs: number };
type State = Health & { breaker: Breaker; told: HealthStatus | undefined };

const DOWN_AFTER = 5;
const REST_MS = 10_000;
/** So that a provider that answers every second time does not fill the log. */
const STANDS_MS = 10_000;

export function createCalls({ egress, clock }: { egress: Egress; clock: Clock }): Calls {
  const states = new Map<string, State>();

  function stateOf(profileId: string): State {
    let state = states.get(profileId);
    if (!state) {
      state = { status: "up", since: clock.now(), breaker: { failures: 0, restUntilMs: 0 }, told: undefined };
      states.set(profileId, state);
    }
    return state;
  }

  function setStatus(state: State, status: HealthStatus): void {
    if (status === state.status) return;
    state.status = status;
    state.since = clock.now();
  }

  const isOpen = ({ failures }: Breaker): boolean => failures >= DOWN_AFTER;

  function refuseResting({ breaker }: State): void {
    if (!isOpen(breaker)) return;
    if (clock.monotonicMs() < breaker.restUntilMs) throw egressFault("resting");
    // This one finds out; until it has, the others rest on.
    breaker.restUntilMs = clock.monotonicMs() + REST_MS;
  }

  function noteWell(state: State): void {
    state.breaker.failures = 0;
    setStatus(state, "up");
  }

  function noteFailed(state: State): void {
    state.breaker.failures++;
    if (isOpen(state.breaker)) state.breaker.restUntilMs = clock.monotonicMs() + REST_MS;
    setStatus(state, isOpen(state.breaker) ? "down" : "degraded");
  }

  /** It can be reached, and no more is known: one that was down is asked again, and the next failure puts it to rest. */
  function noteReached(state: State): void {
    state.breaker.failures = Math.min(state.breaker.failures, DOWN_AFTER - 1);
    setStatus(state, "degraded");
  }

  async function send(profileId: string, request: EgressRequest): Promise<EgressAnswer> {
    const state = stateOf(profileId);
    refuseResting(state);
    try {
      const answer = await egress.send(request);
      if (answer.status < 500) noteWell(state);
      else noteFailed(state);
      return answer;
    } catch (error) {
      noteFailed(state);
      throw error;
    }
  }

  async function sendAboutCode(profileId: string, request: EgressRequest): Promise<EgressAnswer> {
    const state = stateOf(profileId);
    refuseResting(state);
    try {
      const answer = await egress.send({ ...request, keptFor: profileId });
      if (answer.status < 500) noteWell(state);
      else noteReached(state);
      return answer;
    } catch (error) {
      if (isEgressFault(error) && error.wasSent) noteReached(state);
      else noteFailed(state);
      throw error;
    }
  }

  return {
    send,
    aboutCodes: { send: sendAboutCode },
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
      states.delete(profileId);
    },
    untold() {
      const isDue = ({ status, told, since }: State) =>
        status !== told && (status === "down" || clock.now() - since >= STANDS_MS);
      return [...states]
        .filter(([, state]) => isDue(state))
        .map(([profileId, { status }]) => ({ profileId, status }));
    },
    told(profileId, status) {
      const state = states.get(profileId);
      if (state) state.told = status;
    },
  };
}
