import { Problem } from "../contract/problem.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { toIso } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { isIssuerOf, type Metadata } from "../openid/discovery.ts";
import { getRealm } from "../realms/realm.ts";
import { atMost } from "../storage/at-most.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { type Accepted, type AskDeps, acceptDocument } from "./accept-document.ts";
import { rememberFormer } from "./adopt-identities.ts";
import { changeProfile, type Row, writeColumns } from "./change-profile.ts";
import { hasSecret, sealSecret } from "./client-secret.ts";
import { accepted, columnsFor, movedTo } from "./drift.ts";
import {
  COUNTED,
  columnsOfClient,
  columnsOfMove,
  countOf,
  issuerBefore,
  type MoveChoice,
} from "./issuer-move.ts";
import {
  type Flow,
  findProfile,
  getProfile,
  type Profile,
  type ProfileKey,
  type ProfileView,
  type Provisioning,
  viewProfile,
} from "./profile.ts";

/**
 * Writes profiles. The network comes first, the transaction after: none is open while we wait for somebody else's server. What
 * was read before the network was asked may be outdated by then, so the statement that writes says what it depends on.
 */
type Deps = AskDeps & { storage: Storage; keyring: Keyring };

export type NewProfile = ProfileChange & {
  name: string;
  discovery_url: string;
  client_id: string;
};

export type ProfileChange = MoveChoice & {
  name?: string | undefined;
  discovery_url?: string | undefined;
  client_id?: string | undefined;
  client_secret?: string | undefined;
  /** `null` takes it away. */
  client_secret_next?: string | null | undefined;
  enabled?: boolean | undefined;
  flow?: Flow | undefined;
  provisioning?: Provisioning | undefined;
  propagate_logout?: boolean | undefined;
};

export async function createProfile(
  deps: Deps,
  by: By,
  realmId: string,
  given: NewProfile,
): Promise<ProfileView> {
  const { storeId } = by;
  const { purpose } = await getRealm(deps, storeId, realmId);
  const key = { storeId, realmId, profileId: newId() };
  const { discovery_url: discoveryUrl, enabled = true } = given;
  const found = await acceptDocument(deps, { storeId, discoveryUrl, enabled });
  const now = deps.clock.now();
  await changeProfile(deps, by, key, given, (trx) =>
    trx
      .insertInto("oidc_profiles")
      .values({
        id: key.profileId,
        store_id: storeId,
        realm_id: realmId,
        purpose,
        name: given.name,
        discovery_url: discoveryUrl,
        client_id: given.client_id,
        sealed_client_secret: sealSecret(deps, key.profileId, given.client_secret ?? ""),
        sealed_client_secret_next: given.client_secret_next
          ? sealSecret(deps, key.profileId, given.client_secret_next)
          : null,
        enabled: enabled ? 1 : 0,
        flow: given.flow ?? "brokered",
        provisioning: given.provisioning ?? "create",
        propagate_logout: given.propagate_logout ? 1 : 0,
        ...columnsOfFound(found, now),
        former_profile_ids: "[]",
        created_at: now,
        updated_at: now,
      })
      .execute(),
  );
  return viewProfile(deps, key);
}

/**
 * Members that were not sent stay as they are. `basedOn`: the versions that the caller has seen, if it says so. A new name
 * and whom to let in stand for themselves; everything else is only written to the profile as it was read, so that address,
 * client id and secret always belong together.
 */
export async function updateProfile(
  deps: Deps,
  by: By,
  key: ProfileKey,
  change: ProfileChange,
  basedOn?: readonly string[],
): Promise<ProfileView> {
  const before = await getProfile(deps, key);
  if (basedOn && !basedOn.includes(toIso(before.updated_at))) throw new Problem("profile_changed");
  const isMoved = isAnother(change.discovery_url, before.discovery_url);
  const isElsewhere = isMoved || isAnother(change.client_id, before.client_id);
  const { enabled = before.enabled } = change;
  // A secret is never sent to a place that it was not entered for, and without one nobody can sign on.
  if (change.client_secret === undefined && (hasSecret(before) ? isElsewhere : enabled))
    throw new Problem("client_secret_required", { source: { pointer: "/data/client_secret" } });
  // A rename works while the provider is down; what depends on the provider does not.
  const mustAsk = isElsewhere || (change.enabled === true && (!before.enabled || !before.metadata));
  const found = mustAsk ? await askAgain(deps, before, change) : undefined;
  const documents = found ? documentsOf(before, found, isMoved, deps.clock.now()) : {};
  const isRenamed = isMoved && isAnotherIssuer(before, found?.metadata, change.discovery_url);
  await changeProfile(deps, by, key, { ...change, isRenamed }, async (trx) => {
    const move = isRenamed
      ? await columnsOfMove(trx, before, found?.metadata?.issuer ?? null, change)
      : columnsOfClient(before, change);
    const columns = { ...columnsOf(deps, key, change, isElsewhere), ...documents, ...move };
    const dependsOnRead = basedOn !== undefined || OF_THE_PROVIDER.some((name) => name in columns);
    const condition = dependsOnRead ? { updated_at: before.updated_at } : {};
    if (await writeColumns(trx, deps, key, columns, condition)) return;
    throw new Problem((await findProfile(trx, key)) ? "profile_changed" : "profile_not_found");
  });
  if (isMoved) await deps.calls.forget(key.profileId);
  return viewProfile(deps, key);
}

const isAnother = (given: string | undefined, before: string): boolean =>
  given !== undefined && given !== before;

const OF_THE_PROVIDER = [
  "discovery_url",
  "client_id",
  "sealed_client_secret",
  "sealed_client_secret_next",
  "enabled",
  "flow",
] as const satisfies (keyof Row)[];

const askAgain = (
  deps: Deps,
  before: Profile,
  { discovery_url: discoveryUrl = before.discovery_url, enabled = before.enabled }: ProfileChange,
): Promise<Accepted> => acceptDocument(deps, { storeId: before.store_id, discoveryUrl, enabled });

/** Only another discovery URL makes us go by another document: what else the provider has changed waits for approval. */
function documentsOf(before: Profile, found: Accepted, isMoved: boolean, now: number): Partial<Row> {
  if (isMoved) return columnsOfFound(found, now);
  return found.metadata ? { ...columnsFor(before, found.metadata, now), read_at: now } : {};
}

/** Of one that cannot be gone by, what it calls itself. */
const columnsOfFound = ({ metadata, issuer }: Accepted, now: number) => ({
  ...accepted(metadata),
  ...(!metadata && issuer !== null && movedTo(issuer, now)),
  read_at: metadata && now,
});

/** The issuer is what the address is made from, so it is known also of a document that could not be read. */
function isAnotherIssuer(profile: Profile, found: Metadata | null | undefined, discoveryUrl = ""): boolean {
  const before = issuerBefore(profile);
  if (before === undefined) return false;
  return found ? found.issuer !== before : !isIssuerOf(before, discoveryUrl);
}

/** An access token knows the second in which it was issued: tokens of the whole second in which a profile is disabled end with it. */
const nextSecond = (now: number): number => (Math.floor(now / 1000) + 1) * 1000;

function columnsOf(
  deps: Deps,
  { profileId }: ProfileKey,
  change: ProfileChange,
  isElsewhere: boolean,
): Partial<Row> {
  const {
    name,
    discovery_url: discoveryUrl,
    client_id: clientId,
    client_secret: clientSecret,
    client_secret_next: clientSecretNext,
    enabled,
    flow,
    provisioning,
  } = change;
  const { propagate_logout: propagateLogout } = change;
  return {
    ...(name !== undefined && { name }),
    ...(provisioning !== undefined && { provisioning }),
    ...(propagateLogout !== undefined && { propagate_logout: propagateLogout ? 1 : 0 }),
    ...(discoveryUrl !== undefined && { discovery_url: discoveryUrl }),
    ...(clientId !== undefined && { client_id: clientId }),
    ...(clientSecret !== undefined && { sealed_client_secret: sealSecret(deps, profileId, clientSecret) }),
    // A new place starts without the old place's second secret.
    ...((isElsewhere || clientSecretNext === null) && { sealed_client_secret_next: null }),
    ...(isElsewhere && { id_token_alg: null }),
    ...(clientSecretNext && { sealed_client_secret_next: sealSecret(deps, profileId, clientSecretNext) }),
    ...(enabled !== undefined && { enabled: enabled ? 1 : 0 }),
    ...(enabled === false && { tokens_from: nextSecond(deps.clock.now()) }),
    ...(flow !== undefined && { flow }),
  };
}

export async function deleteProfile(deps: Deps, by: By, key: ProfileKey): Promise<undefined> {
  await getProfile(deps, key);
  await changeStore(deps, key.storeId, async (trx) => {
    const profile = await findProfile(trx, key);
    if (profile) await removeProfile(trx, deps, by, profile);
  });
  await deps.calls.forget(key.profileId);
}

/** In a transaction that holds the store. */
export async function removeProfile(
  trx: Trx,
  deps: Pick<Deps, "clock">,
  by: By,
  profile: Profile,
): Promise<void> {
  const key = { storeId: profile.store_id, realmId: profile.realm_id, profileId: profile.id };
  await rememberFormer(trx, profile);
  await trx
    .deleteFrom("oidc_profiles")
    .where("store_id", "=", key.storeId)
    .where("realm_id", "=", key.realmId)
    .where("id", "=", key.profileId)
    .execute();
  const ended = await countTokens(trx, key);
  const resource = { type: "oidc-profile", id: key.profileId, ended_customer_tokens: ended };
  await noteEvents(trx, deps, by, [{ type: "oidc_profile.deleted", subject: key.profileId, resource }]);
}

/** How many customer tokens end with a profile: their rows stay until they expire, those of the last minute included. */
function countTokens(trx: Trx, { storeId, profileId }: ProfileKey): Promise<number> {
  const some = trx
    .selectFrom("customer_tokens")
    .select("id")
    .where("store_id", "=", storeId)
    .where("profile_id", "=", profileId)
    .limit(atMost(COUNTED));
  return countOf(trx, some);
}
