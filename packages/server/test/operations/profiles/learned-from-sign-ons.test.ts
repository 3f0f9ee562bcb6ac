import { describe, expect, test } from "vitest";
import { createCustomer, getCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import { listEvents } from "../../../src/contract/events.ts";
import { checkProfile, updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { newPkce, SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import { f, ids, movedProvider, signedOn } from "./moved-provider.ts";

/** A sign-on updates the customer's name and e-mail, and the checks of its profile. */

movedProvider();

describe("name and e-mail follow the provider", () => {
  const customerOf = async (id: string) => (await f.store.call(getCustomer, { ids: { id } })).body.data;
  const newCustomer = async (data: object) =>
    (await f.store.call(createCustomer, { json: { data: { type: "customer", name: "Other", ...data } } }))
      .body.data.id as string;

  test("at each sign-on, and an event says what was changed", async () => {
    const id = await signedOn();
    f.idp.person = { ...ADA, name: "Ada King", email: "ada.king@shop.example" };
    expect(await signedOn()).toBe(id);
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
    await signedOn();
    await f.latchkey.app.tidy();
    expect((await f.store.call(listEvents, { query: "types=customer.updated" })).body.data).toHaveLength(1);
  });

  test("and an address that stands in for a name goes with the new one, until there is a name", async () => {
    f.idp.person = { ...ADA, name: undefined };
    const id = await signedOn();
    expect((await customerOf(id)).name).toBe("ada@shop.example");
    f.idp.person.email = "ada.king@shop.example";
    await signedOn();
    expect((await customerOf(id)).name).toBe("ada.king@shop.example");
    f.idp.person = { ...ADA, name: "Ada King" };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: "ada@shop.example" });
    f.idp.person = { ...ADA, name: undefined, email: "ada.king@shop.example" };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: "ada.king@shop.example" });
  });

  test("at the first alone where the realm says so", async () => {
    await f.changeRealm({ profile_updates: "first" });
    const id = await signedOn();
    f.idp.person = { ...ADA, name: "Ada King", email: "ada.king@shop.example" };
    expect(await signedOn()).toBe(id);
    expect(await customerOf(id)).toMatchObject({ name: "Ada Lovelace", email: "ada@shop.example" });
  });

  test("but no address that nobody has proven takes the place of one that was; a proof of the same one is noted, and stays", async () => {
    const id = await signedOn();
    f.idp.person = { ...ADA, email: "eve@evil.example", email_verified: false };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ email: "ada@shop.example", email_verified: true });
    f.idp.person = { ...ADA, email_verified: false };
    await signedOn();
    expect(await customerOf(id)).toMatchObject({ email: "ada@shop.example", email_verified: true });
    f.idp.person = { ...ADA, sub: "unproven", email: "u@shop.example", email_verified: false };
    const other = await signedOn();
    f.idp.person.email_verified = true;
    await signedOn();
    expect(await customerOf(other)).toMatchObject({ email: "u@shop.example", email_verified: true });
  });

  test.each([
    ["allowed", "taken@shop.example"],
    ["api_only", "ada@shop.example"],
    ["disallowed", "ada@shop.example"],
  ])(
    "under %s, an address that is another customer's proven one leaves %s; the sign-on works",
    async (policy, left) => {
      const id = await signedOn();
      await newCustomer({ email: "taken@shop.example", password: "a long password", email_verified: true });
      await f.changeRealm({ duplicate_email_policy: policy });
      f.idp.person = { ...ADA, name: "Ada King", email: "taken@shop.example" };
      expect(await signedOn()).toBe(id);
      expect(await customerOf(id)).toMatchObject({ name: "Ada King", email: left });
    },
  );

  test("an address that is proven in another store alone, or here by nobody, is free to be taken on (A03, A33)", async () => {
    const id = await signedOn();
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const data = { type: "customer", name: "Other", email: "theirs@shop.example", email_verified: true };
    await (await f.latchkey.createStore()).call(createCustomer, { json: { data } });
    await newCustomer({ email: "unproven@shop.example", password: "a long password" });
    for (const email of ["theirs@shop.example", "unproven@shop.example"]) {
      f.idp.person = { ...ADA, email };
      expect(await signedOn()).toBe(id);
      expect((await customerOf(id)).email).toBe(email);
    }
  });

  test("two who sign in with a password never come to share an address", async () => {
    const id = await signedOn();
    const password = { type: "customer", password: "a long password" };
    await f.store.call(updateCustomer, { ids: { id }, json: { data: password } });
    await newCustomer({ email: "taken@shop.example", password: "another password" });
    f.idp.person = { ...ADA, email: "taken@shop.example" };
    expect(await signedOn()).toBe(id);
    expect((await customerOf(id)).email).toBe("ada@shop.example");
  });
});

test("R8 is met when a direct sign-on came without a nonce, and not when it came with one", async () => {
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
