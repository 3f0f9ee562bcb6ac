import type { Egress } from "../egress/egress.ts";
import {
  type EgressAnswer,
  egressFault,
  type IdpRequest,
  type IdpRequestKind,
  isEgressFault,
} from "../egress/egress-message.ts";
import { createHealth, type Health, type HealthDeps } from "./health/health.ts";

/**
 * Requests to identity providers, by profile, so that one that is dead costs nobody else: one that is down is not asked.
 *
 * What a provider makes of one code says nothing of its health, because anybody can bring a made-up one. A request about a
 * code counts against the provider only when it could not be sent, and never against the address that brought it, which
 * others may share: what silence costs is bounded by the places at a provider and the time of a request.
 */
export type Calls = Sender &
  Omit<Health, "mayAsk" | "note" | "rested" | "healthOf"> & {
    /**
     * `wasIll`: the log says so. If nothing is known of it here, it is asked soon: storefronts grey its button, so no shopper would
     * find out that it is back.
     */
    healthOf(profileId: string, wasIll?: boolean): ReturnType<Health["healthOf"]>;
    /** For requests that are about a code which somebody brought. */
    aboutCodes: Sender;
    /** For an address that is only tried: a typing mistake must not put a working provider to rest. */
    tryOut(request: IdpRequest): Promise<EgressAnswer>;
    /** Whom to ask for a document, although nobody needs it now: to find out that one is down, or back. */
    toProbe(): string[];
  };

export type Sender = { send(profileId: string, request: IdpRequest): Promise<EgressAnswer> };

/** `refused`: it answered with neither success nor a fault of its own. `failed`: a fault of its own, or no answer. */
type CallOutcome = "ok" | "refused" | "failed";
/** Told of each request that was made, and how long it took; not of those that a provider at rest was spared. */
export type OnCall = (kind: IdpRequestKind, outcome: CallOutcome, elapsedMs: number) => void;

type Deps = HealthDeps & { egress: Egress; onCall?: OnCall };

export function createCalls({ egress, onCall, ...deps }: Deps): Calls {
  const { clock } = deps;
  const { mayAsk, note, rested, ...health } = createHealth(deps);
  /** Those that gave no answer when they were last asked for a document, by us or by who ran before. */
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
    aboutCodes: { send: sendAboutCode },
    tryOut: ask,
    // Those that are silent first: five times, and they are well or down. Those that are down stay so for as long as they like.
    toProbe: () => [...[...silent].filter((profileId) => !isDown(profileId)), ...rested()],
    ...health,
    healthOf(profileId, wasIll = false) {
      const known = health.healthOf(profileId);
      if (!known && wasIll) silent.add(profileId);
      return known;
    },
    async forget(profileId) {
      silent.delete(profileId);
      await health.forget(profileId);
    },
    forgetAlone(profileId) {
      silent.delete(profileId);
      health.forgetAlone(profileId);
    },
  };
}
