import { type Fault, Problem } from "../contract/problem.ts";
import type { ProblemCode } from "../contract/problems.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { isUniqueViolation } from "../storage/failures.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { findRealm, type Realm, realmOf } from "./realm.ts";
import { faultOfRedirectUri, faultOfShownUrl } from "./redirect-uri.ts";
import { type RealmChange, realmAnswer, realmResource, toColumns } from "./resource.ts";

type Deps = { storage: Storage; clock: Clock; publicUrl: string };

const NEW_REALM = {
  purpose: "customers",
  redirect_uris: "[]",
  duplicate_email_policy: "allowed",
  id_token_signed_response_alg: "RS256",
};

export async function insertRealm(
  trx: Trx,
  { clock }: { clock: Clock },
  by: By,
  data: RealmChange & { name: string },
): Promise<Realm> {
  const now = clock.now();
  const row = await trx
    .insertInto("authentication_realms")
    .values({
      ...NEW_REALM,
      ...(data.purpose && { purpose: data.purpose }),
      name: data.name,
      ...toColumns(data),
      id: newId(),
      store_id: by.storeId,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const realm = realmOf(row);
  const resource = realmResource(realm);
  await noteEvents(trx, { clock }, by, [
    { type: "authentication_realm.created", subject: realm.id, resource },
  ]);
  return realm;
}

/** Members' redirect URI is the console, unless the request names others. The unique index allows one realm. */
export async function createRealm(deps: Deps, by: By, data: RealmChange & { name: string }) {
  refuseBadAddresses(deps, data);
  const isForMembers = data.purpose === "members";
  const usual = isForMembers ? [`${deps.publicUrl}/console/signed-in`] : [];
  const { redirect_uris = usual } = data;
  try {
    const insert = (trx: Trx) => insertRealm(trx, deps, by, { ...data, redirect_uris });
    return realmAnswer(deps, await deps.storage.transact(insert));
  } catch (error) {
    if (!isForMembers || !isUniqueViolation(error)) throw error;
    throw new Problem("members_realm_exists", { source: { pointer: "/data/purpose" } });
  }
}

/** `basedOn`: the versions that the caller has read, from `If-Match`. */
export async function updateRealm(
  deps: Deps,
  by: By,
  realmId: string,
  wanted: RealmChange | ((before: Realm) => RealmChange),
  basedOn?: readonly string[],
) {
  const updated = await changeStore(deps, by.storeId, async (trx) => {
    const before = await findRealm(trx, by.storeId, realmId);
    if (!before) throw new Problem("realm_not_found");
    if (basedOn && !basedOn.includes(toIso(before.updated_at))) throw new Problem("realm_changed");
    // Computed under the store's lock: two requests that each add a redirect URI at the same time both succeed.
    const data = typeof wanted === "function" ? wanted(before) : wanted;
    refuseBadAddresses(deps, data);
    if (data.purpose !== undefined && data.purpose !== before.purpose)
      throw new Problem("realm_purpose_fixed", { source: { pointer: "/data/purpose" } });
    const row = await trx
      .updateTable("authentication_realms")
      .set({ ...toColumns(data), updated_at: laterThan("updated_at", deps.clock.now()) })
      .where("store_id", "=", by.storeId)
      .where("id", "=", realmId)
      .returningAll()
      .executeTakeFirstOrThrow();
    const realm = realmOf(row);
    const resource = realmResource(realm);
    const changes = changesOf(realmResource(before), resource);
    const updated = { type: "authentication_realm.updated", subject: realmId, resource } as const;
    if (changes) await noteEvents(trx, deps, by, [{ ...updated, changes }]);
    return realm;
  });
  if (!updated) throw new Problem("realm_not_found");
  return realmAnswer(deps, updated);
}

/** `createProfile` and `updateSettings` take the store's lock, too: the realm cannot come into use meanwhile. */
export async function deleteRealm(
  deps: Pick<Deps, "storage" | "clock">,
  by: By,
  realmId: string,
): Promise<undefined> {
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

/** Reports every wrong address in one answer. */
function refuseBadAddresses(
  deps: { publicUrl: string },
  { redirect_uris = [], home_url, logo_url }: RealmChange,
): void {
  const unregistrable = redirect_uris.map((uri, index) =>
    faultOf("redirect_uri_invalid", faultOfRedirectUri(uri), "redirect_uris", index),
  );
  const unshowable = Object.entries({ home_url, logo_url }).map(([member, url]) =>
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
