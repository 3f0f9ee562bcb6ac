import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { tokenHappening } from "../customers/customer-token.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { hashSecret } from "../lib/secrets.ts";
import type { Trx } from "../storage/storage.ts";
import { type AttemptRow, type ClientGrant, mismatchOf, type RedeemDeps } from "./redeem.ts";
import { referenceOf } from "./reference.ts";

/** A refusal, and whose token was taken back with it. */
export type WhyNot = { refusal: Problem; replayed?: { attempt: AttemptRow; customerId: string } };

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
  const customerId = isTheft ? await takeBack(trx, deps, attempt, grant) : undefined;
  return {
    refusal: new Problem("code_already_used"),
    ...(customerId !== undefined && { replayed: { attempt, customerId } }),
  };
}

/** Whose token it was; undefined when it was gone already. */
async function takeBack(
  trx: Trx,
  deps: RedeemDeps,
  attempt: AttemptRow,
  { by, requestId }: ClientGrant,
): Promise<string | undefined> {
  if (attempt.token_id === null) return undefined;
  const revoked = await trx
    .deleteFrom("customer_tokens")
    .where("store_id", "=", attempt.store_id)
    .where("id", "=", attempt.token_id)
    .returningAll()
    .executeTakeFirst();
  if (!revoked) return undefined;
  const replayed = {
    type: "sign_on.code_replayed",
    subject: attempt.id,
    personId: revoked.customer_id,
    resource: {
      type: "sign-on",
      id: attempt.id,
      reference: referenceOf(attempt.id),
      realm_id: attempt.realm_id,
      profile_id: attempt.profile_id,
      customer_id: revoked.customer_id,
    },
  } as const;
  await noteEvents(trx, deps, by ?? byService(attempt.store_id, requestId), [
    replayed,
    tokenHappening("customer_token.revoked", revoked),
  ]);
  return revoked.customer_id;
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

export const recordHead = (attempt: AttemptRow) => ({
  id: attempt.id,
  storeId: attempt.store_id,
  realmId: attempt.realm_id,
  profileId: attempt.profile_id,
  profileName: null,
  reference: referenceOf(attempt.id),
  startedAt: attempt.exchanged_at ?? attempt.code_expires_at ?? attempt.forget_at,
});
