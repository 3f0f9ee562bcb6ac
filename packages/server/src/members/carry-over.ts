import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/** What a restore takes over of members from the database that it replaces. */

/** Those that the replaced database no longer has go. */
export async function carryRemovals(restored: Storage, replaced: Storage, ids: string[]): Promise<number> {
  const kept = await replaced.db.selectFrom("members").select("id").where("id", "in", ids).execute();
  const isKept = new Set(kept.map(({ id }) => id));
  const gone = ids.filter((id) => !isKept.has(id));
  if (gone.length > 0) await restored.db.deleteFrom("members").where("id", "in", gone).execute();
  return gone.length;
}

const DECIDED = ["id", "store_id", "role", "email", "email_key", "profile_id", "issuer", "subject"] as const;

type Decided = Pick<Tables["members"], (typeof DECIDED)[number]>;
export type CarriedChange = { id: string; storeId: string; columns: Partial<Decided> };

/** In what these members differ from what the replaced database says of them. */
export async function findChanges(
  restored: Storage,
  replaced: Storage,
  ids: string[],
): Promise<CarriedChange[]> {
  const membersOf = (db: Database): Promise<Decided[]> =>
    db.selectFrom("members").select(DECIDED).where("id", "in", ids).execute();
  const now = new Map((await membersOf(replaced.db)).map((member) => [member.id, member]));
  return (await membersOf(restored.db)).flatMap((was) => {
    const is = now.get(was.id);
    const columns = is && columnsOf(was, is);
    return columns && Object.keys(columns).length > 0 ? [{ id: was.id, storeId: was.store_id, columns }] : [];
  });
}

const columnsOf = (was: Decided, is: Decided): Partial<Decided> => ({
  ...(was.role !== is.role && { role: is.role }),
  // Whom a first sign-on after the backup has bound a member to: nobody else may come by the e-mail again.
  ...(was.subject === null &&
    is.subject !== null && { profile_id: is.profile_id, issuer: is.issuer, subject: is.subject }),
  // An invitation is open to who has its address. Also of those that are bound: an invitation may have the address that one of them had.
  ...(was.email !== is.email && { email: is.email, email_key: is.email_key }),
});

/** All of a store at once: two may have each other's address now, and at no moment may both have the same. */
export async function carryChanges(trx: Trx, changes: readonly CarriedChange[]): Promise<void> {
  const write = ({ id, storeId }: CarriedChange, columns: Partial<Decided>) =>
    trx.updateTable("members").set(columns).where("store_id", "=", storeId).where("id", "=", id).execute();
  for (const change of changes)
    if (change.columns.email_key !== undefined) await write(change, { email_key: change.id });
  for (const change of changes) await write(change, change.columns);
}
