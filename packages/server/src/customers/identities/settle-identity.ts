import type { EventDraft } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { type EmailAddress, emailOf } from "../../lib/email-address.ts";
import { newId } from "../../lib/ids.ts";
import type { RealmRules } from "../../realms/realm.ts";
import { atMost } from "../../storage/at-most.ts";
import { forKeyShare } from "../../storage/engine.ts";
import { insertWholeRows } from "../../storage/insert-rows.ts";
import type { Database, Trx } from "../../storage/storage.ts";
import type { Tables } from "../../storage/tables.ts";
import { customerRow, insertCustomer } from "../customer.ts";
import { customerEvent } from "../events.ts";
import { asksForProven, type LinkPolicy, type LinkReason, link, refusesNobody } from "./decide-link.ts";
import { type ForeignIdentity, findFormer, type LinkingProfile, linkedTo } from "./find-linked.ts";
import { followProvider } from "./follow-provider.ts";

type Deps = { clock: Clock };

export const findLinkedCustomerId = async (
  db: Database,
  through: LinkingProfile,
  identity: ForeignIdentity,
): Promise<string | undefined> =>
  (await linkedTo(db, through, identity).select("identity.customer_id").executeTakeFirst())?.customer_id;

/**
 * The reason why a sign-on would be refused now, so that the callback can show it at once. `settleIdentity` makes the
 * final decision.
 */
export async function foreseeRefusal(
  db: Database,
  through: LinkingProfile,
  realm: RealmRules,
  identity: ForeignIdentity,
): Promise<LinkReason | undefined> {
  const policy = policyOf(through, realm);
  if (refusesNobody(policy)) return undefined;
  const linkedCustomerId = await findLinkedCustomerId(db, through, identity);
  const proven = await findProven(db, through, emailOf(identity));
  const decision = link(identity.emailVerified, { linkedTo: linkedCustomerId, proven }, policy);
  return decision.action === "refuse" ? decision.reason : undefined;
}

const policyOf = ({ provisioning }: LinkingProfile, realm: RealmRules): LinkPolicy => ({
  duplicateEmail: realm.duplicate_email_policy,
  provisioning,
});

/** `happened`: the events of the changes, which `issueToken` writes. */
type SettledIdentity = { customerId: string; happened: readonly EventDraft[] };

/**
 * Finds the customer of an identity, or links or creates one. `linked` is the result of `findLinked` in the same
 * transaction.
 */
export async function settleIdentity(
  trx: Trx,
  deps: Deps,
  place: { profile: LinkingProfile; realm: RealmRules; wasErased: boolean },
  identity: ForeignIdentity,
  linked: Tables["customers"] | undefined,
): Promise<SettledIdentity | { reason: LinkReason | "person_erased" }> {
  const { profile: through, realm } = place;
  const email = emailOf(identity);
  const known = linked ?? (await findFormer(trx, through, identity));
  if (known !== undefined) {
    const follows = realm.profile_updates === "always";
    const changed = follows && (await followProvider(trx, deps, realm, identity, known));
    return { customerId: known.id, happened: changed ? [changed] : [] };
  }
  // A sign-on that began before an erasure must not create the person again. One that begins afterwards can.
  if (place.wasErased) return { reason: "person_erased" };
  const policy = policyOf(through, realm);
  const proven = asksForProven(policy) ? await findProven(trx, through, email) : [];
  const decision = link(identity.emailVerified, { linkedTo: undefined, proven }, policy);
  if (decision.action === "refuse") return { reason: decision.reason };
  if (decision.action === "create") {
    const made = await createCustomer(trx, deps, through, identity, email);
    const added = await insertIdentity(trx, deps, through, identity, made.id);
    return { customerId: made.id, happened: [customerEvent("customer.created", made), added] };
  }
  const { customerId } = decision;
  // If that customer has just been deleted, decides again without that customer.
  if (!(await holdCustomer(trx, through.store_id, customerId)))
    return settleIdentity(trx, deps, place, identity, undefined);
  return { customerId, happened: [await insertIdentity(trx, deps, through, identity, customerId)] };
}

/** Locks the row of the customer until the commit. Returns false if the row is gone. */
async function holdCustomer(trx: Trx, storeId: string, customerId: string): Promise<boolean> {
  const row = customerRow(trx, { storeId, customerId }).select("id");
  return (await forKeyShare(trx, row).executeTakeFirst()) !== undefined;
}

/**
 * Customers whose address the back office or a provider of this realm has verified. Providers of other realms are not
 * trusted here.
 */
async function findProven(db: Database, through: LinkingProfile, email: EmailAddress): Promise<string[]> {
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
  deps: Deps,
  { store_id }: LinkingProfile,
  { name, emailVerified }: ForeignIdentity,
  email: EmailAddress,
) =>
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
  { clock }: Deps,
  { id: profile_id, store_id, realm_id, client_id }: LinkingProfile,
  { issuer, subject }: ForeignIdentity,
  customerId: string,
): Promise<EventDraft> {
  const id = newId();
  const shown = { id, customer_id: customerId, realm_id, profile_id, issuer, subject };
  // `findLinked` locks out other sign-ons of this release. The previous release, which can run beside this one, locks
  // the realm instead. So the unique index decides, and `transact` runs the transaction again.
  await insertIdentities(trx, [{ ...shown, store_id, client_id, created_at: clock.now() }]);
  return {
    type: "customer.identity_linked",
    subject: customerId,
    personId: customerId,
    resource: { type: "customer-identity", ...shown },
  };
}

const insertIdentities = insertWholeRows("customer_identities", { isLater: true });
