import { sql } from "kysely";
import { atMost } from "../storage/at-most.ts";
import type { Database, Storage } from "../storage/storage.ts";
import { issuerOf } from "./issuer.ts";
import { findMembersRealm, type Realm, realmOf } from "./realm.ts";

type Query = { store?: string | undefined; redirect_uri?: string | undefined };

/**
 * Answers strangers, so it tells no store's name and lists no stores: a caller knows the store's id already, or there
 * is one store only (ADR 49).
 */
export async function findMemberSignIn(
  deps: { storage: Storage; publicUrl: string },
  { store, redirect_uri }: Query,
) {
  const { db } = deps.storage;
  const realm = store === undefined ? await findOnlyMembersRealm(db) : await findMembersRealm(db, store);
  if (!realm) return { data: [] };
  const { id: realm_id, store_id, redirect_uris } = realm;
  const redirect_uri_registered = redirect_uri !== undefined && redirect_uris.includes(redirect_uri);
  const issuer = issuerOf(deps, store_id, realm_id);
  return { data: [{ type: "member-sign-in" as const, store_id, realm_id, issuer, redirect_uri_registered }] };
}

/** Undefined if several stores have one. The constant in the condition lets SQLite use the index of members' realms. */
async function findOnlyMembersRealm(db: Database): Promise<Realm | undefined> {
  const rows = await db
    .selectFrom("authentication_realms")
    .selectAll()
    .where("purpose", "=", sql.lit("members"))
    .orderBy("store_id")
    .limit(atMost(2))
    .execute();
  const [only] = rows;
  return only && rows.length === 1 ? realmOf(only) : undefined;
}
