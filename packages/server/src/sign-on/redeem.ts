import { Problem } from "../contract/problem.ts";
import type { ProblemCode } from "../contract/problems.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Traces } from "../contract/traces.ts";
import { type IssuedToken, issueToken } from "../customers/customer-token.ts";
import { settleIdentity } from "../customers/identity.ts";
import type { SigningKeys } from "../customers/signing-keys.ts";
import { type By, byCustomer } from "../events/event.ts";
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
import { noteUnusable, recordHead, type WhyNot, whyNot } from "./replay.ts";
import { findPlace } from "./sign-on-place.ts";

/** What a storefront brings for a code. `client` is set where the request says which client and realm it is for. */
export type ClientGrant = {
  storeId: string;
  clientCode: string;
  clientRedirectUri: string;
  clientVerifier: string;
  client?: { realmId: string; clientId: string };
  /** The application key that has shown its secret, if one has. */
  authenticatedAs?: string | undefined;
  requestId: string;
  /** Whose program brings it; without one, the customer comes alone. */
  by?: By;
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

export type Redeemed = { token: IssuedToken; attempt: AttemptRow; authTime: number | undefined };
export type AttemptRow = Tables["sign_on_attempts"];

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
    const redeemed = await signIn(trx, deps, signer, attempt, grant);
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

/** What the request and the attempt do not agree on. */
type Mismatch = { code: ProblemCode; reason: SignOnReason };

export function mismatchOf(attempt: AttemptRow, grant: ClientGrant): Mismatch | undefined {
  if (attempt.client_redirect_uri !== grant.clientRedirectUri)
    return { code: "redirect_uri_mismatch", reason: "redirect_uri_mismatch" };
  if (attempt.code_challenge !== challengeOf(grant.clientVerifier))
    return { code: "verifier_mismatch", reason: "verifier_mismatch" };
  const isForeign = grant.client && attempt.client_id !== grant.client.clientId;
  // A code that was begun for an application key is worth nothing without its secret, at whichever endpoint it is shown.
  const isUnproven = attempt.is_confidential === 1 && grant.authenticatedAs !== attempt.client_id;
  if (isForeign || isUnproven) return { code: "code_invalid", reason: "client_mismatch" };
  return undefined;
}

async function signIn(
  trx: Trx,
  deps: RedeemDeps,
  signer: Signer,
  attempt: AttemptRow,
  { by, requestId }: ClientGrant,
): Promise<Redeemed | { reason: SignOnReason }> {
  const { store_id: storeId, realm_id: realmId, profile_id: profileId } = attempt;
  // Here and not before: what was switched off, deleted or made stricter while we waited for our turn counts.
  const place = await findPlace(trx, { storeId, realmId, profileId });
  const profile = place?.profile;
  if (!place || !profile?.enabled || profile.flow !== "brokered") return { reason: "profile_disabled" };
  const identity: Identity = JSON.parse(attempt.identity ?? "null");
  const settled = await settleIdentity(trx, deps, profile, place.realm, identity);
  if ("reason" in settled) return settled;
  const { customerId, happened } = settled;
  const token = await issueToken(
    trx,
    deps,
    signer,
    {
      ...(attempt.token_id !== null && { tokenId: attempt.token_id }),
      storeId,
      realmId,
      clientId: attempt.client_id,
      customerId,
      mechanism: "oidc",
      scope: attempt.client_scope,
      through: {
        profileId,
        profileName: profile.name,
        subject: identity.subject,
        idpSession: identity.idpSession,
      },
    },
    { by: by ?? byCustomer(storeId, customerId, requestId), happened },
  );
  return { token, attempt, authTime: identity.authTime };
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
