import type { EventDraft } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { type EmailAddress, emailOf } from "../../lib/email-address.ts";
import { newId } from "../../lib/ids.ts";
import type { Realm } from "../../realms/realm.ts";
import { atMost } from "../../storage/at-most.ts";
import { statement } from "../../storage/statement.ts";
import type { Database, Storage, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { type Customer, insertCustomer } from "../customer.ts";
import { customerEvent } from "../events.ts";
import { asksForProven, type LinkPolicy, type LinkReason, link, refusesNobody } from "./decide-link.ts";
import {
  type ForeignIdentity,
  findFormer,
  type Held,
  linkedTo,
  type Own,
  type Through,
} from "./find-linked.ts";
import { followProvider } from "./follow-provider.ts";

/** What a realm decides of it. */
type Rules = Pick<Realm, "duplicate_email_policy" | "profile_updates">;

type Deps = { clock: Clock; storage: Pick<Storage, "engine"> };

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

const policyOf = (
  { provisioning }: Through,
  { duplicate_email_policy: duplicateEmailPolicy }: Rules,
): LinkPolicy => ({
  duplicateEmail: duplicateEmailPolicy,
  provisioning,
});

/** `happened`: what the transaction has changed to come to this, for whoever notes it. */
type Settled = { customerId: string; happened: readonly EventDraft[] };

/** The customer that an identity which was held belongs to, linked or made if need be. */
export async function settleIdentity(
  trx: Trx,
  deps: Deps,
  place: { profile: Through; realm: Rules; wasErased: boolean },
  identity: ForeignIdentity,
  held: Held,
): Promise<Settled | { reason: LinkReason | "person_erased" }> {
  const { profile: through, realm } = place;
  const email = emailOf(identity);
  const known = (await held.row) ?? (await findFormer(trx, deps, through, identity));
  if (known !== undefined) return settleKnown(trx, deps, realm, identity, known);
  // A sign-on from before an erasure must not make the person anew; one that begins afterwards may.
  if (place.wasErased) return { reason: "person_erased" };
  const policy = policyOf(through, realm);
  const proven = asksForProven(policy) ? await findProven(trx, through, email) : [];
  const decision = link(identity.emailVerified, { linkedTo: undefined, proven }, policy);
  if (decision.action === "refuse") return { reason: decision.reason };
  // If that customer was deleted a moment ago, the decision is made again, without it.
  const isFound = decision.action !== "create";
  if (isFound && !(await holdCustomer(trx, deps, through.store_id, decision.customerId)))
    return settleIdentity(trx, deps, place, identity, held);
  const made = isFound ? undefined : await createCustomer(trx, deps, through, identity, email);
  const customerId = isFound ? decision.customerId : (made as Customer).id;
  const linked = await insertIdentity(trx, deps, through, identity, customerId);
  return { customerId, happened: [...(made ? [customerEvent("customer.created", made)] : []), linked] };
}

async function settleKnown(
  trx: Trx,
  deps: Deps,
  realm: Rules,
  identity: ForeignIdentity,
  known: Tables["customers"],
): Promise<Settled> {
  const changed =
    realm.profile_updates === "always" && (await followProvider(trx, deps, realm, identity, known));
  return { customerId: known.id, happened: changed ? [changed] : [] };
}

/** Whether the customer is still there, and stays. */
async function holdCustomer(
  trx: Trx,
  { storage }: Deps,
  storeId: string,
  customerId: string,
): Promise<boolean> {
  const row = trx
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", storeId)
    .where("id", "=", customerId);
  const held = storage.engine === "postgres" ? row.forKeyShare() : row;
  return (await held.executeTakeFirst()) !== undefined;
}

/** Proven by the back office, or by a provider of this realm: what one of another realm says was never believed here. */
async function findProven(db: Database, through: Through, email: EmailAddress): Promise<string[]> {
  const proven = await db
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", through.store_id)
    .where("email_key", "=", email.key)
    .where("email_verified", "=", 1)
    .where(({ eb, or, exists, selectFrom }) =>
      or([
        eb("authentication_mechanism", "=", "password"),
        exists(
          selectFrom("customer_identities as known")
            .select("known.id")
            .where("known.store_id", "=", through.store_id)
            .where("known.realm_id", "=", through.realm_id)
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
  { store_id }: Through,
  { name, emailVerified }: ForeignIdentity,
  email: EmailAddress,
): Promise<Customer> =>
  insertCustomer(trx, deps, {
    store_id,
    name: name ?? email.shown,
    email: email.shown,
    email_key: email.key,
    email_verified: emailVerified ? 1 : 0,
    password_hash: null,
    external_ref: null,
    authentication_mechanism: "oidc",
  });

async function insertIdentity(
  trx: Trx,
  { clock }: { clock: Clock },
  { id: profileId, store_id: storeId, realm_id: realmId, client_id: clientId }: Through,
  { issuer, subject }: ForeignIdentity,
  customerId: string,
): Promise<EventDraft> {
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
