import type { SelectQueryBuilder } from "kysely";
import type { Happening } from "../events/note.ts";
import type { Clock } from "../lib/clock.ts";
import { type EmailAddress, parseEmail } from "../lib/email-address.ts";
import { newId } from "../lib/ids.ts";
import type { Realm } from "../realms/realm.ts";
import { atMost } from "../storage/at-most.ts";
import { hold } from "../storage/hold.ts";
import { statement } from "../storage/statement.ts";
import type { Database, Storage, Trx } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { type Customer, customerHappening, insertCustomer } from "./customer.ts";
import { followProvider } from "./follow-provider.ts";
import { asksForProven, type LinkPolicy, type LinkReason, link, refusesNobody } from "./link.ts";

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
  /** What the provider was called before, with the client that we were there. */
  formerIssuers: readonly { issuer: string; clientId: string }[];
};

/** What a realm decides of it. */
type Rules = Pick<Realm, "duplicateEmailPolicy" | "profileUpdates">;

type Deps = { clock: Clock; storage: Pick<Storage, "engine"> };

/** Why they would be refused now. For telling a shopper at once; the decision that counts is made in `settleIdentity`. */
export async function foreseeRefusal(
  db: Database,
  through: Through,
  realm: Rules,
  identity: ForeignIdentity,
): Promise<LinkReason | undefined> {
  const policy = policyOf(through, realm);
  if (refusesNobody(policy)) return undefined;
  const known = await linkedTo(db, through, identity).select("identity.customer_id").executeTakeFirst();
  const proven = await findProven(db, through, emailOf(identity));
  const decision = link(identity.emailVerified, { linkedTo: known?.customer_id, proven }, policy);
  return decision.action === "refuse" ? decision.reason : undefined;
}

const policyOf = ({ provisioning }: Through, { duplicateEmailPolicy }: Rules): LinkPolicy => ({
  duplicateEmail: duplicateEmailPolicy,
  provisioning,
});

/** `happened`: what the transaction has changed to come to this, for whoever notes it. */
type Settled = { customerId: string; happened: readonly Happening[] };

/** The customer that an identity belongs to, linked or made if need be. */
export async function settleIdentity(
  trx: Trx,
  deps: Deps,
  through: Through,
  realm: Rules,
  identity: ForeignIdentity,
): Promise<Settled | { reason: LinkReason }> {
  const email = emailOf(identity);
  // Locks the identity (against the same person's other tabs) and the address (against another identity with it), so that sign-ons of
  // unrelated people do not wait for each other. Always in this order, so that two of them cannot deadlock. It goes to the server with
  // the question that follows, which so sees what a first sign-on in another tab has committed.
  await hold(trx, deps.storage, [
    `identity ${through.storeId} ${through.id} ${identity.issuer} ${identity.subject}`,
    `email ${through.storeId} ${email.key}`,
  ]);
  const known = await findHeld(trx, deps, through, identity);
  if (known !== undefined) return settleKnown(trx, deps, realm, identity, known);
  const policy = policyOf(through, realm);
  const proven = asksForProven(policy) ? await findProven(trx, through, email) : [];
  const decision = link(identity.emailVerified, { linkedTo: undefined, proven }, policy);
  if (decision.action === "refuse") return { reason: decision.reason };
  // If that customer was deleted a moment ago, the decision is made again, without it.
  const isFound = decision.action !== "create";
  if (isFound && !(await holdCustomer(trx, deps, through.storeId, decision.customerId)))
    return settleIdentity(trx, deps, through, realm, identity);
  const made = isFound ? undefined : await createCustomer(trx, deps, through, identity, email);
  const customerId = isFound ? decision.customerId : (made as Customer).id;
  const linked = await insertIdentity(trx, deps, through, identity, customerId);
  return { customerId, happened: [...(made ? [customerHappening("customer.created", made)] : []), linked] };
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

/**
 * Whom the identity was linked to before. They stay until the transaction ends: on PostgreSQL the row is kept together with
 * whoever else signs in, and whoever deletes it waits; on SQLite there is one transaction at a time.
 */
async function findHeld(
  trx: Trx,
  { storage: { engine } }: Deps,
  through: Through,
  identity: ForeignIdentity,
): Promise<Tables["customers"] | undefined> {
  if (through.formerIds.length > 0 || through.formerIssuers.length > 0)
    return held(linkedTo(trx, through, identity), engine).executeTakeFirst();
  const { storeId, id: profileId } = through;
  const { issuer, subject } = identity;
  return findOwn[engine].first(trx, { storeId, profileId, issuer, subject });
}

type Identities = SelectQueryBuilder<
  Tables & { identity: Tables["customer_identities"] },
  "identity",
  object
>;

function held(identities: Identities, engine: Storage["engine"]) {
  const row = identities
    .innerJoin("customers as customer", (join) =>
      join
        .onRef("customer.store_id", "=", "identity.store_id")
        .onRef("customer.id", "=", "identity.customer_id"),
    )
    .selectAll("customer");
  return engine === "postgres" ? row.forKeyShare("customer") : row;
}

type Own = { storeId: string; profileId: string; issuer: string; subject: string };

const own = (db: Database, { storeId, profileId, issuer, subject }: Own) =>
  db
    .selectFrom("customer_identities as identity")
    .where("identity.store_id", "=", storeId)
    .where("identity.profile_id", "=", profileId)
    .where("identity.issuer", "=", issuer)
    .where("identity.subject", "=", subject);

const findOwn = {
  sqlite: statement((db, of: Own) => held(own(db, of), "sqlite")),
  postgres: statement((db, of: Own) => held(own(db, of), "postgres")),
};

/**
 * Filed under the profile itself, or under one that it has taken over, by the issuer that it has or had; its own comes first. A
 * provider may call a person by another subject for each client, so what was taken over counts for the same client only.
 */
const linkedTo = (db: Database, through: Through, { issuer, subject }: ForeignIdentity) => {
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
    .limit(atMost(1));
};

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

/** Parsed where it came in; a text that is no address can only mean that somebody has changed our database. */
function emailOf({ email }: ForeignIdentity): EmailAddress {
  const parsed = parseEmail(email);
  if (!parsed) throw new Error("an identity has an e-mail that is none");
  return parsed;
}
