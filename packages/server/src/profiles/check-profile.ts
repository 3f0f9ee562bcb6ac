import type * as contract from "../contract/oidc-profiles.ts";
import type { Output } from "../contract/operation.ts";
import { show } from "../lib/show.ts";
import { inItsWords } from "../openid/recognise.ts";
import { getRealm } from "../realms/realm.ts";
import type { Storage } from "../storage/storage.ts";
import { type AcceptDeps, tryOut } from "./accept-document.ts";
import { listAdoptable } from "./adopt-identities.ts";
import type { Directory } from "./directory.ts";
import type { DiscoveryTries } from "./discovery-tries.ts";
import { documentChanges } from "./drift.ts";
import { withLiveEvidence } from "./live-evidence.ts";
import { getProfile, type Profile, type ProfileIds, profileKey } from "./profile.ts";
import { presentReport, presentReportMembers } from "./resource.ts";

type Deps = { publicUrl: string; storage: Storage; directory: Directory; discoveryTries: DiscoveryTries };

/** Examines the provider now. The answer shows the profile as it is afterwards, with a drift that was found. */
export async function checkProfile(
  deps: Deps,
  caller: { storeId: string },
  ids: ProfileIds,
): Promise<Output<typeof contract.checkProfile>> {
  const key = profileKey(caller, ids);
  const before = await getProfile(deps, key);
  await deps.discoveryTries.take(before.store_id);
  const report = await deps.directory.check(before);
  const profile = await getProfile(deps, key);
  const checks = await withLiveEvidence(deps.storage.db, profile, report.checks);
  const warnings = [...report.warnings, ...driftWarnings(profile)];
  return presentReport(deps, profile, { ...report, checks: inItsWords(report.provider, checks), warnings });
}

/** No profile has this id. */
const NO_PROFILE = { id: "" };

type NewProvider = { discovery_url: string; client_id?: string | undefined };

/** The same for a provider that no profile has yet. Writes nothing. */
export async function checkBeforeSaving(
  deps: AcceptDeps & { storage: Storage },
  { storeId }: { storeId: string },
  realmId: string,
  { discovery_url: discoveryUrl, client_id: clientId }: NewProvider,
): Promise<Output<typeof contract.checkBeforeSaving>> {
  await getRealm(deps, storeId, realmId);
  const report = await tryOut(deps, storeId, discoveryUrl);
  const issuer = report.metadata?.issuer;
  const adoptable =
    clientId === undefined || issuer === undefined
      ? undefined
      : await listAdoptable(deps.storage.db, {
          ...NO_PROFILE,
          store_id: storeId,
          realm_id: realmId,
          issuer,
          clientId,
        });
  return {
    data: {
      ...presentReportMembers(report),
      meta: { pending_change: null, issuer_found: null, ...(adoptable && { adoptable }) },
    },
  };
}

/** A change that waits for approval. The new document may meet every requirement, so no check shows it. */
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
