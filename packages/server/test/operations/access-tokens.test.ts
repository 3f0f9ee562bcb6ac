import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { introspectToken, issueAccessToken, revokeToken } from "../../src/contract/access-tokens.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  listApplicationKeys,
  rotateApplicationKey,
} from "../../src/contract/application-keys.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { createKeyring } from "../../src/lib/keyring.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { type Call, call } from "../support/call.ts";
import { watchStatements } from "../support/statements.ts";

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore();
});
afterAll(() => latchkey.close());

const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});
const credentials = () => ({ client_id: store.key.clientId, client_secret: store.key.clientSecret });
const issue = (request: Call) => call(latchkey.app, issueAccessToken, request);
const list = (token: string) => call(latchkey.app, listApplicationKeys, { token });

describe("the token endpoint", () => {
  test("200 for client_credentials in a form, with the members that existing clients read", async () => {
    const { status, body } = await issue({ form: { grant_type: "client_credentials", ...credentials() } });
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: "Bearer", expires_in: 3600, identifier: "client_credentials" });
    expect(body.expires).toBe(Math.floor(latchkey.clock.now() / 1000) + 3600);
    expect((await list(body.access_token)).status).toBe(200);
  });

  test("200 for client_credentials by Basic, and as JSON", async () => {
    const headers = basic(store.key.clientId, store.key.clientSecret);
    expect((await issue({ form: { grant_type: "client_credentials" }, headers })).status).toBe(200);
    expect((await issue({ json: { grant_type: "client_credentials", ...credentials() } })).status).toBe(200);
  });

  test("200 for implicit with the client id alone; the token may not administer", async () => {
    const { status, body } = await issue({ form: { grant_type: "implicit", client_id: store.key.clientId } });
    expect([status, body.identifier]).toEqual([200, "implicit"]);
    expect((await list(body.access_token)).code).toBe("not_permitted");
  });

  test("an implicit token writes no row", async () => {
    const before = await latchkey.storage.db.selectFrom("access_token_revocations").selectAll().execute();
    for (let i = 0; i < 20; i++)
      await issue({ form: { grant_type: "implicit", client_id: store.key.clientId } });
    expect(await latchkey.storage.db.selectFrom("access_token_revocations").selectAll().execute()).toEqual(
      before,
    );
  });

  const wrong: [string, () => Call, number, string, string][] = [
    [
      "an unknown grant",
      () => ({ form: { grant_type: "password", ...credentials() } }),
      400,
      "grant_unsupported",
      "unsupported_grant_type",
    ],
    ["no grant", () => ({ form: credentials() }), 400, "member_missing", "invalid_request"],
    [
      "a scope",
      () => ({ form: { grant_type: "implicit", scope: "admin", ...credentials() } }),
      400,
      "scope_unknown",
      "invalid_scope",
    ],
    [
      "no client id",
      () => ({ form: { grant_type: "implicit" } }),
      401,
      "client_credentials_missing",
      "invalid_client",
    ],
    [
      "an empty client id",
      () => ({ form: { grant_type: "implicit", client_id: "" } }),
      401,
      "client_credentials_missing",
      "invalid_client",
    ],
    [
      "no secret",
      () => ({ form: { grant_type: "client_credentials", client_id: store.key.clientId } }),
      401,
      "client_credentials_missing",
      "invalid_client",
    ],
    [
      "an empty secret",
      () => ({ form: { grant_type: "client_credentials", ...credentials(), client_secret: "" } }),
      401,
      "client_credentials_missing",
      "invalid_client",
    ],
    [
      "another secret",
      () => ({
        form: { grant_type: "client_credentials", ...credentials(), client_secret: newCredential("lksk") },
      }),
      401,
      "client_unknown",
      "invalid_client",
    ],
    [
      "another client id",
      () => ({
        form: { grant_type: "client_credentials", ...credentials(), client_id: newCredential("lkid") },
      }),
      401,
      "client_unknown",
      "invalid_client",
    ],
    [
      "a mistyped secret",
      () => ({
        form: {
          grant_type: "client_credentials",
          ...credentials(),
          client_secret: store.key.clientSecret.slice(0, -1),
        },
      }),
      401,
      "client_secret_mistyped",
      "invalid_client",
    ],
    [
      "a mistyped client id",
      () => ({ form: { grant_type: "implicit", client_id: `${store.key.clientId}x` } }),
      401,
      "client_id_mistyped",
      "invalid_client",
    ],
    [
      "two ways of authentication",
      () => ({
        form: { grant_type: "client_credentials", ...credentials() },
        headers: basic(store.key.clientId, store.key.clientSecret),
      }),
      400,
      "client_authenticated_twice",
      "invalid_request",
    ],
    [
      "another client id beside Basic",
      () => ({
        form: { grant_type: "client_credentials", client_id: newCredential("lkid") },
        headers: basic(store.key.clientId, store.key.clientSecret),
      }),
      400,
      "client_authenticated_twice",
      "invalid_request",
    ],
    [
      "Basic that is not base64",
      () => ({ form: { grant_type: "client_credentials" }, headers: { authorization: "Basic !!!" } }),
      401,
      "client_unknown",
      "invalid_client",
    ],
    [
      "Basic with something behind it",
      () => {
        const { authorization } = basic(store.key.clientId, store.key.clientSecret);
        return {
          form: { grant_type: "client_credentials" },
          headers: { authorization: `${authorization} x` },
        };
      },
      401,
      "client_unknown",
      "invalid_client",
    ],
    [
      "Basic with an empty secret",
      () => ({ form: { grant_type: "client_credentials" }, headers: basic(store.key.clientId, "") }),
      401,
      "client_credentials_missing",
      "invalid_client",
    ],
    [
      "Basic without a colon",
      () => ({ form: { grant_type: "client_credentials" }, headers: { authorization: "Basic YWJj" } }),
      401,
      "client_unknown",
      "invalid_client",
    ],
    [
      "Basic with broken percent signs",
      () => ({
        form: { grant_type: "client_credentials" },
        headers: { authorization: `Basic ${btoa("%zz:%")}` },
      }),
      401,
      "client_unknown",
      "invalid_client",
    ],
    [
      "credentials in the URL",
      () => ({
        form: { grant_type: "client_credentials" },
        query: `client_secret=${store.key.clientSecret}`,
      }),
      400,
      "credentials_in_url",
      "invalid_request",
    ],
    [
      "a field given twice",
      () => ({
        raw: `grant_type=implicit&grant_type=implicit&client_id=${store.key.clientId}`,
        headers: { "content-type": "application/x-www-form-urlencoded" },
      }),
      400,
      "member_invalid",
      "invalid_request",
    ],
    ["a number as grant", () => ({ json: { grant_type: 7 } }), 400, "member_invalid", "invalid_request"],
    [
      "a client id of 10 KB",
      () => ({ form: { grant_type: "implicit", client_id: "x".repeat(10_000) } }),
      400,
      "member_invalid",
      "invalid_request",
    ],
  ];

  test.each(wrong)("%s is refused with an RFC 6749 5.2 body", async (_, request, status, code, error) => {
    const answer = await issue(request());
    expect([answer.status, answer.code, answer.body.error]).toEqual([status, code, error]);
    expect(answer.headers.has("www-authenticate")).toBe(status === 401);
  });

  test("a form with one field a thousand times gets one error", async () => {
    const raw = "a&".repeat(8000);
    const answer = await issue({ raw, headers: { "content-type": "application/x-www-form-urlencoded" } });
    expect(answer.body.errors).toHaveLength(1);
  });

  test("401 secret_rotated for an expired old secret", async () => {
    const old = await latchkey.createStore();
    await old.call(rotateApplicationKey, { ids: { id: old.key.id }, json: { data: { grace_seconds: 0 } } });
    const form = {
      grant_type: "client_credentials",
      client_id: old.key.clientId,
      client_secret: old.key.clientSecret,
    };
    expect((await issue({ form })).code).toBe("secret_rotated");
  });
});

describe("introspection", () => {
  const introspect = (token: string, by = store, headers = {}) =>
    call(latchkey.app, introspectToken, {
      form: { token, client_id: by.key.clientId, client_secret: by.key.clientSecret },
      headers,
    });

  test("200 with the facts of a token, for the store's own program", async () => {
    const { body } = await introspect(await store.token("implicit"));
    expect(body).toMatchObject({
      active: true,
      client_id: store.key.clientId,
      store_id: store.store.id,
      identifier: "implicit",
      iat: Math.floor(latchkey.clock.now() / 1000),
      exp: Math.floor(latchkey.clock.now() / 1000) + 3600,
    });
  });

  test("200 by Basic, too", async () => {
    const answer = await call(latchkey.app, introspectToken, {
      form: { token: await store.token() },
      headers: basic(store.key.clientId, store.key.clientSecret),
    });
    expect(answer.body.active).toBe(true);
  });

  test("200 with exactly active: false for unknown, foreign, expired and revoked tokens (R141)", async () => {
    const other = await latchkey.createStore();
    const token = await store.token();
    expect((await introspect("nonsense")).body).toEqual({ active: false });
    expect((await introspect(token, other)).body).toEqual({ active: false });
    latchkey.clock.advance(3_600_000);
    expect((await introspect(token)).body).toEqual({ active: false });
  });
});

describe("revocation", () => {
  const revoke = (token: string, by = store) =>
    call(latchkey.app, revokeToken, {
      form: { token, client_id: by.key.clientId, client_secret: by.key.clientSecret },
    });

  test("200 ends the token at once; other tokens of the key stay (R136)", async () => {
    const [dead, alive] = [await store.token(), await store.token()];
    expect((await list(dead)).status).toBe(200);
    expect((await revoke(dead)).status).toBe(200);
    expect((await list(dead)).code).toBe("token_invalid");
    expect((await list(alive)).status).toBe(200);
    expect((await revoke(dead)).status).toBe(200);
  });

  test("200 for an unknown token, and for another store's, which stays (R135, R136)", async () => {
    const other = await latchkey.createStore();
    const token = await other.token();
    expect((await revoke("nonsense")).status).toBe(200);
    expect((await revoke(token)).status).toBe(200);
    expect((await list(token)).status).toBe(200);
  });

  test.each(["implicit", "client_credentials"] as const)(
    "200 for another key's %s token of the same store, which stays (RFC 7009 2.1)",
    async (grant) => {
      const json = { data: { type: "application_key", name: "Another program" } };
      const { data } = (await call(latchkey.app, createApplicationKey, { token: await store.token(), json }))
        .body;
      const other = {
        ...store,
        key: { ...store.key, clientId: data.client_id, clientSecret: data.client_secret },
      };
      const token = await store.token(grant);
      const isActive = async () => {
        const answer = await call(latchkey.app, introspectToken, { form: { token, ...credentials() } });
        return answer.body.active;
      };
      expect((await revoke(token, other)).status).toBe(200);
      expect(await isActive()).toBe(true);
      expect((await revoke(token)).status).toBe(200);
      expect(await isActive()).toBe(false);
    },
  );

  test("a revocation is forgotten when its token has expired", async () => {
    await revoke(await store.token());
    const count = async () =>
      (await latchkey.storage.db.selectFrom("access_token_revocations").selectAll().execute()).length;
    latchkey.clock.advance(3_590_000);
    await latchkey.app.tidy();
    expect(await count()).toBeGreaterThan(0);
    latchkey.clock.advance(110_000);
    await latchkey.app.tidy();
    expect(await count()).toBe(0);
  });
});

describe.each([
  ["a wrong secret", () => newCredential("lksk"), "client_unknown"],
  ["a mistyped secret", () => "lksk_", "client_secret_mistyped"],
])("client authentication with %s", (_, newSecret, code) => {
  test("an unknown client id gets the same statements and the same answer as a known one (A68)", async () => {
    let sent: string[] = [];
    const storage = watchStatements(latchkey.storage, ({ sql }) => void sent.push(sql));
    const { app } = await createTestApp({ storage, clock: latchkey.clock });
    const refusalOf = async (operation: Operation, clientId: string) => {
      sent = [];
      const client = { client_id: clientId, client_secret: newSecret() };
      const form = { grant_type: "client_credentials", token: "x", ...client };
      const { status, body } = await call(app, operation, { form });
      const [{ id: _id, ...error }] = body.errors;
      return { status, error, sent };
    };
    for (const operation of [issueAccessToken, introspectToken, revokeToken]) {
      const known = await refusalOf(operation, store.key.clientId);
      expect(known).toMatchObject({ status: 401, error: { code } });
      expect(await refusalOf(operation, newCredential("lkid"))).toEqual(known);
    }
    await app.stop();
  });
});

describe.each([
  ["introspect", introspectToken],
  ["revoke", revokeToken],
])("%s › the caller is authenticated", (_, operation) => {
  const ask = (request: Call) => call(latchkey.app, operation, request);

  test.each([
    ["no credentials", () => ({ form: { token: "x" } }), 401, "client_credentials_missing"],
    [
      "a wrong secret",
      () => ({ form: { token: "x", client_id: store.key.clientId, client_secret: newCredential("lksk") } }),
      401,
      "client_unknown",
    ],
    [
      "a mistyped secret",
      () => ({ form: { token: "x", client_id: store.key.clientId, client_secret: "lksk_" } }),
      401,
      "client_secret_mistyped",
    ],
    [
      "a mistyped client id",
      () => ({ form: { token: "x", client_id: "me", client_secret: newCredential("lksk") } }),
      401,
      "client_id_mistyped",
    ],
    [
      "both ways at once",
      () => ({
        form: { token: "x", ...credentials() },
        headers: basic(store.key.clientId, store.key.clientSecret),
      }),
      400,
      "client_authenticated_twice",
    ],
    [
      "credentials in the URL",
      () => ({ form: { token: "x" }, query: "client_id=me" }),
      400,
      "credentials_in_url",
    ],
    ["no token", () => ({ form: credentials() }), 400, "member_missing"],
    ["a number as token", () => ({ json: { token: 7, ...credentials() } }), 400, "member_invalid"],
  ])("%s is refused", async (_, request, status, code) => {
    const answer = await ask(request());
    expect([answer.status, answer.code]).toEqual([status, code]);
  });

  test("401 secret_rotated for an expired old secret", async () => {
    const old = await latchkey.createStore();
    await old.call(rotateApplicationKey, { ids: { id: old.key.id }, json: { data: { grace_seconds: 0 } } });
    const form = { token: "x", client_id: old.key.clientId, client_secret: old.key.clientSecret };
    expect((await ask({ form })).code).toBe("secret_rotated");
  });
});

describe("an access token", () => {
  test("that an older master key signed is accepted while that master key is configured", async () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    const before = await createTestApp({ keyring: createKeyring([oldKey]) });
    const made = await before.createStore();
    const token = await made.token();
    const { storage, clock } = before;
    const during = await createTestApp({ storage, clock, keyring: createKeyring([newKey, oldKey]) });
    const after = await createTestApp({ storage, clock, keyring: createKeyring([newKey]) });
    expect((await call(during.app, listApplicationKeys, { token })).status).toBe(200);
    expect((await call(after.app, listApplicationKeys, { token })).status).toBe(401);
    await before.close();
  });

  test("is checked without a database query the second time", async () => {
    const token = await store.token();
    await list(token);
    const { db } = latchkey.storage;
    latchkey.storage.db = undefined as never;
    const answer = await call(latchkey.app, deleteApplicationKey, { token, ids: { id: "not-an-id" } });
    latchkey.storage.db = db;
    expect(answer.code).toBe("application_key_not_found");
  });
});
