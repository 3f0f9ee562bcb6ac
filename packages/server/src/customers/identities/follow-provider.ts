import { changesOf } from "../../events/changes.ts";
import type { EventDraft } from "../../events/note.ts";
import type { Clock } from "../../lib/clock.ts";
import { emailOf } from "../../lib/email-address.ts";
import type { RealmRules } from "../../realms/realm.ts";
import { atMost } from "../../storage/at-most.ts";
import { cameSecond, ifTaken } from "../../storage/failures.ts";
import { hold } from "../../storage/hold.ts";
import { laterThan } from "../../storage/later-than.ts";
import type { Trx } from "../../storage/storage.ts";
import { type CustomerRow, customerOf } from "../customer.ts";
import { customerEvent } from "../events.ts";
import { customerResource } from "../resource.ts";
import type { ForeignIdentity } from "./find-linked.ts";

type Deps = { clock: Clock };

/**
 * Updates name and e-mail of a known customer to the provider's claims. Returns the event, or undefined if nothing has
 * changed.
 */
export async function followProvider(
  trx: Trx,
  deps: Deps,
  realm: RealmRules,
  identity: ForeignIdentity,
  known: CustomerRow,
): Promise<EventDraft | undefined> {
  const changed = await emailAfter(trx, realm, identity, known);
  // settle-identity.ts names a customer without a name claim by the address. Such a name follows the address.
  const standIn = known.name === known.email ? changed.email : undefined;
  const name = identity.name ?? standIn ?? known.name;
  const columns: Partial<CustomerRow> = { ...(name !== known.name && { name }), ...changed };
  if (Object.keys(columns).length === 0) return undefined;
  const row = await trx
    .updateTable("customers")
    .set({ ...columns, updated_at: laterThan("updated_at", deps.clock.now()) })
    .where("store_id", "=", known.store_id)
    .where("id", "=", known.id)
    .where("updated_at", "=", known.updated_at)
    .returningAll()
    .executeTakeFirst()
    // The back office has just given the address to another customer. The next try reads that.
    .catch(ifTaken(cameSecond));
  // The row has changed since it was read, and its address may be verified now. The next try reads the new row.
  if (!row) throw cameSecond(undefined);
  const [before, after] = [customerOf(known), customerOf(row)];
  const changes = changesOf(customerResource(before), customerResource(after));
  return changes && { ...customerEvent("customer.updated", after), changes };
}

/**
 * The columns of the new address, or none: then the customer keeps the old address and is still signed in. A changed
 * address follows the rules of linking:
 *
 *     an unverified address never replaces a verified one
 *     unless the policy is `allowed`, another customer's verified address is not taken
 *     two customers with a password never share an address, because both sign in with it
 *     a customer who was created with a password keeps address and verification, which come from the back office
 */
async function emailAfter(
  trx: Trx,
  { duplicate_email_policy: duplicateEmailPolicy }: RealmRules,
  identity: ForeignIdentity,
  known: CustomerRow,
): Promise<Partial<CustomerRow>> {
  if (known.authentication_mechanism === "password") return {};
  const email = emailOf(identity);
  if (email.key === known.email_key)
    return identity.emailVerified && known.email_verified === 0 ? { email_verified: 1 } : {};
  if (!identity.emailVerified && known.email_verified === 1) return {};
  const keepsApart = duplicateEmailPolicy !== "allowed";
  const hasPassword = known.password_hash !== null;
  if (keepsApart || hasPassword) {
    await hold(trx, [`email ${known.store_id} ${email.key}`]);
    const others = await listOthers(trx, known, email.key);
    const isTaken = others.some(
      (other) => (keepsApart && other.email_verified === 1) || (hasPassword && other.password_hash !== null),
    );
    if (isTaken) return {};
  }
  return { email: email.shown, email_key: email.key, email_verified: identity.emailVerified ? 1 : 0 };
}

/** Other customers whose use of this address can conflict: it is verified, or they sign in with a password. */
const listOthers = (trx: Trx, { store_id, id }: CustomerRow, emailKey: string) =>
  trx
    .selectFrom("customers")
    .select(["email_verified", "password_hash"])
    .where("store_id", "=", store_id)
    .where("email_key", "=", emailKey)
    .where("id", "<>", id)
    .where(({ eb, or }) => or([eb("email_verified", "=", 1), eb("password_hash", "is not", null)]))
    .limit(atMost(100))
    .execute();
