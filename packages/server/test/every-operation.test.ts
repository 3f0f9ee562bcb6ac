import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler, sql } from "kysely";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";

import { createApplicationKey, getApplicationKey } from "../src/contract/application-keys.ts";
import { issueCustomerToken } from "../src/contract/customer-tokens.ts";
import { createCustomer } from "../src/contract/customers.ts";
import { checkAtGateway } from "../src/contract/gateway.ts";
import { createIntegration } from "../src/contract/integrations.ts";
import { createMember } from "../src/contract/members.ts";
import { createProfile } from "../src/contract/oidc-profiles.ts";
import type { Operation } from "../src/contract/operation.ts";
import { operations } from "../src/contract/operations.ts";
import { isPermitted } from "../src/contract/permissions.ts";
import { problemEntry } from "../src/contract/problems.ts";
import { createRealm } from "../src/contract/realms.ts";
import { openapi } from "../src/contract/service.ts";
import { callback, jwks, userinfo, userinfoByPost } from "../src/contract/sign-on.ts";
import type { Egress } from "../src/egress/egress.ts";
import { egressFault } from "../src/egress/egress-message.ts";
import { ANONYMOUS } from "../src/rate-limit/cap.ts";
import type { Database } from "../src/storage/storage.ts";
import { createTestApp, type TestApp, type TestStore } from "./support/app.ts";
import { type Answer, type Call, call } from "./support/call.ts";

/** Rules that hold for each operation because of what it is: so that a new one cannot forget them. */

let latchkey: TestApp;
let store: TestStore;
let stranger: TestStore;
let token: string;
/** Things that an operation may change or delete, other than those that the call depends on. */
const targets = {
  key: "",
  realm: "",
  profile: "",
  customer: "",
  customerToken: "",
  member: "",
  integration: "",
};

/** No identity provider can be reached; a profile that is not enabled can be saved all the same. */
const nowhere: Egress = { send: async () => Promise.reject(egressFault("host_unknown")) };
const PROFILE = {
  type: "oidc-profile",
  name: "Target",
  discovery_url: "https://idp.example/.well-known/openid-configuration",
  client_id: "c",
  client_secret: "s",
  enabled: false,
};

const INTEGRATION = {
  type: "integration",
  name: "Target",
  integration_type: "webhook",
  observes: ["customer.*"],
  configuration: { url: "https://hooks.example" },
};

const CREDENTIALS = { email: "target@shop.example", password: "correct horse" };

beforeAll(async () => {
  latchkey = await createTestApp({ egress: nowhere });
  store = await latchkey.createStore(100_000);
  stranger = await latchkey.createStore(100_000);
  token = await store.token();
  const make = async (operation: Operation, data: object) =>
    (await store.call(operation, { ids: { realm: targets.realm }, json: { data } })).body.data.id;
  targets.key = await make(createApplicationKey, { type: "application_key", name: "Target" });
  targets.realm = await make(createRealm, { type: "authentication-realm", name: "Target" });
  targets.profile = await make(createProfile, PROFILE);
  targets.integration = await make(createIntegration, INTEGRATION);
  targets.customer = await make(createCustomer, { type: "customer", name: "Target", ...CREDENTIALS });
  targets.member = await make(createMember, { type: "member", email: "target@shop.example", role: "viewer" });
  targets.customerToken = await make(issueCustomerToken, { type: "token", ...CREDENTIALS });
});
// What is refused counts against its source; every test starts with a full allowance.
beforeEach(() => latchkey.clock.advance(2000));
afterAll(() => latchkey.close());

const of = (matches: (operation: Operation) => boolean) =>
  operations.filter(matches).map((operation) => [operation.id, operation] as const);
const withBearer = of(({ access }) => Array.isArray(access));
const forBackOffice = of(({ access }) => Array.isArray(access) && !isPermitted("implicit", access as never));
const forCustomers = of(({ access }) => access[1] === "own");
const withClient = of(({ access }) => access === "client");
const withBody = of(({ body }) => body !== undefined);
const withIds = of(({ ids }) => ids !== undefined);
const ofOneStore = of(({ access, ids }) => Array.isArray(access) && ids !== undefined);
const withQuery = of(({ query }) => query !== undefined);
const ofApi = of(({ tag }) => tag !== "Service");
const isOpen = ({ access }: Operation) => access === "public" || access === "browser";
const withoutToken = of(
  (operation) => operation.access === "client" || (isOpen(operation) && operation.tag !== "Service"),
);
const withToken = of((operation) => operation.tag !== "Service" && !isOpen(operation));

const UNKNOWN = "01890000-0000-7000-8000-000000000000";

const idsFor = ({ tag }: Operation): Record<string, string> => ({
  store: store.store.id,
  realm: targets.realm,
  profile: targets.profile,
  customer: targets.customer,
  delivery: UNKNOWN,
  id:
    {
      Realms: targets.realm,
      "Identity providers": targets.profile,
      Customers: targets.customer,
      Members: targets.member,
      Integrations: targets.integration,
      "Customer tokens": targets.customerToken,
    }[tag as string] ?? targets.key,
});

function dataFor({ id, tag }: Operation): object {
  if (id === "approveDrift") return { digest: "x" };
  if (tag === "Identity providers") return PROFILE;
  if (tag === "Customer tokens") return { type: "token", ...CREDENTIALS };
  if (tag === "Customers") return { type: "customer", name: "n", email: "new@shop.example" };
  if (tag === "Members") return { type: "member", email: "new@shop.example", role: "viewer" };
  if (id === "replayEvents") return { after: 0 };
  if (tag === "Integrations") return INTEGRATION;
  if (tag === "Store") return { type: "store", name: "n" };
  if (id === "updateAuthenticationSettings") return { type: "customer-authentication-settings" };
  if (tag === "Realms") return { type: "authentication-realm", name: "n" };
  return { type: "application_key", name: "n", grace_seconds: 1 };
}

/** What the OpenID endpoints take; the others do not look at it. */
const FORM = {
  code: "x",
  redirect_uri: "https://shop.example",
  code_verifier: "v".repeat(43),
  logout_token: "x",
};

/** A request that would be served: what a test then breaks in one place. */
function goodRequest(operation: Operation): Call {
  const client = { client_id: store.key.clientId, client_secret: store.key.clientSecret };
  return {
    ids: idsFor(operation),
    ...(Array.isArray(operation.access) && { token }),
    ...(operation.body && !operation.body.form && { json: { data: dataFor(operation) } }),
    ...(operation.legForm && { form: {} }),
    ...(operation.body?.form && { form: { token: "x", ...client, ...FORM, ...grantOf(operation) } }),
  };
}

const grantOf = ({ body }: Operation) => ({ grant_type: body?.grants?.[0] ?? "implicit" });

/** A request whose body would be refused, if anybody read it. */
const broken = (operation: Operation, by: string | undefined): Call => ({
  ids: idsFor(operation),
  token: by,
  ...(operation.body && { raw: "{", headers: { "content-type": "application/json" } }),
});

test("429 for pages and unknown paths as well, when one address asks too often; never for health and metrics", async () => {
  const fresh = await createTestApp();
  const ask = async (path: string) => (await fresh.app.fetch(new Request(`http://internal${path}`))).status;
  for (let i = 0; i < ANONYMOUS.burst; i++) await ask("/nothing");
  for (const path of ["/nothing", "/docs", "/openapi.json"]) expect(await ask(path)).toBe(429);
  expect((await call(fresh.app, openapi, { peer: "" })).code).toBe("rate_limit_exceeded");
  for (const operation of [userinfo, userinfoByPost]) {
    const ids = { store: store.store.id, realm: store.store.id };
    expect((await call(fresh.app, operation, { peer: "", ids })).code).toBe("rate_limit_exceeded");
  }
  for (const path of ["/health/live", "/health/ready", "/metrics"]) expect(await ask(path)).toBe(200);
  await fresh.close();
});

test("the public routes are these and no others; everything else needs a token or client credentials (A74)", () => {
  expect(of(({ access }) => access === "public").map(([id]) => id)).toEqual([
    "backchannelLogout",
    "realmMetadata",
    "jwks",
    "live",
    "ready",
    "metrics",
    "openapi",
  ]);
  expect(of(({ access }) => access === "browser").map(([id]) => id)).toEqual([
    "authorize",
    "authorizeByForm",
    "callback",
    "beginTest",
    "endSession",
    "endSessionByForm",
    "signedOut",
  ]);
  expect(withClient.map(([id]) => id)).toEqual([
    "issueAccessToken",
    "introspectToken",
    "revokeToken",
    "realmToken",
    "revokeAtRealm",
  ]);
});

describe.each(withBearer)("%s", (_, operation) => {
  test("401 without a token, with a challenge and no error code; the body is not read (T01)", async () => {
    const answer = await call(latchkey.app, operation, broken(operation, undefined));
    expect([answer.status, answer.code]).toEqual([401, "token_missing"]);
    expect(answer.headers.get("www-authenticate")).toBe('Bearer realm="latchkey"');
  });

  test("401 for a bad token, the same whatever is wrong with it (T03)", async () => {
    const bodies = new Set<string>();
    for (const bad of [token.slice(0, -1), `${token}A`, "lkat_", "x", token.toUpperCase()]) {
      const answer = await call(latchkey.app, operation, { ...goodRequest(operation), token: bad });
      expect([answer.status, answer.code]).toEqual([401, "token_invalid"]);
      expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
      bodies.add(JSON.stringify({ ...answer.body.errors[0], id: "" }));
    }
    expect(bodies.size).toBe(1);
  });

  test("an error while the token is looked up lets nobody in, whoever it is of, and the body is not read (A75)", async () => {
    // One that has not seen the token yet.
    const { app, storage } = await createTestApp({ storage: { ...latchkey.storage }, clock: latchkey.clock });
    const callWith = async (error: Error) => {
      storage.db = brokenDatabase(error);
      const answer = await call(app, operation, broken(operation, token));
      return [answer.status, answer.code];
    };
    const away = Object.assign(new Error("away"), { code: "ECONNREFUSED" });
    expect(await callWith(away)).toEqual([503, "storage_unavailable"]);
    expect(await callWith(new TypeError("ours"))).toEqual([500, "internal_error"]);
    storage.db = latchkey.storage.db;
    await app.stop();
  });

  test("every answer to a good token carries the rate limit fields", async () => {
    for (const by of [token, await store.token("implicit")]) {
      const { headers } = await call(latchkey.app, operation, {
        ...goodRequest(operation),
        ids: { ...idsFor(operation), id: UNKNOWN },
        token: by,
      });
      expect(headers.has("ratelimit") && headers.has("ratelimit-policy")).toBe(true);
    }
  });

  test("429 when the limit is used up, before the body is read", async () => {
    const tiny = await createTestApp();
    const poor = await tiny.createStore(1);
    const own = await poor.token();
    // Administration has a floor of its own, so it takes a few more than the limit to use everything up.
    for (let i = 0; i < 8; i++) await call(tiny.app, getApplicationKey, { ids: { id: UNKNOWN }, token: own });
    const answer = await call(tiny.app, operation, broken(operation, own));
    expect([answer.status, answer.code]).toEqual([429, "rate_limit_exceeded"]);
    expect(Number(answer.headers.get("retry-after"))).toBeGreaterThanOrEqual(1);
    await tiny.close();
  });
});

describe.each(forBackOffice)("%s", (_, operation) => {
  test("403 for an implicit token (T32)", async () => {
    const answer = await call(latchkey.app, operation, {
      ...goodRequest(operation),
      token: await store.token("implicit"),
    });
    expect([answer.status, answer.code]).toEqual([403, "not_permitted"]);
    expect(answer.headers.get("www-authenticate")).toContain("insufficient_scope");
  });
});

describe.each(forCustomers)("%s", (_, operation) => {
  test("403 for a customer token that is none, by either name", async () => {
    for (const name of ["x-customer-token", "x-moltin-customer-token"]) {
      const request = { ...goodRequest(operation), token: await store.token("implicit") };
      const answer = await call(latchkey.app, operation, { ...request, headers: { [name]: "no token" } });
      expect([answer.status, answer.code]).toEqual([403, "customer_token_invalid"]);
    }
  });
});

describe.each(withoutToken)("%s", (_, operation) => {
  test("429 when one address asks too often; another address is served (R36)", async () => {
    const fresh = await createTestApp();
    const ask = (peer: string) =>
      call(fresh.app, operation, {
        ids: idsFor(operation),
        ...(operation.body && { form: { grant_type: "x", token: "x" } }),
        peer,
      });
    for (let i = 0; i < ANONYMOUS.burst; i++) await ask("192.0.2.1");
    const answer = await ask("192.0.2.1");
    expect([answer.status, answer.code]).toEqual([429, "rate_limit_exceeded"]);
    expect((await ask("192.0.2.2")).status).not.toBe(429);
    await fresh.close();
  });
});

describe.each(withBody)("%s", (_, operation) => {
  const send = (raw: string | Uint8Array<ArrayBuffer>, headers: Record<string, string>) => {
    const { json: _json, form: _form, ...request } = goodRequest(operation);
    return call(latchkey.app, operation, { ...request, raw, headers });
  };

  test.each([
    ["text/plain"],
    ["application/json\ta"],
    ["application/json garbage"],
    ["application/json; charset=utf-7"],
    ["application/jsonx"],
    ["multipart/form-data; boundary=x"],
    ["application/vnd.api+json"],
  ])("415 for a body of type %s (T37, A63)", async (type) => {
    const answer = await send("{}", { "content-type": type });
    expect([answer.status, answer.code]).toEqual([415, "media_type_unsupported"]);
  });

  test("400 for a body that breaks off; it is nobody's outage", async () => {
    const { json: _json, form: _form, ...request } = goodRequest(operation);
    const raw = new ReadableStream({
      start: (controller) => controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" })),
    });
    const headers = { "content-type": "application/json" };
    const answer = await call(latchkey.app, operation, { ...request, raw, headers });
    expect([answer.status, answer.code]).toEqual([400, "body_broke_off"]);
  });

  test("415 for a compressed body, and for one without a type (T37, A63, A66)", async () => {
    expect(
      (await send("{}", { "content-type": "application/json", "content-encoding": "gzip" })).status,
    ).toBe(415);
    expect((await send(new Uint8Array([123, 125]), {})).status).toBe(415);
  });

  test("400 for a body that is not JSON", async () => {
    const answer = await send("{", { "content-type": "application/json" });
    expect([answer.status, answer.code]).toEqual([400, "body_not_json"]);
  });

  test.each([
    ["a NUL in a text", String.raw`{"data":{"x":["a\u0000b"]}}`, "member_invalid"],
    ["a NUL in a member's name", String.raw`{"data":{"a\u0000b":1}}`, "member_invalid"],
    ["half a surrogate pair in a text", String.raw`{"data":{"x":["\ud83d"]}}`, "body_not_json"],
    ["half a surrogate pair in a member's name", String.raw`{"data":{"\udd11":1}}`, "body_not_json"],
  ])("400 for %s, wherever it is, also in what would be ignored", async (_, raw, code) => {
    const answer = await send(raw, { "content-type": "application/json" });
    expect([answer.status, answer.code]).toEqual([400, code]);
    expect(JSON.stringify(answer.body)).not.toMatch(/u0000|a\0b|ud83d|udd11/);
  });

  const FORMS: [string, string | Uint8Array<ArrayBuffer>][] = [
    ["a NUL", "x=%00"],
    ["half a surrogate pair", "x=%ED%A0%BD"],
    ["bytes that are not UTF-8", new Uint8Array([120, 61, 0xe9])],
  ];
  test.each(operation.body?.form ? FORMS : [])("400 for a form with %s", async (_, raw) => {
    const answer = await send(raw, { "content-type": "application/x-www-form-urlencoded" });
    expect([answer.status, answer.code]).toEqual([400, "member_invalid"]);
  });

  test("400 for a member that is missing, and for one of another type", async () => {
    expect((await send("{}", { "content-type": "application/json" })).codes).toContain("member_missing");
    const wrong = JSON.stringify({
      ...(operation.body?.grants && { ...grantOf(operation), client_id: 7 }),
      data: { grace_seconds: "x", name: 7, type: 7, digest: 7, after: "x" },
      token: 7,
      logout_token: 7,
    });
    expect((await send(wrong, { "content-type": "application/json" })).codes).toContain("member_invalid");
  });

  test("413 for a body over 16 KB, announced or not (T38)", async () => {
    const long = `{"x":"${"x".repeat(16 * 1024)}"}`;
    const headers = { "content-type": "application/json" };
    expect((await send(long, { ...headers, "content-length": String(long.length) })).status).toBe(413);
    expect((await send(long, headers)).status).toBe(413);
  });
});

describe.each(withIds)("%s", (_, operation) => {
  test.each(Object.entries(operation.ids ?? {}))(
    "a %s that nobody has is refused: %s (T30)",
    async (name, problem) => {
      const ids = { ...idsFor(operation), [name]: UNKNOWN };
      const answer = await call(latchkey.app, operation, { ...goodRequest(operation), ids });
      expect([answer.status, answer.code]).toEqual([problemEntry(problem).status, problem]);
    },
  );
});

describe.each(ofOneStore)("%s", (_, operation) => {
  test("to another store's back office it is as if nobody had it, and nothing of it changes (T30, T31, A33)", async () => {
    const by = { ...goodRequest(operation), token: await stranger.token() };
    const before = await rowsOf(store);
    const unknown = Object.fromEntries(Object.keys(operation.ids ?? {}).map((name) => [name, UNKNOWN]));
    const nobodys = await call(latchkey.app, operation, { ...by, ids: unknown });
    const foreign = await call(latchkey.app, operation, by);
    const said = ({ status, body }: Answer) => [status, body.errors[0].code, body.errors[0].detail];
    expect(said(foreign)).toEqual(said(nobodys));
    expect(foreign.status).toBe(404);
    expect(await rowsOf(store)).toEqual(before);
  });
});

/** All that the database has of a store, to the letter. */
async function rowsOf({ store: { id } }: TestStore): Promise<Record<string, unknown[]>> {
  const { db } = latchkey.storage;
  const tables = (await db.introspection.getTables()).filter(({ columns }) =>
    columns.some(({ name }) => name === "store_id"),
  );
  const rows: Record<string, unknown[]> = {};
  for (const { name } of tables)
    rows[name] = (await sql`select * from ${sql.table(name)} where store_id = ${id}`.execute(db)).rows;
  return rows;
}

describe.each(withQuery)("%s", (_, operation) => {
  test.each([
    ["a NUL", "filter=eq(name,%00)"],
    ["half a surrogate pair", "filter=eq(name,%ED%A0%BD)"],
    ["bytes that are not UTF-8", "page[limit]=1&x=%FF"],
  ])("400 for a query with %s", async (_, query) => {
    const answer = await call(latchkey.app, operation, { ...goodRequest(operation), query });
    expect([answer.status, answer.code]).toEqual([400, "parameter_invalid"]);
  });

  test("400 for a parameter that is out of bounds, with what it takes", async () => {
    const query =
      "page[limit]=0&page[offset]=x&page[after]=%27&seconds=0&after=x&types=%27&step=week&from=x&customer=x";
    const answer = await call(latchkey.app, operation, { ...goodRequest(operation), query });
    expect(answer.code).toBe("parameter_invalid");
    for (const { detail } of answer.body.errors)
      expect(detail).toMatch(/^`[^`]+`: expected (?!Invalid|another)|^There is no parameter/);
  });
});

describe.each(withToken)("%s", (_, operation) => {
  test("400 for an access token in the URL, with or without one in the header (T04)", async () => {
    const query = `access_token=${token}`;
    const { token: _token, ...bare } = goodRequest(operation);
    for (const request of [goodRequest(operation), bare]) {
      const answer = await call(latchkey.app, operation, { ...request, query });
      expect([answer.status, answer.code]).toEqual([400, "token_misplaced"]);
    }
  });
});

describe.each(ofApi)("%s", (_, operation) => {
  test("414 for a URL over 8 KB", async () => {
    const answer = await call(latchkey.app, operation, {
      ...goodRequest(operation),
      query: `x=${"x".repeat(8 * 1024)}`,
    });
    expect([answer.status, answer.code]).toEqual([414, "url_too_long"]);
  });

  test("503 with Retry-After when the database is away, 500 for a fault of ours, and neither tells more", async () => {
    // The keys that we publish, what a gateway asks and where a sign-on comes back to are in memory once they have been read.
    const isCold = operation === jwks || operation === checkAtGateway || operation === callback;
    const latchkey = isCold ? await createTestApp() : warm();
    const { db } = latchkey.storage;
    if (!isCold) await call(latchkey.app, operation, goodRequest(operation));
    const request = operation.access === "client" ? clientRequest(operation) : goodRequest(operation);
    const callWith = async (broken: Database) => {
      latchkey.storage.db = broken;
      return call(latchkey.app, operation, request).finally(() => {
        latchkey.storage.db = db;
      });
    };
    const away = await callWith(
      brokenDatabase(Object.assign(new Error("connect marker"), { code: "ECONNREFUSED" })),
    );
    const ours = await callWith(brokenDatabase(new TypeError("marker")));
    expect([away.status, away.code, away.headers.get("retry-after")]).toEqual([
      503,
      "storage_unavailable",
      "2",
    ]);
    expect([ours.status, ours.code]).toEqual([500, "internal_error"]);
    expect(JSON.stringify([away.body, ours.body])).not.toContain("marker");
  });
});

const clientRequest = (operation: Operation): Call => ({
  ids: idsFor(operation),
  form: {
    ...FORM,
    grant_type: operation.body?.grants?.at(-1) ?? "client_credentials",
    token,
    client_id: store.key.clientId,
    client_secret: store.key.clientSecret,
  },
});

const warm = () => latchkey;

/** A database whose every query fails with this error. */
function brokenDatabase(error: Error): Database {
  const fail = async () => {
    throw error;
  };
  return new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createDriver: () => ({
        init: async () => {},
        acquireConnection: fail,
        beginTransaction: fail,
        commitTransaction: fail,
        rollbackTransaction: fail,
        releaseConnection: async () => {},
        destroy: async () => {},
      }),
    },
  });
}
