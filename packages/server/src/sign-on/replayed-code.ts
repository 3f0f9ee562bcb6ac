import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { ProblemCode } from "../contract/problems.ts";
import { customerTokenEvent } from "../customers/tokens/customer-token.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import type { Trx } from "../storage/storage.ts";
import { touchStore } from "../stores/store.ts";
import type { TradeDeps } from "./burn-code.ts";
import { type AttemptRow, type ClientGrant, findByCode, mismatchOf } from "./client-grant.ts";

/** A refusal, and whose token was taken back with it. */
export type WhyNot = { refusal: Problem; replayed?: { attempt: AttemptRow; customerId: string | null } };

/**
 * Why a code could not be burnt. A second use is refused; one with a wrong verifier or redirect URI, or one that comes too
 * late to be a retry, is a theft, and takes back what the first use gave.
 */
export async function whyNot(
  trx: Trx,
  deps: Pick<TradeDeps, "clock">,
  grant: ClientGrant,
  codeHash: string,
): Promise<WhyNot> {
  const attempt = await findByCode.first(trx, { codeHash, ...grant });
  const isForeign = grant.client !== undefined && attempt?.realm_id !== grant.client.realmId;
  if (!attempt || isForeign || attempt.state === "failed") return { refusal: new Problem("code_invalid") };
  if (attempt.state === "code_issued") return { refusal: withReference("code_expired", attempt) };
  const ageMs = deps.clock.now() - (attempt.exchanged_at ?? 0);
  const isTheft = mismatchOf(attempt, grant) !== undefined || ageMs > limits.replaySeconds * 1000;
  const takeBack = grant.purpose === "members" ? takeBackFromMember : takeBackFromCustomer;
  const whose = isTheft ? await takeBack(trx, deps, attempt, grant) : undefined;
  const refusal = withReference("code_already_used", attempt);
  return { refusal, ...(whose && { replayed: { attempt, ...whose } }) };
}

/** Of a sign-on that is known: the reference finds its record. */
export const withReference = (code: ProblemCode, { id }: Pick<AttemptRow, "id">): Problem =>
  new Problem(code, { meta: { reference: referenceOf(id) } });

type Whose = { customerId: string | null };

/** An access token is not stored: it is revoked until it would have expired, and the store's revision tells all instances. */
async function takeBackFromMember(
  trx: Trx,
  deps: Pick<TradeDeps, "clock">,
  attempt: AttemptRow,
  { requestId }: ClientGrant,
): Promise<Whose | undefined> {
  const { token_id, store_id, exchanged_at } = attempt;
  if (token_id === null || exchanged_at === null) return undefined;
  if (!(await revokeAccessToken(trx, store_id, { token_id, exchanged_at }))) return undefined;
  await touchStore(trx, store_id);
  await noteEvents(trx, deps, byService(store_id, requestId), [replayOf(attempt)]);
  return { customerId: null };
}

/** Until it would have expired. False: it was revoked already. */
export async function revokeAccessToken(
  trx: Trx,
  store_id: string,
  { token_id, exchanged_at }: { token_id: string; exchanged_at: number },
): Promise<boolean> {
  const expires_at = exchanged_at + limits.accessTokenSeconds * 1000;
  const { numInsertedOrUpdatedRows } = await trx
    .insertInto("access_token_revocations")
    .values({ token_id, store_id, expires_at })
    .onConflict((conflict) => conflict.column("token_id").doNothing())
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}

const replayOf = (attempt: AttemptRow) =>
  ({
    type: "sign_on.code_replayed",
    subject: attempt.id,
    resource: {
      type: "sign-on",
      id: attempt.id,
      reference: referenceOf(attempt.id),
      realm_id: attempt.realm_id,
      profile_id: attempt.profile_id,
    },
  }) as const;

/** Whose token it was; undefined when it was gone already. */
async function takeBackFromCustomer(
  trx: Trx,
  deps: Pick<TradeDeps, "clock">,
  attempt: AttemptRow,
  { by, requestId }: ClientGrant,
): Promise<Whose | undefined> {
  if (attempt.token_id === null) return undefined;
  const revoked = await trx
    .deleteFrom("customer_tokens")
    .where("store_id", "=", attempt.store_id)
    .where("id", "=", attempt.token_id)
    .returningAll()
    .executeTakeFirst();
  if (!revoked) return undefined;
  const customerId = revoked.customer_id;
  const { resource, ...happened } = replayOf(attempt);
  const replayed = {
    ...happened,
    personId: customerId,
    resource: { ...resource, customer_id: customerId },
  };
  await noteEvents(trx, deps, by ?? byService(attempt.store_id, requestId), [
    replayed,
    customerTokenEvent("customer_token.revoked", revoked),
  ]);
  return { customerId };
}

/** After the commit: a transaction may be tried again, or fail at its end. */
export function noteUnusable({ recorder }: Pick<TradeDeps, "recorder">, { refusal, replayed }: WhyNot): void {
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
