import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { ProblemCode } from "../contract/problems.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Traces } from "../contract/traces.ts";
import { type IssuedToken, issueToken } from "../customers/customer-token.ts";
import { settleIdentity } from "../customers/identity.ts";
import type { SigningKeys } from "../customers/signing-keys.ts";
import type { Identity } from "../identity-provider/identify.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Signer } from "../lib/jws.ts";
import { hashSecret, isWellFormed } from "../lib/secrets.ts";
import { statement } from "../storage/statement.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { challengeOf } from "./attempt.ts";
import { signOnProblem } from "./exits.ts";
import type { Recorder } from "./record.ts";
import { referenceOf } from "./reference.ts";
import { findPlace } from "./sign-on-place.ts";

/** What a storefront brings for a code. `client` is set where the request says which client and realm it is for. */
export type ClientGrant = {
  storeId: string;
  clientCode: string;
  clientRedirectUri: string;
  clientVerifier: string;
  client?: { realmId: string; clientId: string };
};

export type RedeemDeps = {
  publicUrl: string;
  storage: Storage;
  clock: Clock;
  signingKeys: SigningKeys;
  recorder: Recorder;
  customerTokenSeconds: number;
  traces: Traces | undefined;
};

export type Redeemed = { token: IssuedToken; attempt: AttemptRow };
type AttemptRow = Tables["sign_on_attempts"];

/** How the transaction ended: with a token, or with a refusal that it must not undo, since the code is void by then. */
type Ending<T> =
  | (Redeemed & { answer: T })
  | { refusal: Problem; reason: SignOnReason; attempt: AttemptRow }
  | WhyNot;

/**
 * Trades our code for a customer token. The order is law: bearer, rate limit and shape were seen to before; then one
 * statement burns the code, for its own store only, forgets what the provider said and names the token to come; then redirect
 * URI and verifier are compared, and a wrong one leaves the code burnt. Code, identity, customer and token change together or not at all, with
 * whatever `toAnswer` reads or writes.
 */
export async function redeem<T>(
  deps: RedeemDeps,
  grant: ClientGrant,
  toAnswer: (trx: Trx, redeemed: Redeemed) => Promise<T>,
): Promise<T> {
  if (!isWellFormed("lkac", grant.clientCode)) throw new Problem("code_invalid");
  // Before the transaction, which waits for nobody: the key may have to be read, and of an attempt that has its code nothing
  // changes any more but whether it was redeemed, which the burning decides.
  const signer = await deps.signingKeys.current();
  const { db } = deps.storage;
  const issued = await findIssued.first(db, {
    codeHash: hashSecret(grant.clientCode),
    storeId: grant.storeId,
  });
  if (issued) deps.traces?.join("redeem", issued.id);
  const ending = await deps.storage.transact(async (trx): Promise<Ending<T>> => {
    const attempt = issued && (await burnCode(trx, deps, grant, issued));
    if (!attempt) return whyNot(trx, deps, grant);
    const mismatch = mismatchOf(attempt, grant);
    if (mismatch) return fail(trx, attempt, mismatch.reason, new Problem(mismatch.code));
    const redeemed = await signIn(trx, deps, signer, attempt);
    if ("reason" in redeemed) return fail(trx, attempt, redeemed.reason, refusalOf(attempt, redeemed.reason));
    return { ...redeemed, answer: await toAnswer(trx, redeemed) };
  });
  if ("attempt" in ending) noteEnding(deps, ending);
  else noteUnusable(deps, ending);
  if ("refusal" in ending) throw ending.refusal;
  return ending.answer;
}

type OfCode = { codeHash: string; storeId: string };

const findIssued = statement((db, { codeHash, storeId }: OfCode) =>
  db
    .selectFrom("sign_on_attempts")
    .selectAll()
    .where("code_hash", "=", codeHash)
    .where("store_id", "=", storeId),
);

/** The row of before, as it is now. What the identity provider said is no longer in the database. */
async function burnCode(
  trx: Trx,
  { clock }: RedeemDeps,
  { client }: ClientGrant,
  issued: AttemptRow,
): Promise<AttemptRow | undefined> {
  if (client && issued.realm_id !== client.realmId) return undefined;
  const { id, store_id: storeId } = issued;
  const tokenId = newId();
  const now = clock.now();
  const isBurnt = await burn.first(trx, { id, storeId, tokenId, now });
  return isBurnt && { ...issued, state: "exchanged", exchanged_at: now, token_id: tokenId };
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
    // An instance whose clock is ahead of ours may have forgotten it already.
    .where("identity", "is not", null)
    .returning("id"),
);

type Mismatch = { code: ProblemCode; reason: SignOnReason };

function mismatchOf(attempt: AttemptRow, grant: ClientGrant): Mismatch | undefined {
  if (attempt.client_redirect_uri !== grant.clientRedirectUri)
    return { code: "redirect_uri_mismatch", reason: "redirect_uri_mismatch" };
  if (attempt.code_challenge !== challengeOf(grant.clientVerifier))
    return { code: "verifier_mismatch", reason: "verifier_mismatch" };
  if (grant.client && attempt.client_id !== grant.client.clientId)
    return { code: "code_invalid", reason: "client_mismatch" };
  return undefined;
}

async function signIn(
  trx: Trx,
  deps: RedeemDeps,
  signer: Signer,
  attempt: AttemptRow,
): Promise<Redeemed | { reason: SignOnReason }> {
  const { store_id: storeId, realm_id: realmId, profile_id: profileId } = attempt;
  // Here and not before: what was switched off, deleted or made stricter while we waited for our turn counts.
  const place = await findPlace(trx, { storeId, realmId, profileId });
  const profile = place?.profile;
  if (!place || !profile?.enabled || profile.flow !== "brokered") return { reason: "profile_disabled" };
  const identity: Identity = JSON.parse(attempt.identity ?? "null");
  const settled = await settleIdentity(trx, deps, profile, place.realm, identity);
  if ("reason" in settled) return settled;
  const token = await issueToken(trx, deps, signer, {
    ...(attempt.token_id !== null && { tokenId: attempt.token_id }),
    storeId,
    realmId,
    clientId: attempt.client_id,
    customerId: settled.customerId,
    mechanism: "oidc",
    through: {
      profileId,
      profileName: profile.name,
      subject: identity.subject,
      idpSession: identity.idpSession,
    },
  });
  return { token, attempt };
}

async function fail(
  trx: Trx,
  attempt: AttemptRow,
  reason: SignOnReason,
  refusal: Problem,
): Promise<Ending<never>> {
  await trx
    .updateTable("sign_on_attempts")
    .set({ state: "failed", identity: null, token_id: null })
    .where("store_id", "=", attempt.store_id)
    .where("id", "=", attempt.id)
    .execute();
  return { refusal, reason, attempt };
}

function refusalOf(attempt: AttemptRow, reason: SignOnReason): Problem {
  const { faults } = signOnProblem(reason);
  const [{ detail = "" }] = faults;
  return new Problem("sign_on_refused", { detail, meta: { reason, reference: referenceOf(attempt.id) } });
}

/** A refusal, and whose token was taken back with it. */
type WhyNot = { refusal: Problem; replayed?: { attempt: AttemptRow; customerId: string } };

/**
 * Why a code could not be burnt. A second use is refused; one with a wrong verifier or redirect URI, or one that comes too
 * late to be a retry, is a theft, and takes back what the first use gave.
 */
export async function whyNot(
  trx: Trx,
  deps: RedeemDeps,
  grant: ClientGrant,
  codeHash = hashSecret(grant.clientCode),
): Promise<WhyNot> {
  const attempt = await trx
    .selectFrom("sign_on_attempts")
    .selectAll()
    .where("code_hash", "=", codeHash)
    .where("store_id", "=", grant.storeId)
    .executeTakeFirst();
  const isForeign = grant.client !== undefined && attempt?.realm_id !== grant.client.realmId;
  if (!attempt || isForeign || attempt.state === "failed") return { refusal: new Problem("code_invalid") };
  if (attempt.state === "code_issued") return { refusal: new Problem("code_expired") };
  const ageMs = deps.clock.now() - (attempt.exchanged_at ?? 0);
  const isTheft = mismatchOf(attempt, grant) !== undefined || ageMs > limits.replaySeconds * 1000;
  const customerId = isTheft ? await takeBack(trx, attempt) : undefined;
  return {
    refusal: new Problem("code_already_used"),
    ...(customerId !== undefined && { replayed: { attempt, customerId } }),
  };
}

/** Whose token it was; undefined when it was gone already. */
async function takeBack(trx: Trx, attempt: AttemptRow): Promise<string | undefined> {
  if (attempt.token_id === null) return undefined;
  const revoked = await trx
    .deleteFrom("customer_tokens")
    .where("store_id", "=", attempt.store_id)
    .where("id", "=", attempt.token_id)
    .returning("customer_id")
    .executeTakeFirst();
  return revoked?.customer_id;
}

/** After the commit: a transaction may be tried again, or fail at its end. */
export function noteUnusable({ recorder }: RedeemDeps, { refusal, replayed }: WhyNot): void {
  recorder.count("failed", refusal.code);
  if (!replayed) return;
  const { attempt, customerId } = replayed;
  recorder.noteExchange({
    ...recordHead(attempt),
    outcome: "exchanged",
    reason: "code_replayed",
    customerId,
  });
}

function noteEnding(
  { recorder }: RedeemDeps,
  ending: Extract<Ending<unknown>, { attempt: AttemptRow }>,
): void {
  const head = recordHead(ending.attempt);
  if ("refusal" in ending) {
    recorder.count("failed", ending.reason);
    recorder.noteExchange({ ...head, outcome: "failed", reason: ending.reason, customerId: null });
  } else {
    recorder.count("exchanged");
    recorder.noteExchange({
      ...head,
      outcome: "exchanged",
      reason: null,
      customerId: ending.token.customerId,
    });
  }
}

export const recordHead = (attempt: AttemptRow) => ({
  id: attempt.id,
  storeId: attempt.store_id,
  realmId: attempt.realm_id,
  profileId: attempt.profile_id,
  profileName: null,
  reference: referenceOf(attempt.id),
  startedAt: attempt.exchanged_at ?? attempt.code_expires_at ?? attempt.forget_at,
});
