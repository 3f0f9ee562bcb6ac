import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Caller } from "../contract/caller.ts";
import { limits } from "../contract/limits.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import { byCaller } from "../events/event.ts";
import { type Happening, noteEvents } from "../events/note.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import type { EmailAddress } from "../lib/email-address.ts";
import type { Passwords } from "../passwords/password.ts";
import { atMost } from "../storage/at-most.ts";
import { forChange } from "../storage/engine.ts";
import { isUniqueViolation } from "../storage/failures.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import {
  type Customer,
  customerHappening,
  findCustomer,
  fromRow,
  insertCustomer,
  refuseOthers,
} from "./customer.ts";
import type { PublicWrites } from "./public-writes.ts";
import { presentMembers } from "./resource.ts";
import { tokenHappening } from "./tokens/customer-token.ts";
import { BY_AGE, thinOutForRevocation } from "./tokens/revoke-many-tokens.ts";
import { thinOutTokens } from "./tokens/thin-out-tokens.ts";

type Deps = { storage: Storage; clock: Clock; passwords: Passwords };
type ByCallerDeps = Deps & { publicWrites: PublicWrites };

export type CustomerChange = {
  name?: string | undefined;
  email?: EmailAddress | undefined;
  password?: string | undefined;
  externalRef?: string | null | undefined;
  emailVerified?: boolean | undefined;
};

export type NewCustomer = CustomerChange & { name: string; email: EmailAddress };

/** Whoever has the store's public token can sign up: `source` is where from. The back office creates as many as it likes. */
export async function createCustomer(
  deps: ByCallerDeps,
  caller: Caller,
  source: string,
  given: NewCustomer,
): Promise<Customer> {
  if (isBackOffice(caller)) return writeNew(deps, caller, given);
  refuseLongReference(given);
  return deps.publicWrites.signUp({ storeId: caller.storeId, source }, () => writeNew(deps, caller, given));
}

async function writeNew(deps: Deps, caller: Caller, given: NewCustomer): Promise<Customer> {
  const passwordHash = (await hashOf(deps, caller, given)) ?? null;
  return refuseTakenEmail(deps, async (trx) => {
    const customer = await insertCustomer(trx, deps, caller.storeId, {
      name: given.name,
      email: given.email,
      // With a public token anybody could claim any address.
      emailVerified: isBackOffice(caller) && given.emailVerified === true,
      passwordHash,
      externalRef: given.externalRef ?? null,
      authenticationMechanism: "password",
    });
    await noteEvents(trx, deps, byCaller(caller), [customerHappening("customer.created", customer)]);
    return customer;
  });
}

/**
 * A new password ends the customer's other sessions: whoever knew the old one may have started them. `basedOn`: the versions that the
 * caller has seen; a customer who has another address since must not be called proven by somebody who looked at the old one.
 */
export async function updateCustomer(
  deps: ByCallerDeps,
  caller: Caller,
  customerId: string,
  change: CustomerChange,
  basedOn?: readonly string[],
): Promise<Customer> {
  refuseOthers(caller, customerId);
  if (isBackOffice(caller)) return writeChange(deps, caller, customerId, change, basedOn);
  refuseLongReference(change);
  const { storeId } = caller;
  return deps.publicWrites.change({ storeId, customerId }, () =>
    writeChange(deps, caller, customerId, change, basedOn),
  );
}

/** A row, its event and an index repeat the reference: a stranger's is short. */
function refuseLongReference({ externalRef }: CustomerChange): void {
  if ((externalRef ?? "").length <= limits.publicExternalRefLength) return;
  throw new Problem("member_invalid", {
    detail: `Without a back-office token a reference has at most ${limits.publicExternalRefLength} characters.`,
    source: { pointer: "/data/external_ref" },
  });
}

async function writeChange(
  deps: Deps,
  caller: Caller,
  customerId: string,
  change: CustomerChange,
  basedOn: readonly string[] | undefined,
): Promise<Customer> {
  if (change.password !== undefined) await refuseOwnPassword(deps, caller, customerId);
  const passwordHash = await hashOf(deps, caller, change);
  if (passwordHash !== undefined) await thinOutOtherSessions(deps, caller, customerId, change, basedOn);
  return refuseTakenEmail(deps, async (trx) => {
    const rows = trx
      .selectFrom("customers")
      .selectAll()
      .where("store_id", "=", caller.storeId)
      .where("id", "=", customerId);
    const before = await forChange(trx, rows).executeTakeFirst();
    if (before && basedOn && !basedOn.includes(toIso(before.updated_at)))
      throw new Problem("customer_changed");
    const row = await trx
      .updateTable("customers")
      .set({
        ...(change.name !== undefined && { name: change.name }),
        ...(change.email && { email: change.email.shown, email_key: change.email.key }),
        ...(change.externalRef !== undefined && { external_ref: change.externalRef }),
        ...(passwordHash !== undefined && { password_hash: passwordHash }),
        ...emailVerifiedAfter(caller, change),
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("store_id", "=", caller.storeId)
      .where("id", "=", customerId)
      .returningAll()
      .executeTakeFirst();
    if (!before || !row) throw new Problem("customer_not_found");
    const isNewPassword = passwordHash !== undefined;
    const ended = isNewPassword ? await endOtherSessions(trx, caller, customerId) : [];
    const [was, is] = [fromRow(before), fromRow(row)];
    const secrets = isNewPassword ? ["password"] : [];
    const changes = changesOf(presentMembers(was), presentMembers(is), secrets);
    const updated = changes && { ...customerHappening("customer.updated", is), changes };
    await noteEvents(trx, deps, byCaller(caller), [...(updated ? [updated] : []), ...ended]);
    return is;
  });
}

/**
 * Whom a provider signs in stays with the provider: a first password set with a token of theirs would outlive the session
 * that it came from. Looked at before the transaction, because how a customer came to be never changes.
 */
async function refuseOwnPassword({ storage }: Deps, caller: Caller, customerId: string): Promise<void> {
  if (isBackOffice(caller)) return;
  const customer = await findCustomer(storage.db, caller.storeId, customerId);
  const isFirst = customer?.passwordHash === null && caller.customer?.mechanism === "oidc";
  if (customer?.authenticationMechanism !== "oidc" && !isFirst) return;
  throw new Problem("password_by_back_office_only", { source: { pointer: "/data/password" } });
}

/** Customer tokens and identities are deleted with the row, by their foreign keys. */
export async function deleteCustomer(
  deps: Pick<Deps, "storage" | "clock">,
  caller: Caller,
  customerId: string,
): Promise<undefined> {
  refuseOthers(caller, customerId);
  await thinOutTokens(deps, { storeId: caller.storeId, customerId });
  await deps.storage.transact(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("customers")
      .where("store_id", "=", caller.storeId)
      .where("id", "=", customerId)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new Problem("customer_not_found");
    const resource = { type: "customer", id: customerId };
    const deleted = { type: "customer.deleted", subject: customerId, resource } as const;
    await noteEvents(trx, deps, byCaller(caller), [deleted]);
  });
}

/** Called before a transaction is opened: hashing takes long, and on SQLite all other writes would wait for that transaction. */
const hashOf = async (
  { passwords }: Deps,
  { storeId }: Caller,
  { password }: CustomerChange,
): Promise<string | undefined> => (password === undefined ? undefined : passwords.hash(storeId, password));

/** The unique index decides which of two requests gets the e-mail: a check before the insert could not. */
async function refuseTakenEmail<T>({ storage }: Deps, work: (trx: Trx) => Promise<T>): Promise<T> {
  try {
    return await storage.transact(work);
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new Problem("email_taken", { source: { pointer: "/data/email" } });
  }
}

/** A new e-mail is unverified until it is proven; the same one in another case keeps its state. Only the back office may set it itself. */
function emailVerifiedAfter(
  caller: Caller,
  { email, emailVerified }: CustomerChange,
): { email_verified?: number | RawBuilder<number> } {
  if (isBackOffice(caller) && emailVerified !== undefined) return { email_verified: emailVerified ? 1 : 0 };
  if (!email) return {};
  return { email_verified: sql<number>`case when email_key = ${email.key} then email_verified else 0 end` };
}

/** Only where nothing is to be seen that the change would be refused for: else it ends no session. */
async function thinOutOtherSessions(
  deps: Deps,
  caller: Caller,
  customerId: string,
  { email }: CustomerChange,
  basedOn: readonly string[] | undefined,
): Promise<void> {
  const { db } = deps.storage;
  const customer = await findCustomer(db, caller.storeId, customerId);
  if (!customer || (basedOn && !basedOn.includes(toIso(customer.updatedAt)))) return;
  const taken = await db
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", caller.storeId)
    .where("email_key", "=", email?.key ?? customer.emailKey)
    .where("password_hash", "is not", null)
    .where("id", "<>", customerId)
    .limit(atMost(1))
    .executeTakeFirst();
  if (taken) return;
  const others = { where: isOtherSession(caller, customerId), along: BY_AGE };
  await thinOutForRevocation(deps, byCaller(caller), others);
}

const isOtherSession = ({ customer }: Caller, customerId: string): RawBuilder<SqlBool> =>
  customer
    ? sql`customer_id = ${customerId} and id <> ${customer.tokenId}`
    : sql`customer_id = ${customerId}`;

async function endOtherSessions(trx: Trx, caller: Caller, customerId: string): Promise<Happening[]> {
  const ended = await trx
    .deleteFrom("customer_tokens")
    .where("store_id", "=", caller.storeId)
    .where(isOtherSession(caller, customerId))
    .returningAll()
    .execute();
  return ended.map((token) => tokenHappening("customer_token.revoked", token));
}
