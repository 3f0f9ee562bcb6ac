import { sql } from "kysely";
import type { Keyring } from "../lib/keyring.ts";
import { isSealedEmpty, reseal, seal, unseal } from "../lib/seal.ts";
import type { Secrets } from "../openid/exchange.ts";
import type { Storage } from "../storage/storage.ts";
import type { Profile } from "./profile.ts";

const PURPOSE = "client-secret";

export const sealSecret = ({ keyring }: { keyring: Keyring }, profileId: string, secret: string): string =>
  seal(keyring, PURPOSE, profileId, secret);

/** A profile that is not enabled may be without one, which is kept as an empty one: the release before can read that, too. */
export const hasSecret = ({
  sealed_client_secret: sealedClientSecret,
}: Pick<Profile, "sealed_client_secret">): boolean => !isSealedEmpty(sealedClientSecret);

export function openSecrets({ keyring }: { keyring: Keyring }, profile: Profile): Secrets {
  const open = (sealed: string) => {
    const secret = unseal(keyring, PURPOSE, profile.id, sealed);
    if (secret === undefined)
      throw new Error("a client secret was sealed with a master key that is not here");
    return secret;
  };
  const { sealed_client_secret_next: sealedClientSecretNext } = profile;
  return {
    current: open(profile.sealed_client_secret),
    next: sealedClientSecretNext ? open(sealedClientSecretNext) : undefined,
  };
}

/** Seals every secret anew with the first master key, so that the others can be taken away. Says how many it sealed. */
export async function resealSecrets({
  storage,
  keyring,
}: {
  storage: Storage;
  keyring: Keyring;
}): Promise<{ resealed: number; kept: number }> {
  const rows = await storage.db
    .selectFrom("oidc_profiles")
    .select(["id", "store_id", "sealed_client_secret", "sealed_client_secret_next"])
    .execute();
  let resealed = 0;
  for (const row of rows) {
    const renew = (sealed: string) =>
      reseal(keyring, PURPOSE, row.id, sealed, `the client secret of profile ${row.id}`);
    const renewed = renew(row.sealed_client_secret);
    const renewedNext = row.sealed_client_secret_next && renew(row.sealed_client_secret_next);
    if (renewed === row.sealed_client_secret && renewedNext === row.sealed_client_secret_next) continue;
    // Only if nobody has changed it since: what they sealed is newer.
    await storage.db
      .updateTable("oidc_profiles")
      .set({ sealed_client_secret: renewed, sealed_client_secret_next: renewedNext })
      .where("store_id", "=", row.store_id)
      .where("id", "=", row.id)
      .where("sealed_client_secret", "=", row.sealed_client_secret)
      .where(sql<string>`coalesce(sealed_client_secret_next, '')`, "=", row.sealed_client_secret_next ?? "")
      .execute();
    resealed++;
  }
  return { resealed, kept: rows.length - resealed };
}
