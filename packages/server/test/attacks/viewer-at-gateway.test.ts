import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createApplicationKey } from "../../src/contract/application-keys.ts";
import { checkAtGateway } from "../../src/contract/gateway.ts";
import { createTestApp, getToken, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";

/** The attack: a viewer's key writes behind a gateway, because the check answers as for an administrator (wire 25). */

describe.each(engines)("a viewer's key at a gateway, on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;
  let viewer: string;

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    store = await latchkey.createStore();
    const json = { data: { type: "application_key", name: "Reader", role: "viewer" } };
    const { client_id: clientId, client_secret: clientSecret } = (
      await store.call(createApplicationKey, { json })
    ).body.data;
    const key = { ...store.key, clientId, clientSecret };
    viewer = await getToken(latchkey.app, { ...store, key }, "client_credentials");
  });
  afterAll(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const check = (token: string, query = "") => call(latchkey.app, checkAtGateway, { token, query });

  test.skipIf(!engine.isHere)(
    "has X-Latchkey-Role viewer, and an administrator's key administrator",
    async () => {
      expect((await check(viewer)).headers.get("x-latchkey-role")).toBe("viewer");
      expect((await check(await store.token())).headers.get("x-latchkey-role")).toBe("administrator");
    },
  );

  test.skipIf(!engine.isHere)("403 role_insufficient where the gateway requires administrator", async () => {
    const { status, code } = await check(viewer, "role=administrator");
    expect([status, code]).toEqual([403, "role_insufficient"]);
    expect((await check(await store.token(), "role=administrator")).status).toBe(204);
  });
});
