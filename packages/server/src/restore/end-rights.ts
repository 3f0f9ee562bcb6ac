import { type SqlBool, sql } from "kysely";
import { deleteAlong } from "../storage/delete-along.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Deps } from "./replaced.ts";

/** Counts of what the restore has ended. Access tokens are not stored, so their number is unknown. */
export type EndedRights = {
  stores: number;
  customer_tokens: number;
  sign_ons: number;
  rotated_secrets: number;
  signing_keys: number;
  setup_links: number;
  /** New access tokens are valid from this time on. */
  from: number;
};

/**
 * A backup contains rights that may have been taken back since. After the restore none of them is valid: `tokens_from`
 * of each store ends access tokens and sign-ons, deleted rows end customer tokens and codes, and rotated secrets lose
 * their grace period. Signing keys are deleted, because a key may have been removed after a leak; the next use makes a
 * new key.
 */
export async function endRestoredRights(
  deps: Deps,
  onProgress: (rows: number) => void = () => {},
): Promise<EndedRights> {
  const { db } = deps.storage;
  const now = deps.clock.now();
  // An access token has the second of its issue, so the whole present second counts as before the restore.
  const from = (Math.floor(now / 1000) + 1) * 1000;
  // The revision becomes the time of day, because Valkey and running instances ignore limits with a lower revision than
  // theirs, and the revision of the replaced database is unknown.
  const { numUpdatedRows: stores } = await db
    .updateTable("stores")
    .set({ tokens_from: from, revision: laterThan("revision", now) })
    .executeTakeFirst();
  const { numUpdatedRows: secrets } = await db
    .updateTable("application_key_secrets")
    .set({ expires_at: now })
    .where("expires_at", ">", now)
    .executeTakeFirst();
  // The same for webhooks: a rotated signing secret signs nothing any more.
  await db
    .updateTable("integrations")
    .set({ sealed_previous_secret: null, previous_until: null })
    .where("sealed_previous_secret", "is not", null)
    .execute();
  const { numDeletedRows: signingKeys } = await db.deleteFrom("signing_keys").executeTakeFirst();
  const { numDeletedRows: idTokenKeys } = await db.deleteFrom("id_token_keys").executeTakeFirst();
  let rows = 0;
  const empty = (
    table: "customer_tokens" | "sign_on_attempts" | "idempotent_answers" | "setup_links",
    key: string,
  ) =>
    deleteAlong(deps, { table, key: [key], along: [key], where: sql<SqlBool>`1 = 1` }, (deleted) => {
      rows += deleted;
      onProgress(rows);
    });
  const customerTokens = await empty("customer_tokens", "id");
  const signOns = await empty("sign_on_attempts", "id");
  await empty("idempotent_answers", "key_hash");
  const setupLinks = await empty("setup_links", "id");
  return {
    stores: Number(stores),
    customer_tokens: customerTokens,
    sign_ons: signOns,
    rotated_secrets: Number(secrets),
    signing_keys: Number(signingKeys + idTokenKeys),
    setup_links: setupLinks,
    from,
  };
}
