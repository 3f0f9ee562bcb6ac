import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { By } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { hashesEqual, hashSecret, newCredential } from "../lib/secrets.ts";
import { atMost } from "../storage/at-most.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { getApplicationKey } from "./application-key.ts";
import { noteKey } from "./events.ts";
import { keyWithSecretAnswer } from "./resource.ts";

type Deps = { storage: Storage; clock: Clock };

const DEFAULT_GRACE_SECONDS = 86_400;

/**
 * Secrets that are over are remembered, so that a program with an old secret is answered "rotated" and not "wrong". The
 * newest ten are kept.
 */
const REMEMBERED_PER_KEY = 10;

export async function insertSecret(
  trx: Trx,
  { clock }: { clock: Clock },
  storeId: string,
  keyId: string,
): Promise<string> {
  const clientSecret = newCredential("lksk");
  await trx
    .insertInto("application_key_secrets")
    .values({
      id: newId(),
      store_id: storeId,
      application_key_id: keyId,
      secret_hash: hashSecret(clientSecret),
      created_at: clock.now(),
      expires_at: null,
      last_used_at: null,
    })
    .execute();
  return clientSecret;
}

/** A new secret beside the old ones, none of which lives longer than the grace given now. */
export async function rotateSecret(
  deps: Deps & { publicUrl: string },
  by: By,
  keyId: string,
  graceSeconds = DEFAULT_GRACE_SECONDS,
) {
  const { storeId } = by;
  const rotated = await changeStore(deps, storeId, async (trx) => {
    const now = deps.clock.now();
    const read = { storage: { db: trx }, clock: deps.clock };
    await getApplicationKey(read, storeId, keyId);
    const expiresAt = now + graceSeconds * 1000;
    await trx
      .updateTable("application_key_secrets")
      .set({ expires_at: expiresAt })
      .where("store_id", "=", storeId)
      .where("application_key_id", "=", keyId)
      .where((eb) => eb.or([eb("expires_at", "is", null), eb("expires_at", ">", expiresAt)]))
      .execute();
    await forgetOldest(trx, storeId, keyId, now);
    const clientSecret = await insertSecret(trx, deps, storeId, keyId);
    const key = await getApplicationKey(read, storeId, keyId);
    if (key.secrets.length > limits.liveSecrets) throw new Problem("too_many_live_secrets");
    await noteKey(trx, deps, by, "application_key.rotated", key);
    return keyWithSecretAnswer(deps, key, clientSecret);
  });
  if (!rotated) throw new Problem("application_key_not_found");
  return rotated;
}

async function forgetOldest(trx: Trx, storeId: string, keyId: string, now: number): Promise<void> {
  const newest = trx
    .selectFrom("application_key_secrets")
    .select("id")
    .where("store_id", "=", storeId)
    .where("application_key_id", "=", keyId)
    .where("expires_at", "<=", now)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .limit(atMost(REMEMBERED_PER_KEY));
  await trx
    .deleteFrom("application_key_secrets")
    .where("store_id", "=", storeId)
    .where("application_key_id", "=", keyId)
    .where("expires_at", "<=", now)
    .where("id", "not in", newest)
    .execute();
}

type SecretCheck = { verdict: "wrong" } | { verdict: "right" | "rotated"; secretId: string };

/** Which of a key's secrets this is. All are compared, each in constant time, so that no timing tells them apart. */
export async function checkSecret(
  { storage, clock }: Deps,
  storeId: string,
  keyId: string,
  clientSecret: string,
): Promise<SecretCheck> {
  const hash = hashSecret(clientSecret);
  const secrets = await findSecrets.all(storage.db, { storeId, keyId });
  const matching = secrets.filter((secret) => hashesEqual(secret.secret_hash, hash));
  const [match] = matching;
  if (!match) return { verdict: "wrong" };
  const isOver = match.expires_at !== null && match.expires_at <= clock.now();
  return { verdict: isOver ? "rotated" : "right", secretId: match.id };
}

const findSecrets = statement((db, of: { storeId: string; keyId: string }) =>
  db
    .selectFrom("application_key_secrets")
    .select(["id", "secret_hash", "expires_at"])
    .where("store_id", "=", of.storeId)
    .where("application_key_id", "=", of.keyId),
);
