import type { SelectQueryBuilder } from "kysely";
import { emailOf } from "../../lib/email-address.ts";
import { atMost } from "../../storage/at-most.ts";
import { forKeyShare } from "../../storage/engine.ts";
import { hold } from "../../storage/hold.ts";
import { statement } from "../../storage/statement.ts";
import type { Database, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";

/** Whom an identity is linked to, by its profile or by one that this has taken over. */

/** What an identity provider has said of a person, and through which profile. */
export type ForeignIdentity = {
  issuer: string;
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string | null;
};

/** The profile that it came through, as far as it matters who a person is. */
export type Through = {
  id: string;
  storeId: string;
  realmId: string;
  clientId: string;
  provisioning: "create" | "existing";
  /** Deleted profiles whose identities count as this one's. */
  formerIds: readonly string[];
  /** What the provider was called before, with the client that we were there. */
  formerIssuers: readonly { issuer: string; clientId: string }[];
};

/**
 * Locks the identity (against the same person's other tabs) and the address (against another identity with it), always in this order,
 * so that two sign-ons cannot deadlock and unrelated people do not wait for each other. Behind the locks it finds the customer that the
 * identity is linked to by its own profile and issuer, also one that a first sign-on in another tab has just committed. The customer
 * cannot be deleted until the transaction ends.
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

/** What is locked for an identity, in this order. */
export const namesOf = (
  { storeId, profileId }: { storeId: string; profileId: string },
  identity: { issuer: string; subject: string; email: string },
): readonly [string, string] => [
  `identity ${storeId} ${profileId} ${identity.issuer} ${identity.subject}`,
  `email ${storeId} ${emailOf(identity).key}`,
];

/** Whom it was linked to under another profile, or another name of its provider, that this profile has taken over. */
export async function findFormer(
  trx: Trx,
  through: Through,
  identity: ForeignIdentity,
): Promise<Tables["customers"] | undefined> {
  if (through.formerIds.length === 0 && through.formerIssuers.length === 0) return undefined;
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

export type Own = { storeId: string; profileId: string; issuer: string; subject: string };

const own = (db: Database, { storeId, profileId, issuer, subject }: Own) =>
  db
    .selectFrom("customer_identities as identity")
    .where("identity.store_id", "=", storeId)
    .where("identity.profile_id", "=", profileId)
    .where("identity.issuer", "=", issuer)
    .where("identity.subject", "=", subject);

const findOwn = statement((db, of: Own) => withCustomer(db, own(db, of)));

/**
 * Filed under the profile itself, or under one that it has taken over, by the issuer that it has or had; its own comes first, then
 * who they were last. A provider may call a person by another subject for each client, so what was taken over counts for the same
 * client only.
 */
export const linkedTo = (db: Database, through: Through, { issuer, subject }: ForeignIdentity) => {
  const { formerIssuers: former } = through;
  const issuers = [...new Set([issuer, ...former.map((one) => one.issuer)])];
  const clientIds = [...new Set([through.clientId, ...former.map((one) => one.clientId)])];
  return db
    .selectFrom("customer_identities as identity")
    .where("identity.store_id", "=", through.storeId)
    .where("identity.profile_id", "in", [through.id, ...through.formerIds])
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
