import { type SqlBool, sql } from "kysely";
import type { Clock } from "../lib/clock.ts";
import { deleteAlong } from "../storage/delete-along.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage } from "../storage/storage.ts";

type Deps = { storage: Storage; clock: Clock };

/** What was ended. Access tokens are not stored, so nobody knows how many of them there were. */
export type Ended = {
  stores: number;
  customerTokens: number;
  signOns: number;
  secrets: number;
  signingKeys: number;
  /** From then on new access tokens are good. */
  from: number;
};

/**
 * A backup brings back what was good when it was made. Nothing that was given out before the restore may be good after it:
 * access tokens and sign-ons that began before are dead by the store's `tokens_from`, customer tokens and codes by their
 * missing rows, and secrets that were rotated out lose what was left of their grace. A signing key may have been removed
 * since because somebody else had it, so none is kept: the first use makes a new one.
 */
export async function endWhatCameBack(
  deps: Deps,
  onProgress: (rows: number) => void = () => {},
): Promise<Ended> {
  const { db } = deps.storage;
  const now = deps.clock.now();
  // An access token knows the second in which it was issued: the whole of this one counts as before.
  const from = (Math.floor(now / 1000) + 1) * 1000;
  // By the time of day, because nobody knows how often the replaced database had changed: Valkey, and instances that went on
  // running, would take limits with a lower revision than theirs for older ones.
  const { numUpdatedRows: stores } = await db
    .updateTable("stores")
    .set({ tokens_from: from, revision: laterThan("revision", now) })
    .executeTakeFirst();
  const { numUpdatedRows: secrets } = await db
    .updateTable("application_key_secrets")
    .set({ expires_at: now })
    .where("expires_at", ">", now)
    .executeTakeFirst();
  // The same holds for secrets of webhooks: what was rotated out signs nothing any more.
  await db
    .updateTable("integrations")
    .set({ sealed_previous_secret: null, previous_until: null })
    .where("sealed_previous_secret", "is not", null)
    .execute();
  const { numDeletedRows: signingKeys } = await db.deleteFrom("signing_keys").executeTakeFirst();
  const { numDeletedRows: idTokenKeys } = await db.deleteFrom("id_token_keys").executeTakeFirst();
  let rows = 0;
  const empty = (table: "customer_tokens" | "sign_on_attempts" | "idempotent_answers", key: string) =>
    deleteAlong(deps, { table, key: [key], along: [key], where: sql<SqlBool>`1 = 1` }, (deleted) => {
      rows += deleted;
      onProgress(rows);
    });
  const customerTokens = await empty("customer_tokens", "id");
  const signOns = await empty("sign_on_attempts", "id");
  await empty("idempotent_answers", "key_hash");
  return {
    stores: Number(stores),
    customerTokens,
    signOns,
    secrets: Number(secrets),
    signingKeys: Number(signingKeys + idTokenKeys),
    from,
  };
}
