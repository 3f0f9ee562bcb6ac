import { sql } from "kysely";
import { describe, expect, test } from "vitest";
import { getApplicationKey } from "../../src/contract/application-keys.ts";
import { problemEntry } from "../../src/contract/problems.ts";
import { openapi } from "../../src/contract/service.ts";
import { userinfo, userinfoByPost } from "../../src/contract/sign-on.ts";
import { ANONYMOUS } from "../../src/rate-limit/cap.ts";
import { createTestApp, type TestStore } from "../support/app.ts";
import { type Answer, call } from "../support/call.ts";
import {
  broken,
  brokenDatabase,
  everyOperation,
  forBackOffice,
  forCustomers,
  goodRequest,
  idsFor,
  latchkey,
  of,
  ofOneStore,
  store,
  stranger,
  token,
  UNKNOWN,
  withBearer,
  withClient,
  withIds,
  withoutToken,
  withToken,
} from "./requests.ts";

/** Rules of access that hold for each operation because of its kind, so a new operation has them without a test of its own. */

everyOperation();

test("429 when one address sends too many requests, also for pages and unknown paths; never for health and metrics", async () => {
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

test("the public routes are the listed ones; every other route needs a token or client credentials (A74)", () => {
  expect(of(({ access }) => access === "public").map(([id]) => id)).toEqual([
    "backchannelLogout",
    "realmMetadata",
    "jwks",
    "findMemberSignIn",
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
    "setupPage",
    "checkSetup",
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

  test("401 for a bad token, with the same body for every fault of the token (T03)", async () => {
    const bodies = new Set<string>();
    for (const bad of [token.slice(0, -1), `${token}A`, "lkat_", "~", token.toUpperCase()]) {
      const answer = await call(latchkey.app, operation, { ...goodRequest(operation), token: bad });
      expect([answer.status, answer.code]).toEqual([401, "token_invalid"]);
      expect(answer.headers.get("www-authenticate")).toContain('error="invalid_token"');
      bodies.add(JSON.stringify({ ...answer.body.errors[0], id: "" }));
    }
    expect(bodies.size).toBe(1);
  });

  test("an error during the look-up of the token refuses the request, and the body is not read (A75)", async () => {
    // An instance that has not seen the token yet.
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
    // Administration has a floor of its own, so a few more requests than the limit are needed.
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
  test("403 for an invalid customer token, in either header", async () => {
    for (const name of ["x-customer-token", "x-moltin-customer-token"]) {
      const request = { ...goodRequest(operation), token: await store.token("implicit") };
      const answer = await call(latchkey.app, operation, { ...request, headers: { [name]: "no token" } });
      expect([answer.status, answer.code]).toEqual([403, "customer_token_invalid"]);
    }
  });
});

describe.each(withoutToken)("%s", (_, operation) => {
  test("429 when one address sends too many requests; another address is served (R36)", async () => {
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

describe.each(withIds)("%s", (_, operation) => {
  test.each(Object.entries(operation.ids ?? {}))(
    "an unknown %s is refused: %s (T30)",
    async (name, problem) => {
      const ids = { ...idsFor(operation), [name]: UNKNOWN };
      const answer = await call(latchkey.app, operation, { ...goodRequest(operation), ids });
      expect([answer.status, answer.code]).toEqual([problemEntry(problem).status, problem]);
    },
  );
});

describe.each(ofOneStore)("%s", (_, operation) => {
  test("404 for another store's back office, exactly as for an unknown id; no row changes (T30, T31, A33)", async () => {
    const by = { ...goodRequest(operation), token: await stranger.token() };
    const before = await rowsOf(store);
    const unknown = Object.fromEntries(Object.keys(operation.ids ?? {}).map((name) => [name, UNKNOWN]));
    const absent = await call(latchkey.app, operation, { ...by, ids: unknown });
    const foreign = await call(latchkey.app, operation, by);
    const refusalOf = ({ status, body }: Answer) => [status, body.errors[0].code, body.errors[0].detail];
    expect(refusalOf(foreign)).toEqual(refusalOf(absent));
    expect(foreign.status).toBe(404);
    expect(await rowsOf(store)).toEqual(before);
  });
});

/** Every row of the store, in every table. */
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
