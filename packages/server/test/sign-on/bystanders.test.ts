import type { ServerResponse } from "node:http";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createCustomer, getCustomer } from "../../src/contract/customers.ts";
import {
  approveDrift,
  checkProfile,
  createProfile,
  getProfile,
  updateProfile,
} from "../../src/contract/oidc-profiles.ts";
import { createRealm, updateAuthenticationSettings } from "../../src/contract/realms.ts";
import { authorize, backchannelLogout } from "../../src/contract/sign-on.ts";
import { call } from "../support/call.ts";
import { createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";
import { until } from "../support/until.ts";

/** Sign-ons do not touch other realms, stores or customers; strangers with forged codes do not disturb shoppers. */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const customerOf = async (parameters: Record<string, string> = {}) =>
  (await f.redeem(await f.signOn({ parameters }))).body.data.customer_id;

/** Adds a realm at the same provider, and returns a sign-on there that gives the id of the customer. */
async function newOtherRealm(settings: object = {}): Promise<() => Promise<string>> {
  const made = await f.store.call(createRealm, {
    json: { data: { type: "authentication-realm", name: "Lax", redirect_uris: [SHOP], ...settings } },
  });
  const realm = made.body.data.id;
  const data = {
    type: "oidc-profile",
    name: "Lax",
    discovery_url: f.idp.discoveryUrl,
    client_id: f.idp.clientId,
    client_secret: "s",
  };
  const profile = await f.store.call(createProfile, { ids: { realm }, json: { data } });
  return async () => {
    const pkce = newPkce();
    const query = new URLSearchParams(
      f.parameters({ profile: profile.body.data.id, code_challenge: pkce.challenge }),
    );
    const ids = { store: f.store.store.id, realm };
    const begun = await call(f.latchkey.app, authorize, { ids, query: query.toString() });
    const browser = { cookie: /=([^;]+)/.exec(begun.headers.get("set-cookie") ?? "")?.[1] };
    const back = f.idp.signIn(begun.headers.get("location") ?? "");
    const { headers } = await f.comeBack(browser, back);
    const code = new URL(headers.get("location") ?? "").searchParams.get("code") ?? "";
    return (await f.redeem({ code, pkce })).body.data.customer_id;
  };
}

describe("an e-mail that a provider of another realm calls verified", () => {
  test("links no customer: the back office and providers of the same realm are believed (A02, A03)", async () => {
    const attacker = await (await newOtherRealm())();
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    expect(await customerOf()).not.toBe(attacker);
  });

  test("changes no customer with a password: the back office's e-mail and verification stay", async () => {
    const email = "mallory@shop.example";
    const data = {
      type: "customer",
      name: "Mallory",
      email,
      email_verified: true,
      password: "mallory's own",
    };
    const mallory = (await f.store.call(createCustomer, { json: { data } })).body.data.id;
    const customerOfLax = await newOtherRealm({ duplicate_email_policy: "api_only" });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const victim = f.idp.person;
    f.idp.person = { ...victim, sub: "mallory", email };
    expect(await customerOfLax()).toBe(mallory);
    f.idp.person = { ...victim, sub: "mallory", name: "M.", email_verified: true };
    expect(await customerOfLax()).toBe(mallory);
    const { body } = await f.store.call(getCustomer, { ids: { id: mallory } });
    expect(body.data).toMatchObject({ name: "M.", email, email_verified: true });
    f.idp.person = victim;
    expect(await customerOf()).not.toBe(mallory);
  });

  test("links a customer when the provider belongs to the same realm", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const first = await customerOf();
    const second = await f.addProfile({ name: "Second" });
    expect(await customerOf({ profile: second })).toBe(first);
  });
});

describe("a provider that is down", () => {
  const isDead = (_: unknown, response: ServerResponse) => void response.writeHead(503).end();
  const check = async (id: string) => f.store.call(checkProfile, { ids: { realm: f.realmId, id } });

  test("gets requests again for a shopper after five seconds", async () => {
    await f.signOn();
    f.idp.hooks.answer = { "/.well-known/openid-configuration": isDead };
    for (let failures = 0; failures < 5; failures++) await check(f.profileId);
    f.idp.hooks.answer = {};
    expect((await f.signOn()).error).toBe("temporarily_unavailable");
    f.latchkey.clock.advance(5000);
    expect((await f.signOn()).error).toBe("temporarily_unavailable");
    await until(async () => (await f.signOn()).code !== "");
  });

  test("is not probed for a disabled profile", async () => {
    f.idp.hooks.answer = { "/dead/.well-known/openid-configuration": isDead };
    const discovery_url = `${f.idp.origin}/dead/.well-known/openid-configuration`;
    const dead = await f.addProfile({ name: "Dead", enabled: false, discovery_url });
    await check(dead);
    const asked = () => f.idp.asked("/dead/.well-known/openid-configuration");
    const before = asked();
    for (let round = 0; round < 20; round++) {
      f.latchkey.clock.advance(1000);
      await f.latchkey.app.tidy();
    }
    expect(asked()).toBe(before);
  });
});

test("forged codes leave at most 21 records; a signed ID token always leaves one (A76)", async () => {
  for (let i = 0; i < 60; i++) {
    const browser = { cookie: undefined };
    const begun = await f.begin(browser);
    const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? "";
    await f.comeBack(browser, `${f.callbackUrl}?${new URLSearchParams({ code: `made-up-${i}`, state })}`);
  }
  expect((await f.records()).length).toBeLessThanOrEqual(21);
  f.idp.hooks.claims = (claims) => ({ ...claims, aud: "stranger" });
  const { reference } = await f.signOn();
  expect((await f.recordOf(reference)).reason).toBe("id_token.aud");
});

describe("a forged logout token leaves the next sign-on its own read of new keys (T42)", () => {
  /** A token of the provider with the signature of another token. */
  const withWrongSignature = (): string => {
    const [header, payload] = f.idp.signToken({ iss: f.idp.issuer }).split(".");
    return `${header}.${payload}.${f.idp.signToken({}).split(".")[2]}`;
  };

  test.each<[string, () => string]>([
    ["names an unknown key", () => f.idp.signToken({ iss: f.idp.issuer }, { kid: "unknown" })],
    ["names a current key", withWrongSignature],
    [
      "names a former key",
      () => {
        const forged = withWrongSignature();
        f.idp.rotateKey();
        return forged;
      },
    ],
  ])("when the token %s", async (_, forge) => {
    await f.signOn();
    f.latchkey.clock.advance(20_000);
    const ids = { store: f.store.store.id, realm: f.realmId, profile: f.profileId };
    await call(f.latchkey.app, backchannelLogout, { ids, form: { logout_token: forge() } });
    f.idp.rotateKey();
    expect((await f.signOn()).code).not.toBe("");
  });
});

test("a sign-on › 303 access_denied when the profile was moved to another provider during the sign-on (R79)", async () => {
  const browser = { cookie: undefined };
  const begun = await f.begin(browser);
  const back = f.idp.signIn(begun.headers.get("location") ?? "");
  f.idp.issuer = `${f.idp.origin}/`;
  await f.store.call(updateProfile, {
    ids: { realm: f.realmId, id: f.profileId },
    json: { data: { type: "oidc-profile", discovery_url: f.idp.origin, client_secret: "s" } },
  });
  const asked = f.idp.asked("/token");
  const { headers } = await f.comeBack(browser, back);
  expect(headers.get("location")).toContain("error=access_denied");
  expect(f.idp.asked("/token")).toBe(asked);
});

test("a sign-on › 303 interaction_required for prompt=none without a profile, when the realm has several", async () => {
  await f.addProfile({ name: "Second" });
  const answer = await f.begin({ cookie: undefined }, { profile: undefined, prompt: "none" });
  expect(answer.headers.get("location")).toContain("error=interaction_required");
});

test("only the back office sees the identities of deleted profiles", async () => {
  const ids = { realm: f.realmId, id: f.profileId };
  expect((await f.store.call(getProfile, { ids })).body.data.meta).toHaveProperty("adoptable");
  const public_ = await call(f.latchkey.app, getProfile, { ids, token: f.implicit });
  expect(public_.body.data.meta).not.toHaveProperty("adoptable");
});

test("a profile › 422 for the direct flow when the provider does not list PKCE: the verifier would not be checked", async () => {
  await f.store.call(updateAuthenticationSettings, {
    json: { data: { type: "customer-authentication-settings", client_id: f.idp.clientId } },
  });
  f.idp.hooks.discovery = ({ code_challenge_methods_supported: _, ...document }) => document;
  const data = {
    type: "oidc-profile",
    name: "Direct",
    flow: "direct",
    discovery_url: f.idp.discoveryUrl,
    client_id: f.idp.clientId,
    client_secret: "s",
  };
  const made = await f.store.call(createProfile, { ids: { realm: f.realmId }, json: { data } });
  expect([made.status, made.code]).toEqual([422, "direct_pkce_missing"]);
  f.idp.hooks = {};
  await f.store.call(updateProfile, {
    ids: { realm: f.realmId, id: f.profileId },
    json: { data: { type: "oidc-profile", enabled: false } },
  });
  const direct = await f.store.call(createProfile, { ids: { realm: f.realmId }, json: { data } });
  expect(direct.status).toBe(201);
  const ids = { realm: f.realmId, id: direct.body.data.id };
  const change = (members: object) =>
    f.store.call(updateProfile, { ids, json: { data: { type: "oidc-profile", ...members } } });

  // The changed document is found when the profile is enabled again.
  f.idp.hooks.discovery = ({ code_challenge_methods_supported: _, ...document }) => ({
    ...document,
    issuer: `${f.idp.origin}/`,
  });
  await change({ enabled: false });
  const { body } = await change({ enabled: true });
  const json = { data: { digest: body.data.meta.pending_change.digest } };
  expect((await f.store.call(approveDrift, { ids, json })).code).toBe("direct_pkce_missing");
  f.idp.hooks.discovery = ({ code_challenge_methods_supported: _, ...document }) => document;
  await change({ enabled: false });
  expect((await change({ enabled: true })).code).toBe("direct_pkce_missing");
});

test("the identity of an attempt is deleted when its code expires", async () => {
  await f.signOn();
  f.latchkey.clock.advance(61_000);
  await f.latchkey.app.tidy();
  const rows = await f.latchkey.storage.db.selectFrom("sign_on_attempts").select("identity").execute();
  expect(rows).toEqual([{ identity: null }]);
});

test("a chore that fails does not stop the others", async () => {
  await f.signOn();
  f.latchkey.clock.advance(2 * 3_600_000);
  await f.latchkey.storage.db.schema.dropTable("idempotent_answers").execute();
  await f.latchkey.app.tidy();
  const failures = f.latchkey.logLines.filter(({ event }) => event === "tidy_failed");
  expect(failures.map(({ chore }) => chore)).toEqual(["answers"]);
  expect(await f.latchkey.storage.db.selectFrom("sign_on_attempts").selectAll().execute()).toEqual([]);
});

test("a customer whose e-mail the back office has verified is linked in every realm with api_only", async () => {
  const made = await f.store.call(createCustomer, {
    json: { data: { type: "customer", name: "Ada", email: "ada@shop.example", email_verified: true } },
  });
  await f.changeRealm({ duplicate_email_policy: "api_only" });
  expect(await customerOf()).toBe(made.body.data.id);
});

test("a name that looks like an e-mail is never matched with an e-mail (A07)", async () => {
  await f.store.call(createCustomer, {
    json: {
      data: { type: "customer", name: "ada@shop.example", email: "eve@evil.example", email_verified: true },
    },
  });
  await f.changeRealm({ duplicate_email_policy: "disallowed" });
  expect((await f.signOn()).code).not.toBe("");
});

test("a sealed state that a storefront sends as its own state is not opened (A35)", async () => {
  const first = await f.begin({ cookie: undefined });
  const sealed = new URL(first.headers.get("location") ?? "").searchParams.get("state") ?? "";
  const browser = { cookie: undefined };
  const second = await f.begin(browser, { state: sealed });
  const { searchParams } = new URL(second.headers.get("location") ?? "");
  expect(searchParams.get("state")).not.toBe(sealed);
  const back = f.idp.signIn(second.headers.get("location") ?? "");
  const { headers } = await f.comeBack(browser, back);
  expect(new URL(headers.get("location") ?? "").searchParams.get("state")).toBe(sealed);
});
