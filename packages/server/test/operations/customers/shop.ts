import { afterAll, beforeAll } from "vitest";
import type { Caller } from "../../../src/contract/caller.ts";
import { issueCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { createCustomer, getCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import { newId } from "../../../src/lib/ids.ts";
import { createTestApp, type TestApp, type TestStore } from "../../support/app.ts";
import { call } from "../../support/call.ts";

/** Two stores without a provider, and customers made through the API. */

export let latchkey: TestApp;
export let store: TestStore;
export let other: TestStore;
export let implicit: string;

export function shops(): void {
  beforeAll(async () => {
    latchkey = await createTestApp();
    store = await latchkey.createStore(10_000);
    other = await latchkey.createStore(10_000);
    implicit = await store.token("implicit");
  });
  afterAll(() => latchkey.close());
}

export const UNKNOWN = "01890000-0000-7000-8000-000000000000";
export const PASSWORD = "correct horse";

/** High limits: attacks/public-sign-up.test.ts tests the limits of public sign-ups. */
export const signUpLimitsOf = async () => ({ sign_ups_per_network: 1000, sign_ups_per_hour: 1000 });

export let made = 0;
export const newEmail = (): string => `customer-${++made}@shop.example`;

export const create = (data: object = {}, by = store) =>
  by.call(createCustomer, { json: { data: { type: "customer", name: "Ada", email: newEmail(), ...data } } });
export const createPublicly = (data: object) =>
  call(latchkey.app, createCustomer, {
    token: implicit,
    json: { data: { type: "customer", name: "Ada", ...data } },
  });
export const update = (id: string, data: object) =>
  store.call(updateCustomer, { ids: { id }, json: { data: { type: "customer", ...data } } });
export const read = async (id: string) => (await store.call(getCustomer, { ids: { id } })).body.data;

/** Signs a customer in, and returns a function that calls with the customer's token. */
export async function signIn(email: string, password = PASSWORD) {
  const json = { data: { type: "token", email, password } };
  const { body } = await call(latchkey.app, issueCustomerToken, { token: implicit, json });
  const headers = { "x-customer-token": body.data.token };
  return (operation: Parameters<typeof call>[1], id: string, data?: object) =>
    call(latchkey.app, operation, {
      token: implicit,
      headers,
      ids: { id },
      ...(data && { json: { data: { type: "customer", ...data } } }),
    });
}

/** A caller as the gate makes it: for tests of the functions without HTTP. */
export const callerOf = (customer?: { customerId: string; tokenId: string }): Caller => ({
  storeId: store.store.id,
  holder: {
    type: "application_key",
    id: store.key.id,
    name: "First key",
    clientId: store.key.clientId,
  },
  requestId: store.key.id,
  grant: customer ? "implicit" : "client_credentials",
  role: customer ? null : "administrator",
  ...(customer && { customer: { ...customer, realmId: newId(), mechanism: "password" } }),
});

export async function insertToken(customerId: string): Promise<string> {
  const id = newId();
  const nothing = { profile_id: null, profile_name: null, subject: null, idp_session: null };
  const times = { created_at: latchkey.clock.now(), expires_at: latchkey.clock.now() + 1000 };
  const row = {
    id,
    store_id: store.store.id,
    customer_id: customerId,
    mechanism: "password",
    ...nothing,
    ...times,
  };
  await latchkey.storage.db.insertInto("customer_tokens").values(row).execute();
  return id;
}

export async function tokensOf(customerId: string): Promise<string[]> {
  const query = latchkey.storage.db.selectFrom("customer_tokens").select("id").orderBy("id");
  return (await query.where("customer_id", "=", customerId).execute()).map(({ id }) => id);
}
