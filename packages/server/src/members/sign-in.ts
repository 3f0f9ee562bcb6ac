import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { emailOf } from "../lib/email-address.ts";
import { cameSecond, isUniqueViolation } from "../storage/failures.ts";
import type { Database, Trx } from "../storage/storage.ts";
import { type Member, memberOf } from "./member.ts";
import { presentMembers } from "./resource.ts";

/** What an identity provider has said of a person. */
type ForeignIdentity = { issuer: string; subject: string; email: string; emailVerified: boolean };
type Through = {
  id: string;
  storeId: string;
  /** What the provider was called before, whose people were carried over. */
  formerIssuers: readonly { issuer: string }[];
};
type MemberReason = Extract<SignOnReason, "member_unknown" | "member_email_unverified" | "member_bound">;

/** Why they would be refused now. For telling them at once; the decision that counts is made in `settleMember`. */
export async function foreseeMember(
  db: Database,
  through: Through,
  identity: ForeignIdentity,
): Promise<MemberReason | undefined> {
  const known = await db
    .selectFrom("members")
    .select("id")
    .where("store_id", "=", through.storeId)
    .where("profile_id", "=", through.id)
    .where("issuer", "in", issuersOf(through, identity))
    .where("subject", "=", identity.subject)
    .executeTakeFirst();
  return known ? undefined : whyNot(db, through, identity);
}

/** Its own comes first: who was left behind under another, and came back, is whom they are under this one. */
const issuersOf = ({ formerIssuers }: Through, { issuer }: ForeignIdentity): string[] => [
  ...new Set([issuer, ...formerIssuers.map((former) => former.issuer)]),
];

/** For an identity that is bound to no member. An unverified address gets the same answer whether or not a member has it. */
async function whyNot(
  db: Database,
  { storeId }: Through,
  identity: ForeignIdentity,
): Promise<MemberReason | undefined> {
  if (!identity.emailVerified) return "member_email_unverified";
  const named = await db
    .selectFrom("members")
    .select("subject")
    .where("store_id", "=", storeId)
    .where("email_key", "=", emailOf(identity).key)
    .executeTakeFirst();
  if (!named) return "member_unknown";
  return named.subject === null ? undefined : "member_bound";
}

/**
 * The member that an identity is: whom it was bound to before, or whom its e-mail names who was not bound yet, and is then. One
 * statement decides each, so that two who come at once as the same member are not both bound.
 */
export async function settleMember(
  trx: Trx,
  deps: { clock: Clock },
  through: Through,
  identity: ForeignIdentity,
  requestId: string,
): Promise<Member | { reason: MemberReason }> {
  const known = await welcome(trx, deps, through, identity);
  if (known) return known;
  const bound = identity.emailVerified && (await bind(trx, deps, through, identity));
  if (bound) {
    const { storeId, id, name } = bound;
    const by = { storeId, actor: { type: "member", id, name }, requestId } as const;
    const changes = { status: { before: "invited", after: "active" } };
    const resource = presentMembers(bound);
    await noteEvents(trx, deps, by, [
      { type: "member.updated", subject: id, personId: id, resource, changes },
    ]);
    return bound;
  }
  // In another tab the same person may have been bound since.
  const quicker = await welcome(trx, deps, through, identity);
  return quicker ?? { reason: (await whyNot(trx, through, identity)) ?? "member_unknown" };
}

async function welcome(
  trx: Trx,
  { clock }: { clock: Clock },
  through: Through,
  identity: ForeignIdentity,
): Promise<Member | undefined> {
  for (const issuer of issuersOf(through, identity)) {
    const row = await trx
      .updateTable("members")
      .set({ last_signed_in_at: clock.now() })
      .where("store_id", "=", through.storeId)
      .where("profile_id", "=", through.id)
      .where("issuer", "=", issuer)
      .where("subject", "=", identity.subject)
      .returningAll()
      .executeTakeFirst();
    if (row) return memberOf(row);
  }
  return undefined;
}

async function bind(
  trx: Trx,
  { clock }: { clock: Clock },
  through: Through,
  identity: ForeignIdentity,
): Promise<Member | undefined> {
  const { issuer, subject } = identity;
  const row = await trx
    .updateTable("members")
    .set({ profile_id: through.id, issuer, subject, last_signed_in_at: clock.now() })
    .where("store_id", "=", through.storeId)
    .where("email_key", "=", emailOf(identity).key)
    .where("subject", "is", null)
    .returningAll()
    .executeTakeFirst()
    // The same subject has become another member a moment ago, by another address.
    .catch((error) => {
      throw isUniqueViolation(error) ? cameSecond(error) : error;
    });
  return row && memberOf(row);
}
