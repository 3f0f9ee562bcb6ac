import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { type Fault, Problem } from "../contract/problem.ts";
import type { ProblemCode } from "../contract/problems.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import type { Page, Place } from "../lib/condition.ts";
import { newId } from "../lib/ids.ts";
import type { SigningAlgorithm } from "../lib/jws.ts";
import { isUniqueViolation } from "../storage/failures.ts";
import { laterThan } from "../storage/later-than.ts";
import { readPage } from "../storage/lists/page.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { accountRealmOf } from "./account-realm.ts";
import { faultOfRedirectUri, faultOfShownUrl } from "./redirect-uri.ts";
import { presentMembers } from "./resource.ts";

/** A way in: where people may be sent back to, and what to do when two customers have one e-mail. */
export type Realm = {
  id: string;
  storeId: string;
  name: string;
  purpose: Purpose;
  redirectUris: string[];
  duplicateEmailPolicy: DuplicateEmailPolicy;
  idTokenAlgorithm: SigningAlgorithm;
  profileUpdates: ProfileUpdates;
  /** What our own pages show of the shop, beside the name. */
  homeUrl: string | null;
  logoUrl: string | null;
  accentColor: string | null;
  createdAt: number;
  updatedAt: number;
};

/** Who signs in there. It never changes: what a code of the realm is worth follows from it. */
export type Purpose = "customers" | "members";

export type DuplicateEmailPolicy = "allowed" | "api_only" | "disallowed";

/** Whether name and e-mail of a customer follow the identity provider at each sign-on, or are taken over at the first alone. */
type ProfileUpdates = "always" | "first";

export type RealmChange = {
  purpose?: Purpose | undefined;
  name?: string | undefined;
  redirectUris?: string[] | undefined;
  duplicateEmailPolicy?: DuplicateEmailPolicy | undefined;
  idTokenAlgorithm?: SigningAlgorithm | undefined;
  profileUpdates?: ProfileUpdates | undefined;
  homeUrl?: string | null | undefined;
  logoUrl?: string | null | undefined;
  accentColor?: string | null | undefined;
};

type Deps = { storage: Storage; clock: Clock };

/** What it says of people who come through an identity provider. */
export const rulesOf = (
  row: Pick<Tables["authentication_realms"], "duplicate_email_policy" | "profile_updates">,
): Pick<Realm, "duplicateEmailPolicy" | "profileUpdates"> => ({
  duplicateEmailPolicy: row.duplicate_email_policy as DuplicateEmailPolicy,
  profileUpdates: (row.profile_updates ?? "always") as ProfileUpdates,
});

export const realmOf = (row: Tables["authentication_realms"]): Realm => ({
  id: row.id,
  storeId: row.store_id,
  name: row.name,
  purpose: row.purpose as Purpose,
  redirectUris: JSON.parse(row.redirect_uris),
  ...rulesOf(row),
  // A realm of before there was a choice goes on as it was.
  idTokenAlgorithm: (row.id_token_signed_response_alg ?? "ES256") as SigningAlgorithm,
  homeUrl: row.home_url,
  logoUrl: row.logo_url,
  accentColor: row.accent_color,
  createdAt: row.created_at,
  updatedAt: row.updated_at,
});

export async function findRealm(db: Database, storeId: string, realmId: string): Promise<Realm | undefined> {
  const row = await findRow.first(db, { storeId, realmId });
  return row && realmOf(row);
}

const findRow = statement((db, of: { storeId: string; realmId: string }) =>
  db
    .selectFrom("authentication_realms")
    .selectAll()
    .where("store_id", "=", of.storeId)
    .where("id", "=", of.realmId),
);

export async function getRealm(
  { storage }: { storage: Storage },
  storeId: string,
  realmId: string,
): Promise<Realm> {
  const realm = await findRealm(storage.db, storeId, realmId);
  if (!realm) throw new Problem("realm_not_found");
  return realm;
}

/** What public tokens may read: the members' realm is not there for them. The realm for accounts, which has no row, is there for all. */
export async function getVisibleRealm(
  deps: { storage: Storage },
  caller: Reader,
  realmId: string,
): Promise<Realm> {
  if (realmId === caller.storeId) return accountRealmOf(caller.storeId);
  if (!isBackOffice(caller)) return getCustomerRealm(deps, caller.storeId, realmId);
  return getRealm(deps, caller.storeId, realmId);
}

export type Reader = Pick<Caller, "storeId" | "grant">;

/** A realm as an OpenID provider, which only one for customers is. */
export async function getCustomerRealm(
  deps: { storage: Storage },
  storeId: string,
  realmId: string,
): Promise<Realm> {
  const realm = await getRealm(deps, storeId, realmId);
  if (realm.purpose !== "customers") throw new Problem("realm_not_found");
  return realm;
}

export async function findMembersRealm(db: Database, storeId: string): Promise<Realm | undefined> {
  const row = await db
    .selectFrom("authentication_realms")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("purpose", "=", "members")
    .executeTakeFirst();
  return row && realmOf(row);
}

export type RealmList = { realms: Realm[]; place: Place; page: Page };

export async function listRealms(
  { storage }: { storage: Storage },
  caller: Reader,
  page: Page,
): Promise<RealmList> {
  const of = { store_id: caller.storeId, ...(!isBackOffice(caller) && { purpose: "customers" }) };
  const { rows, place } = await readPage(storage, "authentication_realms", of, page);
  return { realms: rows.map(realmOf), place, page };
}

export async function insertRealm(
  trx: Trx,
  { clock }: { clock: Clock },
  by: By,
  change: RealmChange & { name: string },
): Promise<Realm> {
  const now = clock.now();
  const row = {
    id: newId(),
    store_id: by.storeId,
    name: change.name,
    redirect_uris: JSON.stringify(change.redirectUris ?? []),
    duplicate_email_policy: change.duplicateEmailPolicy ?? "allowed",
    purpose: change.purpose ?? "customers",
    id_token_signed_response_alg: change.idTokenAlgorithm ?? "RS256",
    profile_updates: change.profileUpdates ?? null,
    home_url: change.homeUrl ?? null,
    logo_url: change.logoUrl ?? null,
    accent_color: change.accentColor ?? null,
    created_at: now,
    updated_at: now,
  };
  await trx.insertInto("authentication_realms").values(row).execute();
  const realm = realmOf(row);
  const resource = presentMembers(realm);
  await noteEvents(trx, { clock }, by, [
    { type: "authentication_realm.created", subject: realm.id, resource },
  ]);
  return realm;
}

/** Members are sent back to the console, unless the realm says elsewhere. The unique index lets a store have one for them. */
export async function createRealm(
  deps: Deps & { publicUrl: string },
  by: By,
  change: RealmChange & { name: string },
): Promise<Realm> {
  refuseBadAddresses(deps, change);
  const isForMembers = change.purpose === "members";
  const usual = isForMembers ? [`${deps.publicUrl}/console/signed-in`] : [];
  const { redirectUris = usual } = change;
  try {
    return await deps.storage.transact((trx) => insertRealm(trx, deps, by, { ...change, redirectUris }));
  } catch (error) {
    if (!isForMembers || !isUniqueViolation(error)) throw error;
    throw new Problem("members_realm_exists", { source: { pointer: "/data/purpose" } });
  }
}

/** `basedOn`: the versions that the caller has seen, if it says so. */
export async function updateRealm(
  deps: Deps & { publicUrl: string },
  by: By,
  realmId: string,
  given: RealmChange | ((before: Realm) => RealmChange),
  basedOn?: readonly string[],
): Promise<Realm> {
  const updated = await changeStore(deps, by.storeId, async (trx) => {
    const before = await findRealm(trx, by.storeId, realmId);
    if (!before) throw new Problem("realm_not_found");
    if (basedOn && !basedOn.includes(toIso(before.updatedAt))) throw new Problem("realm_changed");
    // Read and written under the store's lock: two that add to the list at once are both in it afterwards.
    const change = typeof given === "function" ? given(before) : given;
    refuseBadAddresses(deps, change);
    if (change.purpose !== undefined && change.purpose !== before.purpose)
      throw new Problem("realm_purpose_fixed", { source: { pointer: "/data/purpose" } });
    const row = await trx
      .updateTable("authentication_realms")
      .set({
        ...(change.name !== undefined && { name: change.name }),
        ...(change.redirectUris !== undefined && { redirect_uris: JSON.stringify(change.redirectUris) }),
        ...(change.duplicateEmailPolicy !== undefined && {
          duplicate_email_policy: change.duplicateEmailPolicy,
        }),
        ...(change.idTokenAlgorithm !== undefined && {
          id_token_signed_response_alg: change.idTokenAlgorithm,
        }),
        ...(change.profileUpdates !== undefined && { profile_updates: change.profileUpdates }),
        ...(change.homeUrl !== undefined && { home_url: change.homeUrl }),
        ...(change.logoUrl !== undefined && { logo_url: change.logoUrl }),
        ...(change.accentColor !== undefined && { accent_color: change.accentColor }),
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("store_id", "=", by.storeId)
      .where("id", "=", realmId)
      .returningAll()
      .executeTakeFirstOrThrow();
    const realm = realmOf(row);
    const resource = presentMembers(realm);
    const changes = changesOf(presentMembers(before), resource);
    const happened = { type: "authentication_realm.updated", subject: realmId, resource } as const;
    if (changes) await noteEvents(trx, deps, by, [{ ...happened, changes }]);
    return realm;
  });
  if (!updated) throw new Problem("realm_not_found");
  return updated;
}

/** Holds the store's lock, as making a profile and changing the settings do: the realm cannot come into use meanwhile. */
export async function deleteRealm(deps: Deps, by: By, realmId: string): Promise<undefined> {
  const { storeId } = by;
  await changeStore(deps, storeId, async (trx) => {
    const uses = (table: "customer_authentication_settings" | "oidc_profiles") =>
      trx
        .selectFrom(table)
        .select("realm_id")
        .where("store_id", "=", storeId)
        .where("realm_id", "=", realmId)
        .executeTakeFirst();
    if (await uses("customer_authentication_settings")) throw new Problem("realm_in_use");
    if (await uses("oidc_profiles")) throw new Problem("realm_has_profiles");
    const { numDeletedRows } = await trx
      .deleteFrom("authentication_realms")
      .where("store_id", "=", storeId)
      .where("id", "=", realmId)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new Problem("realm_not_found");
    const resource = { type: "authentication-realm", id: realmId };
    await noteEvents(trx, deps, by, [{ type: "authentication_realm.deleted", subject: realmId, resource }]);
  });
}

/** All that are wrong at once. */
function refuseBadAddresses(
  deps: { publicUrl: string },
  { redirectUris = [], homeUrl, logoUrl }: RealmChange,
): void {
  const unregistrable = redirectUris.map((uri, index) =>
    faultOf("redirect_uri_invalid", faultOfRedirectUri(uri), "redirect_uris", index),
  );
  const unshowable = Object.entries({ home_url: homeUrl, logo_url: logoUrl }).map(([member, url]) =>
    faultOf("shown_url_invalid", url == null ? undefined : faultOfShownUrl(deps, url), member),
  );
  const [first, ...others] = [...unregistrable, ...unshowable].flat();
  if (first) throw Problem.of([first, ...others]);
}

function faultOf(code: ProblemCode, fault: string | undefined, member: string, index?: number): Fault[] {
  if (fault === undefined) return [];
  const [named, pointer] =
    index === undefined ? [member, member] : [`${member}[${index}]`, `${member}/${index}`];
  return [{ code, detail: `\`${named}\`: ${fault}.`, source: { pointer: `/data/${pointer}` } }];
}
