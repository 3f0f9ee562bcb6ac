import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import { listEvents } from "../../src/contract/events.ts";
import { createProfile, listProfiles } from "../../src/contract/oidc-profiles.ts";
import {
  createRealm,
  deleteRealm,
  getAccountAuthenticationSettings,
  getAuthenticationSettings,
  getAuthenticationSettingsById,
  getRealm,
  getStoreSettings,
  listRealms,
  updateAuthenticationSettings,
  updateRealm,
} from "../../src/contract/realms.ts";
import { realmMetadata } from "../../src/contract/sign-on.ts";
import { egressFault } from "../../src/egress/egress-message.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";

let latchkey: TestApp;
let store: TestStore;
let other: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp({ egress: { send: () => Promise.reject(egressFault("host_unknown")) } });
  store = await latchkey.createStore(10_000);
  other = await latchkey.createStore(10_000);
});
afterAll(() => latchkey.close());

const settings = async (by = store) => (await by.call(getAuthenticationSettings)).body.data;
const create = (data: object, by = store) =>
  by.call(createRealm, { json: { data: { type: "authentication-realm", ...data } } });
const update = (id: string, data: object) =>
  store.call(updateRealm, { ids: { id }, json: { data: { type: "authentication-realm", ...data } } });

test("the settings › 200 at the two further paths where clients of this API family look for realm and client id", async () => {
  const own = await settings();
  const token = await store.token("implicit");
  const byId = (id: string) => call(latchkey.app, getAuthenticationSettingsById, { token, ids: { id } });
  expect((await byId(own.id)).body.data).toEqual(own);
  expect((await byId(other.store.id)).code).toBe("settings_not_found");
  const { body } = await call(latchkey.app, getStoreSettings, { token });
  expect(body.data.relationships.authentication_realm.data.id).toBe(own.realm_id);
  expect(body.data.meta.client_id).toBe(own.client_id);
});

test.each(["implicit", "client_credentials"] as const)(
  "the account settings have a realm without identity providers, readable with a token of %s",
  async (grant) => {
    const token = await store.token(grant);
    const { data } = (await call(latchkey.app, getAccountAuthenticationSettings, { token })).body;
    const { id, links } = data.relationships.authentication_realm.data;
    expect(data.meta.client_id).toBe((await settings()).client_id);
    expect(id).not.toBe((await settings()).realm_id);
    const realm = await call(latchkey.app, getRealm, { token, ids: { id } });
    expect([realm.status, realm.body.links]).toEqual([200, links]);
    const profiles = await call(latchkey.app, listProfiles, { token, ids: { realm: id } });
    expect([profiles.status, profiles.body.data]).toEqual([200, []]);
  },
);

test("a realm › 404 for any change of the accounts' realm, and for it as an OpenID provider", async () => {
  const id = store.store.id;
  const profile = {
    name: "Corporate",
    discovery_url: "https://idp.example/d",
    client_id: "c",
    enabled: false,
  };
  const json = { data: { type: "oidc-profile", client_secret: "s", ...profile } };
  expect((await store.call(createProfile, { ids: { realm: id }, json })).code).toBe("realm_not_found");
  expect((await update(id, { redirect_uris: [] })).code).toBe("realm_not_found");
  expect((await store.call(deleteRealm, { ids: { id } })).code).toBe("realm_not_found");
  const known = await call(latchkey.app, realmMetadata, { ids: { store: id, realm: id } });
  expect(known.code).toBe("realm_not_found");
  expect((await store.call(listRealms)).body.data.map((realm: { id: string }) => realm.id)).not.toContain(id);
  expect((await other.call(getRealm, { ids: { id } })).code).toBe("realm_not_found");
});

test("a bearer token › 200 for `Authorization: Bearer: <token>`, as published clients send it; 401 for other colons", async () => {
  const token = await store.token("implicit");
  const ask = async (authorization: string) =>
    (await call(latchkey.app, getAuthenticationSettings, { headers: { authorization } })).status;
  expect(await ask(`Bearer: ${token}`)).toBe(200);
  for (const wrong of [`Bearer :${token}`, `Bearer:: ${token}`, `Bearer:${token}`, `Bearer ${token}:`])
    expect(await ask(wrong)).toBe(401);
});

test("a faulty body › 400 and 422 have the member's name in the detail", async () => {
  const details = async (answer: Promise<{ body: { errors: { detail: string }[] } }>) =>
    (await answer).body.errors.map(({ detail }) => detail);
  const uris = [
    ...Array<string>(6).fill("https://shop.example/"),
    "https://SHOP.example/",
    "http://shop.example/",
  ];
  expect(await details(create({ name: "x", redirect_uris: uris }))).toEqual([
    "`redirect_uris[6]`: the host must be in lower case, as browsers send it.",
    "`redirect_uris[7]`: it must begin with https://, or with http:// on localhost or 127.0.0.1.",
  ]);
  expect(await details(create({}))).toEqual(["`name` is missing."]);
  expect(await details(create({ name: 7, redirect_uris: [7] }))).toEqual([
    "`name`: expected a value of type string.",
    "`redirect_uris[0]`: expected a value of type string.",
  ]);
  expect(await details(store.call(createRealm, { json: {} }))).toEqual(["`data` is missing."]);
  const form = { grant_type: "implicit" };
  const { body } = await call(latchkey.app, issueAccessToken, { form: { ...form, grant_type: "device" } });
  expect([body.error, body.error_description]).toEqual([
    "unsupported_grant_type",
    "This endpoint takes the grant implicit or authorization_code or client_credentials.",
  ]);
  expect((await call(latchkey.app, issueAccessToken, { form })).body.error_description).toContain(
    "`client_id`",
  );
});

test("the settings › 200 with the client id and the realm id of a new store (seed 4.1)", async () => {
  const { body } = await call(latchkey.app, getAuthenticationSettings, {
    token: await store.token("implicit"),
  });
  expect(body.data).toMatchObject({
    id: store.store.id,
    type: "customer-authentication-settings",
    client_id: "customers",
    meta: { client_id: "customers" },
  });
  const realm = body.data.relationships["authentication-realm"].data;
  expect(realm.id).toBe(body.data.realm_id);
  expect(realm.links.self).toBe(`${PUBLIC_URL}/v2/authentication-realms/${realm.id}`);
  expect((await store.call(getRealm, { ids: { id: realm.id } })).body.data.name).toBe("Customers");
});

test("both paths of the settings give the same answer, with and without a trailing slash", async () => {
  const headers = { authorization: `Bearer ${await store.token()}` };
  const bodies = new Set<string>();
  for (const path of [
    "customer-authentication-settings",
    "settings/customer-authentication",
    "settings/customer-authentication/",
  ]) {
    const answer = await latchkey.app.fetch(new Request(`http://internal/v2/${path}`, { headers }));
    bodies.add(await answer.text());
  }
  expect(bodies.size).toBe(1);
});

test("the settings › 200 changes one setting at a time; 422 for another store's realm", async () => {
  const put = (data: object) =>
    store.call(updateAuthenticationSettings, {
      json: { data: { type: "customer-authentication-settings", ...data } },
    });
  const second = (await create({ name: "Second" })).body.data.id;
  expect((await put({ client_id: "web" })).body.data.client_id).toBe("web");
  expect((await put({ realm_id: second })).body.data).toMatchObject({ client_id: "web", realm_id: second });
  const answer = await put({ realm_id: (await settings(other)).realm_id, client_id: "x" });
  expect([answer.status, answer.code]).toEqual([422, "realm_unknown"]);
  expect((await put({ realm_id: "nonsense" })).code).toBe("realm_unknown");
  expect((await put({ client_id: " " })).code).toBe("member_invalid");
  expect(await settings()).toMatchObject({ client_id: "web", realm_id: second });
});

test("the settings › 409 for another store's settings in the body", async () => {
  const [own, foreign] = [await settings(), await settings(other)];
  const put = (data: object) => store.call(updateAuthenticationSettings, { json: { data } });
  expect((await put({ ...foreign, realm_id: own.realm_id, client_id: "theirs" })).code).toBe("id_mismatch");
  expect(await settings()).toEqual(own);
  expect((await put(own)).body.data).toEqual(own);
});

test("a realm › 201 creates a realm with defaults; 200 changes the given members only", async () => {
  const { status, body } = await create({ name: "Wholesale" });
  expect(status).toBe(201);
  expect(body.data).toMatchObject({
    name: "Wholesale",
    redirect_uris: [],
    duplicate_email_policy: "allowed",
  });
  expect(body.data.relationships.origin.data.id).toBe(store.store.id);
  expect(body.links.self).toBe(`${PUBLIC_URL}/v2/authentication-realms/${body.data.id}`);
  const uris = ["https://shop.example/cb", "http://localhost:3000/cb"];
  await update(body.data.id, { redirect_uris: uris });
  const { body: after } = await update(body.data.id, { duplicate_email_policy: "api_only" });
  expect(after.data).toMatchObject({
    name: "Wholesale",
    redirect_uris: uris,
    duplicate_email_policy: "api_only",
  });
});

test("an id in capitals is the same id, in path, body, settings and filter (RFC 9562 4)", async () => {
  const { id } = (await create({ name: "Before" })).body.data;
  const capitals = id.toUpperCase();
  expect((await store.call(getRealm, { ids: { id: capitals } })).body.data.id).toBe(id);
  expect((await update(capitals, { id: capitals, name: "After" })).body.data).toMatchObject({
    id,
    name: "After",
  });
  const json = { data: { type: "customer-authentication-settings", realm_id: capitals } };
  expect((await store.call(updateAuthenticationSettings, { json })).body.data.realm_id).toBe(id);
  await latchkey.app.tidy();
  const { body } = await store.call(listEvents, { query: `filter=eq(subject,${capitals})` });
  expect(body.data.map(({ type }: { type: string }) => type)).toEqual([
    "authentication_realm.created",
    "authentication_realm.updated",
  ]);
});

test("a realm › 409 for a second redirect URI with an outdated `If-Match`", async () => {
  const made = await store.call(createRealm, {
    json: { data: { type: "authentication-realm", name: "Previews" } },
  });
  const { id } = made.body.data;
  const allow = (uri: string, etag: string | null) =>
    store.call(updateRealm, {
      ids: { id },
      headers: { "if-match": etag ?? "" },
      json: { data: { type: "authentication-realm", redirect_uris: [uri] } },
    });
  const read = () => store.call(getRealm, { ids: { id } });
  const seen = (await read()).headers.get("etag");
  expect(made.headers.get("etag")).toBe(seen);
  const first = await allow("https://a.shop.example/", seen);
  expect([first.status, first.headers.get("etag")]).toEqual([200, `"${first.body.data.meta.updated_at}"`]);
  const second = await allow("https://b.shop.example/", seen);
  expect([second.status, second.code]).toEqual([409, "realm_changed"]);
  const now = await read();
  expect(now.body.data.redirect_uris).toEqual(["https://a.shop.example/"]);
  expect((await allow("https://b.shop.example/", now.headers.get("etag"))).status).toBe(200);
});

test("a realm › 409 for another realm's id in the body", async () => {
  const { body } = await create({ name: "Mine" });
  expect((await update(body.data.id, { id: "another" })).code).toBe("id_mismatch");
});

test("a realm › 422 with a pointer to each bad redirect URI; nothing changes", async () => {
  const { body } = await create({ name: "Strict", redirect_uris: ["https://shop.example/cb"] });
  const answer = await update(body.data.id, {
    name: "Renamed",
    redirect_uris: [
      "https://shop.example/ok",
      "http://shop.example/",
      "https://shop.example/#f",
      "javascript:alert(1)",
    ],
  });
  expect(answer.status).toBe(422);
  expect(answer.body.errors.map((error: { source: { pointer: string } }) => error.source.pointer)).toEqual([
    "/data/redirect_uris/1",
    "/data/redirect_uris/2",
    "/data/redirect_uris/3",
  ]);
  expect((await store.call(getRealm, { ids: { id: body.data.id } })).body.data).toEqual(body.data);
  expect((await create({ name: "x", redirect_uris: ["//evil"] })).code).toBe("redirect_uri_invalid");
});

test("a realm › 200 for home page, logo and colour: changed one by one, removed with null", async () => {
  const { body } = await create({ name: "Plain" });
  expect(body.data).toMatchObject({ home_url: null, logo_url: null, accent_color: null });
  const shown = {
    home_url: "https://shop.example/",
    logo_url: "https://cdn.shop.example/logo.svg?v=2",
    accent_color: "#0B5f52",
  };
  expect((await update(body.data.id, shown)).body.data).toMatchObject(shown);
  expect((await update(body.data.id, { name: "Renamed" })).body.data).toMatchObject(shown);
  const { body: after } = await update(body.data.id, { logo_url: null, accent_color: null });
  expect(after.data).toMatchObject({ home_url: shown.home_url, logo_url: null, accent_color: null });
  expect((await create({ name: "Whole", ...shown })).body.data).toMatchObject(shown);
});

test.each([
  ["javascript:alert(1)"],
  ["JavaScript:alert(1)//https://shop.example"],
  ["data:text/html,<script>alert(1)</script>"],
  ["//evil.example"],
  ["/relative"],
  [""],
  ["http://shop.example/"],
  ["http://127.0.0.1.evil.example/"],
  ["https://shop.example@evil.example/"],
  ["https:\\\\shop.example/"],
  ["https://shop.example/; script-src *"],
  ["https://shop.example;script-src/"],
  ['https://shop.example/"onload="alert(1)'],
  ["https://shop.example/\n"],
  ["https://shop.example/\u202egnp.live"],
  ["https://sh\u043ep.example/"],
])("a realm › 422 for %j as home page or logo", async (url) => {
  const { body } = await create({ name: "Safe" });
  const answer = await update(body.data.id, { name: "Other", home_url: url, logo_url: url });
  expect([answer.status, answer.code]).toEqual([422, "shown_url_invalid"]);
  expect(answer.body.errors.map((error: { source: { pointer: string } }) => error.source.pointer)).toEqual([
    "/data/home_url",
    "/data/logo_url",
  ]);
  expect((await store.call(getRealm, { ids: { id: body.data.id } })).body.data).toEqual(body.data);
});

describe("an http address on localhost", () => {
  const home = { name: "Local", home_url: "http://localhost:3000/" };

  test("422 when the service is on another host", async () => {
    expect((await create(home)).code).toBe("shown_url_invalid");
  });

  test.each(["http://localhost:4000", "https://localhost:8443", "https://127.0.0.1:8443"])(
    "201 when the service is at %s, and 422 for http on another host",
    async (publicUrl) => {
      const local = await createTestApp({ publicUrl });
      const own = await local.createStore();
      expect((await create(home, own)).body.data.home_url).toBe(home.home_url);
      const elsewhere = { ...home, home_url: "http://shop.example/" };
      expect((await create(elsewhere, own)).code).toBe("shown_url_invalid");
      await local.close();
    },
  );
});

test.each([
  ["red"],
  ["#fff"],
  ["#12345g"],
  ["0b5f52"],
  ["#0b5f5200"],
  ["#0b5f52;}*{display:none"],
  ["url(https://evil.example/)"],
  ["#0b5f52\n"],
  [" #0b5f52"],
  [""],
  [0x0b5f52],
])("a realm › 400 for %j as a colour", async (color) => {
  const answer = await create({ name: "Colour", accent_color: color });
  expect([answer.status, answer.body.errors[0].source.pointer]).toEqual([400, "/data/accent_color"]);
});

test("a realm › 400 for more than fifty redirect URIs, and for an unknown policy", async () => {
  const many = Array.from({ length: 51 }, (_, i) => `https://shop.example/${i}`);
  expect((await create({ name: "Many", redirect_uris: many })).status).toBe(400);
  expect((await create({ name: "Odd", duplicate_email_policy: "sometimes" })).status).toBe(400);
});

test("a realm › 204 deletes a realm; 409 for a realm in use or with identity providers", async () => {
  const id = (await create({ name: "Short-lived" })).body.data.id;
  expect((await store.call(deleteRealm, { ids: { id } })).status).toBe(204);
  expect((await store.call(getRealm, { ids: { id } })).status).toBe(404);
  expect((await store.call(deleteRealm, { ids: { id: (await settings()).realm_id } })).code).toBe(
    "realm_in_use",
  );
  const full = (await create({ name: "Full" })).body.data.id;
  const data = {
    type: "oidc-profile",
    name: "n",
    discovery_url: "https://idp.example",
    client_id: "c",
    client_secret: "s",
    enabled: false,
  };
  await store.call(createProfile, { ids: { realm: full }, json: { data } });
  expect((await store.call(deleteRealm, { ids: { id: full } })).code).toBe("realm_has_profiles");
});

test("a realm › 404 for another store's realm, as for an unknown one (T30)", async () => {
  const foreign = (await settings(other)).realm_id;
  const answers = await Promise.all(
    [foreign, "01890000-0000-7000-8000-000000000000"].map((id) => store.call(getRealm, { ids: { id } })),
  );
  const [first, second] = answers.map(({ body }) => ({ ...body.errors[0], id: "" }));
  expect(first).toEqual(second);
});

test("the list has the store's own realms only, in pages", async () => {
  const { body } = await other.call(listRealms);
  expect(body.data.map((realm: { name: string }) => realm.name)).toEqual(["Customers"]);
  expect(body.data[0].links.self).toContain(body.data[0].id);
  expect((await store.call(listRealms, { query: "page[limit]=1" })).body.links.next).not.toBeNull();
});
