import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { introspectToken } from "../../src/contract/access-tokens.ts";
import { listCustomerTokens, revokeCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createCustomer, getCustomer, updateCustomer } from "../../src/contract/customers.ts";
import {
  checkProfile,
  createProfile,
  deleteProfile,
  getProfile,
  updateProfile,
} from "../../src/contract/oidc-profiles.ts";
import { createRealm } from "../../src/contract/realms.ts";
import { newId } from "../../src/lib/ids.ts";
import type { Tables } from "../../src/storage/tables.ts";
import { call } from "../support/call.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { ADA, startHostileIdp } from "../support/hostile-idp.ts";

/** Requirements that only sign-ons show, and the identities and tokens of a deleted profile. */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const idsOf = (id: string) => ({ realm: f.realmId, id });

async function statuses(): Promise<Record<string, string>> {
  await f.latchkey.app.tidy();
  const { body } = await f.store.call(checkProfile, { ids: idsOf(f.profileId) });
  return Object.fromEntries(
    body.data.checks.map(({ id, status }: { id: string; status: string }) => [id, status]),
  );
}

describe("a requirement that only a sign-on can show", () => {
  test("is unknown before the first sign-on, and met after it (R4, R6, R7 and R9 of the seed); R8 stays unknown", async () => {
    expect(await statuses()).toMatchObject({ R6: "unknown", R7: "unknown", R8: "unknown", R9: "unknown" });
    await f.signOn();
    const met = ["R1", "R2", "R3", "R4", "R5", "R6", "R7", "R9"].map((id) => [id, "met"]);
    expect(await statuses()).toEqual({ ...Object.fromEntries(met), R8: "unknown" });
  });

  test.each([
    ["R4", () => ({ claims: ({ email: _, ...claims }: object & { email?: unknown }) => claims })],
    ["R7", () => ({ claims: (claims: object) => ({ ...claims, aud: ["the-store", "stranger"] }) })],
    ["R6", () => ({ token: (answer: object) => ({ ...answer, id_token: "a.b.c.d.e" }) })],
  ] as const)(
    "%s is not met after a sign-on was refused for it, until a sign-on works",
    async (id, hooks) => {
      await f.signOn();
      f.latchkey.clock.advance(1000);
      f.idp.hooks = hooks() as never;
      expect((await f.signOn()).error).not.toBeNull();
      const seen = await statuses();
      expect(seen[id]).toBe("not_met");
      expect(Object.entries(seen).filter(([, status]) => status === "not_met")).toHaveLength(1);
      f.latchkey.clock.advance(1000);
      f.idp.hooks = {};
      await f.signOn();
      expect((await statuses())[id]).toBe("met");
    },
  );

  test("is unknown again after a change of the profile", async () => {
    await f.signOn();
    f.latchkey.clock.advance(1000);
    await f.store.call(updateProfile, {
      ids: idsOf(f.profileId),
      json: { data: { type: "oidc-profile", name: "Another name" } },
    });
    expect((await statuses()).R7).toBe("unknown");
  });
});

describe("a new profile and the identities of a deleted one", () => {
  const customerOf = async (parameters: Record<string, string>) =>
    (await f.redeem(await f.signOn({ parameters }))).body.data.customer_id;
  const data = () => ({
    type: "oidc-profile",
    name: "Again",
    discovery_url: f.idp.discoveryUrl,
    client_id: f.idp.clientId,
    client_secret: "s",
  });
  const make = (members: object = {}) =>
    f.store.call(createProfile, { ids: { realm: f.realmId }, json: { data: { ...data(), ...members } } });

  test("shows the adoptable identities, and adopts them by a PUT", async () => {
    const before = await customerOf({});
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const adoptable = [{ profile_id: f.profileId, identities: 1 }];
    const made = await make();
    expect(made.body.data.meta.adoptable).toEqual(adoptable);
    const { id } = made.body.data;
    const changed = await f.store.call(updateProfile, {
      ids: idsOf(id),
      json: { data: { type: "oidc-profile", adopt_identities_of: f.profileId } },
    });
    expect([changed.status, changed.body.data.meta.adoptable]).toEqual([200, []]);
    expect(await customerOf({ profile: id })).toBe(before);
  });

  test("adopts them when it is created", async () => {
    const before = await customerOf({});
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const { body } = await make({ adopt_identities_of: f.profileId });
    expect(await customerOf({ profile: body.data.id })).toBe(before);
  });

  test("makes new customers of the same people otherwise (A04)", async () => {
    const before = await customerOf({});
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const { body } = await make();
    expect(await customerOf({ profile: body.data.id })).not.toBe(before);
  });

  test("keeps customers that it already has", async () => {
    const before = await customerOf({});
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const { body } = await make();
    const after = await customerOf({ profile: body.data.id });
    const answer = await f.store.call(updateProfile, {
      ids: idsOf(body.data.id),
      json: { data: { type: "oidc-profile", adopt_identities_of: f.profileId } },
    });
    expect(answer.status).toBe(200);
    expect(await customerOf({ profile: body.data.id })).toBe(after);
    expect(after).not.toBe(before);
  });

  test("adopts with one row for any number of identities, and counts up to 10,000", async () => {
    const before = await customerOf({});
    const { storage } = f.latchkey;
    const [identity] = await storage.db.selectFrom("customer_identities").selectAll().execute();
    const more = Array.from({ length: 12_000 }, (_, index) => ({
      ...(identity as Tables["customer_identities"]),
      id: newId(),
      subject: `other ${index}`,
    }));
    await storage.transact(async (trx) => {
      for (let at = 0; at < more.length; at += 500)
        await trx
          .insertInto("customer_identities")
          .values(more.slice(at, at + 500))
          .execute();
    });
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const { body } = await make();
    expect(body.data.meta.adoptable).toEqual([{ profile_id: f.profileId, identities: 10_000 }]);
    const adopted = await f.store.call(updateProfile, {
      ids: idsOf(body.data.id),
      json: { data: { type: "oidc-profile", adopt_identities_of: f.profileId } },
    });
    expect([adopted.status, adopted.body.data.meta.adoptable]).toEqual([200, []]);
    expect(await customerOf({ profile: body.data.id })).toBe(before);
    const moved = storage.db.selectFrom("customer_identities").where("profile_id", "=", body.data.id);
    expect(await moved.selectAll().execute()).toEqual([]);
  });

  test("adopts what the deleted profile had adopted", async () => {
    const before = await customerOf({});
    let profile = f.profileId;
    for (let generation = 0; generation < 3; generation++) {
      await f.store.call(deleteProfile, { ids: idsOf(profile) });
      const made = await make({ adopt_identities_of: profile });
      expect(made.status).toBe(201);
      profile = made.body.data.id;
    }
    expect(await customerOf({ profile })).toBe(before);
  });

  test("adopts identities of its own client id only", async () => {
    const before = await customerOf({});
    const { storage } = f.latchkey;
    await storage.db.updateTable("customer_identities").set({ client_id: "another client" }).execute();
    f.idp.person = { ...ADA, sub: "known to this client", email: "other@shop.example" };
    await customerOf({});
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const { body } = await make({ adopt_identities_of: f.profileId });
    f.idp.person = { ...ADA };
    expect(await customerOf({ profile: body.data.id })).not.toBe(before);
  });

  test("409 for identities that another profile has adopted, until that one is deleted, too", async () => {
    const before = await customerOf({});
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const first = await make({ adopt_identities_of: f.profileId });
    const second = await make();
    expect(second.body.data.meta.adoptable).toEqual([]);
    const adopt = (of: string) =>
      f.store.call(updateProfile, {
        ids: idsOf(second.body.data.id),
        json: { data: { type: "oidc-profile", adopt_identities_of: of } },
      });
    expect((await adopt(f.profileId)).code).toBe("adoption_impossible");
    f.idp.person = { ...ADA, sub: "another-subject", email: "else@shop.example" };
    const other = await customerOf({ profile: first.body.data.id });
    await f.store.call(deleteProfile, { ids: idsOf(first.body.data.id) });
    expect([(await adopt(f.profileId)).status, (await adopt(first.body.data.id)).status]).toEqual([200, 200]);
    expect(await customerOf({ profile: second.body.data.id })).toBe(other);
    f.idp.person = { ...ADA };
    expect(await customerOf({ profile: second.body.data.id })).toBe(before);
  });

  test("409 for a live profile, or another client, realm or issuer; no profile is created", async () => {
    await customerOf({});
    expect((await make({ adopt_identities_of: f.profileId })).code).toBe("adoption_impossible");
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });
    const other = await make({ client_id: "another", adopt_identities_of: f.profileId });
    expect([other.status, other.code]).toEqual([409, "adoption_impossible"]);
    const realm = { data: { type: "authentication-realm", name: "Another" } };
    const ids = { realm: (await f.store.call(createRealm, { json: realm })).body.data.id };
    const json = { data: { ...data(), adopt_identities_of: f.profileId } };
    expect((await f.store.call(createProfile, { ids, json })).code).toBe("adoption_impossible");
    f.idp.issuer = `${f.idp.origin}/`;
    expect((await make({ discovery_url: f.idp.issuer, adopt_identities_of: f.profileId })).code).toBe(
      "adoption_impossible",
    );
    const unknown = await f.store.call(getProfile, { ids: idsOf(f.profileId) });
    expect(unknown.status).toBe(404);
  });
});

describe("a customer token", () => {
  const tokenThrough = async (profile: string) =>
    (await f.redeem(await f.signOn({ parameters: { profile } }))).body.data;
  const asCustomer = (operation: Parameters<typeof call>[1], { token }: { token: string }, request: object) =>
    call(f.latchkey.app, operation, {
      token: f.implicit,
      headers: { "x-customer-token": token },
      ...request,
    });

  test("ends with its profile at once; tokens of other profiles stay", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const other = await f.addProfile({ name: "Second" });
    const [ended, kept] = [await tokenThrough(f.profileId), await tokenThrough(other)];
    expect(ended.customer_id).toBe(kept.customer_id);
    await f.store.call(deleteProfile, { ids: idsOf(f.profileId) });

    const ids = { id: ended.customer_id, customer: ended.customer_id };
    expect((await asCustomer(getCustomer, ended, { ids })).code).toBe("customer_token_invalid");
    expect((await asCustomer(getCustomer, kept, { ids })).status).toBe(200);
    const { clientId, clientSecret } = f.store.key;
    const isActive = async ({ token }: { token: string }) =>
      (
        await call(f.latchkey.app, introspectToken, {
          form: { token, client_id: clientId, client_secret: clientSecret },
        })
      ).body.active;
    expect([await isActive(ended), await isActive(kept)]).toEqual([false, true]);
    const { body } = await f.store.call(listCustomerTokens, { ids });
    expect(body.data.map(({ id }: { id: string }) => id)).toEqual([kept.id]);
    expect(body.meta.results.total).toBe(1);
    const revoked = await f.store.call(revokeCustomerToken, { ids: { ...ids, id: ended.id } });
    expect(revoked.code).toBe("customer_token_not_found");
  });

  test("403 for a password that a provider's customer sets with the token; the back office may set one (wire 15)", async () => {
    const own = await tokenThrough(f.profileId);
    const ids = { id: own.customer_id };
    const change = (members: object) => ({ ids, json: { data: { type: "customer", ...members } } });
    const refused = await asCustomer(updateCustomer, own, change({ name: "Eve", password: "correct horse" }));
    expect([refused.status, refused.code]).toEqual([403, "password_by_back_office_only"]);
    const { body } = await asCustomer(getCustomer, own, { ids });
    expect(body.data).toMatchObject({ name: "Ada Lovelace", password: false });
    expect((await asCustomer(updateCustomer, own, change({ name: "Countess" }))).status).toBe(200);
    const given = await f.store.call(updateCustomer, change({ password: "correct horse" }));
    expect(given.body.data).toMatchObject({ authentication_mechanism: "oidc", password: true });
    const again = await tokenThrough(f.profileId);
    const changed = await asCustomer(updateCustomer, again, change({ password: "battery staple" }));
    expect(changed.code).toBe("password_by_back_office_only");
  });

  test("403 for the first password of a linked customer whom the back office made without one", async () => {
    const data = { type: "customer", name: "Ada", email: "ada@shop.example", email_verified: true };
    await f.store.call(createCustomer, { json: { data } });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const own = await tokenThrough(f.profileId);
    const json = { data: { type: "customer", password: "battery staple" } };
    const refused = await asCustomer(updateCustomer, own, { ids: { id: own.customer_id }, json });
    expect(refused.code).toBe("password_by_back_office_only");
  });

  test("200 for a new password of a linked customer who began with a password", async () => {
    const data = { type: "customer", name: "Ada", email: "ada@shop.example", password: "correct horse" };
    await f.store.call(createCustomer, { json: { data: { ...data, email_verified: true } } });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const own = await tokenThrough(f.profileId);
    const json = { data: { type: "customer", password: "battery staple" } };
    expect((await asCustomer(updateCustomer, own, { ids: { id: own.customer_id }, json })).status).toBe(200);
  });
});

describe("a provider may", () => {
  test("keep its keys at any URL of its document (N52)", async () => {
    const path = `/somewhere/${Math.random().toString(36).slice(2)}`;
    f.idp.hooks.discovery = (document) => ({ ...document, jwks_uri: `${f.idp.origin}${path}` });
    const keys = await (await fetch(`${f.idp.origin}/keys`)).text();
    f.idp.hooks.answer = {
      [path]: (_, response) => void response.setHeader("Content-Type", "application/json").end(keys),
    };
    f.idp.journal.length = 0;
    const profile = await f.addProfile({ name: "Elsewhere" });
    expect((await f.signOn({ parameters: { profile } })).code).not.toBe("");
    expect([f.idp.asked("/keys"), f.idp.asked(path)]).toEqual([0, 2]);
  });

  test("have endpoints on other hosts, which the profile lists (N61)", async () => {
    const other = await startHostileIdp();
    await f.close();
    f = await createFederation({ allowedOrigins: [other.origin, "http://127.0.0.1:1"], idp: other });
    other.hooks.discovery = (document) => ({ ...document, userinfo_endpoint: "http://127.0.0.1:1/userinfo" });
    const { body } = await f.store.call(createProfile, {
      ids: { realm: f.realmId },
      json: {
        data: {
          type: "oidc-profile",
          name: "Two hosts",
          discovery_url: other.discoveryUrl,
          client_id: "c",
          client_secret: "s",
        },
      },
    });
    expect(body.data.meta.endpoint_hosts).toEqual([new URL(other.origin).host, "127.0.0.1:1"]);
    await other.close();
  });

  test("send cookies, HSTS and links: the service ignores them (N77)", async () => {
    f.idp.hooks.headers = {
      "Set-Cookie": "planted=1",
      "Strict-Transport-Security": "max-age=9999",
      Link: '</elsewhere>; rel="preload"',
    };
    const first = await f.signOn();
    const second = await f.signOn();
    expect([first.code, second.code]).not.toContain("");
    expect(f.idp.asked("/elsewhere")).toBe(0);
    expect(f.idp.journal.some(({ cookie }) => cookie !== undefined)).toBe(false);
  });

  test("send a refresh token: the service neither stores nor uses it (N110)", async () => {
    const { db } = f.latchkey.storage;
    f.idp.hooks.token = (answer) => ({ ...answer, refresh_token: "marker", refresh_expires_in: 9999 });
    const begun = await f.begin({ cookie: undefined });
    expect(new URL(begun.headers.get("location") ?? "").searchParams.get("scope")).toBe("openid email");
    const signedOn = await f.signOn();
    expect((await f.redeem(signedOn)).status).toBe(200);
    await f.latchkey.app.tidy();
    const tables = (await db.introspection.getTables()).map(({ name }) => name);
    expect(tables).toContain("customer_tokens");
    for (const name of tables) {
      const { rows } = await sql`select * from ${sql.table(name)}`.execute(db);
      expect(JSON.stringify(rows), name).not.toContain("marker");
    }
    expect(JSON.stringify(f.latchkey.logLines)).not.toContain("marker");
    expect(f.idp.asked("/token")).toBe(1);
    expect(f.idp.journal.some(({ body }) => body.includes("refresh"))).toBe(false);
  });

  test("offer features that the service does not use: it sends no request for them (N101)", async () => {
    const { origin } = f.idp;
    f.idp.hooks.discovery = (document) => ({
      ...document,
      registration_endpoint: `${origin}/register`,
      pushed_authorization_request_endpoint: `${origin}/par`,
      request_parameter_supported: true,
      request_uri_parameter_supported: true,
      require_request_uri_registration: true,
      check_session_iframe: `${origin}/session`,
      mtls_endpoint_aliases: { token_endpoint: `${origin}/mtls/token` },
      tls_client_certificate_bound_access_tokens: true,
      response_types_supported: ["code", "id_token", "code id_token token"],
      grant_types_supported: ["authorization_code", "implicit", "refresh_token"],
    });
    f.idp.journal.length = 0;
    const profile = await f.addProfile({ name: "Rich" });
    const begun = await f.begin({ cookie: undefined }, { profile });
    const sent = new URL(begun.headers.get("location") ?? "");
    expect(`${sent.origin}${sent.pathname}`).toBe(`${origin}/authorize`);
    expect([...sent.searchParams.keys()].toSorted()).toEqual([
      "client_id",
      "code_challenge",
      "code_challenge_method",
      "nonce",
      "redirect_uri",
      "response_type",
      "scope",
      "state",
    ]);
    expect((await f.signOn({ parameters: { profile } })).code).not.toBe("");
    expect(new Set(f.idp.journal.map(({ path }) => path))).toEqual(
      new Set(["/.well-known/openid-configuration", "/keys", "/token"]),
    );
  });
});

test("no member of a profile switches a check off (A47)", () => {
  const { schema } = createProfile.body;
  expect(Object.keys(schema.shape.data.shape).sort()).toEqual([
    "adopt_identities_of",
    "client_id",
    "client_secret",
    "client_secret_next",
    "discovery_url",
    "enabled",
    "flow",
    "name",
    "propagate_logout",
    "provisioning",
    "type",
  ]);
});
