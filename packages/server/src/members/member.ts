import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import type { Page, Place } from "../lib/condition.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/**
 * Somebody of the store, who signs in at the console through an identity provider of the members' realm.
 *
 *     invited ──► active      bound at the first sign-on to (profile, issuer, subject); from then on the e-mail only names them
 */
export type Member = {
  id: string;
  store_id: string;
  name: string;
  email: string;
  role: Role;
  status: "invited" | "active";
  last_signed_in_at: number | null;
  created_at: number;
  updated_at: number;
};

export const memberOf = (row: Tables["members"]): Member => ({
  id: row.id,
  store_id: row.store_id,
  name: row.name,
  email: row.email,
  role: row.role as Role,
  status: row.subject === null ? "invited" : "active",
  last_signed_in_at: row.last_signed_in_at,
  created_at: row.created_at,
  updated_at: row.updated_at,
});

export async function findMember(
  db: Database,
  storeId: string,
  memberId: string,
): Promise<Member | undefined> {
  const row = await db
    .selectFrom("members")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("id", "=", memberId)
    .executeTakeFirst();
  return row && memberOf(row);
}

export async function getMember(
  { storage }: { storage: Storage },
  storeId: string,
  memberId: string,
): Promise<Member> {
  const member = await findMember(storage.db, storeId, memberId);
  if (!member) throw new Problem("member_not_found");
  return member;
}

export type MemberList = { members: Member[]; place: Place; page: Page };

export async function listMembers(
  { storage }: { storage: Storage },
  storeId: string,
  page: Page,
): Promise<MemberList> {
  const { rows, place } = await readPage(storage, "members", { store_id: storeId }, page);
  return { members: rows.map(memberOf), place, page };
}
