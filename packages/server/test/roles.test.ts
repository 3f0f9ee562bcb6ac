import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { revokeToken } from "../src/contract/access-tokens.ts";
import {
  createApplicationKey,
  getApplicationKey,
  listApplicationKeys,
  updateApplicationKey,
} from "../src/contract/application-keys.ts";
import { issueCustomerToken, listCustomerTokens } from "../src/contract/customer-tokens.ts";
import { createCustomer } from "../src/contract/customers.ts";
import { checkAtGateway } from "../src/contract/gateway.ts";
import { createIntegration, getIntegration, listIntegrations } from "../src/contract/integrations.ts";
import { type Operation, operation, problemsOf } from "../src/contract/operation.ts";
import { operations } from "../src/contract/operations.ts";
import { mayActAs, ROLES, type Role } from "../src/contract/roles.ts";
import { getStore, updateStore } from "../src/contract/store.ts";
import { createTestApp, getToken, type TestApp, type TestStore } from "./support/app.ts";
import { call } from "./support/call.ts";
import { engines } from "./support/engines.ts";
import { until } from "./support/until.ts";

/** The rights of a role follow from the contract, and are looked up at each request: a token has no role inside. */

let latchkey: TestApp;
let store: TestStore;
const keys = {} as Record<Role, TestStore["key"]>;
const tokens = {} as Record<Role, string>;

const makeKey = async (of: TestStore, role?: Role) => {
  const json = { data: { type: "application_key", name: role ?? "Without", ...(role && { role }) } };
  const { body } = await of.call(createApplicationKey, { json });
  const { id, client_id: clientId, client_secret: clientSecret } = body.data;
  return { id, clientId, clientSecret, role: body.data.role };
};

beforeAll(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore(100_000);
  for (const role of ROLES) {
    keys[role] = await makeKey(store, role);
    tokens[role] = await getToken(latchkey.app, { ...store, key: keys[role] }, "client_credentials");
  }
});
// A refused request counts against its source; every test starts with a full allowance.
beforeEach(() => latchkey.clock.advance(2000));
afterAll(() => latchkey.close());

const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const idsOf = ({ ids }: Operation) =>
  Object.fromEntries(Object.keys(ids ?? {}).map((name) => [name, UNKNOWN]));
const withRole = operations
  .filter(({ role }) => role !== undefined)
  .map((operation) => [operation.id, operation] as const);

describe.each(ROLES)("a key with the role %s", (role) => {
  test.each(withRole)("%s", async (_, operation) => {
    // An invalid body: only an operation that reads the body refuses it for the body.
    const broken = operation.body && { raw: "{", headers: { "content-type": "application/json" } };
    const answer = await call(latchkey.app, operation, {
      ids: idsOf(operation),
      token: tokens[role],
      ...broken,
    });
    if (mayActAs(role, operation.role)) {
      expect(answer.code).not.toBe("role_insufficient");
      return;
    }
    expect([answer.status, answer.code]).toEqual([403, "role_insufficient"]);
    expect(answer.body.errors[0].meta).toEqual({ role, needs: operation.role });
    expect(answer.body.errors[0].detail).toContain(operation.role);
    expect(answer.headers.get("www-authenticate")).toContain("insufficient_scope");
  });
});

test("a viewer may only read, and support may do the listed operations besides", () => {
  const of = (role: Role) => withRole.filter(([, operation]) => operation.role === role);
  for (const [id, { method }] of of("viewer"))
    expect(method === "GET" || id === "dryRunApplicationKey", id).toBe(true);
  expect(of("support").map(([id]) => id)).toEqual([
    "revokeCustomerTokens",
    "revokeCustomerToken",
    "redeliver",
    "testIntegration",
    "checkProfile",
    "testSignOn",
  ]);
});

test("an operation that shows a secret needs the role administrator", () => {
  const shows = withRole.filter(([, { success }]) =>
    JSON.stringify(success.schema?.toJSONSchema({ unrepresentable: "any" }) ?? {}).includes(
      '"client_secret":',
    ),
  );
  expect(shows.map(([id]) => id)).toEqual(["createApplicationKey", "rotateApplicationKey"]);
  for (const [, { role }] of shows) expect(role).toBe("administrator");
});

test("the secret key of an integration is shown to administrators alone", async () => {
  const configuration = { url: "https://hooks.example/in", secret_key: "a secret of theirs" };
  const json = {
    data: {
      type: "integration",
      name: "n",
      integration_type: "webhook",
      observes: ["customer.*"],
      enabled: false,
      configuration,
    },
  };
  const { id } = (await store.call(createIntegration, { json })).body.data;
  for (const role of ROLES) {
    const token = tokens[role];
    const one = await call(latchkey.app, getIntegration, { ids: { id }, token });
    const list = await call(latchkey.app, listIntegrations, { token });
    const isShown = role === "administrator";
    for (const body of [one.body, list.body])
      expect(JSON.stringify(body).includes("a secret of theirs")).toBe(isShown);
  }
});

test("an operation with a token and without a role does not compile, and would permit no request", () => {
  const definition = {
    id: "x",
    tag: "Store",
    method: "GET",
    path: "/x",
    summary: "x",
    access: ["store", "read"],
    success: { status: 200, description: "x" },
  } as const;
  // @ts-expect-error: `role` is missing.
  const made: Operation = operation(definition);
  expect(problemsOf(made)).toContain("role_insufficient");
  for (const role of [...ROLES, "owner" as Role, null]) expect(mayActAs(role, made.role)).toBe(false);
});

test("an unknown role permits nothing", () => {
  for (const least of ROLES) expect(mayActAs("owner" as Role, least)).toBe(false);
});

test("a key without a role is an administrator's, and an update without a role keeps the current one", async () => {
  expect((await makeKey(store)).role).toBe("administrator");
  const request = {
    ids: { id: keys.support.id },
    json: { data: { type: "application_key", name: "Renamed" } },
  };
  expect((await store.call(updateApplicationKey, request)).body.data.role).toBe("support");
  expect((await store.call(getApplicationKey, { ids: { id: keys.support.id } })).body.data.role).toBe(
    "support",
  );
  const { body } = await store.call(listApplicationKeys);
  expect(body.data.map(({ role }: { role: Role }) => role)).toContain("support");
});

test("400 for an unknown role", async () => {
  for (const role of ["owner", "", null, 3]) {
    const json = { data: { type: "application_key", name: "n", role } };
    expect((await store.call(createApplicationKey, { json })).code).toBe("member_invalid");
  }
});

test("a changed role applies to existing tokens, and is in the log", async () => {
  const key = await makeKey(store, "viewer");
  const token = await getToken(latchkey.app, { ...store, key }, "client_credentials");
  const write = () =>
    call(latchkey.app, updateStore, { token, json: { data: { type: "store", name: "Renamed" } } });
  expect((await write()).code).toBe("role_insufficient");
  const give = (role: Role) =>
    store.call(updateApplicationKey, {
      ids: { id: key.id },
      json: { data: { type: "application_key", name: "viewer", role } },
    });
  await give("administrator");
  expect((await write()).status).toBe(200);
  await give("viewer");
  expect((await write()).code).toBe("role_insufficient");
  const { data } = await latchkey.storage.db
    .selectFrom("event_outbox")
    .select("data")
    .where("subject", "=", key.id)
    .orderBy("position", "desc")
    .executeTakeFirstOrThrow();
  expect(JSON.parse(data).changes).toEqual({ role: { before: "administrator", after: "viewer" } });
});

test.each(engines.filter(({ isHere }) => isHere))(
  "a changed role is in force on another instance within a second ($name)",
  async (engine) => {
    const { url: databaseUrl, drop } = await engine.create();
    const here = await createTestApp({ databaseUrl });
    const there = await createTestApp({ clock: here.clock, databaseUrl });
    const shop = await here.createStore();
    const key = await makeKey(shop, "administrator");
    const token = await getToken(here.app, { ...shop, key }, "client_credentials");
    const write = () =>
      call(there.app, updateStore, { token, json: { data: { type: "store", name: "Renamed" } } });
    expect((await write()).status).toBe(200);
    await shop.call(updateApplicationKey, {
      ids: { id: key.id },
      json: { data: { type: "application_key", name: "n", role: "support" } },
    });
    await until(async () => (await write()).code === "role_insufficient");
    await there.close();
    await here.close();
    await drop();
  },
);

test("an implicit token has the same rights whatever the role of its key", async () => {
  const key = keys.viewer;
  const token = await getToken(latchkey.app, { ...store, key }, "implicit");
  const json = {
    data: { type: "customer", name: "Ada", email: "ada@shop.example", password: "correct horse" },
  };
  expect((await call(latchkey.app, createCustomer, { token, json })).status).toBe(201);
  expect((await call(latchkey.app, createCustomer, { token: tokens.viewer, json })).code).toBe(
    "role_insufficient",
  );
  expect((await call(latchkey.app, getStore, { token })).code).toBe("not_permitted");
  expect((await call(latchkey.app, checkAtGateway, { token: tokens.viewer })).status).toBe(204);
});

test("403 for the revocation of a customer's token without the role support; a key may revoke its own tokens", async () => {
  const email = "bea@shop.example";
  const password = "correct horse";
  const { body } = await store.call(createCustomer, {
    json: { data: { type: "customer", name: "Bea", email, password } },
  });
  const signedIn = await store.call(issueCustomerToken, {
    json: { data: { type: "token", email, password } },
  });
  const alive = async () =>
    (await store.call(listCustomerTokens, { ids: { customer: body.data.id } })).body.data.length;
  const revoke = (role: Role, token: string) =>
    call(latchkey.app, revokeToken, {
      form: { token, client_id: keys[role].clientId, client_secret: keys[role].clientSecret },
    });
  const refused = await revoke("viewer", signedIn.body.data.token);
  expect([refused.status, refused.code, refused.body.error]).toEqual([
    403,
    "role_insufficient",
    "unauthorized_client",
  ]);
  expect(await alive()).toBe(1);
  expect((await revoke("support", signedIn.body.data.token)).status).toBe(200);
  expect(await alive()).toBe(0);
  expect((await revoke("viewer", tokens.viewer)).status).toBe(200);
  expect((await call(latchkey.app, getStore, { token: tokens.viewer })).code).toBe("token_invalid");
});
