import type { Storage, Trx } from "./storage/storage.ts";

/** What the replaced database knew of later than the backup, and the restored one now knows, too. */
export type CarriedOver = { deletedKeys: number; rotatedKeys: number; passwords: number };

const PAGE = 200;

/**
 * A restored database does not know which keys were deleted, which secrets rotated and which passwords changed after the
 * backup: the old ones would be good again. Where the replaced database can still be read, it decides: its secrets are the
 * secrets of the keys, keys that it no longer has go, and its passwords are those of the customers.
 */
export async function carryOver(restored: Storage, replaced: Storage): Promise<CarriedOver> {
  const carried = { deletedKeys: 0, rotatedKeys: 0, passwords: 0 };
  for await (const keys of pagesOf(restored, "application_keys")) {
    const done = await restored.transact((trx) => carryKeys(trx, replaced, keys));
    carried.deletedKeys += done.deleted;
    carried.rotatedKeys += done.rotated;
  }
  for await (const customers of pagesOf(restored, "customers"))
    carried.passwords += await carryPasswords(restored, replaced, customers);
  return carried;
}

async function* pagesOf({ db }: Storage, table: "application_keys" | "customers"): AsyncGenerator<string[]> {
  for (let after = ""; ; ) {
    const rows = await db
      .selectFrom(table)
      .select("id")
      .where("id", ">", after)
      .orderBy("id")
      .limit(PAGE)
      .execute();
    const last = rows.at(-1);
    if (!last) return;
    yield rows.map(({ id }) => id);
    after = last.id;
  }
}

const SECRET = [
  "id",
  "store_id",
  "application_key_id",
  "secret_hash",
  "created_at",
  "expires_at",
  "last_used_at",
] as const;

async function carryKeys(
  trx: Trx,
  replaced: Storage,
  keys: string[],
): Promise<{ deleted: number; rotated: number }> {
  const secretsOf = (db: Storage["db"]) =>
    db
      .selectFrom("application_key_secrets")
      .select(SECRET)
      .where("application_key_id", "in", keys)
      .orderBy("id")
      .execute();
  const kept = await replaced.db
    .selectFrom("application_keys")
    .select("id")
    .where("id", "in", keys)
    .execute();
  const isKept = new Set(kept.map(({ id }) => id));
  const gone = keys.filter((id) => !isKept.has(id));
  if (gone.length > 0) await trx.deleteFrom("application_keys").where("id", "in", gone).execute();

  const [before, after] = [await secretsOf(trx), await secretsOf(replaced.db)];
  const spell = (rows: typeof before, keyId: string) =>
    JSON.stringify(
      rows.filter((row) => row.application_key_id === keyId).map(({ last_used_at: _, ...secret }) => secret),
    );
  const rotated = [...isKept].filter((keyId) => spell(before, keyId) !== spell(after, keyId));
  if (rotated.length > 0) {
    await trx.deleteFrom("application_key_secrets").where("application_key_id", "in", rotated).execute();
    const secrets = after.filter((row) => rotated.includes(row.application_key_id));
    if (secrets.length > 0) await trx.insertInto("application_key_secrets").values(secrets).execute();
  }
  return { deleted: gone.length, rotated: rotated.length };
}

async function carryPasswords(restored: Storage, replaced: Storage, customers: string[]): Promise<number> {
  const passwordsOf = ({ db }: Storage) =>
    db.selectFrom("customers").select(["id", "password_hash"]).where("id", "in", customers).execute();
  const now = new Map((await passwordsOf(replaced)).map(({ id, password_hash }) => [id, password_hash]));
  // Who had none at the time of the backup gets none by this: it could be the second one for an address.
  const changed = (await passwordsOf(restored)).filter(
    ({ id, password_hash }) => password_hash !== null && now.has(id) && now.get(id) !== password_hash,
  );
  for (const { id } of changed) {
    await restored.db
      .updateTable("customers")
      .set({ password_hash: now.get(id) ?? null })
      .where("id", "=", id)
      .execute();
  }
  return changed.length;
}
