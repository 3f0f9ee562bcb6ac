import { type RawBuilder, sql } from "kysely";
import type { Clock } from "../../lib/clock.ts";
import { emailOf } from "../../lib/email-address.ts";
import { deleteOld } from "../../storage/delete-old.ts";
import { statement } from "../../storage/statement.ts";
import type { Database, Storage, Trx } from "../../storage/storage.ts";
import type { EmailDigests } from "../email-digest.ts";

/**
 * By what somebody who was erased would be known again: addresses and identities, kept as digests for as long as a sign-on that was
 * under way at the erasure can still come to its end.
 */
export type Traces = { emails: readonly string[]; identities: readonly TracedIdentity[] };
type TracedIdentity = { profileId: string; issuer: string; subject: string };

type ErasedPerson = { storeId: string; personId: string; askedAt: number };

/** Keeps the digests, and takes the identities out of all that is left of sign-ons: a code that is still open is void from now on. */
export async function noteTraces(
  trx: Trx,
  { emailDigests }: { emailDigests: EmailDigests },
  { storeId, personId, askedAt }: ErasedPerson,
  { emails, identities }: Traces,
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
  { profileId, subject }: TracedIdentity,
): Promise<void> {
  // Their sign-ons may have come through a profile that has taken this one over.
  const takers = await trx
    .selectFrom("oidc_profiles")
    .select("id")
    .where("store_id", "=", storeId)
    .where("former_profile_ids", "like", `%${profileId}%`)
    .execute();
  for (const id of [profileId, ...takers.map((taker) => taker.id)]) {
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

/** What a provider has said of somebody who came back at `since`. */
export type Returned = { storeId: string; emailDigest: string; identityDigest: string; since: number };

export async function digestsOf(
  emailDigests: EmailDigests,
  storeId: string,
  identity: { issuer: string; subject: string; email: string },
): Promise<Pick<Returned, "emailDigest" | "identityDigest">> {
  return {
    emailDigest: (await emailDigests.of(storeId, emailOf(identity).shown)) ?? "",
    identityDigest: await emailDigests.ofIdentity(storeId, identity),
  };
}

/** 1 if such a person was erased since. */
export const wasErased = ({ storeId, emailDigest, identityDigest, since }: Returned): RawBuilder<0 | 1> =>
  sql`case when exists (
    select 1 from erased_digests
    where store_id = ${storeId} and digest in (${emailDigest}, ${identityDigest}) and erased_at >= ${since}
  ) then 1 else 0 end`;

const readErased = statement((db, returned: Returned) =>
  db.selectNoFrom(wasErased(returned).as("was_erased")),
);

/** To be asked in a transaction that holds the identity: an erasure holds it as well, and so is before or after. */
export const isErasedSince = async (trx: Trx, returned: Returned): Promise<boolean> =>
  (await readErased.first(trx, returned))?.was_erased === 1;

/** What is older than a sign-on that is under way can be. True: there are more. */
export const forgetErased = (
  deps: { storage: Storage; clock: Clock },
  longestSignOnMs: number,
): Promise<boolean> =>
  deleteOld(
    deps,
    "erased_digests",
    ["store_id", "person_id", "digest"],
    "erased_at",
    deps.clock.now() - longestSignOnMs,
  );
