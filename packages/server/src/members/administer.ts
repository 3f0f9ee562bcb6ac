import { type Expression, expressionBuilder, type SqlBool, sql } from "kysely";
import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { ifTaken } from "../storage/failures.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { changeStore } from "../stores/store.ts";
import { memberEvent } from "./events.ts";
import { findMember, type Member, memberOf } from "./member.ts";
import { type MemberChange, memberAnswer, memberResource, type NewMember, toColumns } from "./resource.ts";

/**
 * Every change of members runs under the store's lock (`changeStore`), so of two removals at the same time the second
 * sees the result of the first. The store's new revision drops the caches of every instance within a second, and so
 * earlier access tokens.
 */
type Deps = { storage: Storage; clock: Clock };
type MemberDeps = Deps & { publicUrl: string };

export async function createMember(deps: MemberDeps, by: By, data: NewMember) {
  const insert = (trx: Trx) => insertMember(trx, deps, by, data);
  const created = await changeStore(deps, by.storeId, insert).catch(refuseTaken);
  if (!created) throw new Problem("token_invalid");
  return memberAnswer(deps, created);
}

async function insertMember(trx: Trx, deps: Pick<Deps, "clock">, by: By, data: NewMember): Promise<Member> {
  const now = deps.clock.now();
  const { email, role } = data;
  const row = await trx
    .insertInto("members")
    .values({
      name: email.shown,
      email: email.shown,
      email_key: email.key,
      role,
      ...toColumns(data),
      id: newId(),
      store_id: by.storeId,
      created_at: now,
      updated_at: now,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  const member = memberOf(row);
  await noteEvents(trx, deps, by, [memberEvent("member.created", member)]);
  return member;
}

export async function updateMember(deps: MemberDeps, by: By, memberId: string, data: MemberChange) {
  const { storeId } = by;
  const update = async (trx: Trx): Promise<Member | undefined> => {
    const before = await findMember(trx, storeId, memberId);
    if (!before) return undefined;
    const isDemotion = data.role !== undefined && data.role !== "administrator";
    const row = await trx
      .updateTable("members")
      .set({ ...toColumns(data), updated_at: laterThan("updated_at", deps.clock.now()) })
      .where("store_id", "=", storeId)
      .where("id", "=", memberId)
      .where(isDemotion ? await mayLeave(trx, by, memberId) : sql.lit(true))
      .returningAll()
      .executeTakeFirst();
    if (!row) throw new Problem("last_administrator");
    const member = memberOf(row);
    const changes = changesOf(memberResource(before), memberResource(member));
    if (changes) await noteEvents(trx, deps, by, [{ ...memberEvent("member.updated", member), changes }]);
    return member;
  };
  const updated = await changeStore(deps, storeId, update).catch(refuseTaken);
  if (!updated) throw new Problem("member_not_found");
  return memberAnswer(deps, updated);
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

type RemovedMember = Pick<Tables["members"], "email" | "profile_id" | "issuer" | "subject">;

/**
 * Returns the member's address and identity, or undefined when there is no such member. Call it inside `changeStore`.
 */
export async function removeMember(trx: Trx, by: By, memberId: string): Promise<RemovedMember | undefined> {
  const { storeId } = by;
  const row = await trx
    .deleteFrom("members")
    .where("store_id", "=", storeId)
    .where("id", "=", memberId)
    .where(await mayLeave(trx, by, memberId))
    .returning(["email", "profile_id", "issuer", "subject"])
    .executeTakeFirst();
  if (!row && (await findMember(trx, storeId, memberId))) throw new Problem("last_administrator");
  return row;
}

/**
 * The condition under which a member may be demoted or removed. A key or the operator may always do it. A member may do
 * it only if another administrator can still sign in: an invited one, or one who is bound to an issuer that an enabled
 * profile has or had.
 */
async function mayLeave(trx: Trx, { storeId, actor }: By, memberId: string): Promise<Expression<SqlBool>> {
  if (actor.type !== "member") return sql.lit(true);
  const issuers = await listIssuers(trx, storeId);
  const { eb, exists, or, selectFrom } = expressionBuilder<Tables, "members">();
  const other = selectFrom("members as other")
    .select("other.id")
    .where("other.store_id", "=", storeId)
    .where("other.id", "<>", memberId)
    .where("other.role", "=", sql.lit("administrator"))
    .where((of) =>
      of.or([
        of("other.subject", "is", null),
        ...issuers.map(({ profileId, issuer }) =>
          of.and([of("other.profile_id", "=", profileId), of("other.issuer", "=", issuer)]),
        ),
      ]),
    );
  return or([eb("members.role", "<>", "administrator"), exists(other)]);
}

/** The issuers of enabled profiles, present and former. A member who is bound to any other issuer cannot sign in. */
async function listIssuers(trx: Trx, storeId: string): Promise<{ profileId: string; issuer: string }[]> {
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

/** The unique index decides which of two requests gets the e-mail. */
const refuseTaken = ifTaken(() => new Problem("member_exists", { source: { pointer: "/data/email" } }));
