import type { Caller } from "../contract/caller.ts";
import { isBackOffice } from "../contract/permissions.ts";
import { Problem } from "../contract/problem.ts";
import { parseEmail } from "../lib/email-address.ts";
import type { Passwords } from "../passwords/password.ts";
import type { SignInThrottle } from "../passwords/sign-in-throttle.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { type Customer, customerOf } from "./customer.ts";

export type SignInDeps = { storage: Storage; passwords: Passwords; signInThrottle: SignInThrottle };

/**
 * No customer has this key. A malformed address is looked up under it, so that it takes as long as an unknown address.
 */
const NO_EMAIL_KEY = "";

/**
 * The customer with this e-mail and password. An unknown or malformed e-mail, a customer without a password and a wrong
 * password get the same answer after the same work, so the answer does not reveal who is a customer.
 */
export async function signInWithPassword(
  { storage, passwords, signInThrottle }: SignInDeps,
  caller: Caller,
  source: string,
  { email, password }: { email: string; password: string },
  isGone: () => boolean,
): Promise<Customer> {
  const parsed = parseEmail(email);
  const attempt = {
    storeId: caller.storeId,
    emailKey: parsed?.key ?? email.toLowerCase(),
    source,
    isBackOffice: isBackOffice(caller),
  };
  const retryAfterSeconds = await signInThrottle.check(attempt);
  if (retryAfterSeconds !== undefined) throw new Problem("sign_in_attempts_exceeded", { retryAfterSeconds });

  const customer = await checkPassword(parsed?.key ?? NO_EMAIL_KEY).catch(async (error) => {
    await signInThrottle.abandoned(attempt);
    throw error;
  });
  if (!customer) throw new Problem("credentials_wrong");
  await signInThrottle.succeeded(attempt);
  return customer;

  async function checkPassword(emailKey: string): Promise<Customer | undefined> {
    // At most one row: the unique index covers the e-mails of customers with a password.
    const row = await storage.db
      .selectFrom("customers")
      .selectAll()
      .where("store_id", "=", caller.storeId)
      .where("email_key", "=", emailKey)
      .where("password_hash", "is not", null)
      .executeTakeFirst();
    const passwordHash = row?.password_hash ?? null;
    const isRight = await passwords.matches(caller.storeId, passwordHash, password, () => !isGone());
    return row && isRight ? customerOf(row) : undefined;
  }
}

/** Returns false if the password hash has changed since it was checked. Locks the row until the transaction ends. */
export async function holdPassword(trx: Trx, { store_id, id, password_hash }: Customer): Promise<boolean> {
  const row = await trx
    .updateTable("customers")
    .set(({ ref }) => ({ updated_at: ref("updated_at") }))
    .where("store_id", "=", store_id)
    .where("id", "=", id)
    .where("password_hash", "=", password_hash)
    .returning("id")
    .executeTakeFirst();
  return row !== undefined;
}
