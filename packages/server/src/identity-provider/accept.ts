import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import type { Metadata } from "./discovery.ts";
import type { DiscoveryTries } from "./discovery-tries.ts";
import { examine, type Report } from "./doctor.ts";
import type { IdpRequest } from "./egress-message.ts";
import { withLiveEvidence } from "./live-evidence.ts";
import { getProfile, type Profile, type ProfileKey } from "./profile.ts";
import { inItsWords } from "./recognise.ts";
import { whyUnread } from "./why-unread.ts";

/** What the administration of profiles asks of identity providers. Nothing here opens a transaction. */

export type AskDeps = {
  clock: Clock;
  calls: Calls;
  discoveryTries: DiscoveryTries;
  allowedOrigins: readonly string[];
};

type Candidate = { storeId: string; discoveryUrl: string; enabled: boolean };

/** `metadata` is null where it has none to go by; `issuer` is what its document says all the same. */
export type Accepted = { metadata: Metadata | null; issuer: string | null };

/**
 * The provider's metadata if it meets every requirement; a refusal for each that it does not. A profile that is not enabled is
 * accepted with whatever was found, so that there is one to copy the links from.
 */
export async function acceptDocument(
  deps: AskDeps,
  { storeId, discoveryUrl, enabled }: Candidate,
): Promise<Accepted> {
  const report = await ask(deps, storeId, deps.calls.tryOut, discoveryUrl);
  const { unreachable, metadata, issuer } = report;
  if (!enabled && unreachable?.reason !== "address_not_allowed") return { metadata, issuer };
  if (unreachable) {
    throw new Problem("idp_unreachable", {
      source: { pointer: "/data/discovery_url" },
      detail: `The identity provider could not be asked: ${whyUnread(unreachable)}.`,
      meta: { reason: unreachable.reason },
    });
  }
  const missed = report.checks.filter(({ status }) => status === "not_met");
  const [first, ...others] = missed.map(({ id, requirement, evidence, remedy }) => ({
    code: "idp_requirement_not_met" as const,
    source: { pointer: "/data/discovery_url" },
    detail: `${requirement} ${remedy ?? ""}`,
    meta: { requirement: id, evidence, remedy },
  }));
  if (first) throw Problem.of([first, ...others]);
  return { metadata, issuer };
}

export async function checkProfile(
  deps: AskDeps & { storage: Storage },
  key: ProfileKey,
): Promise<{ profile: Profile; report: Report }> {
  const profile = await getProfile(deps, key);
  const send = (request: IdpRequest) => deps.calls.send(profile.id, request);
  const report = await ask(deps, profile.storeId, send, profile.discoveryUrl);
  const checks = await withLiveEvidence(deps.storage.db, profile, report.checks);
  return { profile, report: { ...report, checks: inItsWords(report.provider, checks) } };
}

async function ask(
  { clock, discoveryTries, allowedOrigins }: AskDeps,
  storeId: string,
  send: Calls["tryOut"],
  discoveryUrl: string,
): Promise<Report> {
  await discoveryTries.take(storeId);
  return examine({ send, clock, allowedOrigins }, discoveryUrl);
}
