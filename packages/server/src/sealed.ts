import { resealSigningKeys } from "./customers/key-rows.ts";
import { resealSecrets } from "./identity-provider/client-secret.ts";
import { resealWebhookSecrets } from "./integrations/secret.ts";
import type { Keyring } from "./lib/keyring.ts";
import { operatorFault } from "./lib/operator-fault.ts";
import { keyIdOfSealed } from "./lib/seal.ts";
import type { Storage } from "./storage/storage.ts";

/** What is kept sealed under the master key: client secrets of identity providers, secrets of webhooks, and our signing keys. */

type Deps = { storage: Storage; keyring: Keyring };

/** Seals everything anew with the first master key, so that the others can be taken away. */
export async function resealAll(deps: Deps): Promise<{ resealed: number; kept: number }> {
  const secrets = await resealSecrets(deps);
  const webhooks = await resealWebhookSecrets(deps);
  const keys = await resealSigningKeys(deps);
  return {
    resealed: secrets.resealed + webhooks.resealed + keys.resealed,
    kept: secrets.kept + webhooks.kept + keys.kept,
  };
}

/** A service that cannot open what it has would fail at the first sign-on; it refuses to start instead. */
export async function refuseMissingKeys({ storage: { db }, keyring }: Deps): Promise<void> {
  const secrets = await db
    .selectFrom("oidc_profiles")
    .select(["sealed_client_secret as sealed", "sealed_client_secret_next as next"])
    .execute();
  const webhooks = await db
    .selectFrom("integrations")
    .select(["sealed_secret as sealed", "sealed_previous_secret as previous", "sealed_secret_key as key"])
    .execute();
  const keys = await db
    .selectFrom("signing_keys")
    .select("sealed_private_key as sealed")
    .unionAll(db.selectFrom("id_token_keys").select("sealed_private_key as sealed"))
    .execute();
  const sealed = [
    ...secrets.flatMap(({ sealed, next }) => [sealed, ...(next ? [next] : [])]),
    ...webhooks.flatMap(({ sealed, previous, key }) => [sealed, previous, key].filter((one) => one !== null)),
    ...keys.map((key) => key.sealed),
  ];
  const ids = new Set(sealed.map(keyIdOfSealed));
  const missing = [...ids].filter((id) => !keyring.find("client-secret", Buffer.from(id, "hex")));
  if (missing.length > 0) {
    throw operatorFault(
      `client secrets, webhook secrets or signing keys are sealed with a master key that is not in LATCHKEY_MASTER_KEY (key id ${missing.join(", ")}). ` +
        "Add that key to the end of the list, run `latchkey rotate-keys`, then take it away.",
    );
  }
}
