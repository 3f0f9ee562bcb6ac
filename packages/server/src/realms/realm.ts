import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Page, Place } from "../lib/condition.ts";
import { newId } from "../lib/ids.ts";
import type { SigningAlgorithm } from "../lib/jws.ts";
import { forChange } from "../storage/for-change.ts";
import { laterThan } from "../storage/later-than.ts";
import { readPage } from "../storage/page.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { presentMembers } from "./present.ts";
import { isAllowedRedirectUri } from "./redirect-uri.ts";

/** A way in for customers: where they may be sent back to, and what to do when two of them have one e-mail. */
export type Realm = {
  id: string;
  storeId: string;
  name: string;
  redirectUris: string[];
  duplicateEmailPolicy: DuplicateEmailPolicy;
  idTokenAlgorithm: SigningAlgorithm;
  profileUpdates: ProfileUpdates;
  createdAt: number;
  updatedAt: number;
};

export type DuplicateEmailPolicy = "allowed" | "api_only" | "disallowed";

/** Whether name and e-mail of a customer follow the identity provider at each sign-on, or are taken over at the first alone. */
export type ProfileUpdates = "always" | "first";

export type RealmChange = {
  name?: string | undefined;
  redirectUris?: string[] | undefined;
  duplicateEmailPolicy?: DuplicateEmailPolicy | undefined;
  idTokenAlgorithm?: SigningAlgorithm | undefined;
  profileUpdates?: ProfileUpdates | undefined;
};

type Deps = { storage: Storage; clock: Clock };

export const realmOf = (row: Tables["authentication_realms"]): Realm => ({
  id: row.id,
  storeId: row.store_id,
  name: row.name,
  redirectUris: JSON.parse(row.redirect_uris),
  duplicateEmailPolicy: row.duplicate_email_policy as DuplicateEmailPolicy,
  // A realm of before there was a choice goes on as it was.
  idTokenAlgorithm: (row.id_token_signed_response_alg ?? "ES256") as SigningAlgorithm,
  profileUpdates: (row.profile_updates ?? "always") as ProfileUpdates,
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

export type RealmList = { realms: Realm[]; place: Place; page: Page };

export async function listRealms(
  { storage }: { storage: Storage },
  storeId: string,
  page: Page,
): Promise<RealmList> {
  const { rows, place } = await readPage(storage, "authentication_realms", { store_id: storeId }, page);
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
    purpose: "customers",
    id_token_signed_response_alg: change.idTokenAlgorithm ?? "RS256",
    profile_updates: change.profileUpdates ?? null,
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

export async function createRealm(
  deps: Deps,
  by: By,
  change: RealmChange & { name: string },
): Promise<Realm> {
  refuseBadRedirectUris(change.redirectUris);
  return deps.storage.transact((trx) => insertRealm(trx, deps, by, change));
}

export async function updateRealm(deps: Deps, by: By, realmId: string, change: RealmChange): Promise<Realm> {
  refuseBadRedirectUris(change.redirectUris);
  return deps.storage.transact(async (trx) => {
    const rows = trx
      .selectFrom("authentication_realms")
      .selectAll()
      .where("store_id", "=", by.storeId)
      .where("id", "=", realmId);
    const before = await forChange(deps.storage, rows).executeTakeFirst();
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
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("store_id", "=", by.storeId)
      .where("id", "=", realmId)
      .returningAll()
      .executeTakeFirst();
    if (!before || !row) throw new Problem("realm_not_found");
    const resource = presentMembers(realmOf(row));
    const changes = changesOf(presentMembers(realmOf(before)), resource);
    const updated = { type: "authentication_realm.updated", subject: realmId, resource } as const;
    if (changes) await noteEvents(trx, deps, by, [{ ...updated, changes }]);
    return realmOf(row);
  });
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

function refuseBadRedirectUris(redirectUris: readonly string[] | undefined): void {
  const faults = (redirectUris ?? []).flatMap((uri, index) =>
    isAllowedRedirectUri(uri)
      ? []
      : [{ code: "redirect_uri_invalid" as const, source: { pointer: `/data/redirect_uris/${index}` } }],
  );
  const [first, ...others] = faults;
  if (first) throw Problem.of([first, ...others]);
}
