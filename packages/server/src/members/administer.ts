import { type Expression, expressionBuilder, type SqlBool, sql } from "kysely";
import { Problem } from "../contract/problem.ts";
import type { Role } from "../contract/roles.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import type { EmailAddress } from "../lib/email-address.ts";
import { newId } from "../lib/ids.ts";
import { isUniqueViolation } from "../storage/failures.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { findMember, type Member, memberOf } from "./member.ts";
import { presentMembers } from "./resource.ts";

/**
 * Changes members under the store's lock, so that of two removals at once the second sees what the first has left, and what
 * every instance keeps in memory of the store is dropped within a second: tokens of before included.
 */
type Deps = { storage: Storage; clock: Clock };

export type MemberChange = {
  name?: string | undefined;
  email?: EmailAddress | undefined;
  role?: Role | undefined;
};
export type NewMember = MemberChange & { email: EmailAddress; role: Role };

export async function createMember(deps: Deps, by: By, given: NewMember): Promise<Member> {
  const created = await refuseTaken(() =>
    changeStore(deps, by.storeId, (trx) => insertMember(trx, deps, by, given)),
  );
  if (!created) throw new Problem("token_invalid");
  return created;
}

async function insertMember(
  trx: Trx,
  deps: Pick<Deps, "clock">,
  by: By,
  { name, email, role }: NewMember,
): Promise<Member> {
  const now = deps.clock.now();
  const row = {
    id: newId(),
    store_id: by.storeId,
    name: name ?? email.shown,
    email: email.shown,
    email_key: email.key,
    role,
    profile_id: null,
    issuer: null,
    subject: null,
    last_signed_in_at: null,
    created_at: now,
    updated_at: now,
  };
  await trx.insertInto("members").values(row).execute();
  const member = memberOf(row);
  const resource = presentMembers(member);
  await noteEvents(trx, deps, by, [
    { type: "member.created", subject: member.id, personId: member.id, resource },
  ]);
  return member;
}

export async function updateMember(
  deps: Deps,
  by: By,
  memberId: string,
  { name, email, role }: MemberChange,
): Promise<Member> {
  const { storeId } = by;
  const updated = await refuseTaken(() =>
    changeStore(deps, storeId, async (trx) => {
      const before = await findMember(trx, storeId, memberId);
      const isDemotion = role !== undefined && role !== "administrator";
      const isAllowed = isDemotion ? await mayGo(trx, by, memberId) : sql.lit(true);
      const row = await trx
        .updateTable("members")
        .set({
          ...(name !== undefined && { name }),
          ...(email !== undefined && { email: email.shown, email_key: email.key }),
          ...(role !== undefined && { role }),
          updated_at: laterThan("updated_at", deps.clock.now()),
        })
        .where("store_id", "=", storeId)
        .where("id", "=", memberId)
        .where(isAllowed)
        .returningAll()
        .executeTakeFirst();
      if (!before) return undefined;
      if (!row) throw new Problem("last_administrator");
      const member = memberOf(row);
      const resource = presentMembers(member);
      const changes = changesOf(presentMembers(before), resource);
      const happened = { type: "member.updated", subject: memberId, personId: memberId, resource } as const;
      if (changes) await noteEvents(trx, deps, by, [{ ...happened, changes }]);
      return member;
    }),
  );
  if (!updated) throw new Problem("member_not_found");
  return updated;
}

export async function deleteMember(deps: Deps, by: By, memberId: string): Promise<undefined> {
  const isDeleted = await changeStore(deps, by.storeId, async (trx) => {
    if (!(await removeMember(trx, by, memberId))) return false;
    const resource = { type: "member", id: memberId };
    await noteEvents(trx, deps, by, [{ type: "member.deleted", subject: memberId, resource }]);
    return true;
  });
  if (!isDeleted) throw new Problem("member_not_found");
}

type Removed = Pick<Tables["members"], "email" | "profile_id" | "issuer" | "subject">;

/** By what the member was known. Undefined: there is none. In a transaction that holds the store. */
export async function removeMember(trx: Trx, by: By, memberId: string): Promise<Removed | undefined> {
  const { storeId } = by;
  const isAllowed = await mayGo(trx, by, memberId);
  const row = await trx
    .deleteFrom("members")
    .where("store_id", "=", storeId)
    .where("id", "=", memberId)
    .where(isAllowed)
    .returning(["email", "profile_id", "issuer", "subject"])
    .executeTakeFirst();
  if (!row && (await findMember(trx, storeId, memberId))) throw new Problem("last_administrator");
  return row;
}

/**
 * Whether a member may stop being an administrator, or be gone: always by a key or the operator; by a member, unless nobody else
 * could sign in as administrator. That could be somebody who was invited, or is bound to a name that a provider goes by.
 */
async function mayGo(trx: Trx, { storeId, actor }: By, memberId: string): Promise<Expression<SqlBool>> {
  if (actor.type !== "member") return sql.lit(true);
  const bound = await listBoundNames(trx, storeId);
  const { eb, exists, or, selectFrom } = expressionBuilder<Tables, "members">();
  const other = selectFrom("members as other")
    .select("other.id")
    .where("other.store_id", "=", storeId)
    .where("other.id", "<>", memberId)
    .where("other.role", "=", sql.lit("administrator"))
    .where((of) =>
      of.or([
        of("other.subject", "is", null),
        ...bound.map(({ profileId, issuer }) =>
          of.and([of("other.profile_id", "=", profileId), of("other.issuer", "=", issuer)]),
        ),
      ]),
    );
  return or([eb("members.role", "<>", "administrator"), exists(other)]);
}

/** What the providers that are enabled are called, and were when their people were carried over: who is bound to another is left behind. */
async function listBoundNames(trx: Trx, storeId: string): Promise<{ profileId: string; issuer: string }[]> {
  const profiles = await trx
    .selectFrom("oidc_profiles")
    .select(["id", "metadata", "former_issuers"])
    .where("store_id", "=", storeId)
    .where("purpose", "=", "members")
    .where("enabled", "=", 1)
    .execute();
  return profiles.flatMap(({ id, metadata, former_issuers }) => {
    const named: { issuer: string }[] = [
      ...(metadata === null ? [] : [JSON.parse(metadata)]),
      ...JSON.parse(former_issuers ?? "[]"),
    ];
    return [...new Set(named.map(({ issuer }) => issuer))].map((issuer) => ({ profileId: id, issuer }));
  });
}

/** The unique index decides which of two gets the e-mail. */
async function refuseTaken<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new Problem("member_exists", { source: { pointer: "/data/email" } });
  }
}
