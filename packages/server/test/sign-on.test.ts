import { afterEach, beforeEach, expect, test } from "vitest";
import { getCustomer } from "../src/contract/customers.ts";
import { call } from "./support/call.ts";
import { createFederation, type Federation, SHOP } from "./support/federation.ts";

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

test("a shopper signs in at the store's identity provider, and the storefront gets a customer token (seed 4)", async () => {
  const signedOn = await f.signOn();
  expect(signedOn.location.startsWith(`${SHOP}?`)).toBe(true);
  expect(Object.fromEntries(signedOn.returned)).toEqual({
    code: expect.stringMatching(/^lkac_/),
    state: "the storefront's state",
    iss: f.issuer,
  });
  const { body, status } = await f.redeem(signedOn);
  expect(status).toBe(200);
  const customer = await call(f.latchkey.app, getCustomer, {
    token: f.implicit,
    ids: { id: body.data.customer_id },
    headers: { "x-customer-token": body.data.token },
  });
  expect(customer.body.data).toMatchObject({
    name: "Ada Lovelace",
    email: "ada@shop.example",
    email_verified: true,
    password: false,
    authentication_mechanism: "oidc",
  });
  const [record] = await f.records();
  expect(record).toMatchObject({ outcome: "exchanged", customer_id: body.data.customer_id, reason: null });
});
