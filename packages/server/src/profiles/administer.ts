import type { Caller } from "../contract/caller.ts";
import { Problem } from "../contract/problem.ts";
import { type By, byCaller } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { toIso } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { isIssuerOf, type Metadata } from "../openid/discovery.ts";
import { getRealm } from "../realms/realm.ts";
import { atMost } from "../storage/at-most.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { type AcceptDeps, type AcceptedDocument, acceptDocument } from "./accept-document.ts";
import { rememberFormer } from "./adopt-identities.ts";
import { changeProfile, writeColumns } from "./change-profile.ts";
import { sealSecret } from "./client-secret.ts";
import { acceptedColumns, columnsFor, movedTo } from "./drift.ts";
import { COUNTED, columnsOfClient, columnsOfMove, countOf, issuerBefore } from "./issuer-move.ts";
import {
  findProfile,
  getProfile,
  hasSecret,
  keyOf,
  type NewProfile,
  type Profile,
  type ProfileChange,
  type ProfileColumns,
  type ProfileIds,
  type ProfileKey,
  type ProfileRow,
  profileKey,
} from "./profile.ts";
import { viewProfile } from "./read-profiles.ts";
import type { ProfileAnswer } from "./resource.ts";

/**
 * Writes profiles. The requests to the provider come first, the transaction after: no transaction is open during a
 * request to another server. The profile may have changed in between, so the statement that writes names the version
 * that it depends on.
 */
type Deps = AcceptDeps & { storage: Storage; keyring: Keyring; publicUrl: string };

const DEFAULTS = {
  client_secret: "",
  client_secret_next: null,
  enabled: true,
  flow: "brokered",
  provisioning: "create",
  propagate_logout: false,
} as const;

export async function createProfile(
  deps: Deps,
  caller: Caller,
  { realm: realmId }: { realm: string },
  { data }: { data: NewProfile },
): Promise<ProfileAnswer> {
  const { storeId } = caller;
  const { purpose } = await getRealm(deps, storeId, realmId);
  const id = newId();
  const { discovery_url: discoveryUrl, enabled = true } = data;
  const found = await acceptDocument(deps, { storeId, discoveryUrl, enabled });
  const now = deps.clock.now();
  // Every column has a value: DEFAULTS has those of the members that may be absent.
  const columns = toColumns(deps, id, { ...DEFAULTS, ...data }) as ProfileRow;
  await changeProfile(deps, byCaller(caller), { storeId, realmId, profileId: id }, data, (trx) =>
    trx
      .insertInto("oidc_profiles")
      .values({
        ...columns,
        id,
        store_id: storeId,
        realm_id: realmId,
        purpose,
        ...columnsOfFound(found, now),
        former_profile_ids: "[]",
        created_at: now,
        updated_at: now,
      })
      .execute(),
  );
  return viewProfile(deps, caller, { realm: realmId, id });
}

type UpdateRequest = {
  caller: Caller;
  ids: ProfileIds;
  body: { data: ProfileChange };
  /** The versions that the caller has seen, if the caller sends them. */
  ifMatch?: readonly string[] | undefined;
};

/**
 * Members that were not sent stay as they are. Name, provisioning and logout are written in any case; everything else
 * is only written to the profile as it was read, so that address, client id and secret always belong together.
 */
export async function updateProfile(
  deps: Deps,
  { caller, ids, body: { data: change }, ifMatch }: UpdateRequest,
): Promise<ProfileAnswer> {
  const key = profileKey(caller, ids);
  const before = await getProfile(deps, key);
  if (ifMatch && !ifMatch.includes(toIso(before.updated_at))) throw new Problem("profile_changed");
  const isMoved = isAnother(change.discovery_url, before.discovery_url);
  const isElsewhere = isMoved || isAnother(change.client_id, before.client_id);
  const { discovery_url: discoveryUrl = before.discovery_url, enabled = before.enabled } = change;
  // A secret is never sent to a place that it was not entered for, and an enabled profile needs a secret.
  if (change.client_secret === undefined && (hasSecret(before) ? isElsewhere : enabled))
    throw new Problem("client_secret_required", { source: { pointer: "/data/client_secret" } });
  // A rename works while the provider is down; a change that depends on the provider does not.
  const mustAsk = isElsewhere || (change.enabled === true && (!before.enabled || !before.metadata));
  const found = mustAsk
    ? await acceptDocument(deps, { storeId: key.storeId, discoveryUrl, enabled })
    : undefined;
  const columns = {
    ...changeColumns(deps, before, change, isElsewhere),
    ...(found && foundColumns(before, found, isMoved, deps.clock.now())),
  };
  const isRenamed = isMoved && isAnotherIssuer(before, found?.metadata, discoveryUrl);
  await changeProfile(deps, byCaller(caller), key, { ...change, isRenamed }, async (trx) => {
    const move = isRenamed
      ? await columnsOfMove(trx, before, found?.metadata?.issuer ?? null, change)
      : columnsOfClient(before, change);
    const dependsOnRead =
      ifMatch !== undefined || OF_THE_PROVIDER.some((name) => columns[name] !== undefined);
    const condition = dependsOnRead ? { updated_at: before.updated_at } : {};
    if (await writeColumns(trx, deps, key, { ...columns, ...move }, condition)) return;
    throw new Problem((await findProfile(trx, key)) ? "profile_changed" : "profile_not_found");
  });
  if (isMoved) await deps.calls.forget(key.profileId);
  return viewProfile(deps, caller, ids);
}

/** Only another discovery URL replaces the approved document; any other change of the provider waits for approval. */
function foundColumns(
  before: Profile,
  found: AcceptedDocument,
  isMoved: boolean,
  now: number,
): ProfileColumns {
  if (isMoved) return columnsOfFound(found, now);
  return found.metadata ? { ...columnsFor(before, found.metadata, now), read_at: now } : {};
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
] as const satisfies (keyof ProfileRow)[];

/** Where the document cannot be used, the issuer that it names is noted. */
const columnsOfFound = ({ metadata, issuer }: AcceptedDocument, now: number) => ({
  ...acceptedColumns(metadata),
  ...(!metadata && issuer !== null && movedTo(issuer, now)),
  read_at: metadata && now,
});

/** The address is made from the issuer, so the issuer is known even when the document could not be read. */
function isAnotherIssuer(
  profile: Profile,
  found: Metadata | null | undefined,
  discoveryUrl: string,
): boolean {
  const before = issuerBefore(profile);
  if (before === undefined) return false;
  return found ? found.issuer !== before : !isIssuerOf(before, discoveryUrl);
}

const toColumns = (deps: Deps, profileId: string, data: ProfileChange): ProfileColumns => ({
  name: data.name,
  discovery_url: data.discovery_url,
  client_id: data.client_id,
  sealed_client_secret:
    data.client_secret === undefined ? undefined : sealSecret(deps, profileId, data.client_secret),
  sealed_client_secret_next: data.client_secret_next && sealSecret(deps, profileId, data.client_secret_next),
  enabled: toBit(data.enabled),
  flow: data.flow,
  provisioning: data.provisioning,
  propagate_logout: toBit(data.propagate_logout),
});

const toBit = (value: boolean | undefined): number | undefined =>
  value === undefined ? undefined : Number(value);

function changeColumns(
  deps: Deps,
  { id }: Profile,
  change: ProfileChange,
  isElsewhere: boolean,
): ProfileColumns {
  const columns = toColumns(deps, id, change);
  return {
    ...columns,
    // A new place starts without the old place's second secret and algorithm.
    ...(isElsewhere && {
      sealed_client_secret_next: columns.sealed_client_secret_next ?? null,
      id_token_alg: null,
    }),
    tokens_from: change.enabled === false ? nextSecond(deps.clock.now()) : undefined,
  };
}

/** An access token names its second of issue: all tokens of the second in which a profile is disabled end. */
const nextSecond = (now: number): number => (Math.floor(now / 1000) + 1) * 1000;

export async function deleteProfile(deps: Deps, caller: Caller, ids: ProfileIds): Promise<undefined> {
  const key = profileKey(caller, ids);
  await getProfile(deps, key);
  await changeStore(deps, key.storeId, async (trx) => {
    const profile = await findProfile(trx, key);
    if (profile) await removeProfile(trx, deps, byCaller(caller), profile);
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
  const key = keyOf(profile);
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

/** How many customer tokens end with the profile. Their rows stay until they expire. */
function countTokens(trx: Trx, { storeId, profileId }: ProfileKey): Promise<number> {
  const some = trx
    .selectFrom("customer_tokens")
    .select("id")
    .where("store_id", "=", storeId)
    .where("profile_id", "=", profileId)
    .limit(atMost(COUNTED));
  return countOf(trx, some);
}
