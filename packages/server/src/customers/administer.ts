import { sql } from "kysely";
import type { Caller } from "../contract/caller.ts";
import { limits } from "../contract/limits.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import { changesOf } from "../events/changes.ts";
import { byCaller } from "../events/event.ts";
import { noteEvents } from "../events/note.ts";
import { type Clock, toIso } from "../lib/clock.ts";
import { given } from "../lib/given.ts";
import type { Passwords } from "../passwords/password.ts";
import { atMost } from "../storage/at-most.ts";
import { forChange } from "../storage/engine.ts";
import { ifTaken } from "../storage/failures.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import {
  type Customer,
  customerOf,
  customerRow,
  findCustomer,
  insertCustomer,
  refuseOthers,
} from "./customer.ts";
import { customerEvent } from "./events.ts";
import type { PublicWrites } from "./public-write-limits.ts";
import {
  type CustomerChange,
  customerAnswer,
  customerResource,
  type NewCustomer,
  toColumns,
} from "./resource.ts";
import { endTokens, thinOutForRevocation, thinOutTokens, tokensOf } from "./tokens/revoke-tokens.ts";

type Deps = { storage: Storage; clock: Clock; passwords: Passwords };
type CustomerDeps = Deps & { publicUrl: string; publicWrites: PublicWrites };

/**
 * With a public token, the sign-up counts for its network, which `source` names, and for its store. The back office has
 * no such limit.
 */
export async function createCustomer(deps: CustomerDeps, caller: Caller, source: string, data: NewCustomer) {
  const create = async () => customerAnswer(deps, await writeNew(deps, caller, data));
  if (isBackOffice(caller)) return create();
  refuseLongReference(data);
  return deps.publicWrites.signUp({ storeId: caller.storeId, source }, create);
}

async function writeNew(deps: Deps, caller: Caller, data: NewCustomer): Promise<Customer> {
  const { name, email, external_ref = null, email_verified } = data;
  const password_hash = (await hashOf(deps, caller, data)) ?? null;
  const insert = async (trx: Trx) => {
    const customer = await insertCustomer(trx, deps, {
      store_id: caller.storeId,
      name,
      email: email.shown,
      email_key: email.key,
      // A public token proves nothing about the address.
      email_verified: isBackOffice(caller) && email_verified ? 1 : 0,
      password_hash,
      external_ref,
      authentication_mechanism: "password",
    });
    await noteEvents(trx, deps, byCaller(caller), [customerEvent("customer.created", customer)]);
    return customer;
  };
  return deps.storage.transact(insert).catch(refuseTakenEmail);
}

/**
 * A new password ends the customer's other sessions, because someone who knew the old password may have started them.
 * `basedOn`: the versions that the caller has read, from `If-Match`.
 */
export async function updateCustomer(
  deps: CustomerDeps,
  caller: Caller,
  customerId: string,
  data: CustomerChange,
  basedOn?: readonly string[],
) {
  refuseOthers(caller, customerId);
  const change = async () => customerAnswer(deps, await writeChange(deps, caller, customerId, data, basedOn));
  if (isBackOffice(caller)) return change();
  refuseLongReference(data);
  return deps.publicWrites.change({ storeId: caller.storeId, customerId }, change);
}

/** The row, its event and an index each contain the reference, so without a back-office token it must be short. */
function refuseLongReference({ external_ref }: CustomerChange): void {
  if ((external_ref ?? "").length <= limits.publicExternalRefLength) return;
  throw new Problem("member_invalid", {
    detail: `Without a back-office token a reference has at most ${limits.publicExternalRefLength} characters.`,
    source: { pointer: "/data/external_ref" },
  });
}

async function writeChange(
  deps: Deps,
  caller: Caller,
  customerId: string,
  data: CustomerChange,
  basedOn: readonly string[] | undefined,
): Promise<Customer> {
  if (data.password !== undefined) await refuseOwnPassword(deps, caller, customerId);
  const password_hash = await hashOf(deps, caller, data);
  const isNewPassword = password_hash !== undefined;
  if (isNewPassword) await thinOutOtherSessions(deps, caller, customerId, data, basedOn);
  const change = async (trx: Trx) => {
    const rows = customerRow(trx, { storeId: caller.storeId, customerId }).selectAll();
    const before = await forChange(trx, rows).executeTakeFirst();
    if (!before) throw new Problem("customer_not_found");
    if (basedOn && !basedOn.includes(toIso(before.updated_at))) throw new Problem("customer_changed");
    const row = await trx
      .updateTable("customers")
      .set({
        ...toColumns(data),
        ...given({ password_hash, email_verified: emailVerifiedAfter(caller, data) }),
        updated_at: laterThan("updated_at", deps.clock.now()),
      })
      .where("store_id", "=", caller.storeId)
      .where("id", "=", customerId)
      .returningAll()
      .executeTakeFirstOrThrow();
    const others = otherSessions(caller, customerId).where;
    const ended = isNewPassword ? await endTokens(trx, caller.storeId, others) : [];
    const [was, is] = [customerOf(before), customerOf(row)];
    const secrets = isNewPassword ? ["password"] : [];
    const changes = changesOf(customerResource(was), customerResource(is), secrets);
    const updated = changes && { ...customerEvent("customer.updated", is), changes };
    await noteEvents(trx, deps, byCaller(caller), [...(updated ? [updated] : []), ...ended]);
    return is;
  };
  return deps.storage.transact(change).catch(refuseTakenEmail);
}

/**
 * With a customer token, a customer of an identity provider cannot set a password, and no customer can set a first
 * password in a session that came through a provider: the password would outlive that session. Read before the
 * transaction, because `authentication_mechanism` never changes.
 */
async function refuseOwnPassword({ storage }: Deps, caller: Caller, customerId: string): Promise<void> {
  if (isBackOffice(caller)) return;
  const customer = await findCustomer(storage.db, caller.storeId, customerId);
  const isFirst = customer?.password_hash === null && caller.customer?.mechanism === "oidc";
  if (customer?.authentication_mechanism !== "oidc" && !isFirst) return;
  throw new Problem("password_by_back_office_only", { source: { pointer: "/data/password" } });
}

/** The foreign keys delete the customer tokens and the identities with the row. */
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

/** Call it before the transaction: hashing takes 20 ms or more, and on SQLite all other writes would wait. */
const hashOf = async ({ passwords }: Deps, { storeId }: Caller, { password }: CustomerChange) =>
  password === undefined ? undefined : passwords.hash(storeId, password);

/** The unique index decides which of two requests gets the e-mail. A check before the insert could not decide that. */
const refuseTakenEmail = ifTaken(() => new Problem("email_taken", { source: { pointer: "/data/email" } }));

/**
 * The back office can set it. Otherwise a new e-mail is unverified, unless only its spelling has changed. Undefined:
 * leaves it unchanged.
 */
function emailVerifiedAfter(caller: Caller, { email, email_verified }: CustomerChange) {
  if (isBackOffice(caller) && email_verified !== undefined) return email_verified ? 1 : 0;
  return email && sql<number>`case when email_key = ${email.key} then email_verified else 0 end`;
}

/**
 * Ends sessions before the transaction of the change, but none if the customer as it is now shows that the change will
 * be refused.
 */
async function thinOutOtherSessions(
  deps: Deps,
  caller: Caller,
  customerId: string,
  { email }: CustomerChange,
  basedOn: readonly string[] | undefined,
): Promise<void> {
  const { db } = deps.storage;
  const customer = await findCustomer(db, caller.storeId, customerId);
  if (!customer || (basedOn && !basedOn.includes(toIso(customer.updated_at)))) return;
  const taken = await db
    .selectFrom("customers")
    .select("id")
    .where("store_id", "=", caller.storeId)
    .where("email_key", "=", email?.key ?? customer.email_key)
    .where("password_hash", "is not", null)
    .where("id", "<>", customerId)
    .limit(atMost(1))
    .executeTakeFirst();
  if (taken) return;
  await thinOutForRevocation(deps, byCaller(caller), otherSessions(caller, customerId));
}

const otherSessions = ({ customer }: Caller, customerId: string) => tokensOf(customerId, customer?.tokenId);
