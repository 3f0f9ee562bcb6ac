import {
  createPrivateKey,
  createPublicKey,
  generateKeyPair,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { promisify } from "node:util";
import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import type { Signer, SigningAlgorithm } from "../lib/jws.ts";
import type { Keyring } from "../lib/keyring.ts";
import { reseal, seal, unseal } from "../lib/seal.ts";
import { deleteAlong } from "../storage/delete-along.ts";
import { hold } from "../storage/hold.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** A signing key as the database keeps it: one table for each algorithm, the private key sealed. */
export type StoredKey = Signer & { publicKey: KeyObject; jwk: PublishedKey; signsFrom: number };

type Published<Kind> = Kind & { kid: string; use: "sig" };
export type PublishedKey =
  | Published<{ kty: "EC"; crv: "P-256"; x: string; y: string; alg: "ES256" }>
  | Published<{ kty: "RSA"; n: string; e: string; alg: "RS256" }>;

type KeyDeps = { storage: Storage; clock: Clock; keyring: Keyring };

const TABLES = { ES256: "signing_keys", RS256: "id_token_keys" } as const;
const LOCK = "signing keys";
const PURPOSE = "signing-key";
/** Longer than verifiers may cache the key set (five minutes), and than an instance needs to see a new key. */
export const PUBLISHED_BEFORE_MS = 10 * 60_000;

type NewKey = Pick<StoredKey, "kid" | "alg" | "privateKey" | "publicKey">;

const generate = promisify(generateKeyPair);

/**
 * Generates a key on another thread, before any transaction: an RSA key takes 0.1 s, sometimes 1 s. `kid` is random, so
 * that after a restore no new key gets the `kid` of a lost one.
 */
export async function newKey(alg: SigningAlgorithm): Promise<NewKey> {
  const pair =
    alg === "ES256"
      ? await generate("ec", { namedCurve: "P-256" })
      : await generate("rsa", { modulusLength: 2048 });
  return { kid: randomBytes(12).toString("base64url"), alg, ...pair };
}

/** In the order in which they sign. `unopened` counts damaged keys, and keys sealed with a missing master key. */
export async function readKeys({
  storage: { db },
  keyring,
}: Omit<KeyDeps, "clock">): Promise<{ keys: StoredKey[]; unopened: number }> {
  const of = (table: (typeof TABLES)[SigningAlgorithm]) =>
    db.selectFrom(table).select(["kid", "public_jwk", "sealed_private_key", "signs_from"]);
  const rows = await of(TABLES.ES256)
    .unionAll(of(TABLES.RS256))
    .orderBy("signs_from")
    .orderBy("kid")
    .execute();
  const keys = rows.flatMap((row) => {
    const text = unseal(keyring, PURPOSE, row.kid, row.sealed_private_key);
    if (text === undefined) return [];
    const privateKey = createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: "jwk" });
    const jwk = JSON.parse(row.public_jwk) as PublishedKey;
    const { kid, signs_from: signsFrom } = row;
    return [{ kid, alg: jwk.alg, privateKey, publicKey: createPublicKey(privateKey), jwk, signsFrom }];
  });
  return { keys, unopened: rows.length - keys.length };
}

/**
 * Instances that add a key at the same time wait for each other under one lock. `work` gets the time from which the
 * newest key signs, read under the lock, and then decides whether to insert its own key.
 */
export function afterOthers<T>(
  { storage }: Pick<KeyDeps, "storage">,
  alg: SigningAlgorithm,
  work: (trx: Trx, newest: number | undefined) => Promise<T>,
): Promise<T> {
  return storage.transact(async (trx) => {
    await hold(trx, [LOCK]);
    const newest = await trx
      .selectFrom(TABLES[alg])
      .select("signs_from")
      .orderBy("signs_from", "desc")
      .executeTakeFirst();
    return work(trx, newest?.signs_from);
  });
}

export async function insertKey(
  trx: Trx,
  { clock, keyring }: Pick<KeyDeps, "clock" | "keyring">,
  { kid, alg, privateKey, publicKey }: NewKey,
  signsFrom: number,
): Promise<void> {
  const jwk = { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg };
  const row: Tables["signing_keys"] = {
    kid,
    public_jwk: JSON.stringify(jwk),
    sealed_private_key: seal(keyring, PURPOSE, kid, JSON.stringify(privateKey.export({ format: "jwk" }))),
    created_at: clock.now(),
    signs_from: signsFrom,
  };
  await trx.insertInto(TABLES[alg]).values(row).execute();
}

export const deleteKeysBefore = async (db: Database, alg: SigningAlgorithm, signsFrom: number) => {
  await db.deleteFrom(TABLES[alg]).where("signs_from", "<", signsFrom).execute();
};

/** Publishes the next key of each kind, which signs in ten minutes. Returns the `kid` of the ES256 key. */
export async function addNextKey(deps: KeyDeps): Promise<string> {
  const now = deps.clock.now();
  const [ec, rsa] = await Promise.all([newKey("ES256"), newKey("RS256")]);
  for (const made of [rsa, ec])
    await afterOthers(deps, made.alg, (trx, newest) =>
      insertKey(trx, deps, made, newest === undefined ? now : now + PUBLISHED_BEFORE_MS),
    );
  return ec.kid;
}

/** For a leaked key: new keys sign at once, and within a second no instance accepts a token from before. */
export async function replaceKeys(
  deps: KeyDeps,
  onTokensEnded?: (rows: number) => void,
): Promise<{ kid: string; endedTokens: number }> {
  const [ec, rsa] = await Promise.all([newKey("ES256"), newKey("RS256")]);
  const now = deps.clock.now();
  await afterOthers(deps, "ES256", async (trx) => {
    for (const made of [ec, rsa]) {
      await trx.deleteFrom(TABLES[made.alg]).execute();
      await insertKey(trx, deps, made, now);
    }
  });
  const where = sql<SqlBool>`created_at < ${now}`;
  const tokens = { table: "customer_tokens", key: ["id"], along: ["id"], where } as const;
  return { kid: ec.kid, endedTokens: await deleteAlong(deps, tokens, onTokensEnded) };
}

/** Seals the signing keys with the first master key. `kept` counts the keys that were sealed with it already. */
export async function resealSigningKeys({
  storage: { db },
  keyring,
}: Pick<KeyDeps, "storage" | "keyring">): Promise<{ resealed: number; kept: number }> {
  const counted = { resealed: 0, kept: 0 };
  for (const table of Object.values(TABLES)) {
    for (const { kid, sealed_private_key } of await db.selectFrom(table).selectAll().execute()) {
      const renewed = reseal(keyring, PURPOSE, kid, sealed_private_key, `the signing key ${kid}`);
      if (renewed === sealed_private_key) {
        counted.kept++;
        continue;
      }
      await db.updateTable(table).set({ sealed_private_key: renewed }).where("kid", "=", kid).execute();
      counted.resealed++;
    }
  }
  return counted;
}
