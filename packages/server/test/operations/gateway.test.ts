import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "../../src/contract/application-keys.ts";
import { issueCustomerToken, revokeCustomerTokens } from "../../src/contract/customer-tokens.ts";
import { createCustomer } from "../../src/contract/customers.ts";
import { checkAtGateway } from "../../src/contract/gateway.ts";
import { getAuthenticationSettings } from "../../src/contract/realms.ts";
import { mayActAs, ROLES, type Role } from "../../src/contract/roles.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, getToken, type TestApp, type TestStore } from "../support/app.ts";
import { type Call, call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { watchStatements } from "../support/statements.ts";

/** The check for a gateway: the service answers for a request that the gateway holds (wire 18). */

const CREDENTIALS = { email: "ada@shop.example", password: "correct horse" };

let latchkey: TestApp;
let store: TestStore;
let implicit: string;
let customer: { id: string; token: string };

/** The statements that the database got. */
const statements: string[] = [];

beforeAll(async () => {
  const plain = await openStorage({ clock: handClock() }, "sqlite::memory:");
  const storage = watchStatements(plain, ({ sql }) => void statements.push(sql));
  latchkey = await createTestApp({ storage });
});
beforeEach(async () => {
  store = await latchkey.createStore(1000);
  implicit = await store.token("implicit");
  customer = await signIn(store, implicit);
});
afterAll(() => latchkey.close());

async function signIn(at: TestStore, token: string): Promise<{ id: string; token: string }> {
  const { body: made } = await at.call(createCustomer, {
    json: { data: { type: "customer", name: "Ada", ...CREDENTIALS } },
  });
  const json = { data: { type: "token", ...CREDENTIALS } };
  const { body } = await call(latchkey.app, issueCustomerToken, { token, json });
  return { id: made.data.id, token: body.data.token };
}

const check = (request: Call) => call(latchkey.app, checkAtGateway, request);
const signedIn = () => ({ token: implicit, headers: { "x-customer-token": customer.token } });
/** Sends any method to any path, as a gateway may. */
const ask = (method: string, path: string, headers: Record<string, string> = {}) =>
  latchkey.app.fetch(new Request(`http://internal${path}`, { method, headers }));
const bearer = () => ({ authorization: `Bearer ${implicit}` });

test("the check at a gateway › 204 with store, key, grant and the rest of the limit; no customer without a customer token", async () => {
  const { status, headers } = await check({ token: implicit });
  expect(status).toBe(204);
  expect(headers.get("x-latchkey-store")).toBe(store.store.id);
  expect(headers.get("x-latchkey-application-key")).toBe(store.key.id);
  expect(headers.get("x-latchkey-grant")).toBe("implicit");
  expect(headers.has("x-latchkey-customer") || headers.has("x-latchkey-realm")).toBe(false);
  expect(headers.get("ratelimit")).toContain('"shared";r=');
  const own = await check({ token: await store.token() });
  expect(own.headers.get("x-latchkey-grant")).toBe("client_credentials");
});

test.each(["x-customer-token", "x-moltin-customer-token"])(
  "the check at a gateway › 204 with the customer of the token in %s, and the realm",
  async (name) => {
    const { headers } = await check({ token: implicit, headers: { [name]: customer.token } });
    const { body } = await store.call(getAuthenticationSettings);
    expect(headers.get("x-latchkey-customer")).toBe(customer.id);
    expect(headers.get("x-latchkey-realm")).toBe(body.data.realm_id);
  },
);

test("the check at a gateway › 403 for a bad customer token, or another store's", async () => {
  const other = await latchkey.createStore(1000);
  const foreign = await signIn(other, await other.token("implicit"));
  for (const token of ["x", `${customer.token}x`, foreign.token]) {
    const { status, code } = await check({ token: implicit, headers: { "x-customer-token": token } });
    expect([status, code]).toEqual([403, "customer_token_invalid"]);
  }
});

test("the check at a gateway › 403 for a bad customer token costs nothing of the store's limit, even when the limit is used up", async () => {
  const small = await latchkey.createStore(1);
  const token = await small.token("implicit");
  const bad = { token, headers: { "x-customer-token": "x" } };
  for (let i = 0; i < 20; i++) expect((await check(bad)).code).toBe("customer_token_invalid");
  expect((await check({ token })).status).toBe(204);
  let last = await check({ token });
  for (let i = 0; i < 20 && last.status === 204; i++) last = await check({ token });
  expect(last.code).toBe("rate_limit_exceeded");
  expect((await check(bad)).code).toBe("customer_token_invalid");
});

test("the check at a gateway › ?customer=required: 403 without a customer token, 204 with one", async () => {
  const query = "customer=required";
  expect((await check({ token: implicit, query })).code).toBe("customer_token_missing");
  expect((await check({ ...signedIn(), query })).status).toBe(204);
});

test("the check at a gateway › ?grant=client_credentials: 403 for an implicit token, 204 for the back office", async () => {
  const query = "grant=client_credentials";
  expect((await check({ token: implicit, query })).code).toBe("not_permitted");
  expect((await check({ token: await store.token(), query })).status).toBe(204);
});

describe("the check at a gateway › ?role", () => {
  const keyOf = async (role: Role): Promise<string> => {
    const json = { data: { type: "application_key", name: role, role } };
    const {
      id,
      client_id: clientId,
      client_secret: clientSecret,
    } = (await store.call(createApplicationKey, { json })).body.data;
    const key = { ...store.key, id, clientId, clientSecret };
    return getToken(latchkey.app, { ...store, key }, "client_credentials");
  };

  test.each(ROLES)("204 with the role %s of a program; an implicit token has none", async (role) => {
    const { headers } = await check({ token: await keyOf(role) });
    expect(headers.get("x-latchkey-role")).toBe(role);
    expect((await check(signedIn())).headers.has("x-latchkey-role")).toBe(false);
  });

  test.each(["support", "administrator"] as const)(
    "role=%s: 403 role_insufficient for a lower role, 204 from that role on",
    async (least) => {
      for (const role of ROLES) {
        const { status, code, body } = await check({ token: await keyOf(role), query: `role=${least}` });
        if (mayActAs(role, least)) expect(status).toBe(204);
        else {
          expect([status, code]).toEqual([403, "role_insufficient"]);
          expect(body.errors[0].meta).toEqual({ role, needs: least });
        }
      }
    },
  );

  test("403 not_permitted for an implicit token, even with a good customer token", async () => {
    for (const role of ["support", "administrator"]) {
      const { status, code } = await check({ ...signedIn(), query: `role=${role}` });
      expect([status, code]).toEqual([403, "not_permitted"]);
    }
  });

  test("a changed role counts within a second, for earlier tokens, too", async () => {
    const token = await keyOf("administrator");
    const query = "role=administrator";
    const { headers } = await check({ token, query });
    const ids = { id: headers.get("x-latchkey-application-key") ?? "" };
    const json = { data: { type: "application_key", name: "Reader", role: "viewer" } };
    await store.call(updateApplicationKey, { ids, json });
    expect((await check({ token, query })).code).toBe("role_insufficient");
    expect((await check({ token })).headers.get("x-latchkey-role")).toBe("viewer");
  });

  test("two different roles in the query of a subpath: 400 in either order", async () => {
    const token = await keyOf("support");
    const status = async (query: string) =>
      (await ask("GET", `/gateway/check/cart?${query}`, { authorization: `Bearer ${token}` })).status;
    expect(await status("role=support")).toBe(204);
    expect(await status("role=support&role=support")).toBe(204);
    expect(await status("role=administrator")).toBe(403);
    expect(await status("role=administrator&role=support")).toBe(400);
    expect(await status("role=support&role=administrator")).toBe(400);
    expect(await status("role=owner")).toBe(204);
  });
});

test.each([
  "role=viewer",
  "role=Administrator",
  "role=administrator&role=support",
  "customer=require",
  "custmer=required",
  "constructor=required",
  "grant=implicit",
  "customer=required&customer=required",
])("the check at a gateway › 400 for ?%s: a misspelt condition is not ignored", async (query) => {
  const { status, code } = await check({ ...signedIn(), query });
  expect([status, code]).toEqual([400, "parameter_invalid"]);
});

test("the check at a gateway › 400 with the first hundred of thousands of unknown conditions, so that the log line stays short (T38)", async () => {
  const query = Array.from({ length: 2500 }, (_, at) => `c${at}`)
    .join("&")
    .slice(0, 8000);
  const { status, body } = await check({ token: implicit, query });
  expect(status).toBe(400);
  expect(body.errors).toHaveLength(100);
  // Writes up to this length are atomic when several processes share a pipe.
  expect(JSON.stringify(latchkey.logLines.at(-1)).length).toBeLessThan(4096);
});

test("the check at a gateway › 200 with the same fields for X-Latchkey-Answer: 200; other values are ignored", async () => {
  const answer = await check({ token: implicit, headers: { "x-latchkey-answer": "200" } });
  expect([answer.status, answer.headers.get("x-latchkey-store")]).toEqual([200, store.store.id]);
  expect((await check({ token: implicit, headers: { "x-latchkey-answer": "418" } })).status).toBe(204);
});

describe("a path below /gateway/check", () => {
  test.each(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "204 for %s at any path",
    async (method) => {
      for (const path of ["", "/", "/cart", "/a/b/../c", "/products/caf%C3%A9%2F1", "//x"]) {
        expect((await ask(method, `/gateway/check${path}`, bearer())).status).toBe(204);
        expect((await ask(method, `/gateway/check${path}`)).status).toBe(401);
      }
    },
  );

  test("200 instead of 204 on request: Envoy accepts nothing else", async () => {
    const envoy = { ...bearer(), "x-latchkey-answer": "200" };
    const answer = await ask("GET", "/gateway/check/cart", envoy);
    expect([answer.status, await answer.text()]).toEqual([200, ""]);
    expect(answer.headers.get("x-latchkey-store")).toBe(store.store.id);
    expect((await ask("GET", "/gateway/check/cart?customer=required", envoy)).status).toBe(403);
    expect((await ask("GET", "/gateway/check/cart", { "x-latchkey-answer": "200" })).status).toBe(401);
  });

  test("the query is the client's: known conditions count, the rest is ignored", async () => {
    const status = async (query: string) =>
      (await ask("GET", `/gateway/check/cart?${query}`, bearer())).status;
    expect(await status("customer=42&grant=x&access_token=y&custmer=z&%")).toBe(204);
    expect(await status("constructor=x&toString=y&__proto__=z")).toBe(204);
    expect(await status("customer=required")).toBe(403);
    expect(await status("customer=1&customer=required")).toBe(403);
  });

  test("401 for a form without a token; the body is not read", async () => {
    const body = new ReadableStream(
      {
        pull() {
          throw new Error("the body is read");
        },
      },
      { highWaterMark: 0 },
    );
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const init = { method: "POST", headers, body, duplex: "half" } as RequestInit;
    const answer = await latchkey.app.fetch(new Request("http://internal/gateway/check/cart", init));
    expect(answer.status).toBe(401);
  });

  test("404 for neighbouring paths", async () => {
    for (const path of ["/gateway", "/gateway/checks", "/gateway/x"])
      expect((await ask("GET", path, bearer())).status).toBe(404);
  });
});

test("a check costs a single request of the limit; 429 has Retry-After", async () => {
  const poor = await latchkey.createStore(10);
  const token = await poor.token("implicit");
  const signed = await signIn(poor, token);
  latchkey.clock.advance(5000);
  const request = { token, headers: { "x-customer-token": signed.token } };
  const left = async () =>
    Number(/"shared";r=(\d+)/.exec((await check(request)).headers.get("ratelimit") ?? "")?.[1]);
  expect((await left()) - (await left())).toBe(1);
  for (let i = 0; i < 20; i++) await check(request);
  const refused = await check(request);
  expect([refused.status, refused.code]).toEqual([429, "rate_limit_exceeded"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
});

test("a repeated check has no statement", async () => {
  await check(signedIn());
  statements.length = 0;
  for (let i = 0; i < 10; i++) expect((await check(signedIn())).status).toBe(204);
  expect(statements).toEqual([]);
});

test("the check at a gateway › 403 within a second for a revoked customer token; 401 at once for a deleted key", async () => {
  await check(signedIn());
  await store.call(revokeCustomerTokens, { ids: { customer: customer.id } });
  latchkey.clock.advance(999);
  expect((await check(signedIn())).code).toBe("customer_token_invalid");
  await store.call(deleteApplicationKey, { ids: { id: store.key.id } });
  expect((await check({ token: implicit })).code).toBe("token_invalid");
});

test("the check at a gateway › 403 for a cached customer token once it has expired", async () => {
  const short = await createTestApp({ customerTokenSeconds: 60 });
  const at = await short.createStore(1000);
  const token = await at.token("implicit");
  await at.call(createCustomer, { json: { data: { type: "customer", name: "Ada", ...CREDENTIALS } } });
  const { body } = await call(short.app, issueCustomerToken, {
    token,
    json: { data: { type: "token", ...CREDENTIALS } },
  });
  const request = { token, headers: { "x-customer-token": body.data.token } };
  short.clock.advance(body.data.expires * 1000 - short.clock.now() - 100);
  expect((await call(short.app, checkAtGateway, request)).status).toBe(204);
  short.clock.advance(200);
  expect((await call(short.app, checkAtGateway, request)).code).toBe("customer_token_invalid");
  await short.close();
});
