import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import { noteEvents } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { emailOf } from "../lib/email-address.ts";
import { cameSecond, ifTaken } from "../storage/failures.ts";
import type { Database, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { memberEvent } from "./events.ts";
import { type Member, memberOf } from "./member.ts";

/** The claims of the identity provider about the person who signs in. */
type MemberIdentity = { issuer: string; subject: string; email: string; emailVerified: boolean };
type MemberProfile = Pick<Tables["oidc_profiles"], "id" | "store_id"> & {
  /** Earlier issuers of this profile. Members who are bound to them can still sign in. */
  former_issuers: readonly { issuer: string }[];
};
type MemberReason = Extract<SignOnReason, "member_unknown" | "member_email_unverified" | "member_bound">;

/**
 * The reason why a sign-on would be refused now, so that the callback can show it at once. `settleMember` makes the
 * final decision.
 */
export async function foreseeMember(
  db: Database,
  profile: MemberProfile,
  identity: MemberIdentity,
): Promise<MemberReason | undefined> {
  const known = await db
    .selectFrom("members")
    .select("id")
    .where("store_id", "=", profile.store_id)
    .where("profile_id", "=", profile.id)
    .where("issuer", "in", issuersOf(profile, identity))
    .where("subject", "=", identity.subject)
    .executeTakeFirst();
  return known ? undefined : findRefusal(db, profile, identity);
}

/** The profile's current issuer first: if both bind the same subject, the current issuer's member signs in. */
const issuersOf = (
  { former_issuers: formerIssuers }: MemberProfile,
  { issuer }: MemberIdentity,
): string[] => [...new Set([issuer, ...formerIssuers.map((former) => former.issuer)])];

/**
 * For an identity that no member is bound to. An unverified address gets the same answer whether or not a member has
 * it.
 */
async function findRefusal(
  db: Database,
  { store_id: storeId }: MemberProfile,
  identity: MemberIdentity,
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
 * Signs the member in that the identity is bound to. If there is none, binds the identity to the invited member with
 * its verified e-mail. Each of the two is one `update`, so of two identities that come at the same time for one member
 * only one is bound.
 */
export async function settleMember(
  trx: Trx,
  deps: { clock: Clock },
  profile: MemberProfile,
  identity: MemberIdentity,
  requestId: string,
): Promise<Member | { reason: MemberReason }> {
  const known = await signInBound(trx, deps, profile, identity);
  if (known) return known;
  const bound = identity.emailVerified && (await bindInvited(trx, deps, profile, identity));
  if (bound) {
    const { store_id: storeId, id, name } = bound;
    const by = { storeId, actor: { type: "member", id, name }, requestId } as const;
    const changes = { status: { before: "invited", after: "active" } };
    await noteEvents(trx, deps, by, [{ ...memberEvent("member.updated", bound), changes }]);
    return bound;
  }
  // A sign-on of the same person in another tab may have bound the identity since the first look.
  const boundSince = await signInBound(trx, deps, profile, identity);
  return boundSince ?? { reason: (await findRefusal(trx, profile, identity)) ?? "member_unknown" };
}

async function signInBound(
  trx: Trx,
  { clock }: { clock: Clock },
  profile: MemberProfile,
  identity: MemberIdentity,
): Promise<Member | undefined> {
  for (const issuer of issuersOf(profile, identity)) {
    const row = await trx
      .updateTable("members")
      .set({ last_signed_in_at: clock.now() })
      .where("store_id", "=", profile.store_id)
      .where("profile_id", "=", profile.id)
      .where("issuer", "=", issuer)
      .where("subject", "=", identity.subject)
      .returningAll()
      .executeTakeFirst();
    if (row) return memberOf(row);
  }
  return undefined;
}

async function bindInvited(
  trx: Trx,
  { clock }: { clock: Clock },
  profile: MemberProfile,
  identity: MemberIdentity,
): Promise<Member | undefined> {
  const { issuer, subject } = identity;
  const row = await trx
    .updateTable("members")
    .set({ profile_id: profile.id, issuer, subject, last_signed_in_at: clock.now() })
    .where("store_id", "=", profile.store_id)
    .where("email_key", "=", emailOf(identity).key)
    .where("subject", "is", null)
    .returningAll()
    .executeTakeFirst()
    // Another transaction has just bound the same subject to another member, through another address.
    .catch(ifTaken(cameSecond));
  return row && memberOf(row);
}
