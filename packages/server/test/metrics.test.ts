import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { issueAccessToken } from "../src/contract/access-tokens.ts";
import { updateApplicationKey } from "../src/contract/application-keys.ts";
import { listRealms } from "../src/contract/realms.ts";
import { metrics } from "../src/contract/service.ts";
import { signOnReasons } from "../src/contract/sign-on-reasons.ts";
import { getStore } from "../src/contract/store.ts";
import { call } from "./support/call.ts";
import { type Exposed, readExposition } from "./support/exposition.ts";
import { createFederation, type Federation } from "./support/federation.ts";

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
});
afterAll(() => f.close());

async function exposed(): Promise<Exposed> {
  f.latchkey.clock.advance(1000);
  return readExposition((await call(f.latchkey.app, metrics)).body);
}

/** The change of a figure during an action. */
async function moved(name: string, labels: Record<string, string>, work: () => Promise<unknown>) {
  const before = (await exposed()).sumOf(name, labels);
  await work();
  return (await exposed()).sumOf(name, labels) - before;
}

const SIGN_ONS = "latchkey_sign_ons_total";

describe("sign-ons are counted by their outcome", () => {
  test.each([["started"], ["code_issued"], ["exchanged"]])(
    "a complete one counts as %s once",
    async (outcome) => {
      const whole = async () => expect((await f.redeem(await f.signOn())).status).toBe(200);
      expect(await moved(SIGN_ONS, { outcome }, whole)).toBe(1);
    },
  );

  test("a failure counts under its reason, also without a record", async () => {
    f.idp.hooks.redirect = ({ state = "" }) => ({ state, error: "access_denied" });
    const many = async () => {
      for (let i = 0; i < 30; i++) await f.signOn();
    };
    expect(await moved(SIGN_ONS, { outcome: "failed", reason: "idp_error" }, many)).toBe(30);
    f.idp.hooks.redirect = (parameters) => parameters;
    expect((await f.records()).length).toBeLessThan(30);
  });

  test("an error page counts under the problem's code", async () => {
    const labels = { outcome: "failed", reason: "sign_on_client_unknown" };
    expect(await moved(SIGN_ONS, labels, () => f.begin({ cookie: undefined }, { client_id: "x" }))).toBe(1);
    const unknown = { outcome: "failed", reason: "attempt_invalid" };
    const forged = () => f.comeBack({ cookie: undefined }, `${f.callbackUrl}?state=x&code=y`);
    expect(await moved(SIGN_ONS, unknown, forged)).toBe(1);
  });

  test("a second use of a code counts as a failure", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn);
    const labels = { outcome: "failed", reason: "code_already_used" };
    expect(await moved(SIGN_ONS, labels, () => f.redeem(signedOn))).toBe(1);
  });

  test("an unredeemed code counts as expired", async () => {
    await f.signOn();
    const later = async () => {
      await f.latchkey.app.tidy();
      f.latchkey.clock.advance(71_000);
      await f.latchkey.app.tidy();
    };
    expect(await moved(SIGN_ONS, { outcome: "expired", reason: "code_expired" }, later)).toBeGreaterThan(0);
  });
});

describe("refusals are counted by bucket", () => {
  const refused = (bucket: string, work: () => Promise<unknown>) =>
    moved("latchkey_rate_limit_refusals_total", { bucket }, work);

  test("the store's shared pool", async () => {
    const small = await f.latchkey.createStore(1);
    const many = async () => {
      const statuses = [];
      for (let i = 0; i < 10; i++) statuses.push((await small.call(getStore)).status);
      expect(statuses.filter((status) => status === 429).length).toBeGreaterThan(0);
    };
    expect(await refused("shared", many)).toBeGreaterThan(0);
  });

  test("a key's reservation, where it has one", async () => {
    const small = await f.latchkey.createStore(2);
    const data = { type: "application_key", name: "Reserved", reserved_rate_limit: 1 };
    await small.call(updateApplicationKey, { ids: { id: small.key.id }, json: { data } });
    const many = async () => {
      for (let i = 0; i < 10; i++) await small.call(listRealms);
    };
    expect(await refused("reserved", many)).toBeGreaterThan(0);
  });

  test("a source without a good token", async () => {
    const form = { grant_type: "client_credentials", client_id: "x", client_secret: "y" };
    const guess = () => call(f.latchkey.app, issueAccessToken, { form, peer: "198.51.100.7" });
    const many = async () => {
      for (let i = 0; i < 201; i++) await guess();
    };
    expect(await refused("source", many)).toBe(1);
  });

  test("guesses of a password", async () => {
    const guess = () =>
      f.redeem(
        { code: "", pkce: { verifier: "", challenge: "" } },
        {
          authentication_mechanism: "password",
          oauth_authorization_code: undefined,
          oauth_redirect_uri: undefined,
          oauth_code_verifier: undefined,
          email: "nobody@shop.example",
          password: "a guess of somebody",
        },
      );
    const many = async () => {
      for (let i = 0; i < 6; i++) await guess();
    };
    expect(await refused("password", many)).toBe(1);
  });
});

describe("time at identity providers", () => {
  test("is measured by kind of request and outcome", async () => {
    f.idp.hooks.answer = { "/token": (_, response) => response.writeHead(503).end() };
    const failed = { request: "token", outcome: "failed" };
    const name = "latchkey_idp_request_duration_seconds_count";
    expect(await moved(name, failed, () => f.signOn())).toBe(1);
    f.idp.hooks.answer = {};
    expect(await moved(name, { request: "token", outcome: "ok" }, () => f.signOn())).toBe(1);
    const { sumOf } = await exposed();
    expect(sumOf(name, { request: "discovery", outcome: "ok" })).toBeGreaterThan(0);
    expect(sumOf(name, { request: "keys", outcome: "ok" })).toBeGreaterThan(0);
  });
});

describe("every metric", () => {
  test("that only grows is a counter and ends in _total; others are not", async () => {
    const { types } = await exposed();
    for (const [name, type] of types)
      if (name.startsWith("latchkey_"))
        expect([name, name.endsWith("_total")]).toEqual([name, type === "counter"]);
  });

  test("has labels from fixed tables: no id, no name, no sent value", async () => {
    const { series } = await exposed();
    const known = new Set([
      "method",
      "route",
      "status",
      "le",
      "version",
      "node",
      "engine",
      "bucket",
      "request",
      "outcome",
      "reason",
    ]);
    const ids = [f.store.store.id, f.store.key.id, f.realmId, f.profileId];
    for (const { name, labels } of series.filter((one) => one.name.startsWith("latchkey_"))) {
      for (const [label, value] of Object.entries(labels)) {
        expect(known, name).toContain(label);
        expect(ids, `${name} ${label}`).not.toContain(value);
      }
    }
  });

  test("has a bounded number of series: some hundreds of reasons, not one for each store", () => {
    expect(Object.keys(signOnReasons).length).toBeLessThan(200);
  });

  test("includes the running release, and the requests under way", async () => {
    const { series, sumOf } = await exposed();
    const { labels } = series.find(({ name }) => name === "latchkey_build_info") ?? {};
    expect(labels).toMatchObject({ version: expect.stringMatching(/^\d+\.\d+\.\d+/), engine: "sqlite" });
    // The request for the metrics itself.
    expect(sumOf("latchkey_http_requests_in_flight")).toBe(1);
  });
});
