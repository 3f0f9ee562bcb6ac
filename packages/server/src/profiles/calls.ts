import type { Egress } from "../egress/egress.ts";
import {
  type EgressAnswer,
  egressFault,
  type IdpRequest,
  type IdpRequestKind,
  isEgressFault,
} from "../egress/egress-message.ts";
import { createHealth, type HealthDeps } from "./health/health.ts";
import type { ShownHealth } from "./health/health-states.ts";

/**
 * Requests to identity providers, by profile. A provider that is down gets no requests, so a dead provider does not
 * slow down the others.
 *
 * The answer to one code shows nothing of a provider's health, because anyone can send a made-up code. A request about
 * a code counts against the provider only when the request could not be sent. It never counts against the shopper's
 * network address, which others may share; the cost of a silent provider is bounded by the places at a provider
 * (lib/fair-places.ts) and by the time limit of a request.
 */
export type Calls = ReturnType<typeof createCalls>;

/** `ok`: status below 300. `refused`: below 500. `failed`: 500 and above, or no answer. */
type CallOutcome = "ok" | "refused" | "failed";
/** Called after each request that was made, with its duration; not for requests that a resting provider was spared. */
export type OnCall = (kind: IdpRequestKind, outcome: CallOutcome, elapsedMs: number) => void;

type Deps = HealthDeps & { egress: Egress; onCall?: OnCall };

export function createCalls({ egress, onCall, ...deps }: Deps) {
  const { clock } = deps;
  const { mayAsk, note, rested, ...health } = createHealth(deps);
  /** Profiles whose provider gave no answer when its document was last read, by this process or an earlier one. */
  const silent = new Set<string>();

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
      const isWell = answer.status < 500;
      if (isWell) silent.delete(profileId);
      else silent.add(profileId);
      await note(profileId, isWell ? "well" : "failed");
      return answer;
    } catch (error) {
      silent.add(profileId);
      await note(profileId, "failed");
      throw error;
    }
  }

  const isDown = (profileId: string): boolean => health.healthOf(profileId)?.status === "down";

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

  return {
    send,
    /** For requests about the code of a sign-on. */
    aboutCodes: { send: sendAboutCode },
    /** For an address that an administrator tries: a typing mistake must not count against a working provider. */
    tryOut: ask,
    /** Profiles whose document to read without a sign-on, to find out whether the provider answers. */
    toProbe(): string[] {
      // Silent providers first: five requests settle whether such a provider is up or down. A provider that is down can
      // stay down for any time.
      return [...[...silent].filter((profileId) => !isDown(profileId)), ...rested()];
    },
    ...health,
    /**
     * `wasIll`: the event log has it as not well. If this process knows nothing of the provider, it is probed soon:
     * storefronts grey out its button, so no shopper would find out that it answers again.
     */
    healthOf(profileId: string, wasIll = false): ShownHealth | undefined {
      const known = health.healthOf(profileId);
      if (!known && wasIll) silent.add(profileId);
      return known;
    },
    async forget(profileId: string): Promise<void> {
      silent.delete(profileId);
      await health.forget(profileId);
    },
    forgetAlone(profileId: string): void {
      silent.delete(profileId);
      health.forgetAlone(profileId);
    },
  };
}
