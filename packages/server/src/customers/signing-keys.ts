import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  type KeyObject,
  randomBytes,
} from "node:crypto";
import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { type Jws, readJws, type Signer } from "../lib/jws.ts";
import type { Keyring } from "../lib/keyring.ts";
import { createMemo } from "../lib/memo.ts";
import { operatorFault } from "../lib/operator-fault.ts";
import { keyIdOfSealed, seal, unseal } from "../lib/seal.ts";
import { createSingleFlight } from "../lib/single-flight.ts";
import { deleteAlong } from "../storage/delete-along.ts";
import { hold } from "../storage/hold.ts";
import type { Storage, Trx } from "../storage/storage.ts";

/**
 * The keys that customer tokens are signed with. A new one is published before it signs, so that whoever keeps our key
 * set for five minutes knows it in time; an old one stays until the last token it signed has expired.
 */
export type SigningKeys = {
  current(): Promise<Signer>;
  /** What a token says, if one of these keys has signed it. A signature that was seen before is not checked again. */
  readSigned(text: string): Promise<Jws | undefined>;
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
type KeyDeps = Pick<Deps, "storage" | "clock" | "keyring">;

const HELD = "signing keys";
const PURPOSE = "signing-key";
const RELOAD_MS = 60_000;
const LOOK_AGAIN_MS = 1000;
/** Longer than our key set may be kept (five minutes) and than another instance takes to see a new key. */
export const PUBLISHED_BEFORE_MS = 10 * 60_000;
export const SIGNS_FOR_MS = 30 * 86_400_000;
const KEPT_AFTER_MS = 3_600_000;
const MAX_SIGNED = 10_000;

export function createSigningKeys(deps: Deps): SigningKeys {
  const { clock } = deps;
  const signed = createMemo<{ jws: Jws; publicKey: KeyObject }>(MAX_SIGNED);
  const once = createSingleFlight<Key[]>();
  const makingFirst = createSingleFlight<void>();
  let known: Key[] = [];
  let readAtMs = Number.NEGATIVE_INFINITY;
  let changes = 0;
  // Of any store: a key may have been removed. What was asked for before that is answered, but not kept.
  deps.storage.changes.listen((storeId) => {
    if (storeId !== undefined) return;
    changes++;
    readAtMs = Number.NEGATIVE_INFINITY;
  });

  function read(): Promise<Key[]> {
    const before = changes;
    return once(String(before), async () => {
      const found = await readKeys(deps);
      if (changes !== before) return found;
      known = found;
      readAtMs = clock.monotonicMs();
      return found;
    });
  }

  /** After a key was made: a read that was begun before that does not have it, so that this one does not join it. */
  function readAnew(): Promise<Key[]> {
    changes++;
    return read();
  }

  /** While the database cannot be read, the keys that were read last stay in use. */
  async function keys(): Promise<Key[]> {
    if (known.length > 0 && clock.monotonicMs() - readAtMs < RELOAD_MS) return known;
    try {
      const found = await read();
      if (found.length > 0) return found;
      // Once for all who wait: each of them would hold a connection in the queue for the lock.
      await makingFirst("first", () =>
        afterOthers(deps, async (trx, newest) => {
          if (newest === undefined) await insertKey(trx, deps, clock.now());
        }),
      );
      return await readAnew();
    } catch (error) {
      if (known.length === 0) throw error;
      return known;
    }
  }

  async function find(kid: string): Promise<KeyObject | undefined> {
    const of = (all: Key[]) => all.find((key) => key.kid === kid)?.publicKey;
    const found = of(await keys());
    if (found || clock.monotonicMs() - readAtMs < LOOK_AGAIN_MS) return found;
    return of(await read());
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
    async readSigned(text) {
      const known = signed.get(text);
      // By the key that has signed it: one that was taken away signs nothing any more.
      if (known && (await find(known.jws.kid)) === known.publicKey) return known.jws;
      const jws = readJws(text);
      const publicKey = jws && (await find(jws.kid));
      if (!publicKey || !jws.isSignedBy(publicKey)) return undefined;
      signed.keep(text, { jws, publicKey });
      return jws;
    },
    published: async () => (await keys()).map(({ jwk }) => jwk),
    async maintain() {
      const newest = (await keys()).at(-1);
      const now = clock.now();
      if (!newest || newest.signsFrom > now) return;
      const isDue = (signsFrom: number) => signsFrom + SIGNS_FOR_MS - PUBLISHED_BEFORE_MS <= now;
      if (isDue(newest.signsFrom)) {
        await afterOthers(deps, async (trx, last) => {
          if (last !== undefined && isDue(last)) await insertKey(trx, deps, now + PUBLISHED_BEFORE_MS);
        });
        await readAnew();
      }
      await deleteOver(deps, await keys());
    },
  };
}

/** Rotation on demand: the next key is published now and signs in ten minutes. Says its id. */
export function addNextKey(deps: KeyDeps): Promise<string> {
  const now = deps.clock.now();
  return afterOthers(deps, (trx, newest) =>
    insertKey(trx, deps, newest === undefined ? now : now + PUBLISHED_BEFORE_MS),
  );
}

/**
 * For a key that is in other hands: it and all others are gone from the key set, and a new one signs at once. Every
 * token of before is dead, on every instance within a second. Says the new key's id.
 */
export async function replaceKeys(
  deps: KeyDeps,
  onTokensEnded?: (rows: number) => void,
): Promise<{ kid: string; endedTokens: number }> {
  const now = deps.clock.now();
  const kid = await afterOthers(deps, async (trx) => {
    await trx.deleteFrom("signing_keys").execute();
    return insertKey(trx, deps, now);
  });
  const where = sql<SqlBool>`created_at < ${now}`;
  const tokens = { table: "customer_tokens", key: "id", along: ["id"], where } as const;
  return { kid, endedTokens: await deleteAlong(deps, tokens, onTokensEnded) };
}

/**
 * Of several instances that want to make a key at once, each waits until the one before it is done, and only then looks
 * from when on the newest key signs.
 */
function afterOthers<T>(
  { storage }: Pick<Deps, "storage">,
  work: (trx: Trx, newest: number | undefined) => Promise<T>,
): Promise<T> {
  return storage.transact(async (trx) => {
    await hold(trx, storage, [HELD]);
    const newest = await trx
      .selectFrom("signing_keys")
      .select("signs_from")
      .orderBy("signs_from", "desc")
      .executeTakeFirst();
    return work(trx, newest?.signs_from);
  });
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

/** The name is random: after a restore the same one must not come again with another key. */
async function insertKey(
  trx: Trx,
  { clock, keyring }: Pick<Deps, "clock" | "keyring">,
  signsFrom: number,
): Promise<string> {
  const kid = randomBytes(12).toString("base64url");
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  const jwk = { ...publicKey.export({ format: "jwk" }), kid, use: "sig", alg: "ES256" };
  await trx
    .insertInto("signing_keys")
    .values({
      kid,
      public_jwk: JSON.stringify(jwk),
      sealed_private_key: seal(keyring, PURPOSE, kid, JSON.stringify(privateKey.export({ format: "jwk" }))),
      created_at: clock.now(),
      signs_from: signsFrom,
    })
    .execute();
  return kid;
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
