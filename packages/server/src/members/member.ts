import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import type { Database, Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";

/**
 * A person who works for the store and signs in at the console through an identity provider of the members' realm.
 *
 *     invited ──► active
 *
 * The first sign-on binds the member to profile, issuer and subject. From then on the e-mail does not identify the
 * member.
 */
export type Member = Omit<Tables["members"], "role"> & { role: Role; status: "invited" | "active" };

export const memberOf = (row: Tables["members"]): Member => ({
  ...row,
  role: row.role as Role,
  status: row.subject === null ? "invited" : "active",
});

export async function findMember(db: Database, storeId: string, memberId: string) {
  const row = await db
    .selectFrom("members")
    .selectAll()
    .where("store_id", "=", storeId)
    .where("id", "=", memberId)
    .executeTakeFirst();
  return row && memberOf(row);
}

export async function getMember({ storage }: { storage: Storage }, storeId: string, memberId: string) {
  const member = await findMember(storage.db, storeId, memberId);
  if (!member) throw new Problem("member_not_found");
  return member;
}
