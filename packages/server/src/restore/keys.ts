import { getApplicationKey } from "../application-keys/application-key.ts";
import { noteKey } from "../application-keys/events.ts";
import { applicationKeyResource } from "../application-keys/resource.ts";
import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import {
  type Changed,
  carryDifferences,
  type Deps,
  deleteRows,
  idsOf,
  listGone,
  pagesOf,
  type Replaced,
  readReplaced,
} from "./replaced.ts";

/**
 * Deleted keys are deleted again. The other keys get their secrets, also new ones, and their roles from the replaced
 * database.
 */
export async function carryApplicationKeys(deps: Deps, replaced: Replaced) {
  const carried = { deleted_keys: 0, rotated_keys: 0, roles: 0 };
  for await (const page of pagesOf(deps.storage, "application_keys")) {
    const gone = await listGone(replaced, "application_keys", page);
    const there = await readReplaced(replaced, "application_keys", [], idsOf(page));
    const kept = page.filter(({ id }) => there.has(id));
    const rotated = await deps.storage.transact(async (trx) => {
      await deleteRows(trx, deps, "application_keys", gone);
      return kept.length > 0 ? carrySecrets(trx, deps, replaced.storage, idsOf(kept)) : 0;
    });
    carried.deleted_keys += gone.length;
    carried.rotated_keys += rotated;
    carried.roles += await carryDifferences(deps, replaced, "application_keys", RIGHTS, kept, changeRights);
  }
  return carried;
}

const SECRET = [
  "secret.id",
  "secret.store_id",
  "secret.application_key_id",
  "secret.secret_hash",
  "secret.created_at",
  "secret.expires_at",
  "secret.last_used_at",
] as const;

async function carrySecrets(trx: Trx, deps: Deps, replaced: Storage, keys: string[]): Promise<number> {
  const secretsOf = (db: Storage["db"]) =>
    db
      .selectFrom("application_keys as key")
      // With the key's store, because the index of secrets starts with it.
      .innerJoin("application_key_secrets as secret", (join) =>
        join.onRef("secret.store_id", "=", "key.store_id").onRef("secret.application_key_id", "=", "key.id"),
      )
      .select(SECRET)
      .where("key.id", "in", keys)
      .orderBy("secret.id")
      .execute();
  const [before, after] = [await secretsOf(trx), await secretsOf(replaced.db)];
  const spell = (rows: typeof before, keyId: string) =>
    JSON.stringify(
      rows.filter((row) => row.application_key_id === keyId).map(({ last_used_at: _, ...secret }) => secret),
    );
  const storeOf = new Map([...before, ...after].map((row) => [row.application_key_id, row.store_id]));
  const rotated = [...storeOf].filter(([keyId]) => spell(before, keyId) !== spell(after, keyId));
  if (rotated.length > 0) {
    const isRotated = new Set(rotated.map(([keyId]) => keyId));
    const old = before.filter((row) => isRotated.has(row.application_key_id)).map(({ id }) => id);
    if (old.length > 0) await trx.deleteFrom("application_key_secrets").where("id", "in", old).execute();
    const secrets = after.filter((row) => isRotated.has(row.application_key_id));
    if (secrets.length > 0) await trx.insertInto("application_key_secrets").values(secrets).execute();
    for (const [keyId, storeId] of rotated) {
      const key = await getApplicationKey({ storage: { db: trx }, clock: deps.clock }, storeId, keyId);
      await noteKey(trx, deps, byOperator(storeId), "application_key.rotated", key);
    }
  }
  return rotated.length;
}

/** The role of a key, and whether its sign-ons need PKCE. */
const RIGHTS = ["role", "openid_client"] as const;

async function changeRights(
  trx: Trx,
  deps: Deps,
  { id, store_id, columns }: Changed<Pick<Tables["application_keys"], (typeof RIGHTS)[number]>>,
): Promise<void> {
  const { clock } = deps;
  const read = () => getApplicationKey({ storage: { db: trx }, clock }, store_id, id);
  const before = await read();
  await trx
    .updateTable("application_keys")
    .set({ ...columns, updated_at: laterThan("updated_at", clock.now()) })
    .where("store_id", "=", store_id)
    .where("id", "=", id)
    .execute();
  const after = await read();
  const changes = changesOf(applicationKeyResource(before), applicationKeyResource(after));
  await noteKey(trx, deps, byOperator(store_id), "application_key.updated", after, changes);
}
