import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueAccessToken } from "../src/contract/access-tokens.ts";
import {
  getApplicationKey,
  listApplicationKeys,
  updateApplicationKey,
} from "../src/contract/application-keys.ts";
import { createRealm, getRealm } from "../src/contract/realms.ts";
import { live, metrics, openapi, ready } from "../src/contract/service.ts";
import { authorize, callback } from "../src/contract/sign-on.ts";
import { getStore } from "../src/contract/store.ts";
import { type Fetch, toFetch } from "../src/http/fetch.ts";
import { createTestApp, PUBLIC_URL, type TestApp, type TestStore } from "./support/app.ts";
import { call } from "./support/call.ts";

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore(100_000);
});
afterAll(() => latchkey.close());

const fetch = (path: string, init: RequestInit = {}) =>
  latchkey.app.fetch(new Request(`http://internal${path}`, init));

/** The target is passed as in the request line, because a Request has already resolved its dot segments. */
const fetchTarget = async (method: string, target: string) => {
  const headers = { authorization: `Bearer ${await store.token()}` };
  const url = new URL(target, "http://internal");
  const env = { incoming: { url: target, socket: { remoteAddress: "127.0.0.1" } } };
  return latchkey.app.fetch(new Request(url, { method, headers }), env);
};

const newRealm = async (): Promise<string> => {
  const json = { data: { type: "authentication-realm", name: "Doomed" } };
  return (await store.call(createRealm, { json })).body.data.id;
};

describe("bearer tokens", () => {
  test.each([
    ["Bearer", 401],
    ["Bearer  ", 401],
    ["bearer x y", 401],
    ["Basic !!!", 401],
    ["Bearer Bearer", 401],
    [`Bearer ${"x".repeat(100_000)}`, 401],
    ["Bearer \u00e9", 401],
    ["Bearer a, Bearer b", 401],
  ])(
    "Authorization: %.30s answers %d, and the next valid request is served (T02, A69)",
    async (authorization, status) => {
      const answer = await call(latchkey.app, listApplicationKeys, { headers: { authorization } });
      expect(answer.status).toBe(status);
      expect((await store.call(listApplicationKeys)).status).toBe(200);
    },
  );

  test.each(["bearer", "BEARER", "Bearer"])("the scheme is case-insensitive: %s (R45)", async (scheme) => {
    const headers = { authorization: `${scheme} ${await store.token()}` };
    expect((await call(latchkey.app, getStore, { headers })).status).toBe(200);
  });

  test("401 for an expired token, at the second of its expiry", async () => {
    const own = await createTestApp();
    const token = await (await own.createStore()).token();
    own.clock.advance(3_599_999);
    expect((await call(own.app, getStore, { token })).status).toBe(200);
    own.clock.advance(1);
    expect((await call(own.app, getStore, { token })).code).toBe("token_invalid");
    await own.close();
  });

  test("400 for a form with a token: tokens in forms are not accepted (T04)", async () => {
    const form = { access_token: await store.token() };
    expect((await call(latchkey.app, updateApplicationKey, { ids: { id: store.key.id }, form })).code).toBe(
      "token_misplaced",
    );
  });
});

describe("addresses", () => {
  test("forged forwarding fields change nothing in answers (T34)", async () => {
    const headers = {
      host: "evil.example",
      "x-forwarded-host": "evil.example",
      "x-forwarded-proto": "http",
      forwarded: "host=evil.example",
    };
    for (const operation of [getApplicationKey, listApplicationKeys, getStore, openapi, ready]) {
      const { body, headers: answered } = await store.call(operation, { ids: { id: store.key.id }, headers });
      expect(JSON.stringify([body, ...answered])).not.toContain("evil.example");
    }
    const { body } = await store.call(getApplicationKey, { ids: { id: store.key.id }, headers });
    expect(body.links.self.startsWith(PUBLIC_URL)).toBe(true);
  });

  test("a trailing slash is accepted on every path", async () => {
    const token = await store.token();
    for (const path of ["/v2/application-keys/", `/v2/application-keys/${store.key.id}/`, "/v2/store/"]) {
      const answer = await fetch(path, {
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      });
      expect(answer.status).toBe(200);
    }
  });

  test("the query begins at the first question mark: text after a second one is part of it (T04)", async () => {
    const token = await store.token();
    const answer = await call(latchkey.app, getStore, { token, query: `x=?&access_token=${token}` });
    expect(answer.code).toBe("token_misplaced");
  });

  test("404 for an unknown path, with or without a token", async () => {
    for (const path of ["/v2/nothing", "/v1/application-keys", "/v2/application-keys/x/y/z"]) {
      const answer = await fetch(path);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ errors: [{ code: "route_not_found", status: "404" }] });
    }
  });

  test.each([
    "/v2/authentication-realms/ID/oidc-profiles/%2e%2e",
    "/v2/authentication-realms/ID/oidc-profiles/%2E%2e/",
    "/v2/authentication-realms/ID/oidc-profiles/.%2e",
    "/v2/authentication-realms/ID/oidc-profiles/..",
    "/v2/authentication-realms/ID/oidc-profiles/../",
    "/v2/authentication-realms/ID/%2e",
    "/v2/authentication-realms/ID/.",
    "/v2/authentication-realms/./ID",
    "/v2/x/../authentication-realms/ID",
    "/v2/x/%2e%2e/authentication-realms/ID",
    "/v2/authentication-realms//ID",
    "/v2/authentication-realms%2FID",
    "/v2/authentication-realms\\ID",
    "/v2/%61uthentication-realms/ID",
    "/%762/authentication-realms/ID",
    "/v2/authentication-realms/ID%20",
    "/v2/authentication-realms/ENCODED",
    "http://internal/v2/x/%2e%2e/authentication-realms/ID",
  ])("404 for DELETE %s: the path is matched as sent, not as a URL parser normalises it", async (written) => {
    const id = await newRealm();
    const encoded = `%${id.charCodeAt(0).toString(16)}${id.slice(1)}`;
    const target = written.replace("ID", id).replace("ENCODED", encoded);
    expect((await fetchTarget("DELETE", target)).status).toBe(404);
    expect((await store.call(getRealm, { ids: { id } })).status).toBe(200);
  });

  test("204 for the same DELETE with a correct path, alone or after scheme and host (RFC 9112 3.2.2)", async () => {
    for (const base of ["", "http://elsewhere.example", "HTTP://internal:1"]) {
      const id = await newRealm();
      expect((await fetchTarget("DELETE", `${base}/v2/authentication-realms/${id}/?x=%2e%2e`)).status).toBe(
        204,
      );
    }
  });

  test.each([
    [authorize.path, "GET, POST"],
    [callback.path, "GET"],
  ])("405 for HEAD at %s, which would begin or end something", async (path, allowed) => {
    const target = path.replaceAll(/\{\w+\}/g, store.store.id);
    const answer = await fetchTarget("HEAD", target);
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe(allowed);
  });

  test("200 for HEAD where a GET only reads", async () => {
    const answer = await fetchTarget("HEAD", "/v2/store");
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
  });

  test("405 for a method that a path does not support, with Allow", async () => {
    const answer = await fetch("/v2/application-keys", { method: "PATCH" });
    expect(answer.status).toBe(405);
    expect(answer.headers.get("allow")).toBe("GET, HEAD, POST");
  });

  test.each(["/", "/docs", "/docs/page.css", "/console", "/console/keys"])(
    "405 for a POST to the read-only page %s",
    async (path) => {
      for (const method of ["POST", "DELETE", "OPTIONS"]) {
        const answer = await fetch(path, { method });
        expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
      }
    },
  );
});

describe("other origins", () => {
  test("a preflight is answered for a day, for any origin, without credentials", async () => {
    const answer = await fetch("/v2/application-keys", {
      method: "OPTIONS",
      headers: { origin: "https://shop.example" },
    });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-headers")).toBe("Authorization, *");
    expect(answer.headers.get("access-control-allow-methods")).toBe("GET, POST, PUT, DELETE");
    expect(answer.headers.get("access-control-max-age")).toBe("86400");
    expect(answer.headers.has("access-control-allow-credentials")).toBe(false);
  });

  test("answers and refusals of the API expose their rate limit fields to any origin", async () => {
    for (const request of [fetch("/v2/store"), fetch("/oauth/access_token", { method: "POST" })]) {
      const { headers } = await request;
      expect(headers.get("access-control-allow-origin")).toBe("*");
      expect(headers.get("access-control-expose-headers")).toBe(
        "ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id",
      );
    }
  });

  test("the service's own pages have no CORS headers", async () => {
    for (const path of ["/health/ready", "/metrics", "/docs"]) {
      expect((await fetch(path)).headers.has("access-control-allow-origin")).toBe(false);
    }
  });
});

describe("browsers", () => {
  const headersOf = async (app: TestApp, path: string, method = "GET") =>
    (await app.app.fetch(new Request(`http://internal${path}`, { method }))).headers;

  test("get headers with every answer against framing, type guessing, loading and referrers", async () => {
    for (const [path, method] of [
      ["/v2/store"],
      ["/v2/store", "OPTIONS"],
      ["/v2/store", "PATCH"],
      ["/nothing"],
      ["/oauth/access_token", "POST"],
      ["/health/live"],
    ] as const)
      expect(Object.fromEntries(await headersOf(latchkey, path, method))).toMatchObject({
        "cache-control": "no-store",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "x-frame-options": "DENY",
        "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
      });
  });

  test.each([
    [PUBLIC_URL, "max-age=31536000"],
    ["http://localhost:4000", null],
    // The header would apply to every port of localhost, where other programs use http.
    ["https://localhost:8443", null],
  ])(
    "get Strict-Transport-Security under a public https URL, but not on localhost: %s",
    async (publicUrl, demand) => {
      const app = await createTestApp({ publicUrl });
      expect((await headersOf(app, "/v2/store")).get("strict-transport-security")).toBe(demand);
      await app.close();
    },
  );
});

describe("the operations of the service itself", () => {
  test("200 at live while the process lives, at ready while it can serve", async () => {
    expect((await call(latchkey.app, live)).body).toEqual({ status: "live" });
    const identity_providers = { down: 0, degraded: 0 };
    expect((await call(latchkey.app, ready)).body).toEqual({ status: "ready", identity_providers });
  });

  test("503 not_ready when the database does not answer, with the reason; 200 again without a restart", async () => {
    const { ping } = latchkey.storage;
    latchkey.storage.ping = () => Promise.reject(new Error("away"));
    latchkey.clock.advance(1000);
    const answer = await call(latchkey.app, ready);
    latchkey.storage.ping = ping;
    latchkey.clock.advance(1000);
    expect(answer.body.errors[0]).toMatchObject({
      code: "not_ready",
      meta: { reasons: ["the database does not answer"] },
    });
    expect(answer.headers.get("retry-after")).toBe("2");
    expect((await call(latchkey.app, ready)).status).toBe(200);
  });

  test("503 not_ready when this machine's clock and the database's are more than a minute apart (T48)", async () => {
    const { ping } = latchkey.storage;
    latchkey.storage.ping = async () => ({ nowMs: latchkey.clock.now() - 61_000, otherInstances: 0 });
    latchkey.clock.advance(1000);
    const answer = await call(latchkey.app, ready);
    latchkey.storage.ping = ping;
    latchkey.clock.advance(1000);
    expect(answer.body.errors[0].meta.reasons[0]).toContain("60 seconds apart");
  });

  test("many readiness requests cause few database requests", async () => {
    let pings = 0;
    const { ping } = latchkey.storage;
    latchkey.storage.ping = () => {
      pings++;
      return ping();
    };
    latchkey.clock.advance(1000);
    for (let i = 0; i < 50; i++) await call(latchkey.app, ready);
    latchkey.storage.ping = ping;
    expect(pings).toBe(1);
  });

  test("503 not_ready while the instance drains; requests are still served (T50)", async () => {
    const own = await createTestApp();
    const made = await own.createStore();
    own.app.readiness.drain();
    expect((await call(own.app, ready)).code).toBe("not_ready");
    expect((await made.call(getStore)).status).toBe(200);
    await own.close();
  });

  test("metrics count requests by route, not by the sent path", async () => {
    await store.call(getApplicationKey, { ids: { id: store.key.id } });
    latchkey.clock.advance(1000);
    const { body } = await call(latchkey.app, metrics);
    expect(body).toContain('route="/v2/application-keys/{id}"');
    expect(body).not.toContain(store.key.id);
  });

  test("metrics are computed at most once a second, however many requests there are", async () => {
    let made = 0;
    const own = await createTestApp({ lines: { waiting: () => ++made, dropped: () => 0 } });
    const ask = async () => (await call(own.app, metrics, { peer: "192.0.2.1" })).body as string;
    const texts = await Promise.all(Array.from({ length: 50 }, ask));
    expect([new Set(texts).size, made]).toEqual([1, 1]);
    own.clock.advance(999);
    expect(await ask()).toBe(texts[0]);
    own.clock.advance(1);
    expect(await ask()).not.toBe(texts[0]);
    expect(made).toBe(2);
    await own.close();
  });

  test("404 for health and metrics where they have their own port, which answers nothing else", async () => {
    const own = await createTestApp({ operationsApart: true });
    const operations = toFetch(own.app.serveOperations);
    const status = async (fetch: Fetch, path: string) =>
      (await fetch(new Request(`http://internal${path}`))).status;
    for (const path of ["/health/live", "/health/ready", "/metrics"]) {
      expect([await status(own.app.fetch, path), await status(operations, path)]).toEqual([404, 200]);
    }
    for (const path of ["/openapi.json", "/docs"]) {
      expect([await status(own.app.fetch, path), await status(operations, path)]).toEqual([200, 404]);
    }
    expect([await status(own.app.fetch, "/v2/store"), await status(operations, "/v2/store")]).toEqual([
      401, 404,
    ]);
    await own.close();
  });

  test("the contract is served with the public URL as its server", async () => {
    const { body } = await call(latchkey.app, openapi);
    expect([body.openapi, body.servers]).toEqual(["3.1.0", [{ url: PUBLIC_URL }]]);
  });

  test("the API reference loads everything from the service", async () => {
    const page = await (await fetch("/docs")).text();
    const loaded = [...page.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map((match) => match[1] as string);
    expect(loaded).toContain("/docs/page.js");
    expect(page).not.toMatch(/(?:src|href)="https?:/);
    for (const path of ["/docs", ...loaded]) {
      const { status, headers } = await fetch(path);
      // After an upgrade no browser uses the cached page of the earlier release (wire 1).
      expect([path, status, headers.get("cache-control")]).toEqual([path, 200, "no-store"]);
    }
    expect((await fetch("/docs")).headers.get("content-security-policy")).toContain("default-src 'none'");
  });
});

describe("the log", () => {
  test("has one line for each request, with exactly these fields", async () => {
    latchkey.logLines.length = 0;
    const { headers } = await store.call(listApplicationKeys, { query: "page[limit]=0&marker=1" });
    expect(latchkey.logLines).toHaveLength(1);
    const {
      time: _time,
      level: _level,
      duration_ms: _ms,
      ...line
    } = latchkey.logLines[0] as Record<string, unknown>;
    expect(line).toEqual({
      event: "request",
      request_id: headers.get("x-request-id"),
      method: "GET",
      route: "/v2/application-keys",
      status: 400,
      source: "127.0.0.1",
      store_id: store.store.id,
      application_key_id: store.key.id,
      problems: ["parameter_invalid"],
    });
  });

  test("never holds a secret, a token, a header's value or a query string (T28, I10)", async () => {
    latchkey.logLines.length = 0;
    const token = await store.token();
    const form = {
      grant_type: "client_credentials",
      client_id: store.key.clientId,
      client_secret: store.key.clientSecret,
    };
    await call(latchkey.app, issueAccessToken, { form, query: "marker-query=1" });
    await call(latchkey.app, issueAccessToken, { form: { ...form, client_secret: "marker-secret" } });
    await call(latchkey.app, getStore, { headers: { authorization: "Bearer marker-bearer" } });
    await call(latchkey.app, getStore, { token, query: `access_token=${token}` });
    await fetch("/marker-path?marker-query");
    const text = JSON.stringify(latchkey.logLines);
    expect(latchkey.logLines.length).toBeGreaterThanOrEqual(6);
    for (const secret of [token, store.key.clientSecret, "marker"]) expect(text).not.toContain(secret);
  });

  test("names the type and place of an unexpected error, but not its message, which may quote values", async () => {
    latchkey.logLines.length = 0;
    const { db } = latchkey.storage;
    await store.call(getStore);
    latchkey.storage.db = undefined as never;
    await store.call(getStore);
    latchkey.storage.db = db;
    const line = latchkey.logLines.at(-1) as { level: number; cause: { name: string; at: string[] } };
    expect(line.cause.name).toBe("TypeError");
    expect(line.cause.at[0]).toMatch(/^at /);
    expect(line.cause).not.toHaveProperty("message");
  });
});
