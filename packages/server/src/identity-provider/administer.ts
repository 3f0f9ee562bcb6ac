import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { seal } from "../lib/seal.ts";
import { findRealm, getRealm } from "../realms/realm.ts";
import { getSettings, listDirectProfiles } from "../realms/settings.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { adoptIdentities } from "./adoption.ts";
import type { Calls } from "./calls.ts";
import type { Metadata } from "./discovery.ts";
import { examine, type Report, reasons } from "./doctor.ts";
import { withLiveEvidence } from "./live-evidence.ts";
import {
  type Flow,
  getProfile,
  type Profile,
  type ProfileKey,
  type ProfileView,
  type Provisioning,
  viewProfile,
} from "./profile.ts";

type Deps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  calls: Calls;
  allowedOrigins: readonly string[];
};

export type NewProfile = ProfileChange & {
  name: string;
  discoveryUrl: string;
  clientId: string;
  clientSecret: string;
};

export type ProfileChange = {
  name?: string | undefined;
  discoveryUrl?: string | undefined;
  clientId?: string | undefined;
  clientSecret?: string | undefined;
  /** `null` takes it away. */
  clientSecretNext?: string | null | undefined;
  enabled?: boolean | undefined;
  flow?: Flow | undefined;
  provisioning?: Provisioning | undefined;
  /** A deleted profile for the same issuer and client id, whose identities this one takes over. */
  adoptIdentitiesOf?: string | undefined;
};

export async function createProfile(
  deps: Deps,
  storeId: string,
  realmId: string,
  given: NewProfile,
): Promise<ProfileView> {
  await getRealm(deps, storeId, realmId);
  const key = { storeId, realmId, profileId: newId() };
  const enabled = given.enabled ?? true;
  // The network first, the transaction after: none is open while we wait for somebody else's server.
  const metadata = await acceptedMetadata(deps, given.discoveryUrl, enabled);
  const now = deps.clock.now();
  const flow = given.flow ?? "brokered";
  await changeProfile(deps, key, { enabled, flow, clientId: given.clientId, metadata }, async (trx) => {
    await trx
      .insertInto("oidc_profiles")
      .values({
        id: key.profileId,
        store_id: storeId,
        realm_id: realmId,
        name: given.name,
        discovery_url: given.discoveryUrl,
        client_id: given.clientId,
        sealed_client_secret: sealSecret(deps, key.profileId, given.clientSecret),
        sealed_client_secret_next: given.clientSecretNext
          ? sealSecret(deps, key.profileId, given.clientSecretNext)
          : null,
        enabled: enabled ? 1 : 0,
        flow,
        provisioning: given.provisioning ?? "create",
        metadata: metadata && JSON.stringify(metadata),
        pending_metadata: null,
        pending_since: null,
        former_profile_ids: "[]",
        created_at: now,
        updated_at: now,
      })
      .execute();
    await adopt(trx, key, { ...given, metadata });
  });
  return viewProfile(deps, key);
}

export async function updateProfile(
  deps: Deps,
  key: ProfileKey,
  change: ProfileChange,
): Promise<ProfileView> {
  const before = await getProfile(deps, key);
  const after = {
    discoveryUrl: change.discoveryUrl ?? before.discoveryUrl,
    clientId: change.clientId ?? before.clientId,
    enabled: change.enabled ?? before.enabled,
    flow: change.flow ?? before.flow,
  };
  const isElsewhere = after.discoveryUrl !== before.discoveryUrl || after.clientId !== before.clientId;
  if (isElsewhere && change.clientSecret === undefined) {
    throw new Problem("client_secret_required", { source: { pointer: "/data/client_secret" } });
  }
  // A rename works while the provider is down; what depends on the provider does not.
  const mustAsk = isElsewhere || (after.enabled && (!before.enabled || before.metadata === null));
  const metadata = mustAsk
    ? await acceptedMetadata(deps, after.discoveryUrl, after.enabled)
    : before.metadata;
  const { clientSecret, clientSecretNext } = change;
  await changeProfile(deps, key, { ...after, metadata }, async (trx) => {
    await setProfile(trx, deps, key, {
      ...(change.name !== undefined && { name: change.name }),
      ...(change.provisioning !== undefined && { provisioning: change.provisioning }),
      discovery_url: after.discoveryUrl,
      client_id: after.clientId,
      enabled: after.enabled ? 1 : 0,
      flow: after.flow,
      ...(clientSecret !== undefined && {
        sealed_client_secret: sealSecret(deps, key.profileId, clientSecret),
      }),
      // A new place starts without the old place's second secret.
      ...((isElsewhere || clientSecretNext === null) && { sealed_client_secret_next: null }),
      ...(clientSecretNext && {
        sealed_client_secret_next: sealSecret(deps, key.profileId, clientSecretNext),
      }),
      ...(mustAsk && accepted(metadata)),
    });
    await adopt(trx, key, { ...after, adoptIdentitiesOf: change.adoptIdentitiesOf, metadata });
  });
  return viewProfile(deps, key);
}

async function adopt(
  trx: Trx,
  { storeId, realmId, profileId }: ProfileKey,
  of: { adoptIdentitiesOf?: string | undefined; clientId: string; metadata: Metadata | null },
): Promise<void> {
  if (of.adoptIdentitiesOf === undefined) return;
  const issuer = of.metadata?.issuer ?? "";
  await adoptIdentities(
    trx,
    { id: profileId, storeId, realmId, clientId: of.clientId, issuer },
    of.adoptIdentitiesOf,
  );
}

export async function deleteProfile(deps: Deps, key: ProfileKey): Promise<undefined> {
  await getProfile(deps, key);
  await changeStore(deps, key.storeId, (trx) =>
    trx
      .deleteFrom("oidc_profiles")
      .where("store_id", "=", key.storeId)
      .where("realm_id", "=", key.realmId)
      .where("id", "=", key.profileId)
      .execute(),
  );
  deps.calls.forget(key.profileId);
}

export async function checkProfile(
  deps: Deps,
  key: ProfileKey,
): Promise<{ profile: Profile; report: Report }> {
  const profile = await getProfile(deps, key);
  const report = await examineFor(deps, profile.id, profile.discoveryUrl);
  const checks = await withLiveEvidence(deps.storage.db, profile, report.checks);
  return { profile, report: { ...report, checks } };
}

/** Looks again, so that what is accepted is what is there now and not what was there when it was noticed. */
export async function approveDrift(deps: Deps, key: ProfileKey): Promise<ProfileView> {
  const profile = await getProfile(deps, key);
  if (!profile.pending) throw new Problem("no_pending_change");
  const metadata = await acceptedMetadata(deps, profile.discoveryUrl, true);
  // A change of the profile like any other: every instance drops what it knew of the provider.
  await changeProfile(deps, key, { ...profile, metadata }, (trx) =>
    setProfile(trx, deps, key, accepted(metadata)),
  );
  return viewProfile(deps, key);
}

const examineFor = (
  { calls, clock, allowedOrigins }: Deps,
  callsId: string,
  discoveryUrl: string,
): Promise<Report> =>
  examine({ send: (request) => calls.send(callsId, request), clock, allowedOrigins }, discoveryUrl);

/** An address that is only tried has health of its own: a typing mistake must not put a working provider to rest. */
async function examineCandidate(deps: Deps, discoveryUrl: string): Promise<Report> {
  const candidateId = newId();
  try {
    return await examineFor(deps, candidateId, discoveryUrl);
  } finally {
    deps.calls.forget(candidateId);
  }
}

/** The provider's metadata if it meets every requirement; a refusal for each that it does not. */
async function acceptedMetadata(
  deps: Deps,
  discoveryUrl: string,
  enabled: boolean,
): Promise<Metadata | null> {
  const report = await examineCandidate(deps, discoveryUrl);
  if (report.unreachable) {
    if (!enabled && report.unreachable !== "address_not_allowed") return null;
    throw new Problem("idp_unreachable", {
      source: { pointer: "/data/discovery_url" },
      detail: `The identity provider could not be asked: ${reasons[report.unreachable]}.`,
      meta: { reason: report.unreachable },
    });
  }
  const missed = report.checks.filter(({ status }) => status === "not_met");
  const [first, ...others] = missed.map(({ id, requirement, evidence, remedy }) => ({
    code: "idp_requirement_not_met" as const,
    source: { pointer: "/data/discovery_url" },
    detail: `${requirement} ${evidence}`,
    meta: { requirement: id, evidence, remedy },
  }));
  if (first) throw Problem.of([first, ...others]);
  return report.metadata;
}

/** Writes a profile, with the rules that several profiles must keep together checked under the store's lock. */
async function changeProfile(
  deps: Deps,
  key: ProfileKey,
  after: { enabled: boolean; flow: Flow; clientId: string; metadata: Metadata | null },
  write: (trx: Trx) => Promise<unknown>,
): Promise<void> {
  await changeStore(deps, key.storeId, async (trx) => {
    if (!(await findRealm(trx, key.storeId, key.realmId))) throw new Problem("realm_not_found");
    if (after.enabled && after.flow === "direct") {
      // There only the provider looks at the verifier.
      if (!after.metadata?.supportsS256)
        throw new Problem("direct_pkce_missing", { source: { pointer: "/data/flow" } });
      await refuseSecondDirect(trx, key, after.clientId);
    }
    await write(trx);
  });
  deps.calls.forget(key.profileId);
}

type ProfileValues = Partial<Tables["oidc_profiles"]>;

const accepted = (metadata: Metadata | null): ProfileValues => ({
  metadata: metadata && JSON.stringify(metadata),
  pending_metadata: null,
  pending_since: null,
});

async function setProfile(
  trx: Trx,
  { clock }: Deps,
  { storeId, realmId, profileId }: ProfileKey,
  values: ProfileValues,
): Promise<void> {
  await trx
    .updateTable("oidc_profiles")
    .set({ ...values, updated_at: laterThan("updated_at", clock.now()) })
    .where("store_id", "=", storeId)
    .where("realm_id", "=", realmId)
    .where("id", "=", profileId)
    .execute();
}

async function refuseSecondDirect(
  trx: Trx,
  { storeId, realmId, profileId }: ProfileKey,
  clientId: string,
): Promise<void> {
  const direct = await listDirectProfiles(trx, storeId, realmId);
  if (direct.some((profile) => profile.id !== profileId)) {
    throw new Problem("direct_profile_exists", { source: { pointer: "/data/flow" } });
  }
  const settings = await getSettings({ storage: { db: trx } }, storeId);
  if (settings.clientId !== clientId) {
    throw new Problem("direct_client_id_mismatch", { source: { pointer: "/data/client_id" } });
  }
}

const sealSecret = ({ keyring }: { keyring: Keyring }, profileId: string, secret: string): string =>
  seal(keyring, "client-secret", profileId, secret);
