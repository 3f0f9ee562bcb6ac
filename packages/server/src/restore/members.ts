import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { memberEvent } from "../members/events.ts";
import { memberOf } from "../members/member.ts";
import { memberResource } from "../members/resource.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import {
  type Changed,
  changeRow,
  type Deps,
  deleteRows,
  freeAddresses,
  idsOf,
  listGone,
  pagesOf,
  type Replaced,
} from "./replaced.ts";

/** Removes members that the replaced database does not have, and takes over roles, addresses and bound identities. */
export async function carryMembers(deps: Deps, replaced: Replaced) {
  const { storage } = deps;
  const carried = { removed_members: 0, roles: 0 };
  // Tables from before members exist in neither database.
  if (replaced.columnsOf("members").size === 0) return carried;
  // Removals first: a member who was invited again may be bound to the account of a removed one.
  for await (const page of pagesOf(storage, "members")) {
    const gone = await listGone(replaced, "members", page);
    if (gone.length > 0) await storage.transact((trx) => deleteRows(trx, deps, "members", gone));
    carried.removed_members += gone.length;
  }
  const changes: Changed<DecidedMember>[] = [];
  for await (const page of pagesOf(storage, "members"))
    changes.push(...(await findChanges(storage, replaced.storage, idsOf(page))));
  // All members of a store in one transaction, because two may have swapped addresses.
  for (const ofStore of Map.groupBy(changes, ({ store_id }) => store_id).values())
    await storage.transact(async (trx) => {
      await freeAddresses(trx, "members", ofStore);
      for (const change of ofStore) await carryChange(trx, deps, change);
    });
  carried.roles = changes.filter(({ columns }) => columns.role !== undefined).length;
  return carried;
}

const DECIDED = ["id", "store_id", "role", "email", "email_key", "profile_id", "issuer", "subject"] as const;
type DecidedMember = Pick<Tables["members"], (typeof DECIDED)[number]>;

async function findChanges(
  restored: Storage,
  replaced: Storage,
  ids: string[],
): Promise<Changed<DecidedMember>[]> {
  const membersOf = (db: Database): Promise<DecidedMember[]> =>
    db.selectFrom("members").select(DECIDED).where("id", "in", ids).execute();
  const now = new Map((await membersOf(replaced.db)).map((member) => [member.id, member]));
  return (await membersOf(restored.db)).flatMap((was) => {
    const is = now.get(was.id);
    const columns = is && columnsOf(was, is);
    const { id, store_id } = was;
    return columns && Object.keys(columns).length > 0 ? [{ id, store_id, columns }] : [];
  });
}

const columnsOf = (was: DecidedMember, is: DecidedMember): Partial<DecidedMember> => ({
  ...(was.role !== is.role && { role: is.role }),
  // The identity that a sign-on after the backup has bound: without it another person could claim the member by e-mail.
  ...(was.subject === null &&
    is.subject !== null && { profile_id: is.profile_id, issuer: is.issuer, subject: is.subject }),
  // An invitation is open to the owner of its address, so the addresses of invitations are taken over. An invitation
  // may now have the old address of a bound member, so the addresses of bound members are taken over too.
  ...(was.email !== is.email && { email: is.email, email_key: is.email_key }),
});

async function carryChange(trx: Trx, deps: Deps, change: Changed<DecidedMember>): Promise<void> {
  const rows = await changeRow(trx, deps, "members", change);
  const [was, is] = [memberOf(rows.before), memberOf(rows.after)];
  const changes = {
    ...changesOf(memberResource(was), memberResource(is)),
    ...(was.status !== is.status && { status: { before: was.status, after: is.status } }),
  };
  await noteEvents(trx, deps, byOperator(change.store_id), [
    { ...memberEvent("member.updated", is), changes },
  ]);
}
