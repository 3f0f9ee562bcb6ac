import type { SelectQueryBuilder } from "kysely";
import { emailOf } from "../../lib/email-address.ts";
import { atMost } from "../../storage/at-most.ts";
import { forKeyShare } from "../../storage/engine.ts";
import { hold } from "../../storage/hold.ts";
import { statement } from "../../storage/statement.ts";
import type { Database, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";

/** The claims of an identity provider about the person who signs in. */
export type ForeignIdentity = {
  issuer: string;
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string | null;
};

/** The columns of the profile that decide which customer an identity belongs to. */
export type LinkingProfile = {
  id: string;
  store_id: string;
  realm_id: string;
  client_id: string;
  provisioning: "create" | "existing";
  /** Deleted profiles whose identities count as this one's. */
  former_profile_ids: readonly string[];
  /** Earlier issuers of the provider, each with the client id that the profile had there. */
  former_issuers: readonly { issuer: string; clientId: string }[];
};

/**
 * Locks the identity (against the same person's other tabs) and the address (against another identity with it), always
 * in this order, so that two sign-ons cannot deadlock and unrelated people do not wait for each other. Behind the locks
 * it finds the customer that the identity is linked to by its own profile and issuer, also one that a first sign-on in
 * another tab has just committed. The customer cannot be deleted until the transaction ends.
 */
export async function findLinked(
  trx: Trx,
  { storeId, profileId }: { storeId: string; profileId: string },
  identity: ForeignIdentity,
): Promise<Tables["customers"] | undefined> {
  const { issuer, subject } = identity;
  const [, linked] = await Promise.all([
    hold(trx, namesOf({ storeId, profileId }, identity)),
    findOwn.first(trx, { storeId, profileId, issuer, subject }),
  ]);
  return linked;
}

/** The names of the locks for an identity, in the order in which they are taken. */
export const namesOf = (
  { storeId, profileId }: { storeId: string; profileId: string },
  identity: { issuer: string; subject: string; email: string },
): readonly [string, string] => [
  `identity ${storeId} ${profileId} ${identity.issuer} ${identity.subject}`,
  `email ${storeId} ${emailOf(identity).key}`,
];

/** The customer that the identity was linked to under a former profile or a former issuer of this profile. */
export async function findFormer(
  trx: Trx,
  through: LinkingProfile,
  identity: ForeignIdentity,
): Promise<Tables["customers"] | undefined> {
  if (through.former_profile_ids.length === 0 && through.former_issuers.length === 0) return undefined;
  return withCustomer(trx, linkedTo(trx, through, identity)).executeTakeFirst();
}

type Identities = SelectQueryBuilder<
  Tables & { identity: Tables["customer_identities"] },
  "identity",
  object
>;

function withCustomer(db: Database, identities: Identities) {
  const row = identities
    .innerJoin("customers as customer", (join) =>
      join
        .onRef("customer.store_id", "=", "identity.store_id")
        .onRef("customer.id", "=", "identity.customer_id"),
    )
    .selectAll("customer");
  return forKeyShare(db, row, "customer");
}

type Own = { storeId: string; profileId: string; issuer: string; subject: string };

const findOwn = statement((db, of: Own) => {
  const own = db
    .selectFrom("customer_identities as identity")
    .where("identity.store_id", "=", of.storeId)
    .where("identity.profile_id", "=", of.profileId)
    .where("identity.issuer", "=", of.issuer)
    .where("identity.subject", "=", of.subject);
  return withCustomer(db, own);
});

/**
 * Finds the identity under the profile or its former profiles, and under its present or former issuers. The profile's
 * own rows come first, then those of the present issuer, then the newest. A provider can give each client another
 * subject for the same person, so the rows of former profiles count only for the client ids that this profile has or
 * had.
 */
export const linkedTo = (db: Database, through: LinkingProfile, { issuer, subject }: ForeignIdentity) => {
  const { former_issuers: former } = through;
  const issuers = [...new Set([issuer, ...former.map((one) => one.issuer)])];
  const clientIds = [...new Set([through.client_id, ...former.map((one) => one.clientId)])];
  return db
    .selectFrom("customer_identities as identity")
    .where("identity.store_id", "=", through.store_id)
    .where("identity.profile_id", "in", [through.id, ...through.former_profile_ids])
    .where(({ eb, or }) =>
      or([eb("identity.profile_id", "=", through.id), eb("identity.client_id", "in", clientIds)]),
    )
    .where("identity.issuer", "in", issuers)
    .where("identity.subject", "=", subject)
    .orderBy(({ eb }) => eb.case().when("identity.profile_id", "=", through.id).then(0).else(1).end())
    .orderBy(({ eb }) => eb.case().when("identity.issuer", "=", issuer).then(0).else(1).end())
    .orderBy("identity.id", "desc")
    .limit(atMost(1));
};
