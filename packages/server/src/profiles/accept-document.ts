import { Problem } from "../contract/problem.ts";
import { originsFor } from "../lib/allowed-origins.ts";
import type { Clock } from "../lib/clock.ts";
import { show } from "../lib/show.ts";
import type { Metadata } from "../openid/discovery.ts";
import { examine, type Report } from "../openid/doctor.ts";
import { explainDocumentFailure } from "../openid/document-failure.ts";
import { inItsWords } from "../openid/recognise.ts";
import type { Storage } from "../storage/storage.ts";
import type { Calls } from "./calls.ts";
import type { Directory } from "./directory.ts";
import type { DiscoveryTries } from "./discovery-tries.ts";
import { documentChanges } from "./drift.ts";
import { withLiveEvidence } from "./live-evidence.ts";
import { getProfile, type Profile, type ProfileKey } from "./profile.ts";

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
  const { clock, calls, discoveryTries, allowedOrigins } = deps;
  await discoveryTries.take(storeId);
  const origins = originsFor(allowedOrigins, { purpose: "idp", storeId });
  const send: Calls["tryOut"] = (request) => calls.tryOut({ ...request, storeId });
  const report = await examine({ send, clock, allowedOrigins: origins }, discoveryUrl);
  const { unreachable, metadata, issuer } = report;
  if (!enabled && unreachable?.reason !== "address_not_allowed") return { metadata, issuer };
  if (unreachable) {
    throw new Problem("idp_unreachable", {
      source: { pointer: "/data/discovery_url" },
      detail: `The identity provider could not be asked: ${explainDocumentFailure(unreachable)}.`,
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

/** `profile` is as it is afterwards: a drift that was found waits there. */
export async function checkProfile(
  deps: Pick<AskDeps, "discoveryTries"> & { storage: Storage; directory: Directory },
  key: ProfileKey,
): Promise<{ profile: Profile; report: Report }> {
  const before = await getProfile(deps, key);
  await deps.discoveryTries.take(before.store_id);
  const report = await deps.directory.check(before);
  const profile = await getProfile(deps, key);
  const checks = await withLiveEvidence(deps.storage.db, profile, report.checks);
  const warnings = [...report.warnings, ...driftWarnings(profile)];
  return { profile, report: { ...report, checks: inItsWords(report.provider, checks), warnings } };
}

/** What waits for an administrator, beside requirements that the new document may all meet. */
function driftWarnings({ metadata, pending, issuerFound }: Profile): string[] {
  const warnings: string[] = [];
  if (metadata && pending) {
    const changes = documentChanges(metadata, pending.metadata).map(
      ({ member, before, after }) => `${member} was ${show(before)} and is ${show(after)}`,
    );
    warnings.push(
      `Its document has changed: ${changes.join("; ")}. Latchkey goes by the approved document until an administrator approves the new one, so sign-ons can fail (meta.pending_change).`,
    );
  }
  if (issuerFound)
    warnings.push(
      `Its document names the issuer ${show(issuerFound.issuer)}, and the approved one is ${show(metadata?.issuer)}: sign-ons will fail until the two agree (meta.issuer_found).`,
    );
  return warnings;
}
