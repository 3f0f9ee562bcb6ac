import { resealDigestKey } from "./customers/email-digest.ts";
import { resealWebhookSecrets } from "./integrations/secret.ts";
import type { Keyring } from "./lib/keyring.ts";
import { operatorFault } from "./lib/operator-fault.ts";
import { keyIdOfSealed } from "./lib/seal.ts";
import { resealSecrets } from "./profiles/client-secret.ts";
import { resealSigningKeys } from "./signing-keys/key-rows.ts";
import { atMost } from "./storage/at-most.ts";
import type { Storage } from "./storage/storage.ts";

/**
 * All that the master key seals: client secrets of providers, webhook secrets, signing keys, the key of e-mail digests.
 */

type Deps = { storage: Storage; keyring: Keyring };

/** Seals everything again with the first master key, so that the other master keys can be removed. */
export async function resealAll(deps: Deps): Promise<{ resealed: number; kept: number }> {
  const secrets = await resealSecrets(deps);
  const webhooks = await resealWebhookSecrets(deps);
  const keys = await resealSigningKeys(deps);
  const digests = await resealDigestKey(deps);
  const all = [secrets, webhooks, keys, digests];
  const sum = (of: "resealed" | "kept") => all.reduce((total, part) => total + part[of], 0);
  return { resealed: sum("resealed"), kept: sum("kept") };
}

/** Refuses to start without a master key that a secret needs; otherwise the first sign-on would fail. */
export async function refuseMissingKeys({ storage: { db }, keyring }: Deps): Promise<void> {
  const ids = new Set<string>();
  const note = (sealed: string | null) => {
    if (sealed) ids.add(keyIdOfSealed(sealed));
  };
  await eachOf(
    (after) =>
      db
        .selectFrom("oidc_profiles")
        .select(["id", "sealed_client_secret as sealed", "sealed_client_secret_next as next"])
        .where("id", ">", after)
        .orderBy("id")
        .limit(atMost(PAGE))
        .execute(),
    ({ sealed, next }) => [sealed, next].forEach(note),
  );
  await eachOf(
    (after) =>
      db
        .selectFrom("integrations")
        .select(["id", "sealed_secret as sealed", "sealed_previous_secret as previous"])
        .select("sealed_secret_key as key")
        .where("id", ">", after)
        .orderBy("id")
        .limit(atMost(PAGE))
        .execute(),
    ({ sealed, previous, key }) => [sealed, previous, key].forEach(note),
  );
  const keys = await db
    .selectFrom("signing_keys")
    .select("sealed_private_key as sealed")
    .unionAll(db.selectFrom("id_token_keys").select("sealed_private_key as sealed"))
    .unionAll(db.selectFrom("sealed_keys").select("sealed_key as sealed"))
    .execute();
  for (const { sealed } of keys) note(sealed);
  const missing = [...ids].filter((id) => !keyring.find("client-secret", Buffer.from(id, "hex")));
  if (missing.length > 0) {
    throw operatorFault(
      `client secrets, webhook secrets or signing keys are sealed with a master key that is not in LATCHKEY_MASTER_KEY (key id ${missing.join(", ")}). ` +
        "Add that key to the end of the list, run `latchkey rotate-keys`, then take it away.",
    );
  }
}

/** Rows per statement, because ten thousand stores have more webhooks than one statement should read. */
const PAGE = 5000;

async function eachOf<T extends { id: string }>(
  read: (after: string) => Promise<T[]>,
  visit: (row: T) => void,
): Promise<void> {
  for (let after: string | undefined = ""; after !== undefined; ) {
    const rows: T[] = await read(after);
    rows.forEach(visit);
    after = rows.at(-1)?.id;
  }
}
