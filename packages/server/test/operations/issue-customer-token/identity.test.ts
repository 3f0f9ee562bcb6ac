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

describe("who a person is here (T21)", () => {
  type Policy = "allowed" | "api_only" | "disallowed";
  type Holder = "nobody" | "unproven" | "proven";
  /** Policy, who has the address here, whether the provider has verified it; then what comes of it. */
  // biome-ignore format: a table
  const TABLE: [Policy, Holder, boolean, string, string][] = [
    ["allowed",    "nobody",   true,  "new customer",     "provisioning_off"],
    ["allowed",    "unproven", true,  "new customer",     "provisioning_off"],
    ["allowed",    "unproven", false, "new customer",     "provisioning_off"],
    ["allowed",    "proven",   true,  "new customer",     "provisioning_off"],
    ["allowed",    "proven",   false, "new customer",     "provisioning_off"],
    ["api_only",   "nobody",   true,  "new customer",     "provisioning_off"],
    ["api_only",   "unproven", true,  "new customer",     "provisioning_off"],
    ["api_only",   "unproven", false, "new customer",     "provisioning_off"],
    ["api_only",   "proven",   true,  "linked",           "linked"],
    ["api_only",   "proven",   false, "email_unverified", "email_unverified"],
    ["disallowed", "nobody",   true,  "new customer",     "provisioning_off"],
    ["disallowed", "unproven", true,  "new customer",     "provisioning_off"],
    ["disallowed", "unproven", false, "new customer",     "provisioning_off"],
    ["disallowed", "proven",   true,  "email_taken",      "email_taken"],
    ["disallowed", "proven",   false, "email_taken",      "email_taken"],
  ];
  const rows = TABLE.flatMap(([policy, holder, verified, create, existing]) => [
    { policy, holder, verified, provisioning: "create", expected: create },
    { policy, holder, verified, provisioning: "existing", expected: existing },
  ]);

  test.each(rows)(
    "$policy, $provisioning, address here: $holder, verified there: $verified -> $expected (T21, A01, A02)",
    async ({ policy, holder, verified, provisioning, expected }) => {
      const old =
        holder === "nobody" ? undefined : await newCustomer({ email_verified: holder === "proven" });
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
      // Whoever was here before is as before: data, password and session.
      const after = await customers();
      expect(after).toHaveLength(before.length + (expected === "new customer" ? 1 : 0));
      expect(after).toEqual(expect.arrayContaining(before));
      if (session) expect(await isAlive(session)).toBe(true);
    },
  );

  test.each(["disallowed", "api_only"])(
    "%s: whose proven address it is in another store plays no part here (A33)",
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

  test("disallowed: a stranger who registers somebody's address does not keep its owner out", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const json = {
      data: { type: "customer", name: "Mallory", email: ADA.email, password: "my own password" },
    };
    expect((await call(f.latchkey.app, createCustomer, { token: f.implicit, json })).status).toBe(201);
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("disallowed: a customer of the provider who takes on somebody's address does not keep its owner out", async () => {
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

  test("several customers with the proven address: 303 access_denied, several_matches", async () => {
    await newCustomer({ email_verified: true });
    await newCustomer({ email_verified: true, password: undefined });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const signedOn = await f.signOn();
    expect(signedOn.error).toBe("access_denied");
    expect(await f.recordOf(signedOn.reference)).toMatchObject({ reason: "several_matches" });
  });

  test("a new customer's address is as proven as the provider says, and only true is true (N83)", async () => {
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

  test("a subject stays the same customer when its e-mail, name and verification change (A10, R113)", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const first = await f.redeem(await f.signOn());
    await newCustomer({ email: "other@shop.example" });
    f.idp.person = { ...ADA, email: "other@shop.example", email_verified: false, name: "Eve" };
    const second = await f.redeem(await f.signOn());
    expect(second.body.data.customer_id).toBe(first.body.data.customer_id);
    const { body } = await f.store.call(getCustomer, { ids: { id: first.body.data.customer_id } });
    expect(body.data).toMatchObject({ email: EMAIL, name: "Eve", email_verified: true });
  });

  test("subjects that differ in case are two people, and so is one subject of two profiles (N41, A04)", async () => {
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

  test("an attacker who registered the address first gains nothing by it (A03)", async () => {
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

  test("nor one whose own address was proven, and who then changed it to the victim's (A03)", async () => {
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

describe("decided again at the exchange", () => {
  /** What comes of a code that the exchange refuses, and what is left of it. */
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

  test("400 when the e-mail became taken meanwhile, under disallowed (wire 15)", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const signedOn = await f.signOn();
    await newCustomer({ email_verified: true });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("email_taken"));
  });

  test("400 when the profile meanwhile takes nobody new", async () => {
    const signedOn = await f.signOn();
    await changeProfile({ provisioning: "existing" });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("provisioning_off"));
  });

  test("400 when the realm meanwhile has another policy", async () => {
    await newCustomer({ email_verified: true });
    const signedOn = await f.signOn();
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("email_taken"));
  });

  test("200, linked, when somebody has proven the address meanwhile", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const signedOn = await f.signOn();
    const id = await newCustomer({ email_verified: true });
    expect((await f.redeem(signedOn)).body.data.customer_id).toBe(id);
  });

  test("200 for a customer who was deleted meanwhile: a new one, who has nothing of the old", async () => {
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
  ])("400 when the profile was %s meanwhile; other profiles of the realm work (T24, A09)", async (_, end) => {
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

  test("a customer who was linked before is refused as well while the profile is disabled, and again let in", async () => {
    const first = await f.redeem(await f.signOn());
    const [refused, later] = [await f.signOn(), await f.signOn()];
    await changeProfile({ enabled: false });
    expect(outcome(await f.redeem(refused))).toEqual([400, "sign_on_refused"]);
    await changeProfile({ enabled: true });
    expect((await f.redeem(later)).body.data.customer_id).toBe(first.body.data.customer_id);
  });

  test("400 when profile and realm were deleted meanwhile (T24)", async () => {
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

  test("200 when the redirect URI is not registered any more: it was when the sign-on began", async () => {
    const signedOn = await f.signOn();
    await f.changeRealm({ redirect_uris: [] });
    expect((await f.redeem(signedOn)).status).toBe(200);
  });
});
