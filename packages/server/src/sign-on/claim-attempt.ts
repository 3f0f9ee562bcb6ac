import { sql } from "kysely";
import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSecret } from "../lib/secrets.ts";
import type { Identity } from "../openid/identify.ts";
import type { ProfileKey } from "../profiles/profile.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, ROUND } from "../storage/delete-old.ts";
import { isUnavailable } from "../storage/failures.ts";
import { insertRows } from "../storage/insert-rows.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { SignOnAttempt } from "./attempt.ts";

/** The rows of attempts: claimed at the callback, given a code, failed, and deleted after their time. */

type Deps = { storage: Storage; clock: Clock };

/** A used or expired code is kept for an hour, so that a second use is recognised. */
const REMEMBERED_MS = 3_600_000;

/** A row must outlive its sealed attempt. `forget_at` is written once, so its index entry never moves. */
export const KNOWN_MS = limits.attemptSeconds * 1000 + REMEMBERED_MS;

/** The time of the callback. */
export const returnedAt = ({ forget_at }: { forget_at: number }): number => forget_at - KNOWN_MS;

type ClaimedAttempt = Pick<SignOnAttempt, "id" | "clientId" | "codeChallenge"> &
  Partial<Pick<SignOnAttempt, "clientNonce" | "isConfidential" | "clientScope">> & {
    clientRedirectUri: string;
  };

/**
 * One insert decides which of several callbacks continues: that callback gets true. `clientCode` is the code that
 * `issueCode` will make valid; a test sign-on has none. The insert does not wait for the disk (`ahead`), but
 * `issueCode` does, before anyone learns the code. After a power cut in between, the provider refuses its used code.
 */
export const claimAttempt = (
  { storage, clock }: Deps,
  key: ProfileKey,
  { clientCode, ...attempt }: ClaimedAttempt & { clientCode?: string },
): Promise<boolean> =>
  storage.ahead((db) =>
    insertAttempt(db, clock, key, attempt, clientCode === undefined ? null : hashSecret(clientCode)),
  );

/** False: there is an attempt with this id, or with this code. */
export async function insertAttempt(
  db: Database,
  clock: Clock,
  { storeId, realmId, profileId }: ProfileKey,
  attempt: ClaimedAttempt,
  codeHash: string | null,
): Promise<boolean> {
  const row = {
    id: attempt.id,
    store_id: storeId,
    realm_id: realmId,
    profile_id: profileId,
    state: "returned",
    client_id: attempt.clientId,
    client_redirect_uri: attempt.clientRedirectUri,
    code_challenge: attempt.codeChallenge,
    client_nonce: attempt.clientNonce ?? null,
    // Written here and not by `issueCode`, so that its index entry is made once and not moved from null.
    code_hash: codeHash,
    client_scope: attempt.clientScope ?? null,
    is_confidential: attempt.isConfidential ? 1 : 0,
    forget_at: clock.now() + KNOWN_MS,
  };
  return (await insertRow(db, [row])).length === 1;
}

const COLUMNS = [
  "id",
  "store_id",
  "realm_id",
  "profile_id",
  "state",
  "client_id",
  "client_redirect_uri",
  "code_challenge",
  "client_nonce",
  "code_hash",
  "client_scope",
  "is_confidential",
  "forget_at",
] as const;

const insertRow = insertRows("sign_on_attempts", COLUMNS, {
  ending: sql<{ id: string }>`on conflict do nothing returning id`,
});

/** Makes the attempt's code valid and stores the identity that it can be redeemed for. */
export async function issueCode(
  { storage, clock, codeSeconds }: Deps & { codeSeconds: number },
  { storeId }: ProfileKey,
  attemptId: string,
  identity: Identity,
): Promise<void> {
  const { subject, idpSession } = identity;
  const codeExpiresAt = clock.now() + codeSeconds * 1000;
  const row = { storeId, attemptId, codeExpiresAt, identity: JSON.stringify(identity), subject, idpSession };
  const issued = await storage.write((db) => updateIssued.first(db, row));
  if (!issued) throw new Error("an attempt was ended while the identity provider was answering");
}

type Issued = Pick<Identity, "subject" | "idpSession"> &
  Record<"storeId" | "attemptId" | "identity", string> & { codeExpiresAt: number };

const updateIssued = statement((db, issued: Issued) =>
  db
    .updateTable("sign_on_attempts")
    .set({
      state: "code_issued",
      code_expires_at: issued.codeExpiresAt,
      identity: issued.identity,
      subject: issued.subject,
      idp_session: issued.idpSession,
    })
    .where("store_id", "=", issued.storeId)
    .where("id", "=", issued.attemptId)
    .where("state", "=", "returned")
    .returning("id"),
);

/** Ends the attempt. If the database is away, nothing is written: no callback can claim the attempt again anyway. */
export async function failAttempt(
  { storage }: Deps,
  { storeId }: Pick<ProfileKey, "storeId">,
  attemptId: string,
): Promise<void> {
  try {
    await storage.db
      .updateTable("sign_on_attempts")
      .set({ state: "failed" })
      .where("store_id", "=", storeId)
      .where("id", "=", attemptId)
      .where("state", "=", "returned")
      .execute();
  } catch (error) {
    if (!isUnavailable(error)) throw error;
  }
}

/** Whether the attempt has a record or may get one. Unsigned failures are recorded only within limits. */
export async function hasRecord(
  { storage: { db } }: Pick<Deps, "storage">,
  { storeId }: Pick<ProfileKey, "storeId">,
  attemptId: string,
): Promise<boolean> {
  const found = await db
    .selectFrom("sign_on_attempts")
    .select("id")
    .where("store_id", "=", storeId)
    .where("id", "=", attemptId)
    .where("state", "<>", "failed")
    .unionAll(
      db.selectFrom("sign_ons").select("id").where("store_id", "=", storeId).where("id", "=", attemptId),
    )
    .execute();
  return found.length > 0;
}

/** Deletes attempts after `forget_at`, and identities as soon as their code has expired. True: more are left. */
export async function forgetOldAttempts(deps: Deps): Promise<boolean> {
  const now = deps.clock.now();
  const { db } = deps.storage;
  const forgetIdentities = async (limit: number) => {
    const over = db
      .selectFrom("sign_on_attempts")
      .select("id")
      .where("identity", "is not", null)
      .where("code_expires_at", "<=", now)
      .orderBy("code_expires_at")
      .limit(atMost(limit));
    const { numUpdatedRows } = await db
      .updateTable("sign_on_attempts")
      .set({ identity: null, subject: null, idp_session: null })
      .where("id", "in", over)
      .executeTakeFirst();
    return Number(numUpdatedRows);
  };
  const { isDone } = await inBatches(deps, forgetIdentities, ROUND);
  const isBehind = await deleteOld(deps, "sign_on_attempts", now);
  return isBehind || !isDone;
}
