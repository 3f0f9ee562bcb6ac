import { describe, expect, test } from "vitest";
import { createCustomer, getCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import { listEvents } from "../../../src/contract/events.ts";
import { checkProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { newPkce, SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { f, ids, movedProvider, signOnCustomer } from "./moved-provider.ts";

/** A sign-on updates the customer's name and e-mail, and the checks of its profile. */

movedProvider();

describe("a customer's name and e-mail", () => {
  const customerOf = async (id: string) => (await f.store.call(getCustomer, { ids: { id } })).body.data;
  const newCustomer = async (data: object) =>
    (await f.store.call(createCustomer, { json: { data: { type: "customer", name: "Other", ...data } } }))
      .body.data.id as string;

  test("follow the provider at each sign-on, with an event of the changes", async () => {
    const id = await signOnCustomer();
    f.idp.person = { ...ADA, name: "Ada King", email: "ada.king@shop.example" };
    expect(await signOnCustomer()).toBe(id);
    expect(await customerOf(id)).toMatchObject({
      name: "Ada King",
      email: "ada.king@shop.example",
      email_verified: true,
    });
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(listEvents, { query: "types=customer.updated" });
    expect(body.data).toHaveLength(1);
    expect(body.data[0].data.changes).toEqual({
      name: { before: "Ada Lovelace", after: "Ada King" },
      email: { before: "ada@shop.example", after: "ada.king@shop.example" },
    });
    await signOnCustomer();
    await f.latchkey.app.tidy();
    expect((await f.store.call(listEvents, { query: "types=customer.updated" })).body.data).toHaveLength(1);
  });

  test("an e-mail in place of a name follows too, until the provider gives a name", async () => {
    f.idp.person = { ...ADA, name: undefined };
    const id = await signOnCustomer();
    expect((await customerOf(id)).name).toBe("ada@shop.example");
    f.idp.person.email = "ada.king@shop.example";
    await signOnCustomer();
    expect((await customerOf(id)).name).toBe("ada.king@shop.example");
    f.idp.person = { ...ADA, name: "Ada King" };
    await signOnCustomer();
    expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: "ada@shop.example" });
    f.idp.person = { ...ADA, name: undefined, email: "ada.king@shop.example" };
    await signOnCustomer();
    expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: "ada.king@shop.example" });
  });

  test("follow the first sign-on only, where the realm says so", async () => {
    await f.changeRealm({ profile_updates: "first" });
    const id = await signOnCustomer();
    f.idp.person = { ...ADA, name: "Ada King", email: "ada.king@shop.example" };
    expect(await signOnCustomer()).toBe(id);
    expect(await customerOf(id)).toMatchObject({ name: "Ada Lovelace", email: "ada@shop.example" });
  });

  test("a verified e-mail is never replaced by an unverified one; a verification is kept", async () => {
    const id = await signOnCustomer();
    f.idp.person = { ...ADA, email: "eve@evil.example", email_verified: false };
    await signOnCustomer();
    expect(await customerOf(id)).toMatchObject({ email: "ada@shop.example", email_verified: true });
    f.idp.person = { ...ADA, email_verified: false };
    await signOnCustomer();
    expect(await customerOf(id)).toMatchObject({ email: "ada@shop.example", email_verified: true });
    f.idp.person = { ...ADA, sub: "unproven", email: "u@shop.example", email_verified: false };
    const other = await signOnCustomer();
    f.idp.person.email_verified = true;
    await signOnCustomer();
    expect(await customerOf(other)).toMatchObject({ email: "u@shop.example", email_verified: true });
  });

  test.each([
    ["allowed", "taken@shop.example"],
    ["api_only", "ada@shop.example"],
    ["disallowed", "ada@shop.example"],
  ])("under %s, another customer's verified e-mail gives %s; the sign-on works", async (policy, left) => {
    const id = await signOnCustomer();
    await newCustomer({ email: "taken@shop.example", password: "a long password", email_verified: true });
    await f.changeRealm({ duplicate_email_policy: policy });
    f.idp.person = { ...ADA, name: "Ada King", email: "taken@shop.example" };
    expect(await signOnCustomer()).toBe(id);
    expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: left });
  });

  test("an e-mail that is verified in another store only, or unverified here, is taken (A03, A33)", async () => {
    const id = await signOnCustomer();
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const data = { type: "customer", name: "Other", email: "theirs@shop.example", email_verified: true };
    await (await f.latchkey.createStore()).call(createCustomer, { json: { data } });
    await newCustomer({ email: "unproven@shop.example", password: "a long password" });
    for (const email of ["theirs@shop.example", "unproven@shop.example"]) {
      f.idp.person = { ...ADA, email };
      expect(await signOnCustomer()).toBe(id);
      expect((await customerOf(id)).email).toBe(email);
    }
  });

  test("two customers with passwords never get the same e-mail", async () => {
    const id = await signOnCustomer();
    const password = { type: "customer", password: "a long password" };
    await f.store.call(updateCustomer, { ids: { id }, json: { data: password } });
    await newCustomer({ email: "taken@shop.example", password: "another password" });
    f.idp.person = { ...ADA, email: "taken@shop.example" };
    expect(await signOnCustomer()).toBe(id);
    expect((await customerOf(id)).email).toBe("ada@shop.example");
  });
});

test("R8 › is met after a direct sign-on without a nonce, not after one with a nonce", async () => {
  const data = {
    type: "oidc-profile",
    flow: "direct",
    client_id: "customers",
    client_secret: "first secret",
  };
  await f.store.call(updateProfile, { ids: ids(), json: { data } });
  f.idp.clientId = "customers";
  const redeem = async (nonce: Record<string, string>) => {
    f.latchkey.clock.advance(1000);
    const pkce = newPkce();
    const asked = new URLSearchParams({
      client_id: "customers",
      redirect_uri: SHOP,
      state: "s",
      code_challenge: pkce.challenge,
      ...nonce,
    });
    const back = f.idp.signIn(`${f.idp.origin}/authorize?${asked}`);
    const code = new URL(back).searchParams.get("code") ?? "";
    const answer = await f.redeem({ code, pkce });
    await f.latchkey.app.tidy();
    const { body } = await f.store.call(checkProfile, { ids: ids() });
    return [answer.status, body.data.checks[7].status];
  };
  expect(await redeem({ nonce: "the storefront's" })).toEqual([200, "unknown"]);
  expect(await redeem({})).toEqual([200, "met"]);
});
