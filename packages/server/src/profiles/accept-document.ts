import { Problem } from "../contract/problem.ts";
import { originsFor } from "../lib/allowed-origins.ts";
import type { Clock } from "../lib/clock.ts";
import type { Metadata } from "../openid/discovery.ts";
import { examine, type Report } from "../openid/doctor.ts";
import { explainDocumentFailure } from "../openid/document-failure.ts";
import type { Calls } from "./calls.ts";
import type { DiscoveryTries } from "./discovery-tries.ts";

export type AcceptDeps = {
  clock: Clock;
  calls: Calls;
  discoveryTries: DiscoveryTries;
  allowedOrigins: readonly string[];
};

type Candidate = { storeId: string; discoveryUrl: string; enabled: boolean };

/** `metadata` is null if the document cannot be used; `issuer` is what the document names, in any case. */
export type AcceptedDocument = { metadata: Metadata | null; issuer: string | null };

/** Examines a provider that no profile has yet. Each call is one of the store's tries. */
export async function tryOut(deps: AcceptDeps, storeId: string, discoveryUrl: string): Promise<Report> {
  const { clock, calls, discoveryTries, allowedOrigins } = deps;
  await discoveryTries.take(storeId);
  const origins = originsFor(allowedOrigins, { purpose: "idp", storeId });
  const send: Calls["tryOut"] = (request) => calls.tryOut({ ...request, storeId });
  return examine({ send, clock, allowedOrigins: origins }, discoveryUrl);
}

/**
 * Examines the provider of a profile that is being saved. Throws a problem for each requirement that the provider
 * misses. A profile that is not enabled is accepted with whatever was found, so that an administrator can copy its
 * links. Opens no transaction.
 */
export async function acceptDocument(
  deps: AcceptDeps,
  { storeId, discoveryUrl, enabled }: Candidate,
): Promise<AcceptedDocument> {
  const report = await tryOut(deps, storeId, discoveryUrl);
  const { unreachable, metadata, issuer } = report;
  if (!enabled && unreachable?.reason !== "address_not_allowed") return { metadata, issuer };
  if (unreachable) {
    throw new Problem("idp_unreachable", {
      source: { pointer: "/data/discovery_url" },
      detail: `The identity provider could not be reached: ${explainDocumentFailure(unreachable)}.`,
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
