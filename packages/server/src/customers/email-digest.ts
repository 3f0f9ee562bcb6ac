import { createHmac, createSecretKey, type KeyObject, randomBytes } from "node:crypto";
import { parseEmail } from "../lib/email-address.ts";
import type { Keyring } from "../lib/keyring.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { reseal, seal, unseal } from "../lib/seal.ts";
import type { Storage } from "../storage/storage.ts";

/**
 * A digest of an e-mail address: HMAC-SHA-256 over store and address. The whole address finds the digest, the digest
 * does not reveal the address, and digests of two stores cannot be compared. The HMAC key is random, made at its first
 * use and stored sealed. A new master key seals the same HMAC key again, so earlier digests are still found.
 */
export type EmailDigests = ReturnType<typeof createEmailDigests>;

type Deps = { storage: Storage; keyring: Keyring };

const NAME = "email-digest";
const KEY_NAME = "the key for digests of e-mail addresses";

export function createEmailDigests(deps: Deps) {
  let key: KeyObject | undefined;
  async function ready(): Promise<void> {
    key ??= await readKey(deps);
  }
  async function digest(text: string): Promise<string> {
    key ??= await readKey(deps);
    return createHmac("sha256", key).update(text).digest("base64url");
  }
  return {
    /** Null if the text is not an e-mail address. */
    async of(storeId: string, email: string): Promise<string | null> {
      const address = parseEmail(email);
      return address ? digest(`${storeId} ${address.key}`) : null;
    },
    /** The digest of (issuer, subject). An address has no space, so no identity has the digest of an address. */
    ofIdentity: (storeId: string, { issuer, subject }: { issuer: string; subject: string }) =>
      digest(`${storeId} identity ${issuer} ${subject}`),
    /** Call it before a transaction that needs digests: the key may have to be read first. */
    ready,
  };
}

/** If several instances make the first key at the same time, the first insert counts. */
async function readKey({ storage: { db }, keyring }: Deps): Promise<KeyObject> {
  let found = await findSealed(db);
  if (found === undefined) {
    const fresh = seal(keyring, NAME, NAME, randomBytes(32).toString("base64url"));
    await db
      .insertInto("sealed_keys")
      .values({ name: NAME, sealed_key: fresh })
      .onConflict((conflict) => conflict.column("name").doNothing())
      .execute();
    found = (await findSealed(db)) ?? fresh;
  }
  const text = unseal(keyring, NAME, NAME, found);
  if (text === undefined) throw operatorFault(`${KEY_NAME} cannot be opened with these master keys`);
  return createSecretKey(text, "base64url");
}

async function findSealed(db: Storage["db"]): Promise<string | undefined> {
  const row = await db
    .selectFrom("sealed_keys")
    .select("sealed_key")
    .where("name", "=", NAME)
    .executeTakeFirst();
  return row?.sealed_key;
}

/** Seals the key with the first master key. */
export async function resealDigestKey({ storage: { db }, keyring }: Deps) {
  const sealed = await findSealed(db);
  if (sealed === undefined) return { resealed: 0, kept: 0 };
  const renewed = reseal(keyring, NAME, NAME, sealed, KEY_NAME);
  if (renewed === sealed) return { resealed: 0, kept: 1 };
  await db
    .updateTable("sealed_keys")
    .set({ sealed_key: renewed })
    .where("name", "=", NAME)
    .where("sealed_key", "=", sealed)
    .execute();
  return { resealed: 1, kept: 0 };
}
