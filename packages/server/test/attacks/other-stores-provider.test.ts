import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { testIntegration } from "../../src/contract/deliveries.ts";
import { createIntegration } from "../../src/contract/integrations.ts";
import { checkProfile, createProfile } from "../../src/contract/oidc-profiles.ts";
import { getAuthenticationSettings } from "../../src/contract/realms.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { createFederation } from "../support/federation.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";

/** The attack: one store points its webhook at another store's internal provider, because one list allows both. */

let idp: HostileIdp;
let latchkey: TestApp;
let owner: TestStore;
let attacker: TestStore;
/** The operator's allowed origins; the service reads the list at every request. */
const allowed: string[] = [];

beforeAll(async () => {
  idp = await startHostileIdp();
  latchkey = await createTestApp({ allowedOrigins: allowed });
  owner = await latchkey.createStore(100_000);
  attacker = await latchkey.createStore(100_000);
});
beforeEach(() => {
  latchkey.clock.advance(60_000);
  idp.journal.length = 0;
});
afterAll(async () => {
  await latchkey.close();
  await idp.close();
});

const allow = (...entries: string[]) => void allowed.splice(0, allowed.length, ...entries);

async function connect(store: TestStore) {
  const { realm_id: realm } = (await store.call(getAuthenticationSettings)).body.data;
  const client = { client_id: idp.clientId, client_secret: idp.clientSecrets[0] };
  const profile = { type: "oidc-profile", name: "Inside", discovery_url: idp.discoveryUrl, ...client };
  return { realm, answer: await store.call(createProfile, { ids: { realm }, json: { data: profile } }) };
}

const hook = (store: TestStore) =>
  store.call(createIntegration, {
    json: {
      data: {
        type: "integration",
        name: "Inside",
        integration_type: "webhook",
        observes: ["customer.*"],
        configuration: { url: `${idp.origin}/admin` },
      },
    },
  });

test("an origin for identity providers takes no webhook, not even of its own store", async () => {
  allow(`idp=${idp.origin}`);
  expect((await connect(owner)).answer.status).toBe(201);
  for (const store of [attacker, owner]) {
    const { status, code } = await hook(store);
    expect([status, code]).toEqual([422, "webhook_url_not_allowed"]);
  }
});

test("an origin for one store is refused to other stores, for providers and webhooks", async () => {
  allow(`${owner.store.id}=${idp.origin}`);
  expect((await connect(owner)).answer.status).toBe(201);
  expect((await hook(owner)).status).toBe(201);
  idp.journal.length = 0;
  expect((await hook(attacker)).code).toBe("webhook_url_not_allowed");
  const { answer } = await connect(attacker);
  expect([answer.status, answer.code]).toEqual([422, "idp_unreachable"]);
  expect(answer.body.errors[0].meta.reason).toBe("address_not_allowed");
  expect(idp.journal).toEqual([]);
});

test("an origin that is no longer allowed gets no more requests", async () => {
  allow(idp.origin);
  const { realm, answer } = await connect(attacker);
  const integration = (await hook(attacker)).body.data;
  allow(`${owner.store.id}/idp=${idp.origin}`);
  idp.journal.length = 0;
  const tested = await attacker.call(testIntegration, { ids: { id: integration.id } });
  expect(tested.body.data.attempt).toMatchObject({ status: null, reason: "address_not_allowed" });
  await attacker.call(checkProfile, { ids: { realm, id: answer.body.data.id } });
  expect(idp.journal).toEqual([]);
  expect((await connect(owner)).answer.status).toBe(201);
});

test("an origin for one store's provider serves all requests of its sign-ons", async () => {
  const origins = [idp.origin];
  const f = await createFederation({ idp, allowedOrigins: origins });
  origins.splice(0, 1, `${f.store.store.id}/idp=${idp.origin}`);
  // Documents from the time of the wider permission are read again.
  f.latchkey.clock.advance(360_000);
  idp.journal.length = 0;
  expect((await f.redeem(await f.signOn())).status).toBe(200);
  expect(idp.journal.length).toBeGreaterThan(1);
  await f.close();
});
