import { Problem } from "../contract/problem.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Traces } from "../contract/traces.ts";
import type { EmailDigests } from "../customers/email-digest.ts";
import { digestsOf, type SignOnDigests, wasErased } from "../customers/erasing/erased-digests.ts";
import { findLinked, type LinkingProfile } from "../customers/identities/find-linked.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { hashSecret, isWellFormed } from "../lib/secrets.ts";
import type { Identity } from "../openid/identify.ts";
import { formerOf, type Profile } from "../profiles/profile.ts";
import { type RealmRules, rulesOf } from "../realms/realm.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { jsonText } from "../storage/engine.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { returnedAt } from "./claim-attempt.ts";
import { type AttemptRow, type ClientGrant, findByCode, mismatchOf } from "./client-grant.ts";
import { endedSince, type IdpSession, idpSessionOf } from "./ended-sessions.ts";
import { signOnProblem } from "./refuse.ts";
import { type CodeRefusal, recordCodeRefusal, refuseCode, withReference } from "./replayed-code.ts";

export type TradeDeps = {
  storage: Storage;
  clock: Clock;
  recorder: Recorder;
  traces: Traces | undefined;
  emailDigests: EmailDigests;
};

/** `token_id`: the token that the code is redeemed for. */
type BurntAttempt = AttemptRow & { token_id: string };

/** A realm and an enabled profile: the columns that decide which customer signs in. */
export type UsablePlace = {
  realm: RealmRules;
  profile: LinkingProfile & { name: string };
  /** The provider has ended the session since the callback. */
  isEnded: boolean;
  /** A person with this identity or address was erased since the callback. */
  wasErased: boolean;
};

/** The answer for the code. `customerId`: the customer in the record. */
type Traded<T> = { customerId: string | null; answer: T };

/** Makes the answer: `redeem.ts` for customers, `redeem-for-member.ts` for members. */
type Trade<T> = (
  trx: Trx,
  burnt: Burnt & { place: UsablePlace },
) => Promise<Traded<T> | { reason: SignOnReason }>;

/** How the transaction ended. A refusal is returned, not thrown: the rollback would make the code valid again. */
type Ending<T> =
  | (Traded<T> & { attempt: AttemptRow })
  | { refusal: Problem; reason: SignOnReason; attempt: AttemptRow }
  | CodeRefusal;

/**
 * Trades a code for an answer, in one transaction. Do not change the order: the gate has checked bearer and rate limit.
 * One statement burns the code, within its store, deletes the identity and sets the id of the new token. Then redirect
 * URI and verifier are compared; if they are wrong, the code stays burnt. Then `trade` makes the answer.
 */
export async function tradeCode<T>(deps: TradeDeps, grant: ClientGrant, trade: Trade<T>): Promise<T> {
  if (!isWellFormed("lkac", grant.clientCode)) throw new Problem("code_invalid");
  const { storeId, purpose } = grant;
  const codeHash = hashSecret(grant.clientCode);
  await deps.emailDigests.ready();
  const ending = await deps.storage.transact(async (trx): Promise<Ending<T>> => {
    const issued = await findByCode.first(trx, { codeHash, storeId, purpose });
    if (issued) deps.traces?.join("redeem", issued.id);
    const burnt = issued && (await burnCode(trx, deps, grant, issued));
    if (!burnt) return refuseCode(trx, deps, grant, codeHash);
    const { attempt, place } = burnt;
    const mismatch = mismatchOf(attempt, grant);
    if (mismatch) return fail(trx, attempt, mismatch.reason, withReference(mismatch.code, attempt));
    if (!place) return fail(trx, attempt, "profile_disabled");
    if (place.isEnded) return fail(trx, attempt, "session_ended");
    const traded = await trade(trx, { ...burnt, place });
    if ("reason" in traded) return fail(trx, attempt, traded.reason);
    return { ...traded, attempt };
  });
  if ("attempt" in ending) noteEnding(deps, ending, grant);
  else {
    recordCodeRefusal(deps, ending);
    if (ending.replayed && purpose === "members") deps.storage.changes.announce(storeId);
  }
  if ("refusal" in ending) throw ending.refusal;
  return ending.answer;
}

/** Reads single columns: the whole row has the provider's documents, which would be sent and parsed each time. */
async function findUsable(trx: Trx, came: Usable): Promise<UsablePlace | undefined> {
  const row = await readUsable.first(trx, came);
  if (!row) return undefined;
  const { name, client_id } = row;
  const provisioning = row.provisioning as Profile["provisioning"];
  const key = { id: came.profileId, store_id: came.storeId, realm_id: came.realmId };
  return {
    realm: rulesOf(row),
    profile: { ...key, name, client_id, provisioning, ...formerOf(row) },
    isEnded: row.has_ended === 1,
    wasErased: row.was_erased === 1,
  };
}

type Usable = IdpSession & SignOnDigests & Pick<Identity, "issuer">;

/** The issuer must still be the identity's: the profile may point to another provider since the callback. */
const readUsable = statement((db, of: Usable) =>
  db
    .selectFrom("oidc_profiles as profile")
    .innerJoin("authentication_realms as realm", (join) =>
      join.onRef("realm.store_id", "=", "profile.store_id").onRef("realm.id", "=", "profile.realm_id"),
    )
    .select([
      "profile.name",
      "profile.client_id",
      "profile.provisioning",
      "profile.former_profile_ids",
      "profile.former_issuers",
      "realm.duplicate_email_policy",
      "realm.profile_updates",
      endedSince(of).as("has_ended"),
      wasErased(of).as("was_erased"),
    ])
    .where("profile.store_id", "=", of.storeId)
    .where("profile.realm_id", "=", of.realmId)
    .where("profile.id", "=", of.profileId)
    .where("profile.enabled", "=", 1)
    .where("profile.flow", "=", "brokered")
    .where(jsonText(db, "profile.metadata", "issuer"), "=", of.issuer),
);

type Burnt = {
  /** The row after the burning. The identity is no longer in the database. */
  attempt: BurntAttempt;
  identity: Identity;
  /** The customer that the identity is linked to by its own profile and issuer. */
  linked: Tables["customers"] | undefined;
  /** Read after the burning, so a profile that was disabled while this transaction waited is refused. */
  place: UsablePlace | undefined;
};

async function burnCode(
  trx: Trx,
  deps: TradeDeps,
  { client, purpose }: ClientGrant,
  issued: AttemptRow,
): Promise<Burnt | undefined> {
  if (client && issued.realm_id !== client.realmId) return undefined;
  // The code was redeemed, or it has expired by the clock of another instance, which has deleted the identity.
  if (issued.identity === null) return undefined;
  const { id, store_id: storeId, realm_id: realmId, profile_id: profileId } = issued;
  const at = { storeId, realmId, profileId };
  const identity: Identity = JSON.parse(issued.identity);
  const tokenId = newId();
  const now = deps.clock.now();
  const digests = await digestsOf(deps.emailDigests, storeId, identity);
  const came = { ...idpSessionOf(at, identity, returnedAt(issued)), issuer: identity.issuer, ...digests };
  const [burnt, linked, place] = await Promise.all([
    burn.first(trx, { id, storeId, tokenId, now }),
    purpose === "customers" ? findLinked(trx, at, identity) : undefined,
    findUsable(trx, came),
  ]);
  if (!burnt) return undefined;
  const attempt = { ...issued, state: "exchanged", exchanged_at: now, token_id: tokenId } as const;
  return { attempt, identity, linked, place };
}

type Burning = { id: string; storeId: string; tokenId: string; now: number };

const burn = statement((db, { id, storeId, tokenId, now }: Burning) =>
  db
    .updateTable("sign_on_attempts")
    .set({ state: "exchanged", exchanged_at: now, token_id: tokenId, identity: null })
    .where("store_id", "=", storeId)
    .where("id", "=", id)
    .where("state", "=", "code_issued")
    .where("code_expires_at", ">", now)
    // An instance with a fast clock may have deleted the identity since it was read.
    .where("identity", "is not", null)
    .returning("id"),
);

async function fail(
  trx: Trx,
  attempt: AttemptRow,
  reason: SignOnReason,
  refusal = signOnProblem(reason, { reference: referenceOf(attempt.id) }),
): Promise<Ending<never>> {
  await trx
    .updateTable("sign_on_attempts")
    .set({ state: "failed", identity: null, token_id: null })
    .where("store_id", "=", attempt.store_id)
    .where("id", "=", attempt.id)
    .execute();
  return { refusal, reason, attempt };
}

function noteEnding(
  { recorder }: TradeDeps,
  ending: Extract<Ending<unknown>, { attempt: AttemptRow }>,
  { requestId, keyId, purpose }: ClientGrant,
): void {
  const whose = { isOfMembers: purpose === "members", keyId };
  if ("refusal" in ending) {
    const { attempt, reason } = ending;
    recorder.count("failed", reason);
    recorder.noteExchange(attempt, { outcome: "failed", reason, requestId, ...whose });
  } else {
    const { attempt, customerId } = ending;
    recorder.count("exchanged");
    recorder.noteExchange(attempt, { outcome: "exchanged", reason: null, customerId, ...whose });
  }
}
