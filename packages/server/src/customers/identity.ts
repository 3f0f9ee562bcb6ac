import type { Clock } from "../lib/clock.ts";
import { parseEmail } from "../lib/email-address.ts";
import { newId } from "../lib/ids.ts";
import { findRealm, type Realm } from "../realms/realm.ts";
import { hold } from "../storage/hold.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import { insertCustomer } from "./customer.ts";
import { type Decision, type Known, type LinkReason, link } from "./link.ts";

/** What an identity provider has said of a person, and through which profile. */
type ForeignIdentity = {
  issuer: string;
  subject: string;
  email: string;
  emailVerified: boolean;
  name: string | null;
};

/** The profile that it came through, as far as it matters who a person is. */
type Through = {
  id: string;
  storeId: string;
  realmId: string;
  clientId: string;
  provisioning: "create" | "existing";
  /** Deleted profiles whose identities count as this one's. */
  formerIds: readonly string[];
};

type Deps = { clock: Clock; storage: Pick<Storage, "engine"> };

/** What would be decided now. For telling a shopper at once; the decision that counts is made in `settleIdentity`. */
export async function foreseeIdentity(
  db: Database,
  through: Through,
  realm: Realm,
  identity: ForeignIdentity,
): Promise<Decision> {
  const known = await readKnown(db, through, identity);
  return link(identity.emailVerified, known, {
    duplicateEmail: realm.duplicateEmailPolicy,
    provisioning: through.provisioning,
  });
}

/** The customer that an identity belongs to, linked or made if need be. A realm that is gone has nobody. */
export async function settleIdentity(
  trx: Trx,
  deps: Deps,
  through: Through,
  identity: ForeignIdentity,
): Promise<{ customerId: string } | { reason: LinkReason | "profile_disabled" }> {
  const known = await findHeld(trx, deps, through, identity);
  if (known !== undefined) return { customerId: known };
  // What is shared is the identity, with this person's other tabs, and the address, with whoever else has it: nobody waits
  // for a stranger. Identity before address, here as everywhere.
  await hold(trx, deps.storage, [
    `identity ${through.storeId} ${through.id} ${identity.issuer} ${identity.subject}`,
    `email ${through.storeId} ${emailOf(identity).key}`,
  ]);
  const realm = await findRealm(trx, through.storeId, through.realmId);
  if (!realm) return { reason: "profile_disabled" };
  // Asked again, now that nobody else decides: a first sign-on in another tab may have been quicker.
  const quicker = await findHeld(trx, deps, through, identity);
  if (quicker !== undefined) return { customerId: quicker };
  const decision = await foreseeIdentity(trx, through, realm, identity);
  if (decision.action === "refuse") return { reason: decision.reason };
  const isFound = decision.action !== "create";
  // Deleted a moment ago: then it is somebody new.
  if (isFound && !(await holdCustomer(trx, deps, through.storeId, decision.customerId)))
    return settleIdentity(trx, deps, through, identity);
  if (decision.action === "sign_in") return { customerId: decision.customerId };
  const customerId =
    decision.action === "link" ? decision.customerId : await createCustomer(trx, deps, through, identity);
  await insertIdentity(trx, deps, through, identity, customerId);
  return { customerId };
}

/**
 * Whom the identity was linked to before. They stay until the transaction ends: on PostgreSQL the row is kept together with
 * whoever else signs in, and whoever deletes it waits; on SQLite there is one transaction at a time.
 */
async function findHeld(
  trx: Trx,
  { storage }: Deps,
  through: Through,
  identity: ForeignIdentity,
): Promise<string | undefined> {
  const row = linked(trx, through, identity)
    .innerJoin("customers as customer", (join) =>
      join
        .onRef("customer.store_id", "=", "identity.store_id")
        .onRef("customer.id", "=", "identity.customer_id"),
    )
    .select("customer.id");
  const held = storage.engine === "postgres" ? row.forKeyShare("customer") : row;
  return (await held.executeTakeFirst())?.id;
}

/**
 * Filed under the profile itself, or under one that it has taken over; its own comes first. A provider may call a person by
 * another subject for each client, so what was taken over counts for the same client only.
 */
const linked = (db: Database, through: Through, { issuer, subject }: ForeignIdentity) =>
  db
    .selectFrom("customer_identities as identity")
    .where("identity.store_id", "=", through.storeId)
    .where("identity.profile_id", "in", [through.id, ...through.formerIds])
    .where(({ eb, or }) =>
      or([eb("identity.profile_id", "=", through.id), eb("identity.client_id", "=", through.clientId)]),
    )
    .where("identity.issuer", "=", issuer)
    .where("identity.subject", "=", subject)
    .orderBy(({ eb }) => eb.case().when("identity.profile_id", "=", through.id).then(0).else(1).end())
    .limit(1);

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

async function readKnown(db: Database, through: Through, identity: ForeignIdentity): Promise<Known> {
  // Proven by the back office, or by a provider of this realm: what one of another realm says was never believed here.
  const proven = await db
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", through.storeId)
    .where("email_key", "=", emailOf(identity).key)
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
    .limit(2)
    .execute();
  const known = await linked(db, through, identity).select("identity.customer_id").executeTakeFirst();
  return { linkedTo: known?.customer_id, proven: proven.map(({ id }) => id) };
}

const createCustomer = async (
  trx: Trx,
  deps: { clock: Clock },
  through: Through,
  identity: ForeignIdentity,
): Promise<string> => {
  const email = emailOf(identity);
  const { id } = await insertCustomer(trx, deps, through.storeId, {
    name: identity.name ?? email.shown,
    email,
    emailVerified: identity.emailVerified,
    passwordHash: null,
    externalRef: null,
    authenticationMechanism: "oidc",
  });
  return id;
};

async function insertIdentity(
  trx: Trx,
  { clock }: { clock: Clock },
  through: Through,
  { issuer, subject }: ForeignIdentity,
  customerId: string,
): Promise<void> {
  await trx
    .insertInto("customer_identities")
    .values({
      id: newId(),
      store_id: through.storeId,
      realm_id: through.realmId,
      profile_id: through.id,
      issuer,
      client_id: through.clientId,
      subject,
      customer_id: customerId,
      created_at: clock.now(),
    })
    .execute();
}

/** Parsed where it came in; a text that is no address can only mean that somebody has changed our database. */
function emailOf({ email }: ForeignIdentity) {
  const parsed = parseEmail(email);
  if (!parsed) throw new Error("an identity has an e-mail that is none");
  return parsed;
}
