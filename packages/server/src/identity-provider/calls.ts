import type { Egress } from "./egress.ts";
import { type EgressAnswer, type EgressRequest, egressFault, isEgressFault } from "./egress-message.ts";
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
    tryOut(request: EgressRequest): Promise<EgressAnswer>;
  };

export type Caller = { send(profileId: string, request: EgressRequest): Promise<EgressAnswer> };

export function createCalls({ egress, ...deps }: HealthDeps & { egress: Egress }): Calls {
  const { mayAsk, note, ...health } = createHealth(deps);

  async function send(profileId: string, request: EgressRequest): Promise<EgressAnswer> {
    if (!(await mayAsk(profileId))) throw egressFault("resting");
    try {
      const answer = await egress.send(request);
      await note(profileId, answer.status < 500 ? "well" : "failed");
      return answer;
    } catch (error) {
      await note(profileId, "failed");
      throw error;
    }
  }

  async function sendAboutCode(profileId: string, request: EgressRequest): Promise<EgressAnswer> {
    if (!(await mayAsk(profileId))) throw egressFault("resting");
    try {
      const answer = await egress.send({ ...request, keptFor: profileId });
      await note(profileId, answer.status < 500 ? "well" : "reached");
      return answer;
    } catch (error) {
      await note(profileId, isEgressFault(error) && error.wasSent ? "reached" : "failed");
      throw error;
    }
  }

  return { send, aboutCodes: { send: sendAboutCode }, tryOut: egress.send, ...health };
}
