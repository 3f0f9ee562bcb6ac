import { Problem } from "../contract/problem.ts";
import type { SigningAlgorithm } from "../lib/jws.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** One way to sign in: its redirect URIs, its signing algorithm, its rule for two customers with one e-mail. */
export type Realm = Omit<Tables["authentication_realms"], keyof ParsedRealm> & ParsedRealm;

type ParsedRealm = {
  purpose: RealmPurpose;
  redirect_uris: string[];
  duplicate_email_policy: DuplicateEmailPolicy;
  id_token_signed_response_alg: SigningAlgorithm;
  profile_updates: ProfileUpdates;
};

/** Decides whether a code of the realm gives a customer token or a member's access token, so it never changes. */
export type RealmPurpose = "customers" | "members";

export type DuplicateEmailPolicy = "allowed" | "api_only" | "disallowed";

/** Whether name and e-mail of a customer follow the provider at each sign-on, or are copied at the first only. */
type ProfileUpdates = "always" | "first";

/** The columns of a realm, for statements that join it. */
export const REALM_COLUMNS = [
  "id",
  "store_id",
  "name",
  "purpose",
  "redirect_uris",
  "duplicate_email_policy",
  "id_token_signed_response_alg",
  "profile_updates",
  "home_url",
  "logo_url",
  "accent_color",
  "created_at",
  "updated_at",
] as const satisfies (keyof Realm)[];

/** The realm's rules for people who come through an identity provider. */
export type RealmRules = Pick<Realm, "duplicate_email_policy" | "profile_updates">;

export const rulesOf = (
  row: Pick<Tables["authentication_realms"], "duplicate_email_policy" | "profile_updates">,
): RealmRules => ({
  duplicate_email_policy: row.duplicate_email_policy as DuplicateEmailPolicy,
  profile_updates: (row.profile_updates ?? "always") as ProfileUpdates,
});

export const realmOf = (row: Tables["authentication_realms"]): Realm => ({
  ...row,
  ...rulesOf(row),
  purpose: row.purpose as RealmPurpose,
  redirect_uris: JSON.parse(row.redirect_uris),
  // Realms that are older than this column signed with ES256, and continue to.
  id_token_signed_response_alg: (row.id_token_signed_response_alg ?? "ES256") as SigningAlgorithm,
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

/** A realm as an OpenID provider. A realm for members is not one. */
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
