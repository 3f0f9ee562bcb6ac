import type { Happening } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { type EmailAddress, emailOf } from "../../lib/email-address.ts";
import { newId } from "../../lib/ids.ts";
import type { Realm } from "../../realms/realm.ts";
import { atMost } from "../../storage/at-most.ts";
import { forKeyShare } from "../../storage/engine.ts";
import { statement } from "../../storage/statement.ts";
import type { Database, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { type Customer, customerHappening, insertCustomer } from "../customer.ts";
import { followProvider } from "./follow-provider.ts";
import { asksForProven, type LinkPolicy, type LinkReason, link, refusesNobody } from "./link.ts";
import { type ForeignIdentity, findFormer, linkedTo, type Own, type Through } from "./linked.ts";

/** What a realm decides of it. */
type Rules = Pick<Realm, "duplicateEmailPolicy" | "profileUpdates">;

type Deps = { clock: Clock };

/** The customer whom an identity belongs to now. */
export const findLinkedCustomerId = async (
  db: Database,
  through: Through,
  identity: ForeignIdentity,
): Promise<string | undefined> =>
  (await linkedTo(db, through, identity).select("identity.customer_id").executeTakeFirst())?.customer_id;

/** Why they would be refused now. For telling a shopper at once; the decision that counts is made in `settleIdentity`. */
export async function foreseeRefusal(
  db: Database,
  through: Through,
  realm: Rules,
  identity: ForeignIdentity,
): Promise<LinkReason | undefined> {
  const policy = policyOf(through, realm);
  if (refusesNobody(policy)) return undefined;
  const linkedCustomerId = await findLinkedCustomerId(db, through, identity);
  const proven = await findProven(db, through, emailOf(identity));
  const decision = link(identity.emailVerified, { linkedTo: linkedCustomerId, proven }, policy);
  return decision.action === "refuse" ? decision.reason : undefined;
}

const policyOf = ({ provisioning }: Through, { duplicateEmailPolicy }: Rules): LinkPolicy => ({
  duplicateEmail: duplicateEmailPolicy,
  provisioning,
});

/** `happened`: what the transaction has changed to come to this, for whoever notes it. */
type Settled = { customerId: string; happened: readonly Happening[] };

/** The customer that an identity belongs to, linked or made if need be. `linked`: what `findLinked` found in the same transaction. */
export async function settleIdentity(
  trx: Trx,
  deps: Deps,
  place: { profile: Through; realm: Rules; wasErased: boolean },
  identity: ForeignIdentity,
  linked: Tables["customers"] | undefined,
): Promise<Settled | { reason: LinkReason | "person_erased" }> {
  const { profile: through, realm } = place;
  const email = emailOf(identity);
  const known = linked ?? (await findFormer(trx, through, identity));
  if (known !== undefined) return settleKnown(trx, deps, realm, identity, known);
  // A sign-on from before an erasure must not make the person anew; one that begins afterwards may.
  if (place.wasErased) return { reason: "person_erased" };
  const policy = policyOf(through, realm);
  const proven = asksForProven(policy) ? await findProven(trx, through, email) : [];
  const decision = link(identity.emailVerified, { linkedTo: undefined, proven }, policy);
  if (decision.action === "refuse") return { reason: decision.reason };
  // If that customer was deleted a moment ago, the decision is made again, without it.
  const isFound = decision.action !== "create";
  if (isFound && !(await holdCustomer(trx, through.storeId, decision.customerId)))
    return settleIdentity(trx, deps, place, identity, undefined);
  const made = isFound ? undefined : await createCustomer(trx, deps, through, identity, email);
  const customerId = isFound ? decision.customerId : (made as Customer).id;
  const filed = await insertIdentity(trx, deps, through, identity, customerId);
  return { customerId, happened: [...(made ? [customerHappening("customer.created", made)] : []), filed] };
}

async function settleKnown(
  trx: Trx,
  deps: Deps,
  realm: Rules,
  identity: ForeignIdentity,
  known: Tables["customers"],
): Promise<Settled> {
  const changed =
    realm.profileUpdates === "always" && (await followProvider(trx, deps, realm, identity, known));
  return { customerId: known.id, happened: changed ? [changed] : [] };
}

/** Whether the customer is still there, and stays. */
async function holdCustomer(trx: Trx, storeId: string, customerId: string): Promise<boolean> {
  const row = trx
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", storeId)
    .where("id", "=", customerId);
  return (await forKeyShare(trx, row).executeTakeFirst()) !== undefined;
}

/** Proven by the back office, or by a provider of this realm: what one of another realm says was never believed here. */
async function findProven(db: Database, through: Through, email: EmailAddress): Promise<string[]> {
  const proven = await db
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", through.storeId)
    .where("email_key", "=", email.key)
    .where("email_verified", "=", 1)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb("authentication_mechanism", "=", "password"),
        exists(
          selectFrom("customer_identities as known")
            .select("known.id")
            .where("known.store_id", "=", through.storeId)
            .where("known.realm_id", "=", through.realmId)
            .whereRef("known.customer_id", "=", "customers.id"),
        ),
      ]),
    )
    .limit(atMost(2))
    .execute();
  return proven.map(({ id }) => id);
}

const createCustomer = (
  trx: Trx,
  deps: { clock: Clock },
  { storeId }: Through,
  { name, emailVerified }: ForeignIdentity,
  email: EmailAddress,
): Promise<Customer> =>
  insertCustomer(trx, deps, storeId, {
    name: name ?? email.shown,
    email,
    emailVerified,
    passwordHash: null,
    externalRef: null,
    authenticationMechanism: "oidc",
  });

async function insertIdentity(
  trx: Trx,
  { clock }: { clock: Clock },
  { id: profileId, storeId, realmId, clientId }: Through,
  { issuer, subject }: ForeignIdentity,
  customerId: string,
): Promise<Happening> {
  const id = newId();
  const createdAt = clock.now();
  const identity = { id, storeId, realmId, profileId, issuer, clientId, subject, customerId, createdAt };
  // The lock above excludes others of this release; the release before, which may run beside it, locks the realm instead, so the
  // unique index decides, and all of it is tried again.
  await insertFiled.later(trx, identity);
  return {
    type: "customer.identity_linked",
    subject: customerId,
    personId: customerId,
    resource: {
      id,
      type: "customer-identity",
      customer_id: customerId,
      realm_id: realmId,
      profile_id: profileId,
      issuer,
      subject,
    },
  };
}

type Filed = Own & { id: string; realmId: string; clientId: string; customerId: string; createdAt: number };

const insertFiled = statement((db, identity: Filed) =>
  db.insertInto("customer_identities").values({
    id: identity.id,
    store_id: identity.storeId,
    realm_id: identity.realmId,
    profile_id: identity.profileId,
    issuer: identity.issuer,
    client_id: identity.clientId,
    subject: identity.subject,
    customer_id: identity.customerId,
    created_at: identity.createdAt,
  }),
);
