import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { ProblemCode } from "../contract/problems.ts";
import { customerTokenEvent } from "../customers/events.ts";
import { byService } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import type { Trx } from "../storage/storage.ts";
import { touchStore } from "../stores/store.ts";
import { type AttemptRow, type ClientGrant, findByCode, mismatchOf } from "./client-grant.ts";

/** A refused code. `replayed`: the token of the first use was revoked. */
export type CodeRefusal = {
  refusal: Problem;
  replayed?: { attempt: AttemptRow; customerId: string | null; isOfMembers: boolean };
};

/**
 * Says why a code could not be burnt. A second use is refused. With a wrong verifier or redirect URI, or too late for a
 * retry, it counts as theft, and the token of the first use is revoked.
 */
export async function refuseCode(
  trx: Trx,
  deps: { clock: Clock },
  grant: ClientGrant,
  codeHash: string,
): Promise<CodeRefusal> {
  const attempt = await findByCode.first(trx, { codeHash, ...grant });
  const isForeign = grant.client !== undefined && attempt?.realm_id !== grant.client.realmId;
  if (!attempt || isForeign || attempt.state === "failed") return { refusal: new Problem("code_invalid") };
  if (attempt.state === "code_issued") return { refusal: withReference("code_expired", attempt) };
  const ageMs = deps.clock.now() - (attempt.exchanged_at ?? 0);
  const isTheft = mismatchOf(attempt, grant) !== undefined || ageMs > limits.replaySeconds * 1000;
  const isOfMembers = grant.purpose === "members";
  const takeBack = isOfMembers ? takeBackFromMember : takeBackFromCustomer;
  const whose = isTheft ? await takeBack(trx, deps, attempt, grant) : undefined;
  const refusal = withReference("code_already_used", attempt);
  return { refusal, ...(whose && { replayed: { attempt, isOfMembers, ...whose } }) };
}

/** The reference finds the record of the attempt. */
export const withReference = (code: ProblemCode, { id }: Pick<AttemptRow, "id">): Problem =>
  new Problem(code, { meta: { reference: referenceOf(id) } });

type TakenBack = { customerId: string | null };

/** Access tokens are not stored, so the id is revoked. The store's revision tells all instances. */
async function takeBackFromMember(
  trx: Trx,
  deps: { clock: Clock },
  attempt: AttemptRow,
  { requestId }: ClientGrant,
): Promise<TakenBack | undefined> {
  const { token_id, store_id, exchanged_at } = attempt;
  if (token_id === null || exchanged_at === null) return undefined;
  if (!(await revokeAccessToken(trx, store_id, { token_id, exchanged_at }))) return undefined;
  await touchStore(trx, store_id);
  await noteEvents(trx, deps, byService(store_id, requestId), [replayOf(attempt)]);
  return { customerId: null };
}

/** Until the token expires. False: it was revoked already. */
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

/** Undefined: the token was deleted already. */
async function takeBackFromCustomer(
  trx: Trx,
  deps: { clock: Clock },
  attempt: AttemptRow,
  { by, requestId }: ClientGrant,
): Promise<TakenBack | undefined> {
  if (attempt.token_id === null) return undefined;
  const revoked = await trx
    .deleteFrom("customer_tokens")
    .where("store_id", "=", attempt.store_id)
    .where("id", "=", attempt.token_id)
    .returningAll()
    .executeTakeFirst();
  if (!revoked) return undefined;
  const customerId = revoked.customer_id;
  const { resource, ...event } = replayOf(attempt);
  const replayed = {
    ...event,
    personId: customerId,
    resource: { ...resource, customer_id: customerId },
  };
  await noteEvents(trx, deps, by ?? byService(attempt.store_id, requestId), [
    replayed,
    customerTokenEvent("customer_token.revoked", revoked),
  ]);
  return { customerId };
}

/** Call it after the commit: a transaction may run twice, or fail at its end. */
export function recordCodeRefusal(
  { recorder }: { recorder: Recorder },
  { refusal, replayed }: CodeRefusal,
): void {
  recorder.count("failed", refusal.code);
  if (!replayed) return;
  const { attempt, customerId, isOfMembers } = replayed;
  recorder.noteExchange(attempt, { outcome: "exchanged", reason: "code_replayed", customerId, isOfMembers });
}
