import { type RawBuilder, sql } from "kysely";
import type { Clock } from "../../lib/clock.ts";
import { emailOf } from "../../lib/email-address.ts";
import { deleteOld } from "../../storage/delete-old.ts";
import { statement } from "../../storage/statement.ts";
import type { Database, Storage, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import type { EmailDigests } from "../email-digest.ts";

/**
 * The addresses and identities of an erased person. Their digests are stored for as long as a sign-on that had begun
 * before the erasure can take, so that no such sign-on creates the person again.
 */
export type PersonTraces = { emails: readonly string[]; identities: readonly TracedIdentity[] };
type TracedIdentity = Pick<Tables["customer_identities"], "profile_id" | "issuer" | "subject">;

type ErasedPerson = { storeId: string; personId: string; askedAt: number };

/**
 * Stores the digests, and removes the identities from open sign-ons: a code that was not redeemed yet becomes invalid.
 */
export async function noteTraces(
  trx: Trx,
  { emailDigests }: { emailDigests: EmailDigests },
  { storeId, personId, askedAt }: ErasedPerson,
  { emails, identities }: PersonTraces,
): Promise<void> {
  const digests = new Set<string>();
  for (const email of new Set(emails)) {
    const digest = await emailDigests.of(storeId, email);
    if (digest !== null) digests.add(digest);
  }
  for (const identity of identities) digests.add(await emailDigests.ofIdentity(storeId, identity));
  await keepDigests(trx, { storeId, personId, askedAt }, [...digests]);
  for (const identity of identities) await forgetSignOnsOf(trx, storeId, identity);
}

export async function keepDigests(
  db: Database,
  { storeId, personId, askedAt }: ErasedPerson,
  digests: readonly string[],
): Promise<void> {
  if (digests.length === 0) return;
  await db
    .insertInto("erased_digests")
    .values(digests.map((digest) => ({ store_id: storeId, person_id: personId, digest, erased_at: askedAt })))
    .onConflict((conflict) => conflict.columns(["store_id", "person_id", "digest"]).doNothing())
    .execute();
}

async function forgetSignOnsOf(
  trx: Trx,
  storeId: string,
  { profile_id, subject }: TracedIdentity,
): Promise<void> {
  // The sign-ons can also have come through a profile that has replaced this one.
  const takers = await trx
    .selectFrom("oidc_profiles")
    .select("id")
    .where("store_id", "=", storeId)
    .where("former_profile_ids", "like", `%${profile_id}%`)
    .execute();
  for (const id of [profile_id, ...takers.map((taker) => taker.id)]) {
    await trx
      .updateTable("sign_on_attempts")
      .set({
        state: sql`case when state in ('returned', 'code_issued') then 'failed' else state end`,
        identity: null,
        subject: null,
        idp_session: null,
      })
      .where("store_id", "=", storeId)
      .where("profile_id", "=", id)
      .where("subject", "=", subject)
      .execute();
    await trx
      .deleteFrom("ended_idp_sessions")
      .where("store_id", "=", storeId)
      .where("profile_id", "=", id)
      .where("subject", "=", subject)
      .execute();
  }
}

export const listDigests = async (
  db: Database,
  { storeId, personId }: Pick<ErasedPerson, "storeId" | "personId">,
): Promise<string[]> => {
  const rows = await db
    .selectFrom("erased_digests")
    .select("digest")
    .where("store_id", "=", storeId)
    .where("person_id", "=", personId)
    .execute();
  return rows.map(({ digest }) => digest);
};

/** The digests of a person who signs on. `since` is the time when the sign-on began. */
export type SignOnDigests = { storeId: string; emailDigest: string; identityDigest: string; since: number };

export async function digestsOf(
  emailDigests: EmailDigests,
  storeId: string,
  identity: { issuer: string; subject: string; email: string },
): Promise<Pick<SignOnDigests, "emailDigest" | "identityDigest">> {
  return {
    emailDigest: (await emailDigests.of(storeId, emailOf(identity).shown)) ?? "",
    identityDigest: await emailDigests.ofIdentity(storeId, identity),
  };
}

/** 1 if the person was erased after `since`. */
export const wasErased = (of: SignOnDigests): RawBuilder<0 | 1> =>
  sql`case when exists (
    select 1 from erased_digests
    where store_id = ${of.storeId} and digest in (${of.emailDigest}, ${of.identityDigest}) and erased_at >= ${of.since}
  ) then 1 else 0 end`;

const readErased = statement((db, returned: SignOnDigests) =>
  db.selectNoFrom(wasErased(returned).as("was_erased")),
);

/**
 * Call it in a transaction after `findLinked`: an erasure takes the same locks, so it has committed before or comes
 * after.
 */
export const isErasedSince = async (trx: Trx, returned: SignOnDigests): Promise<boolean> =>
  (await readErased.first(trx, returned))?.was_erased === 1;

/** Deletes the digests that are older than the longest sign-on. Returns true while there are more. */
export const forgetErased = (
  deps: { storage: Storage; clock: Clock },
  longestSignOnMs: number,
): Promise<boolean> => deleteOld(deps, "erased_digests", deps.clock.now() - longestSignOnMs);
