import { getApplicationKey } from "../application-keys/application-key.ts";
import { noteKey } from "../application-keys/events.ts";
import { applicationKeyResource } from "../application-keys/resource.ts";
import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import {
  differences,
  idsOf,
  listGone,
  type Owned,
  pagesOf,
  type Replaced,
  readReplaced,
} from "./replaced.ts";

type Deps = { storage: Storage; clock: Clock };
type CarriedKeys = { deleted_keys: number; rotated_keys: number; roles: number };

/**
 * Deleted keys are deleted again. The other keys get their secrets, also new ones, and their roles from the replaced
 * database.
 */
export async function carryApplicationKeys(deps: Deps, replaced: Replaced): Promise<CarriedKeys> {
  const carried = { deleted_keys: 0, rotated_keys: 0, roles: 0 };
  for await (const page of pagesOf(deps.storage, "application_keys")) {
    const gone = await listGone(replaced, "application_keys", "application_key.deleted", page);
    const there = new Set((await readReplaced(replaced, "application_keys", [], idsOf(page))).keys());
    const kept = idsOf(page).filter((id) => there.has(id));
    const rotated = await deps.storage.transact(async (trx) => {
      if (gone.length > 0) await deleteKeys(trx, deps, gone);
      return kept.length > 0 ? carrySecrets(trx, deps, replaced.storage, kept) : 0;
    });
    carried.deleted_keys += gone.length;
    carried.rotated_keys += rotated;
    carried.roles += await carryRights(deps, replaced, kept);
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

async function deleteKeys(trx: Trx, deps: Deps, gone: readonly Owned[]): Promise<void> {
  await trx.deleteFrom("application_keys").where("id", "in", idsOf(gone)).execute();
  for (const { id, store_id } of gone)
    await noteEvents(trx, deps, byOperator(store_id), [
      { type: "application_key.deleted", subject: id, resource: { type: "application_key", id } },
    ]);
}

/** The role of a key, and whether its sign-ons need PKCE. */
const RIGHTS = ["role", "openid_client"] as const;

async function carryRights(deps: Deps, replaced: Replaced, ids: readonly string[]): Promise<number> {
  const { storage, clock } = deps;
  const columns = RIGHTS.filter((column) => replaced.columnsOf("application_keys").has(column));
  if (ids.length === 0 || columns.length === 0) return 0;
  const rightsOf = ({ db }: Storage) =>
    db
      .selectFrom("application_keys")
      .select(["id", "store_id", ...columns])
      .where("id", "in", ids)
      .execute();
  const rightsThere = new Map((await rightsOf(replaced.storage)).map((row) => [row.id, row]));
  let carried = 0;
  for (const row of await rightsOf(storage)) {
    const { id, store_id } = row;
    const changed = differences(row, rightsThere.get(id), columns);
    if (!changed) continue;
    carried++;
    await storage.transact(async (trx) => {
      const read = () => getApplicationKey({ storage: { db: trx }, clock }, store_id, id);
      const before = await read();
      await trx
        .updateTable("application_keys")
        .set({ ...changed, updated_at: laterThan("updated_at", clock.now()) })
        .where("store_id", "=", store_id)
        .where("id", "=", id)
        .execute();
      const after = await read();
      const changes = changesOf(applicationKeyResource(before), applicationKeyResource(after));
      await noteKey(trx, deps, byOperator(store_id), "application_key.updated", after, changes);
    });
  }
  return carried;
}
