import { limits } from "../contract/limits.ts";
import type { Clock } from "../lib/clock.ts";
import { hashSecret } from "../lib/secrets.ts";
import type { Identity } from "../openid/identify.ts";
import type { Profile } from "../profiles/profile.ts";
import { atMost } from "../storage/at-most.ts";
import { inBatches } from "../storage/batches.ts";
import { deleteOld, ROUND } from "../storage/delete-old.ts";
import { statement } from "../storage/statement.ts";
import { isUnavailable, type Storage, type Trx } from "../storage/storage.ts";
import type { Attempt, Place } from "./attempt.ts";

/** What the database knows of an attempt: that it came back, the code it was given, and what became of that. */

type Deps = { storage: Storage; clock: Clock };

/** A code that is over is remembered for an hour, so that its second use is seen for what it is. */
const REMEMBERED_MS = 3_600_000;

/** An attempt opens for ten minutes, in which it must be known that it came back. Written once: a change would move its entry in the index. */
export const KNOWN_MS = limits.attemptSeconds * 1000 + REMEMBERED_MS;
const forgetAt = (clock: Clock): number => clock.now() + KNOWN_MS;

/** When the attempt came back. */
export const returnedAt = ({ forget_at }: { forget_at: number }): number => forget_at - KNOWN_MS;

type ClaimedAttempt = Pick<
  Attempt,
  "id" | "clientId" | "codeChallenge" | "clientNonce" | "isConfidential" | "clientScope"
> & {
  clientRedirectUri: string;
  /** The code that the attempt will be given if all goes well; none for a test. */
  clientCode?: string;
};

type Claim = Place &
  Omit<ClaimedAttempt, "clientScope" | "isConfidential" | "clientCode"> & {
    codeHash: string | null;
    forgetAt: number;
    clientScope: string | null;
    isConfidential: number;
  };

/**
 * One insert decides which of several callbacks goes on: true for that one. What follows from it is told nobody before the code
 * is on the disk, and the claim with it; a power cut until then leaves an attempt whose code the provider refuses.
 */
export async function claimAttempt(
  { storage, clock }: Deps,
  place: Place,
  attempt: ClaimedAttempt,
): Promise<boolean> {
  const { clientScope = null, isConfidential = false, clientCode, ...claimed } = attempt;
  const claim = {
    ...place,
    ...claimed,
    codeHash: clientCode === undefined ? null : hashSecret(clientCode),
    forgetAt: forgetAt(clock),
    clientScope,
    isConfidential: isConfidential ? 1 : 0,
  };
  return (await storage.ahead((db) => insertClaim.first(db, claim))) !== undefined;
}

const insertClaim = statement((db, claim: Claim) =>
  db
    .insertInto("sign_on_attempts")
    .values({
      id: claim.id,
      store_id: claim.storeId,
      realm_id: claim.realmId,
      profile_id: claim.profileId,
      state: "returned",
      client_id: claim.clientId,
      client_redirect_uri: claim.clientRedirectUri,
      code_challenge: claim.codeChallenge,
      client_nonce: claim.clientNonce,
      // Nobody is told the code before it is issued. Written here, its entry in the index is made once, and not moved from null.
      code_hash: claim.codeHash,
      client_scope: claim.clientScope,
      is_confidential: claim.isConfidential,
      forget_at: claim.forgetAt,
    })
    .onConflict((conflict) => conflict.column("id").doNothing())
    .returning("id"),
);

/** From now on the attempt's code is worth what the identity provider has said. */
export async function issueCode(
  { storage, clock, codeSeconds }: Deps & { codeSeconds: number },
  { storeId }: Place,
  attemptId: string,
  identity: Identity,
): Promise<void> {
  const row = {
    storeId,
    attemptId,
    codeExpiresAt: clock.now() + codeSeconds * 1000,
    identity: JSON.stringify(identity),
    subject: identity.subject,
    idpSession: identity.idpSession,
  };
  const issued = await storage.write((db) => updateIssued.first(db, row));
  if (!issued) throw new Error("an attempt was ended while the identity provider was asked");
}

type Issued = {
  storeId: string;
  attemptId: string;
  codeExpiresAt: number;
  identity: string;
  subject: string;
  idpSession: string | null;
};

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

/** The attempt is over. It was claimed, so it is over even when this cannot be written. */
export async function failAttempt(
  { storage }: Deps,
  { storeId }: Pick<Place, "storeId">,
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

/** Whether it has a record, or may still have one: of what failed unsigned only so much is recorded. */
export async function hasRecord(
  { storage: { db } }: Pick<Deps, "storage">,
  { storeId }: Pick<Place, "storeId">,
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

/** The direct flow has no attempt of ours: an identity provider's code is claimed by its hash, and redeemed once. */
export async function claimDirectCode(
  { storage, clock }: Deps,
  profile: Pick<Profile, "id" | "store_id" | "realm_id" | "client_id">,
  claim: { id: string; codeHash: string; codeChallenge: string; grant: { clientRedirectUri: string } },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await storage.db
    .insertInto("sign_on_attempts")
    .values({
      id: claim.id,
      store_id: profile.store_id,
      realm_id: profile.realm_id,
      profile_id: profile.id,
      client_id: profile.client_id,
      client_redirect_uri: claim.grant.clientRedirectUri,
      code_challenge: claim.codeChallenge,
      code_hash: claim.codeHash,
      state: "returned",
      forget_at: forgetAt(clock),
    })
    .onConflict((conflict) => conflict.column("code_hash").doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

type OfStore = Pick<Place, "storeId">;

/** In the transaction that makes the token. */
export async function settleDirectCode(
  trx: Trx,
  { clock }: Pick<Deps, "clock">,
  { storeId }: OfStore,
  attemptId: string,
  tokenId: string,
): Promise<void> {
  await trx
    .updateTable("sign_on_attempts")
    .set({ state: "exchanged", exchanged_at: clock.now(), token_id: tokenId })
    .where("store_id", "=", storeId)
    .where("id", "=", attemptId)
    .execute();
}

/** The provider never saw it, or never answered: it may be brought again. */
export async function forgetDirectCode(
  { storage }: Deps,
  { storeId }: OfStore,
  attemptId: string,
): Promise<void> {
  await storage.db
    .deleteFrom("sign_on_attempts")
    .where("store_id", "=", storeId)
    .where("id", "=", attemptId)
    .where("state", "=", "returned")
    .execute();
}

/**
 * Attempts that nobody can come back to go; what a provider said of somebody goes as soon as its code is over. True:
 * there are more.
 */
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
  const isBehind = await deleteOld(deps, "sign_on_attempts", ["id"], "forget_at", now);
  return isBehind || !isDone;
}
