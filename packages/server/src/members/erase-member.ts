import type * as contract from "../contract/members.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { type EraseDeps, eraseAll, orderErasure } from "../customers/erasing/continue-erasures.ts";
import { isInLog } from "../events/erase.ts";
import type { By } from "../events/event.ts";
import type { Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { removeMember } from "./administer.ts";

/**
 * Removes a member under the same rule as `deleteMember`, then erases the person's data from the log of events and from
 * sign-on records, as `eraseCustomer` does. Events about the member's own actions stay: they name the member by id
 * only.
 */
export async function eraseMember(
  deps: EraseDeps,
  by: By,
  memberId: string,
): Promise<Output<typeof contract.eraseMember>> {
  await deps.emailDigests.ready();
  const erasure = await changeStore(deps, by.storeId, (trx) => beginMemberErasure(trx, deps, by, memberId));
  if (!erasure) throw new Problem("member_not_found");
  const { events, isDone } = await eraseAll(deps, erasure);
  return { data: { type: "member-erasure", id: memberId, events, complete: isDone } };
}

async function beginMemberErasure(trx: Trx, deps: EraseDeps, by: By, memberId: string) {
  const { storeId } = by;
  const row = await removeMember(trx, by, memberId);
  if (!row && !(await isInLog(trx, { storeId, personId: memberId }))) return undefined;
  const { profile_id = null, issuer = null, subject = null } = row ?? {};
  const isBound = profile_id !== null && issuer !== null && subject !== null;
  return orderErasure(trx, deps, by, "member", {
    personId: memberId,
    isKnown: row !== undefined,
    emailDigest: row ? await deps.emailDigests.of(storeId, row.email) : null,
    identities: isBound ? [{ profile_id, issuer, subject }] : [],
  });
}
