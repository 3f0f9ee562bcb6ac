import { describe, expect, test } from "vitest";
import { createCustomer, getCustomer, updateCustomer } from "../../../src/contract/customers.ts";
import { deleteProfile } from "../../../src/contract/oidc-profiles.ts";
import { createRealm, deleteRealm, updateAuthenticationSettings } from "../../../src/contract/realms.ts";
import { call } from "../../support/call.ts";
import { newPkce, type SignedOn } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import {
  changeProfile,
  customers,
  db,
  EMAIL,
  exchanges,
  f,
  identities,
  isAlive,
  newCustomer,
  outcome,
  PASSWORD,
  tokens,
  withPassword,
} from "./exchange.ts";

/** The customer that a person becomes, decided at the callback and again at the exchange. */

exchanges();

describe("the customer of a person (T21)", () => {
  type Policy = "allowed" | "api_only" | "disallowed";
  type Holder = "none" | "unverified" | "verified";
  /** Policy, customer with this e-mail, verified by the provider; then the result with each provisioning. */
  // biome-ignore format: a table
  const TABLE: [Policy, Holder, boolean, string, string][] = [
    ["allowed",    "none",       true,  "new customer",     "provisioning_off"],
    ["allowed",    "unverified", true,  "new customer",     "provisioning_off"],
    ["allowed",    "unverified", false, "new customer",     "provisioning_off"],
    ["allowed",    "verified",   true,  "new customer",     "provisioning_off"],
    ["allowed",    "verified",   false, "new customer",     "provisioning_off"],
    ["api_only",   "none",       true,  "new customer",     "provisioning_off"],
    ["api_only",   "unverified", true,  "new customer",     "provisioning_off"],
    ["api_only",   "unverified", false, "new customer",     "provisioning_off"],
    ["api_only",   "verified",   true,  "linked",           "linked"],
    ["api_only",   "verified",   false, "email_unverified", "email_unverified"],
    ["disallowed", "none",       true,  "new customer",     "provisioning_off"],
    ["disallowed", "unverified", true,  "new customer",     "provisioning_off"],
    ["disallowed", "unverified", false, "new customer",     "provisioning_off"],
    ["disallowed", "verified",   true,  "email_taken",      "email_taken"],
    ["disallowed", "verified",   false, "email_taken",      "email_taken"],
  ];
  const rows = TABLE.flatMap(([policy, holder, verified, create, existing]) => [
    { policy, holder, verified, provisioning: "create", expected: create },
    { policy, holder, verified, provisioning: "existing", expected: existing },
  ]);

  test.each(rows)(
    "$policy, $provisioning, customer with this e-mail: $holder, verified by the provider: $verified -> $expected (T21, A01, A02)",
    async ({ policy, holder, verified, provisioning, expected }) => {
      const old =
        holder === "none" ? undefined : await newCustomer({ email_verified: holder === "verified" });
      const session = old === undefined ? undefined : await withPassword();
      const before = await customers();
      await f.changeRealm({ duplicate_email_policy: policy });
      await changeProfile({ provisioning });
      f.idp.person = { ...ADA, email: "ADA@Shop.Example", email_verified: verified };

      const signedOn = await f.signOn();
      if (expected === "new customer" || expected === "linked") {
        const { status, body } = await f.redeem(signedOn);
        expect(status).toBe(200);
        expect(body.data.customer_id === old).toBe(expected === "linked");
        expect(await identities()).toMatchObject([{ customer_id: body.data.customer_id }]);
        expect(await f.records()).toMatchObject([
          { outcome: "exchanged", customer_id: body.data.customer_id },
        ]);
      } else {
        expect([signedOn.error, signedOn.code]).toEqual(["access_denied", ""]);
        expect(signedOn.returned.get("state")).toBe("the storefront's state");
        expect(await f.recordOf(signedOn.reference)).toMatchObject({ outcome: "failed", reason: expected });
        expect(await identities()).toEqual([]);
      }
      // Customers of before keep their data, their password and their session.
      const after = await customers();
      expect(after).toHaveLength(before.length + (expected === "new customer" ? 1 : 0));
      expect(after).toEqual(expect.arrayContaining(before));
      if (session) expect(await isAlive(session)).toBe(true);
    },
  );

  test.each(["disallowed", "api_only"])(
    "%s: a verified e-mail in another store is ignored (A33)",
    async (duplicate_email_policy) => {
      const other = await f.latchkey.createStore();
      const data = { type: "customer", name: "Ada", email: ADA.email, password: PASSWORD };
      await other.call(createCustomer, { json: { data: { ...data, email_verified: true } } });
      await f.changeRealm({ duplicate_email_policy });
      const { status, body } = await f.redeem(await f.signOn());
      expect(status).toBe(200);
      const ids = { id: body.data.customer_id };
      expect((await f.store.call(getCustomer, { ids })).status).toBe(200);
    },
  );

  test("disallowed: a stranger who registers an address does not keep its owner out", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const json = {
      data: { type: "customer", name: "Mallory", email: ADA.email, password: "my own password" },
    };
    expect((await call(f.latchkey.app, createCustomer, { token: f.implicit, json })).status).toBe(201);
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("disallowed: a customer who changes to another person's address does not keep its owner out", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    f.idp.person = { ...ADA, sub: "mallory", email: "mallory@shop.example" };
    const mallory = (await f.redeem(await f.signOn())).body.data;
    const renamed = await call(f.latchkey.app, updateCustomer, {
      token: f.implicit,
      ids: { id: mallory.customer_id },
      headers: { "x-customer-token": mallory.token },
      json: { data: { type: "customer", email: ADA.email } },
    });
    expect(renamed.status).toBe(200);
    f.idp.person = { ...ADA };
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("303 several_matches when several customers have the verified e-mail", async () => {
    await newCustomer({ email_verified: true });
    await newCustomer({ email_verified: true, password: undefined });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const signedOn = await f.signOn();
    expect(signedOn.error).toBe("access_denied");
    expect(await f.recordOf(signedOn.reference)).toMatchObject({ reason: "several_matches" });
  });

  test("a new customer's e-mail is verified only if the provider's claim is true (N83)", async () => {
    for (const [index, verified] of [true, false, "true", 1, null, undefined].entries()) {
      f.idp.person = { ...ADA, sub: `s${index}`, email: `s${index}@shop.example`, email_verified: verified };
      await f.redeem(await f.signOn());
    }
    const proven = (await customers()).map(({ email, email_verified }) => [email, email_verified]);
    expect(proven.sort()).toEqual([
      ["s0@shop.example", 1],
      ["s1@shop.example", 0],
      ["s2@shop.example", 0],
      ["s3@shop.example", 0],
      ["s4@shop.example", 0],
      ["s5@shop.example", 0],
    ]);
  });

  test("the same subject stays the same customer with another e-mail, name and verification (A10, R113)", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const first = await f.redeem(await f.signOn());
    await newCustomer({ email: "other@shop.example" });
    f.idp.person = { ...ADA, email: "other@shop.example", email_verified: false, name: "Eve" };
    const second = await f.redeem(await f.signOn());
    expect(second.body.data.customer_id).toBe(first.body.data.customer_id);
    const { body } = await f.store.call(getCustomer, { ids: { id: first.body.data.customer_id } });
    expect(body.data).toMatchObject({ email: EMAIL, name: "Eve", email_verified: true });
  });

  test("subjects that differ in case, and one subject of two profiles, are different customers (N41, A04)", async () => {
    const made = new Set<string>();
    for (const sub of ["subject", "Subject", "subject "]) {
      f.idp.person = { ...ADA, sub };
      made.add((await f.redeem(await f.signOn())).body.data.customer_id);
    }
    f.idp.person = { ...ADA };
    const profile = await f.addProfile({ name: "The same provider again" });
    made.add((await f.redeem(await f.signOn({ parameters: { profile } }))).body.data.customer_id);
    expect(made.size).toBe(4);
  });

  test("an attacker who registered the address first is not linked (A03)", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const registered = await call(f.latchkey.app, createCustomer, {
      token: f.implicit,
      json: {
        data: { type: "customer", name: "Eve", email: EMAIL, password: PASSWORD, email_verified: true },
      },
    });
    const attacker = await withPassword();
    const victim = await f.redeem(await f.signOn());
    expect(victim.body.data.customer_id).not.toBe(registered.body.data.id);
    for (const session of [attacker, await withPassword()]) {
      expect(session.body.data.customer_id).toBe(registered.body.data.id);
      const peek = await call(f.latchkey.app, getCustomer, {
        token: f.implicit,
        ids: { id: victim.body.data.customer_id },
        headers: { "x-customer-token": session.body.data.token },
      });
      expect(peek.status).toBe(404);
    }
  });

  test("an attacker who changes a verified address to the victim's is not linked (A03)", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    f.idp.person = { ...ADA, sub: "attacker", email: "eve@shop.example" };
    const attacker = await f.redeem(await f.signOn());
    const id = attacker.body.data.customer_id;
    const changed = await call(f.latchkey.app, updateCustomer, {
      token: f.implicit,
      ids: { id },
      headers: { "x-customer-token": attacker.body.data.token },
      json: { data: { type: "customer", email: EMAIL, email_verified: true } },
    });
    expect(changed.body.data).toMatchObject({ email: EMAIL, email_verified: false });
    f.idp.person = { ...ADA };
    expect((await f.redeem(await f.signOn())).body.data.customer_id).not.toBe(id);
  });
});

describe("the decision at the exchange, after the one at the callback", () => {
  /** Redeems a code that is refused, and collects the answer, the record, the rows and the answer to a second use. */
  async function redeemInVain(signedOn: SignedOn) {
    const answer = await f.redeem(signedOn);
    const { reason, reference } = answer.body.errors[0].meta;
    const record = await f.recordOf(reference);
    return {
      answer: [...outcome(answer), reason],
      record: [record.outcome, record.reason],
      left: [await tokens(), await identities()],
      again: outcome(await f.redeem(signedOn)),
    };
  }
  const refusedFor = (reason: string) => ({
    answer: [400, "sign_on_refused", reason],
    record: ["failed", reason],
    left: [[], []],
    again: [400, "code_invalid"],
  });

  test("400 when the e-mail was taken since the callback, under disallowed (wire 15)", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const signedOn = await f.signOn();
    await newCustomer({ email_verified: true });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("email_taken"));
  });

  test("400 when the profile was set to existing customers only", async () => {
    const signedOn = await f.signOn();
    await changeProfile({ provisioning: "existing" });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("provisioning_off"));
  });

  test("400 when the realm's policy was changed", async () => {
    await newCustomer({ email_verified: true });
    const signedOn = await f.signOn();
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("email_taken"));
  });

  test("200 and linked when a customer's e-mail was verified since the callback", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const signedOn = await f.signOn();
    const id = await newCustomer({ email_verified: true });
    expect((await f.redeem(signedOn)).body.data.customer_id).toBe(id);
  });

  test("200 with a new customer when the old one was deleted", async () => {
    const first = await f.redeem(await f.signOn());
    const signedOn = await f.signOn();
    await db().deleteFrom("customers").where("id", "=", first.body.data.customer_id).execute();
    const second = await f.redeem(signedOn);
    expect(second.status).toBe(200);
    expect(second.body.data.customer_id).not.toBe(first.body.data.customer_id);
    expect(await isAlive(first)).toBe(false);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["disabled", () => changeProfile({ enabled: false })],
    ["deleted", () => f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } })],
  ])("400 when the profile was %s; other profiles of the realm work (T24, A09)", async (_, end) => {
    const profile = await f.addProfile({ name: "Another" });
    const signedOn = await f.signOn();
    await end();
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("profile_disabled"));
    const other = await f.signOn({ parameters: { profile } });
    expect((await f.redeem(other)).status).toBe(200);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["disabled", () => changeProfile({ enabled: false })],
    ["deleted", () => f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } })],
  ])("303 access_denied when the profile was %s before the callback (T24, A09)", async (_, end) => {
    const [browser, pkce] = [{ cookie: undefined }, newPkce()];
    const begun = await f.begin(browser, { code_challenge: pkce.challenge });
    const back = f.idp.signIn(begun.headers.get("location") ?? "");
    await end();
    const { headers } = await f.comeBack(browser, back);
    const returned = new URL(headers.get("location") ?? "").searchParams;
    expect([returned.get("error"), returned.get("code")]).toEqual(["access_denied", null]);
    expect(f.idp.asked("/token")).toBe(0);
  });

  test("400 for a linked customer while the profile is disabled, 200 when it is enabled again", async () => {
    const first = await f.redeem(await f.signOn());
    const [refused, later] = [await f.signOn(), await f.signOn()];
    await changeProfile({ enabled: false });
    expect(outcome(await f.redeem(refused))).toEqual([400, "sign_on_refused"]);
    await changeProfile({ enabled: true });
    expect((await f.redeem(later)).body.data.customer_id).toBe(first.body.data.customer_id);
  });

  test("400 when profile and realm were deleted (T24)", async () => {
    const signedOn = await f.signOn();
    const realm = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "Another" } },
    });
    await f.store.call(updateAuthenticationSettings, {
      json: { data: { type: "customer-authentication-settings", realm_id: realm.body.data.id } },
    });
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
    expect((await f.store.call(deleteRealm, { ids: { id: f.realmId } })).status).toBe(204);
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("profile_disabled"));
  });

  test("200 when the redirect URI was removed after the callback", async () => {
    const signedOn = await f.signOn();
    await f.changeRealm({ redirect_uris: [] });
    expect((await f.redeem(signedOn)).status).toBe(200);
  });
});
