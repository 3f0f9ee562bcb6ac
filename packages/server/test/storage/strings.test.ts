import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import { updateApplicationKey } from "../../src/contract/application-keys.ts";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createCustomer, listCustomers } from "../../src/contract/customers.ts";
import { createProfile } from "../../src/contract/oidc-profiles.ts";
import type { Operation } from "../../src/contract/operation.ts";
import {
  createRealm,
  getAuthenticationSettings,
  updateAuthenticationSettings,
} from "../../src/contract/realms.ts";
import { listSignOns } from "../../src/contract/sign-ons.ts";
import { updateStore } from "../../src/contract/store.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";

/** Texts that one engine would store and the other would not: the service refuses them before either engine. */

const BAD = { "a NUL": "\0", "half a surrogate pair": "\ud83d" };

describe.each(engines)("on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;
  let realmId: string;
  let idp: HostileIdp;

  beforeAll(async () => {
    if (!engine.isHere) return;
    database = await engine.create();
    idp = await startHostileIdp();
    latchkey = await createTestApp({ databaseUrl: database.url, allowedOrigins: [idp.origin] });
    store = await latchkey.createStore(10_000);
    realmId = (await store.call(getAuthenticationSettings)).body.data.realm_id;
  });
  afterAll(async () => {
    await latchkey?.close();
    await database?.drop();
    await idp?.close();
  });

  const here = test.skipIf(!engine.isHere);
  const members: [string, Operation, (bad: string) => object][] = [
    [
      "a customer's name",
      createCustomer,
      (bad) => ({ type: "customer", name: `A${bad}`, email: "a@b.example" }),
    ],
    [
      "a customer's e-mail",
      createCustomer,
      (bad) => ({ type: "customer", name: "A", email: `"a${bad}"@b.example` }),
    ],
    [
      "a customer's password",
      createCustomer,
      (bad) => ({ type: "customer", name: "A", email: "c@b.example", password: `correct horse${bad}` }),
    ],
    [
      "an external reference",
      createCustomer,
      (bad) => ({ type: "customer", name: "A", email: "d@b.example", external_ref: `x${bad}` }),
    ],
    [
      "the e-mail of a sign-in",
      issueCustomerToken,
      (bad) => ({ type: "token", email: `a${bad}@b.example`, password: "correct horse" }),
    ],
    [
      "the password of a sign-in",
      issueCustomerToken,
      (bad) => ({ type: "token", email: "a@b.example", password: `correct horse${bad}` }),
    ],
    [
      "a code",
      issueCustomerToken,
      (bad) => ({
        type: "token",
        authentication_mechanism: "oidc",
        oauth_authorization_code: `lkac_${bad}`,
        oauth_redirect_uri: "https://shop.example",
        oauth_code_verifier: "v".repeat(43),
      }),
    ],
    ["a key's name", updateApplicationKey, (bad) => ({ type: "application_key", name: `K${bad}` })],
    ["the store's name", updateStore, (bad) => ({ type: "store", name: `S${bad}`, rate_limit: 10_000 })],
    [
      "a client id of the settings",
      updateAuthenticationSettings,
      (bad) => ({ type: "customer-authentication-settings", client_id: `c${bad}` }),
    ],
    [
      "a realm's redirect URI",
      createRealm,
      (bad) => ({ type: "authentication-realm", name: "R", redirect_uris: [`https://shop.example/${bad}`] }),
    ],
    [
      "a profile's client id",
      createProfile,
      (bad) => ({
        type: "oidc-profile",
        name: "P",
        enabled: false,
        discovery_url: "https://idp.example",
        client_id: `c${bad}`,
        client_secret: "s",
      }),
    ],
    [
      "a profile's secret",
      createProfile,
      (bad) => ({
        type: "oidc-profile",
        name: "P",
        enabled: false,
        discovery_url: "https://idp.example",
        client_id: "c",
        client_secret: `s${bad}`,
      }),
    ],
  ];

  here.each(members)("400 for a NUL, or half a surrogate pair, in %s", async (_, operation, dataWith) => {
    for (const [what, bad] of Object.entries(BAD)) {
      const answer = await store.call(operation, {
        ids: { id: store.key.id, realm: realmId },
        json: { data: dataWith(bad) },
      });
      expect(answer.status, what).toBe(400);
    }
  });

  here.each([listCustomers, listSignOns])(
    "400 for a NUL, or half a surrogate pair, in a filter of $id",
    async (operation) => {
      for (const bad of ["%00", "%ED%A0%BD"]) {
        for (const field of ["email", "reference"]) {
          const answer = await store.call(operation, { query: `filter=eq(${field},${bad})` });
          expect([answer.status, answer.code]).toEqual([400, "parameter_invalid"]);
        }
      }
    },
  );

  here("400 for a NUL, or half a surrogate pair, in a form", async () => {
    for (const bad of ["%00", "%ED%A0%BD"]) {
      const raw = `grant_type=client_credentials&client_id=${store.key.clientId}&client_secret=lksk_${bad}`;
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      expect((await call(latchkey.app, issueAccessToken, { raw, headers })).status).toBe(400);
    }
  });

  here(
    "what a provider calls itself is kept without a NUL, and no longer than an address may be",
    async () => {
      idp.hooks.discovery = (document) => ({ ...document, issuer: `\0\u001b[2J${"x".repeat(9000)}` });
      const data = {
        type: "oidc-profile",
        name: "P",
        enabled: false,
        discovery_url: idp.discoveryUrl,
        client_id: "c",
      };
      const { status, body } = await store.call(createProfile, { ids: { realm: realmId }, json: { data } });
      expect(status).toBe(201);
      expect(body.data.meta.issuer_found.issuer).toMatch(/^\ufffd\ufffd\[2Jx+$/);
      const { issuer_found } = await latchkey.storage.db
        .selectFrom("oidc_profiles")
        .select("issuer_found")
        .where("store_id", "=", store.store.id)
        .where("id", "=", body.data.id)
        .executeTakeFirstOrThrow();
      expect(issuer_found).toHaveLength(2048);
    },
  );
});
