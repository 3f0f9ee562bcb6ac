import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { limits } from "../../src/contract/limits.ts";
import {
  approveDrift,
  checkProfile,
  createProfile,
  deleteProfile,
  getProfile,
  listProfiles,
  updateProfile,
} from "../../src/contract/oidc-profiles.ts";
import {
  createRealm,
  getAuthenticationSettings,
  updateAuthenticationSettings,
} from "../../src/contract/realms.ts";
import { ready } from "../../src/contract/service.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";

let latchkey: TestApp;
let idp: HostileIdp;
let store: TestStore;
let realm: string;

beforeAll(async () => {
  idp = await startHostileIdp();
});
afterAll(() => idp.close());
beforeEach(async () => {
  idp.hooks = {};
  idp.journal.length = 0;
  idp.issuer = idp.origin;
  latchkey = await createTestApp({ allowedOrigins: [idp.origin] });
  store = await latchkey.createStore(10_000);
  realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
});
afterEach(() => latchkey.close());

const given = () => ({
  type: "oidc-profile",
  name: "Company account",
  discovery_url: idp.discoveryUrl,
  client_id: idp.clientId,
  client_secret: "marker secret",
});
const create = (data: object = {}) =>
  store.call(createProfile, { ids: { realm }, json: { data: { ...given(), ...data } } });
const created = async (data: object = {}) => (await create(data)).body.data as { id: string };
const update = (id: string, data: object) =>
  store.call(updateProfile, { ids: { realm, id }, json: { data: { type: "oidc-profile", ...data } } });
const read = async (id: string) => (await store.call(getProfile, { ids: { realm, id } })).body;

describe("create", () => {
  test("201 reads the discovery document and gives the links (seed 4.2)", async () => {
    const { status, body } = await create();
    expect(status).toBe(201);
    const { id } = body.data;
    const signOn = `${PUBLIC_URL}/sign-on/stores/${store.store.id}/realms/${realm}`;
    expect(body.links).toEqual({
      self: `${PUBLIC_URL}/v2/authentication-realms/${realm}/oidc-profiles/${id}`,
      "authorization-endpoint": `${signOn}/authorize?profile=${id}`,
      "callback-endpoint": `${signOn}/profiles/${id}/callback`,
      "client-discovery-url": `${signOn}/.well-known/openid-configuration`,
      "backchannel-logout-endpoint": `${signOn}/profiles/${id}/backchannel-logout`,
      "signed-out-endpoint": `${signOn}/profiles/${id}/signed-out`,
    });
    expect(body.data).toMatchObject({ enabled: true, flow: "brokered", provisioning: "create" });
    expect(body.data.meta).toMatchObject({
      issuer: idp.origin,
      health: { status: "up" },
      pending_change: null,
    });
  });

  test("201 with a slash at the path's end, an empty id and null relationships, as one client sends it", async () => {
    const json = { data: { ...given(), id: "", relationships: null } };
    const answer = await latchkey.app.fetch(
      new Request(`http://internal/v2/authentication-realms/${realm}/oidc-profiles/`, {
        method: "POST",
        headers: { authorization: `Bearer ${await store.token()}`, "content-type": "application/json" },
        body: JSON.stringify(json),
      }),
    );
    expect(answer.status).toBe(201);
  });

  test("the issuer's own address does as a discovery URL", async () => {
    expect((await create({ discovery_url: idp.origin })).status).toBe(201);
  });

  test.each(["my store", " my store ", "!~"])(
    "201 with the client id %j: any printable ASCII, spaces included",
    async (id) => {
      const { status, body } = await create({ client_id: id });
      expect([status, body.data.client_id]).toEqual([201, id]);
    },
  );

  test.each(["", " ", "Größe", "a\tb", "a\u007f"])("400 for the client id %j", async (id) => {
    expect((await create({ client_id: id })).code).toBe("member_invalid");
  });

  const broken: [string, string, (document: Record<string, unknown>) => object][] = [
    ["R1", "another issuer (N50)", (d) => ({ ...d, issuer: `${d.issuer}INVALID` })],
    [
      "R1",
      "an issuer in other case (N51)",
      (d) => ({ ...d, issuer: String(d.issuer).replace("http", "HTTP") }),
    ],
    ["R1", "an issuer with a path (N51)", (d) => ({ ...d, issuer: `${d.issuer}/x` })],
    ["R1", "no token endpoint", ({ token_endpoint: _, ...d }) => d],
    ["R1", "an array for an endpoint (N60)", (d) => ({ ...d, token_endpoint: ["x"] })],
    [
      "R1",
      "an endpoint at the metadata address (N58)",
      (d) => ({ ...d, userinfo_endpoint: "http://169.254.169.254/" }),
    ],
    ["R1", "an endpoint with a password (N58)", (d) => ({ ...d, jwks_uri: "https://a:b@idp.example/" })],
    [
      "R1",
      "only symmetric signatures",
      (d) => ({ ...d, id_token_signing_alg_values_supported: ["HS256", "none"] }),
    ],
    [
      "R2",
      "no client_secret_basic",
      (d) => ({ ...d, token_endpoint_auth_methods_supported: ["client_secret_post"] }),
    ],
    ["R3", "no code flow", (d) => ({ ...d, response_types_supported: ["id_token"] })],
    ["R3", "no code grant", (d) => ({ ...d, grant_types_supported: ["implicit"] })],
  ];

  test.each(broken)("422 names %s for %s, and nothing is saved", async (requirement, _, hook) => {
    idp.hooks.discovery = hook;
    const answer = await create();
    expect([answer.status, answer.code]).toEqual([422, "idp_requirement_not_met"]);
    expect(answer.body.errors[0].meta).toMatchObject({ requirement, remedy: expect.any(String) });
    expect((await store.call(listProfiles, { ids: { realm } })).body.data).toEqual([]);
  });

  test("422 has one error for each requirement that is not met", async () => {
    idp.hooks.discovery = (d) => ({
      ...d,
      response_types_supported: ["id_token"],
      token_endpoint_auth_methods_supported: [],
    });
    const { body } = await create();
    expect(body.errors.map((error: { meta: { requirement: string } }) => error.meta.requirement)).toEqual([
      "R2",
      "R3",
    ]);
  });

  test.each([
    ["scopes", { scopes_supported: ["openid"] }],
    ["claims", { claims_supported: ["sub"] }],
    ["both", { scopes_supported: [], claims_supported: [] }],
  ])(
    "201 where e-mail is not listed among %s: that proves nothing, and the checks say when it shows",
    async (_, lists) => {
      idp.hooks.discovery = (d) => ({ ...d, ...lists });
      const { id } = await created();
      const { body } = await store.call(checkProfile, { ids: { realm, id } });
      expect(body.data.checks[3]).toMatchObject({
        id: "R4",
        status: "unknown",
        evidence: expect.stringContaining("to be seen at the first sign-on"),
      });
    },
  );

  test("201 for a provider that misses requirements, if it is not enabled; what it calls itself is shown", async () => {
    idp.hooks.discovery = (d) => ({ ...d, issuer: "https://elsewhere.example/tenant" });
    const { id } = await created({ enabled: false });
    expect((await read(id)).data.meta).toMatchObject({
      issuer: null,
      issuer_found: { issuer: "https://elsewhere.example/tenant" },
      health: { status: "unknown" },
    });
    expect((await update(id, { enabled: true })).code).toBe("idp_requirement_not_met");
    idp.hooks = {};
    expect((await update(id, { enabled: true })).body.data.meta).toMatchObject({
      issuer: idp.origin,
      issuer_found: null,
      health: { status: "up" },
    });
  });

  test("a space that was pasted along is not part of the address", async () => {
    const { status, body } = await create({ discovery_url: `  ${idp.discoveryUrl} \n` });
    expect([status, body.data.discovery_url]).toEqual([201, idp.discoveryUrl]);
  });

  test("a slash at the issuer's end is the issuer's business (ADR 8)", async () => {
    idp.issuer = `${idp.origin}/`;
    expect((await create()).body.data.meta.issuer).toBe(`${idp.origin}/`);
  });

  test.each([
    ["address_not_allowed", "http://idp.example"],
    ["address_not_allowed", "https://127.0.0.1"],
    ["address_not_allowed", "https://localhost"],
    ["address_not_allowed", "not a url"],
    ["status_not_200", "/nothing"],
  ])("422 idp_unreachable with the reason %s for %s (T25)", async (reason, url) => {
    const answer = await create({ discovery_url: url.startsWith("/") ? idp.origin + url : url });
    expect([answer.status, answer.code]).toEqual([422, "idp_unreachable"]);
    expect(answer.body.errors[0].meta).toEqual({ reason });
  });

  test("no text of the provider is in our answer (A50)", async () => {
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) =>
        void response.writeHead(500).end("marker from upstream"),
    };
    expect(JSON.stringify((await create()).body)).not.toContain("marker");
  });

  test("201 for a provider that cannot be reached, if it is not enabled; enabling it asks again", async () => {
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) => void response.writeHead(503).end(),
    };
    const profile = await created({ enabled: false });
    expect((await read(profile.id)).data.meta.issuer).toBeNull();
    expect((await update(profile.id, { enabled: true })).code).toBe("idp_unreachable");
    idp.hooks = {};
    expect((await update(profile.id, { enabled: true })).body.data.meta.issuer).toBe(idp.origin);
  });

  test("an address that may never be asked is refused even if it is not enabled", async () => {
    expect((await create({ enabled: false, discovery_url: "https://10.0.0.1" })).code).toBe(
      "idp_unreachable",
    );
  });
});

describe("secrets", () => {
  test("201 without one, if the profile is not enabled; enabling it needs one, and no other place is given it", async () => {
    const withoutSecret = { ...given(), client_secret: undefined, enabled: false };
    const made = await store.call(createProfile, { ids: { realm }, json: { data: withoutSecret } });
    expect([made.status, made.body.data.meta.has_client_secret]).toEqual([201, false]);
    const { id } = made.body.data;
    expect((await update(id, { name: "Renamed" })).status).toBe(200);
    expect((await update(id, { client_id: "another" })).status).toBe(200);
    expect((await update(id, { enabled: true })).code).toBe("client_secret_required");
    const { status, body } = await update(id, { enabled: true, client_secret: "s" });
    expect([status, body.data.meta.has_client_secret]).toEqual([200, true]);
    expect((await update(id, { client_id: "a third" })).code).toBe("client_secret_required");
  });

  test.each([{}, { enabled: true }])("400 without one, if it is enabled: %j", async (more) => {
    const json = { data: { ...given(), client_secret: undefined, ...more } };
    const answer = await store.call(createProfile, { ids: { realm }, json });
    expect([answer.status, answer.code]).toEqual([400, "member_missing"]);
    expect(answer.body.errors[0].source).toEqual({ pointer: "/data/client_secret" });
  });

  test("400 names a secret that is missing beside whatever else is wrong", async () => {
    const faults = async (data: unknown) => {
      const { body } = await store.call(createProfile, { ids: { realm }, json: { data } });
      return body.errors.map(({ source }: { source: { pointer: string } }) => source.pointer).sort();
    };
    const members = ["client_id", "client_secret", "discovery_url", "name"].map((name) => `/data/${name}`);
    expect(await faults({ type: "oidc-profile" })).toEqual(members);
    expect(await faults({ type: "oidc-profile", enabled: false })).not.toContain("/data/client_secret");
    expect(await faults({ ...given(), client_secret: 7 })).toEqual(["/data/client_secret"]);
    for (const data of [null, 7, []]) expect(await faults(data)).toEqual(["/data"]);
  });

  test("are in no answer, no log line and not in the database as they are (T27, A56)", async () => {
    const { id } = await created({ client_secret_next: "marker next" });
    const answers = [await read(id), (await store.call(listProfiles, { ids: { realm } })).body];
    const rows = await latchkey.storage.db.selectFrom("oidc_profiles").selectAll().execute();
    expect(JSON.stringify([answers, rows, latchkey.logLines])).not.toContain("marker");
    expect(answers[0].data.meta.has_next_client_secret).toBe(true);
  });

  test.each([
    ["discovery URL", () => ({ discovery_url: `${idp.origin}/` })],
    ["client id", () => ({ client_id: "another" })],
  ])(
    "422 for a changed %s without the secret; nothing changes and nobody is asked (T26, A55)",
    async (_, change) => {
      const { id } = await created();
      const before = await read(id);
      idp.journal.length = 0;
      expect((await update(id, change())).code).toBe("client_secret_required");
      expect(idp.journal).toEqual([]);
      expect(await read(id)).toEqual(before);
      expect((await update(id, { ...change(), client_secret: "new" })).status).toBe(200);
    },
  );

  test("the next secret can be set and taken away, and goes when the provider is another", async () => {
    const { id } = await created({ client_secret_next: "n" });
    const hasNext = async () => (await read(id)).data.meta.has_next_client_secret;
    await update(id, { client_secret_next: null });
    expect(await hasNext()).toBe(false);
    await update(id, { client_secret_next: "n" });
    await update(id, { name: "Renamed" });
    expect(await hasNext()).toBe(true);
    await update(id, { client_id: "another", client_secret: "s" });
    expect(await hasNext()).toBe(false);
  });
});

describe("update, list, delete", () => {
  test("200 renames while the provider is down", async () => {
    const { id } = await created();
    idp.hooks.answer = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    expect((await update(id, { name: "Renamed" })).body.data.name).toBe("Renamed");
  });

  test("trying wrong addresses again and again does not touch the health of the working provider", async () => {
    const { id } = await created();
    for (let i = 0; i < 8; i++) {
      await update(id, { discovery_url: `${idp.origin}/wrong`, client_secret: "s" });
      await create({ discovery_url: `${idp.origin}/wrong` });
    }
    expect((await read(id)).data.meta.health.status).toBe("up");
    expect((await call(latchkey.app, ready)).body.identity_providers).toEqual({ down: 0, degraded: 0 });
  });

  test("422 for an update to a provider that misses a requirement; the old one stays in force", async () => {
    const { id } = await created();
    const before = await read(id);
    idp.hooks.discovery = (d) => ({ ...d, response_types_supported: ["id_token"] });
    const answer = await update(id, { discovery_url: `${idp.origin}/`, client_secret: "s" });
    expect(answer.code).toBe("idp_requirement_not_met");
    expect(await read(id)).toEqual(before);
  });

  test("409 for a body that names another profile", async () => {
    const { id } = await created();
    expect((await update(id, { id: "another" })).code).toBe("id_mismatch");
  });

  test("200 lists with links in each item, for storefronts too (seed 4.2)", async () => {
    await created();
    await created({ name: "Second" });
    const { body } = await call(latchkey.app, listProfiles, {
      ids: { realm },
      token: await store.token("implicit"),
    });
    expect(body.data.map((profile: { name: string }) => profile.name)).toEqual(["Company account", "Second"]);
    for (const profile of body.data) {
      expect(profile.links["authorization-endpoint"]).toContain(`?profile=${profile.id}`);
    }
  });

  test("200 tells a public token nothing of a secret's rotation or of a change that waits; the back office sees both", async () => {
    const { id } = await created({ client_secret_next: "marker next secret" });
    const metaFor = async (token: string) => {
      const one = await call(latchkey.app, getProfile, { ids: { realm, id }, token });
      const list = await call(latchkey.app, listProfiles, { ids: { realm }, token });
      return [one.body.data.meta, list.body.data[0].meta];
    };
    for (const meta of await metaFor(await store.token("implicit"))) {
      expect(Object.keys(meta)).toEqual(["issuer", "endpoint_hosts", "health", "created_at", "updated_at"]);
    }
    for (const meta of await metaFor(await store.token())) {
      expect(meta).toMatchObject({ has_next_client_secret: true, pending_change: null });
    }
  });

  test("404 for another store's profile on every path, and it lives on (T30)", async () => {
    const { id } = await created();
    const other = await latchkey.createStore();
    for (const operation of [getProfile, deleteProfile, checkProfile]) {
      expect((await other.call(operation, { ids: { realm, id } })).code).toBe("realm_not_found");
    }
    const json = { data: { digest: "x" } };
    expect((await other.call(approveDrift, { ids: { realm, id }, json })).code).toBe("realm_not_found");
    expect((await read(id)).data.id).toBe(id);
  });

  test("204 removes it", async () => {
    const { id } = await created();
    expect((await store.call(deleteProfile, { ids: { realm, id } })).status).toBe(204);
    expect((await store.call(getProfile, { ids: { realm, id } })).code).toBe("profile_not_found");
  });
});

describe("the direct flow", () => {
  const direct = () => ({ flow: "direct", client_id: "customers" });

  test("its link is the provider's own endpoint, with a query to append to (wire 15)", async () => {
    const { body } = await create(direct());
    expect(body.links["authorization-endpoint"]).toBe(`${idp.origin}/authorize?profile=${body.data.id}`);
    idp.hooks.discovery = (d) => ({ ...d, authorization_endpoint: `${idp.origin}/authorize?a=1` });
    const second = await create({ ...direct(), enabled: false });
    expect(second.body.links["authorization-endpoint"]).toBe(
      `${idp.origin}/authorize?a=1&profile=${second.body.data.id}`,
    );
  });

  test("409 for a second one in the realm, also when two race; another realm has its own", async () => {
    const answers = await Promise.all([create(direct()), create(direct())]);
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409]);
    expect((await create(direct())).code).toBe("direct_profile_exists");
    const { id } = await created();
    expect((await update(id, { ...direct(), client_secret: "s" })).code).toBe("direct_profile_exists");
    const json = { data: { type: "authentication-realm", name: "Another" } };
    const ids = { realm: (await store.call(createRealm, { json })).body.data.id };
    const elsewhere = { ids, json: { data: { ...given(), ...direct() } } };
    expect((await store.call(createProfile, elsewhere)).status).toBe(201);
  });

  test("422 when its client id is not that of the settings, from either side", async () => {
    expect((await create({ flow: "direct" })).code).toBe("direct_client_id_mismatch");
    const { id } = await created(direct());
    const json = { data: { type: "customer-authentication-settings", client_id: "other" } };
    expect((await store.call(updateAuthenticationSettings, { json })).code).toBe("direct_client_id_mismatch");
    expect((await update(id, { client_id: "other", client_secret: "s" })).code).toBe(
      "direct_client_id_mismatch",
    );
  });
});

describe("the doctor", () => {
  test("200 says of each requirement whether it is met, with evidence", async () => {
    const { id } = await created();
    const { body } = await store.call(checkProfile, { ids: { realm, id } });
    const statuses = Object.fromEntries(
      body.data.checks.map((check: { id: string; status: string }) => [check.id, check.status]),
    );
    expect(statuses).toEqual({
      R1: "met",
      R2: "met",
      R3: "met",
      R4: "met",
      R5: "met",
      R6: "unknown",
      R7: "unknown",
      R8: "unknown",
      R9: "unknown",
    });
    expect(body.data.answer_ms).toBeGreaterThanOrEqual(0);
    expect(body.data.clock_offset_seconds).toEqual(expect.any(Number));
  });

  test("200 also for a provider that has broken since", async () => {
    const { id } = await created();
    idp.hooks.discovery = () => ({});
    const { body } = await store.call(checkProfile, { ids: { realm, id } });
    expect(body.data.checks[0]).toMatchObject({ id: "R1", status: "not_met", remedy: expect.any(String) });
  });
});

describe("tries of discovery addresses", () => {
  const wrong = (n: number) => create({ discovery_url: `${idp.origin}/${n}` });

  test("429 when a store has used them up, whichever operation asks; nobody is asked; they come back", async () => {
    const { id } = await created();
    const ask = { ids: { realm, id } };
    const last = await created({ enabled: false });
    for (let n = 2; n < limits.discoveryTries - 1; n++) expect((await wrong(n)).code).toBe("idp_unreachable");
    expect((await store.call(checkProfile, ask)).status).toBe(200);
    idp.journal.length = 0;
    for (const refused of [
      await wrong(0),
      await store.call(checkProfile, ask),
      await update(id, { discovery_url: `${idp.origin}/`, client_secret: "s" }),
      await update(last.id, { enabled: true }),
    ]) {
      expect([refused.status, refused.code]).toEqual([429, "discovery_tries_exceeded"]);
      expect(refused.headers.get("retry-after")).toBe("2");
      expect(refused.body.errors[0].meta).toEqual({ at_once: 30, per_minute: 30 });
    }
    expect(idp.journal).toEqual([]);
    expect((await update(id, { name: "Renamed" })).status).toBe(200);
    latchkey.clock.advance(2000);
    expect((await wrong(0)).code).toBe("idp_unreachable");
    expect((await wrong(0)).code).toBe("discovery_tries_exceeded");
  });

  test("of one store are not another's", async () => {
    for (let n = 0; n <= limits.discoveryTries; n++) await wrong(n);
    expect((await wrong(0)).status).toBe(429);
    store = await latchkey.createStore();
    realm = (await store.call(getAuthenticationSettings)).body.data.realm_id;
    expect((await create()).status).toBe(201);
  });
});

describe("health", () => {
  test("a provider that fails shows in its profile, in readiness and in the metrics, and readiness stays", async () => {
    const { id } = await created();
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) => void response.writeHead(500).end(),
    };
    const statuses: string[] = [];
    for (let i = 0; i < 6; i++) {
      await store.call(checkProfile, { ids: { realm, id } });
      statuses.push((await read(id)).data.meta.health.status);
    }
    expect(statuses).toEqual(["degraded", "degraded", "degraded", "degraded", "down", "down"]);
    expect(idp.asked("/.well-known/openid-configuration")).toBe(1 + 5);
    expect((await call(latchkey.app, ready)).body).toEqual({
      status: "ready",
      identity_providers: { down: 1, degraded: 0 },
    });
    idp.hooks = {};
    latchkey.clock.advance(10_000);
    await store.call(checkProfile, { ids: { realm, id } });
    expect((await read(id)).data.meta.health.status).toBe("up");
  });

  test("a provider that is down stays down through a rename and a new secret; another address begins anew", async () => {
    const { id } = await created();
    idp.hooks.answer = {
      "/.well-known/openid-configuration": (_, response) => void response.writeHead(500).end(),
    };
    for (let i = 0; i < 5; i++) await store.call(checkProfile, { ids: { realm, id } });
    for (const change of [{ name: "Renamed" }, { client_secret: "new" }, { enabled: false }]) {
      expect((await update(id, change)).status).toBe(200);
      expect((await read(id)).data.meta.health.status).toBe("down");
    }
    idp.journal.length = 0;
    await store.call(checkProfile, { ids: { realm, id } });
    expect(idp.journal).toEqual([]);
    idp.hooks = {};
    expect((await update(id, { discovery_url: idp.origin, client_secret: "new" })).status).toBe(200);
    expect((await read(id)).data.meta.health?.status).not.toBe("down");
  });
});
