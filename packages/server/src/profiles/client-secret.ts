import { isDeepStrictEqual } from "node:util";
import { sql } from "kysely";
import { changesOf } from "../events/changes.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import { reseal, seal, unseal } from "../lib/seal.ts";
import type { IdpClient } from "../openid/client.ts";
import { exchangeCode, type IdpGrant, type Secrets } from "../openid/exchange.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import type { Calls } from "./calls.ts";
import { profileEvent } from "./events.ts";
import { findProfile, keyOf, type Profile, profileOf, profileUpdate } from "./profile.ts";

const PURPOSE = "client-secret";

export const sealSecret = ({ keyring }: { keyring: Keyring }, profileId: string, secret: string): string =>
  seal(keyring, PURPOSE, profileId, secret);

export function openSecrets({ keyring }: { keyring: Keyring }, profile: Profile): Secrets {
  const open = (sealed: string) => {
    const secret = unseal(keyring, PURPOSE, profile.id, sealed);
    if (secret === undefined)
      throw new Error("a client secret was sealed with a master key that is not here");
    return secret;
  };
  const { sealed_client_secret: current, sealed_client_secret_next: next } = profile;
  return { current: open(current), next: next ? open(next) : undefined };
}

type Deps = { storage: Storage; clock: Clock; keyring: Keyring; calls: Pick<Calls, "healthOf"> };

/** Redeems a code with the profile's secrets. A next secret that the provider has accepted becomes the secret. */
export async function exchangeWithSecrets(
  deps: Deps,
  profile: Profile,
  client: IdpClient,
  grant: IdpGrant,
): ReturnType<typeof exchangeCode> {
  const secrets = openSecrets(deps, profile);
  const exchanged = await exchangeCode(client, secrets, grant);
  if ("tokens" in exchanged && exchanged.secret === "next") await promoteNextSecret(deps, profile, secrets);
  return exchanged;
}

/** Only if both secrets are still those that were tried. */
async function promoteNextSecret(deps: Deps, profile: Profile, tried: Secrets): Promise<void> {
  const key = keyOf(profile);
  await changeStore(deps, key.storeId, async (trx) => {
    const now = await findProfile(trx, key);
    // Compared opened: `rotate-keys` may have sealed the secrets again since they were read.
    if (!now || !tried.next || !isDeepStrictEqual(openSecrets(deps, now), tried)) return;
    const row = await profileUpdate(trx, profile, {
      // Sealed again with the first master key: `rotate-keys` skips a row that has changed since it read the row.
      sealed_client_secret: sealSecret(deps, profile.id, tried.next),
      sealed_client_secret_next: null,
    })
      .set({ updated_at: laterThan("updated_at", deps.clock.now()) })
      .returningAll()
      .executeTakeFirstOrThrow();
    const changes = { ...changesOf({}, {}, ["client_secret", "client_secret_next"]) };
    const event = { ...profileEvent(deps, "oidc_profile.updated", profileOf(row)), changes };
    await noteEvents(trx, deps, byService(key.storeId), [event]);
  });
}

/** Seals every secret again with the first master key, so that an operator can remove the other keys. */
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
    // A secret that was changed in the meantime is newer, and stays.
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
