import type { Egress } from "./egress.ts";
import {
  type EgressAnswer,
  egressFault,
  type IdpRequest,
  type IdpRequestKind,
  isEgressFault,
} from "./egress-message.ts";
import { createHealth, type Health, type HealthDeps } from "./health.ts";

/**
 * Requests to identity providers, by profile, so that one that is dead costs nobody else: one that is down is not asked.
 *
 * What a provider makes of one code says nothing of its health, because anybody can bring a made-up one. A request about a
 * code counts against the provider only when it could not be sent, and never against the address that brought it, which
 * others may share: what silence costs is bounded by the places at a provider and the time of a request.
 */
export type Calls = Caller &
  Omit<Health, "mayAsk" | "note"> & {
    /** For requests that are about a code which somebody brought. */
    aboutCodes: Caller;
    /** For an address that is only tried: a typing mistake must not put a working provider to rest. */
    tryOut(request: IdpRequest): Promise<EgressAnswer>;
  };

export type Caller = { send(profileId: string, request: IdpRequest): Promise<EgressAnswer> };

/** `refused`: it answered with neither success nor a fault of its own. `failed`: a fault of its own, or no answer. */
type CallOutcome = "ok" | "refused" | "failed";
/** Told of each request that was made, and how long it took; not of those that a provider at rest was spared. */
export type OnCall = (kind: IdpRequestKind, outcome: CallOutcome, elapsedMs: number) => void;

type Deps = HealthDeps & { egress: Egress; onCall?: OnCall };

export function createCalls({ egress, onCall, ...deps }: Deps): Calls {
  const { mayAsk, note, ...health } = createHealth(deps);
  const { clock } = deps;

  async function ask(request: IdpRequest): Promise<EgressAnswer> {
    const startedMs = clock.monotonicMs();
    let outcome: CallOutcome = "failed";
    try {
      const answer = await egress.send(request);
      if (answer.status < 500) outcome = answer.status < 300 ? "ok" : "refused";
      return answer;
    } finally {
      onCall?.(request.kind, outcome, clock.monotonicMs() - startedMs);
    }
  }

  async function send(profileId: string, request: IdpRequest): Promise<EgressAnswer> {
    if (!(await mayAsk(profileId))) throw egressFault("resting");
    try {
      const answer = await ask(request);
      await note(profileId, answer.status < 500 ? "well" : "failed");
      return answer;
    } catch (error) {
      await note(profileId, "failed");
      throw error;
    }
  }

  async function sendAboutCode(profileId: string, request: IdpRequest): Promise<EgressAnswer> {
    if (!(await mayAsk(profileId))) throw egressFault("resting");
    try {
      const answer = await ask({ ...request, keptFor: profileId });
      await note(profileId, answer.status < 500 ? "well" : "reached");
      return answer;
    } catch (error) {
      await note(profileId, isEgressFault(error) && error.wasSent ? "reached" : "failed");
      throw error;
    }
  }

  return { send, aboutCodes: { send: sendAboutCode }, tryOut: ask, ...health };
}
