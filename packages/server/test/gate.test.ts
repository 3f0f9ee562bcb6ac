import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { getApplicationKey } from "../src/contract/application-keys.ts";
import { issueCustomerToken, listCustomerTokens } from "../src/contract/customer-tokens.ts";
import { getAuthenticationSettings } from "../src/contract/realms.ts";
import { getStore } from "../src/contract/store.ts";
import { newId } from "../src/lib/ids.ts";
import { ANONYMOUS } from "../src/rate-limit/cap.ts";
import { openStorage } from "../src/storage/open.ts";
import { createTestApp, type TestApp, type TestStore } from "./support/app.ts";
import { call } from "./support/call.ts";
import { handClock } from "./support/clock.ts";
import { watchStatements } from "./support/statements.ts";
import { until } from "./support/until.ts";

/** The steps of the gate for every operation: the token, the permission, the rate limit, and the recorded use. */

let latchkey: TestApp;
let store: TestStore;

beforeAll(async () => {
  latchkey = await createTestApp();
});
beforeEach(async () => {
  store = await latchkey.createStore(20);
});
afterAll(() => latchkey.close());

/**
 * Uses up the shared pool of the store's keys: first the part of public tokens, then the rest that is left for the
 * program.
 */
async function useUp(): Promise<string> {
  const token = await store.token("implicit");
  for (const by of [token, await store.token()])
    await until(
      async () => (await call(latchkey.app, getAuthenticationSettings, { token: by })).status === 429,
    );
  return token;
}

test.each<[string, Parameters<typeof call>[1], object, string | undefined]>([
  ["the store", getStore, {}, undefined],
  ["an application key", getApplicationKey, { ids: { id: newId() } }, "application_key_not_found"],
  ["customers' tokens", listCustomerTokens, { ids: { customer: newId() } }, "customer_not_found"],
])(
  "the administrator's floor serves %s when every other bucket is empty (wire 15)",
  async (_, operation, request, code) => {
    await useUp();
    expect((await store.call(operation, request)).code).toBe(code);
  },
);

test("429: the administrator's floor does not serve public tokens, also not for permitted operations of its kind", async () => {
  const token = await useUp();
  const json = { data: { type: "token", email: "ada@shop.example", password: "correct horse" } };
  const answer = await call(latchkey.app, issueCustomerToken, { token, json });
  expect([answer.status, answer.code]).toEqual([429, "rate_limit_exceeded"]);
});

test("429: the administrator's floor does not serve other work of the back office", async () => {
  await useUp();
  expect((await store.call(getAuthenticationSettings)).status).toBe(429);
});

test("503, not 429, while the database cannot look up a token, however often the token is sent", async () => {
  const clock = handClock();
  let isAway = false;
  const storage = watchStatements(await openStorage({ clock }, "sqlite::memory:"), () => {
    if (isAway) throw Object.assign(new Error("away"), { code: "57P01" });
  });
  const own = await createTestApp({ storage, clock });
  const token = await (await own.createStore()).token();
  isAway = true;
  for (let time = 0; time <= ANONYMOUS.burst; time++)
    expect((await call(own.app, getStore, { token })).status).toBe(503);
  isAway = false;
  await own.close();
});

test("the use of a key is recorded for a served request, not for a refused one", async () => {
  const lastUsedAt = async () => {
    await latchkey.app.tidy();
    const { last_used_at } = await latchkey.storage.db
      .selectFrom("application_keys")
      .select("last_used_at")
      .where("id", "=", store.key.id)
      .executeTakeFirstOrThrow();
    return last_used_at;
  };
  const token = await store.token("implicit");
  expect((await call(latchkey.app, getStore, { token })).status).toBe(403);
  expect(await lastUsedAt()).toBeNull();
  expect((await call(latchkey.app, getAuthenticationSettings, { token })).status).toBe(200);
  const usedAt = latchkey.clock.now();
  expect(await lastUsedAt()).toBe(usedAt);
  latchkey.clock.advance(1);
  await useUp();
  const refusedAt = latchkey.clock.now();
  expect(await lastUsedAt()).toBe(refusedAt);
  latchkey.clock.advance(1);
  expect((await call(latchkey.app, getAuthenticationSettings, { token })).status).toBe(429);
  expect(await lastUsedAt()).toBe(refusedAt);
});

test.each([
  ["two spaces", (token: string) => `Bearer  ${token}`],
  ["no space", (token: string) => `Bearer${token}`],
  ["a tab", (token: string) => `Bearer\t${token}`],
  ["two tokens", (token: string) => `Bearer ${token} ${token}`],
  ["a comma behind it", (token: string) => `Bearer ${token},`],
  ["quotes", (token: string) => `Bearer "${token}"`],
  ["another scheme", (token: string) => `Token ${token}`],
])("401 for a good token with %s (RFC 6750 2.1, T02)", async (_, write) => {
  const headers = { authorization: write(await store.token()) };
  const answer = await call(latchkey.app, getStore, { headers });
  expect([answer.status, answer.code]).toEqual([401, "token_invalid"]);
});

test.each(["Bearer", "bearer", "BEARER"])("200 for the scheme written %s (RFC 6750 2.1)", async (scheme) => {
  const headers = { authorization: `${scheme} ${await store.token()}` };
  expect((await call(latchkey.app, getStore, { headers })).status).toBe(200);
});
