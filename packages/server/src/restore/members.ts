import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { findMember, memberOf } from "../members/member.ts";
import { memberResource } from "../members/resource.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** Takes over members from the replaced database. */

type Deps = { storage: Storage; clock: Clock };

/** Removes members that the replaced database does not have. */
export async function carryRemovals(deps: Deps, gone: readonly string[]): Promise<number> {
  if (gone.length === 0) return 0;
  await deps.storage.transact(async (trx) => {
    const deleted = await trx
      .deleteFrom("members")
      .where("id", "in", gone)
      .returning(["id", "store_id"])
      .execute();
    for (const { id, store_id } of deleted)
      await noteEvents(trx, deps, byOperator(store_id), [
        { type: "member.deleted", subject: id, resource: { type: "member", id } },
      ]);
  });
  return gone.length;
}

const DECIDED = ["id", "store_id", "role", "email", "email_key", "profile_id", "issuer", "subject"] as const;

type DecidedMember = Pick<Tables["members"], (typeof DECIDED)[number]>;
export type CarriedChange = { id: string; storeId: string; columns: Partial<DecidedMember> };

/** Sets the columns of these members that differ in the replaced database. */
export async function findChanges(
  restored: Storage,
  replaced: Storage,
  ids: string[],
): Promise<CarriedChange[]> {
  const membersOf = (db: Database): Promise<DecidedMember[]> =>
    db.selectFrom("members").select(DECIDED).where("id", "in", ids).execute();
  const now = new Map((await membersOf(replaced.db)).map((member) => [member.id, member]));
  return (await membersOf(restored.db)).flatMap((was) => {
    const is = now.get(was.id);
    const columns = is && columnsOf(was, is);
    return columns && Object.keys(columns).length > 0 ? [{ id: was.id, storeId: was.store_id, columns }] : [];
  });
}

const columnsOf = (was: DecidedMember, is: DecidedMember): Partial<DecidedMember> => ({
  ...(was.role !== is.role && { role: is.role }),
  // The identity that a sign-on after the backup has bound: without it another person could claim the member by e-mail.
  ...(was.subject === null &&
    is.subject !== null && { profile_id: is.profile_id, issuer: is.issuer, subject: is.subject }),
  // An invitation is open to the owner of its address, so the addresses of invitations are taken over, and those of
  // bound members, whose address an invitation may have.
  ...(was.email !== is.email && { email: is.email, email_key: is.email_key }),
});

/** All members of a store in one statement, because two may have swapped addresses, and the index is unique. */
export function carryChanges(deps: Deps, storeId: string, changes: readonly CarriedChange[]): Promise<void> {
  return deps.storage.transact(async (trx) => {
    for (const { id, columns } of changes)
      if (columns.email_key !== undefined)
        await trx
          .updateTable("members")
          .set({ email_key: id })
          .where("store_id", "=", storeId)
          .where("id", "=", id)
          .execute();
    for (const change of changes) await carryChange(trx, deps, change);
  });
}

async function carryChange(
  trx: Trx,
  deps: Pick<Deps, "clock">,
  { id, storeId, columns }: CarriedChange,
): Promise<void> {
  const was = await findMember(trx, storeId, id);
  const row = await trx
    .updateTable("members")
    .set({ ...columns, updated_at: laterThan("updated_at", deps.clock.now()) })
    .where("store_id", "=", storeId)
    .where("id", "=", id)
    .returningAll()
    .executeTakeFirst();
  if (!was || !row) return;
  const is = memberOf(row);
  const resource = memberResource(is);
  const changes = {
    ...changesOf(memberResource(was), resource),
    ...(was.status !== is.status && { status: { before: was.status, after: is.status } }),
  };
  await noteEvents(trx, deps, byOperator(storeId), [
    { type: "member.updated", subject: id, personId: id, resource, changes },
  ]);
}
