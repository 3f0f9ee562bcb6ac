import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
} from "node:crypto";
import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import type { Signer } from "../lib/jws.ts";
import type { Keyring } from "../lib/keyring.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { keyIdOfSealed, seal, unseal } from "../lib/seal.ts";
import { createSingleFlight } from "../lib/single-flight.ts";
import { deleteAlong } from "../storage/delete-along.ts";
import type { Database, Storage } from "../storage/storage.ts";

/**
 * The keys that customer tokens are signed with. A new one is published before it signs, so that whoever keeps our key
 * set for five minutes knows it in time; an old one stays until the last token it signed has expired.
 */
export type SigningKeys = {
  current(): Promise<Signer>;
  find(kid: string): Promise<KeyObject | undefined>;
  published(): Promise<PublishedKey[]>;
  /** Makes the next key when it is due, and drops those that are over. */
  maintain(): Promise<void>;
};

type PublishedKey = {
  kty: "EC";
  crv: "P-256";
  x: string;
  y: string;
  kid: string;
  use: "sig";
  alg: "ES256";
};

type Key = Signer & { publicKey: KeyObject; jwk: PublishedKey; signsFrom: number };
type Deps = { storage: Storage; clock: Clock; keyring: Keyring; customerTokenSeconds: number };

const PURPOSE = "signing-key";
const RELOAD_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
/** Longer than our key set may be kept (five minutes) and than another instance takes to see a new key. */
export const PUBLISHED_BEFORE_MS = 10 * 60_000;
export const SIGNS_FOR_MS = 30 * 86_400_000;
const KEPT_AFTER_MS = 3_600_000;

export function createSigningKeys(deps: Deps): SigningKeys {
  const { clock } = deps;
  const once = createSingleFlight<Key[]>();
  let known: Key[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  let notices = 0;
  // Of any store: a key may have been removed. What was asked for before that is answered, but not kept.
  deps.storage.changes.listen((storeId) => {
    if (storeId !== undefined) return;
    notices++;
    readAtMs = Number.NEGATIVE_INFINITY;
  });

  function read(): Promise<Key[]> {
    const before = notices;
    return once(String(before), async () => {
      const found = await readKeys(deps);
      if (notices !== before) return found;
      known = found;
      readAtMs = clock.monotonicMs();
      return found;
    });
  }

  /** While the database cannot be read, the keys that were read last stay in use. */
  async function keys(): Promise<Key[]> {
    if (known.length > 0 && clock.monotonicMs() - readAtMs < RELOAD_MS) return known;
    try {
      const found = await read();
      if (found.length > 0) return found;
      await insertKey(deps, nameAfter(deps, "the first"), clock.now());
      return await read();
    } catch (error) {
      if (known.length === 0) throw error;
      return known;
    }
  }

  return {
    async current() {
      const all = await keys();
      const newest = all.filter(({ signsFrom }) => signsFrom <= clock.now()).at(-1);
      // The first key may have been made by an instance whose clock is a little ahead of ours.
      const key = newest ?? all[0];
      if (!key) throw new Error("there is no signing key");
      return key;
    },
    async find(kid) {
      const of = (all: Key[]) => all.find((key) => key.kid === kid)?.publicKey;
      const found = of(await keys());
      if (found || clock.monotonicMs() - readAtMs < LOOK_AGAIN_MS) return found;
      return of(await read());
    },
    published: async () => (await keys()).map(({ jwk }) => jwk),
    async maintain() {
      const newest = (await keys()).at(-1);
      const now = clock.now();
      if (!newest || newest.signsFrom > now) return;
      if (newest.signsFrom + SIGNS_FOR_MS - PUBLISHED_BEFORE_MS <= now) {
        await insertKey(deps, nameAfter(deps, newest.kid), now + PUBLISHED_BEFORE_MS);
        await read();
      }
      await deleteOver(deps, await keys());
    },
  };
}

/** Rotation on demand: the next key is published now and signs in ten minutes. Says its id. */
export async function addNextKey(deps: Pick<Deps, "storage" | "clock" | "keyring">): Promise<string> {
  const newest = await newestKid(deps.storage.db);
  const kid = nameAfter(deps, newest ?? "the first");
  await insertKey(deps, kid, newest ? deps.clock.now() + PUBLISHED_BEFORE_MS : deps.clock.now());
  return kid;
}

/**
 * For a key that is in other hands: it and all others are gone from the key set, and a new one signs at once. Every
 * token of before is dead, on every instance within a second. Says the new key's id.
 */
export async function replaceKeys(
  deps: Pick<Deps, "storage" | "clock" | "keyring">,
  onTokensEnded?: (rows: number) => void,
): Promise<{ kid: string; endedTokens: number }> {
  const { storage, clock } = deps;
  const now = clock.now();
  const kid = await storage.transact(async (trx) => {
    const next = nameAfter(deps, (await newestKid(trx)) ?? "the first");
    await trx.deleteFrom("signing_keys").execute();
    await insertKey({ ...deps, storage: { db: trx } }, next, now);
    return next;
  });
  const where = sql<SqlBool>`created_at < ${now}`;
  const tokens = { table: "customer_tokens", key: "id", along: ["id"], where } as const;
  return { kid, endedTokens: await deleteAlong(deps, tokens, onTokensEnded) };
}

async function newestKid(db: Database): Promise<string | undefined> {
  const newest = await db
    .selectFrom("signing_keys")
    .select("kid")
    .orderBy("signs_from", "desc")
    .executeTakeFirst();
  return newest?.kid;
}

async function readKeys({ storage, keyring }: Deps): Promise<Key[]> {
  const rows = await storage.db
    .selectFrom("signing_keys")
    .selectAll()
    .orderBy("signs_from")
    .orderBy("kid")
    .execute();
  return rows.map((row) => {
    const text = unseal(keyring, PURPOSE, row.kid, row.sealed_private_key);
    if (text === undefined) throw new Error("a signing key was sealed with a master key that is not here");
    const privateKey = createPrivateKey({ key: JSON.parse(text) as JsonWebKey, format: "jwk" });
    return {
      kid: row.kid,
      privateKey,
      publicKey: createPublicKey(privateKey),
      jwk: JSON.parse(row.public_jwk) as PublishedKey,
      signsFrom: row.signs_from,
    };
  });
}

/** A key's name follows from the one before it, so that of several instances that rotate at once one succeeds. */
const nameAfter = ({ keyring }: Pick<Deps, "keyring">, before: string): string =>
  createHash("sha256")
    .update(`${keyring.current(PURPOSE).keyId.toString("hex")} ${before}`)
    .digest("base64url")
    .slice(0, 16);

async function insertKey(
  { storage, clock, keyring }: Pick<Deps, "clock" | "keyring"> & { storage: { db: Database } },
  kid: string,
  signsFrom: number,
): Promise<void> {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" };
  await storage.db
    .insertInto("signing_keys")
    .values({
      kid,
      public_jwk: JSON.stringify(jwk),
      sealed_private_key: seal(keyring, PURPOSE, kid, JSON.stringify(privateKey.export({ format: "jwk" }))),
      created_at: clock.now(),
      signs_from: signsFrom,
    })
    .onConflict((conflict) => conflict.column("kid").doNothing())
    .execute();
}

/** A key is over when its successor has signed for longer than a token lives. */
async function deleteOver(
  { storage, clock, customerTokenSeconds }: Deps,
  keys: readonly Key[],
): Promise<void> {
  const keptMs = customerTokenSeconds * 1000 + KEPT_AFTER_MS;
  const successor = keys.filter(({ signsFrom }) => signsFrom + keptMs <= clock.now()).at(-1);
  if (!successor) return;
  await storage.db.deleteFrom("signing_keys").where("signs_from", "<", successor.signsFrom).execute();
}

/** Seals the signing keys anew with the first master key. Says how many it sealed, and how many needed none. */
export async function resealSigningKeys({
  storage,
  keyring,
}: Pick<Deps, "storage" | "keyring">): Promise<{ resealed: number; kept: number }> {
  const currentId = keyring.current(PURPOSE).keyId.toString("hex");
  const rows = await storage.db.selectFrom("signing_keys").select(["kid", "sealed_private_key"]).execute();
  const old = rows.filter((row) => keyIdOfSealed(row.sealed_private_key) !== currentId);
  for (const { kid, sealed_private_key } of old) {
    const text = unseal(keyring, PURPOSE, kid, sealed_private_key);
    if (text === undefined)
      throw operatorFault(`the signing key ${kid} cannot be opened with these master keys`);
    await storage.db
      .updateTable("signing_keys")
      .set({ sealed_private_key: seal(keyring, PURPOSE, kid, text) })
      .where("kid", "=", kid)
      .execute();
  }
  return { resealed: old.length, kept: rows.length - old.length };
}
