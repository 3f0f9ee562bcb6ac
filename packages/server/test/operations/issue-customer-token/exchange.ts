import { afterEach, beforeEach } from "vitest";
import { issueCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { createCustomer, getCustomer } from "../../../src/contract/customers.ts";
import { updateProfile } from "../../../src/contract/oidc-profiles.ts";
import type { Database } from "../../../src/storage/storage.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { createFederation, type Federation } from "../../support/federation.ts";
import { watchDatabase } from "../../support/statements.ts";

/** A store with one provider, and its calls of POST /v2/customers/tokens. */

export let f: Federation;

export function exchanges(): void {
  beforeEach(async () => {
    f = await createFederation();
  });
  afterEach(() => f.close());
}

export const PASSWORD = "correct horse";
export const EMAIL = "ada@shop.example";

/** Replaces the federation of the running test by one with other settings. */
export async function withOptions(options: Parameters<typeof createFederation>[0]): Promise<void> {
  await f.close();
  f = await createFederation(options);
}

export const outcome = ({ status, code }: Answer) => [status, code];
export const db = () => f.latchkey.storage.db;
export const attempts = () => db().selectFrom("sign_on_attempts").selectAll().execute();
export const tokens = () => db().selectFrom("customer_tokens").selectAll().execute();
export const customers = () => db().selectFrom("customers").selectAll().orderBy("id").execute();
export const identities = () => db().selectFrom("customer_identities").selectAll().execute();
export const answers = () => db().selectFrom("idempotent_answers").selectAll().execute();

/** The errors of an answer, without the id of the request. */
export const withoutId = ({ body }: Answer) => body.errors.map((error: object) => ({ ...error, id: "" }));

/** True if the customer token of an answer is accepted now. */
export async function isAlive({ body }: Answer): Promise<boolean> {
  const answer = await call(f.latchkey.app, getCustomer, {
    token: await f.store.token("implicit"),
    ids: { id: body.data.customer_id },
    headers: { "x-customer-token": body.data.token },
  });
  return answer.status === 200;
}

export const ask = (data: object, request: Call = {}) =>
  call(f.latchkey.app, issueCustomerToken, {
    token: f.implicit,
    json: { data: { type: "token", ...data } },
    ...request,
  });
export const withPassword = (email = EMAIL, password: unknown = PASSWORD, request: Call = {}) =>
  ask({ email, password }, request);

/** Made by the back office, whose `email_verified` is believed. */
export const newCustomer = async (data: object = {}): Promise<string> => {
  const json = { data: { type: "customer", name: "Ada", email: EMAIL, password: PASSWORD, ...data } };
  return (await f.store.call(createCustomer, { json })).body.data.id;
};
export const changeProfile = (data: object, id = f.profileId) =>
  f.store.call(updateProfile, {
    ids: { realm: f.realmId, id },
    json: { data: { type: "oidc-profile", ...data } },
  });

/** A database whose statement number `statement`, counted from 0, fails; with `forGood`, so do all later ones. */
export function awayAt(of: Database, statement: number, { forGood = false } = {}): Database {
  let seen = 0;
  return watchDatabase(of, () => {
    const isAway = forGood ? seen >= statement : seen === statement;
    seen++;
    if (isAway) throw Object.assign(new Error("gone"), { code: "ECONNRESET" });
  });
}
