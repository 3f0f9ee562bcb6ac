import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { checkProfile, getProfile, listProfiles, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { backchannelLogout } from "../../src/contract/sign-on.ts";
import type { SignOnReason } from "../../src/contract/sign-on-reasons.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { createFederation, type Federation } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";
import { happenedIn, readLog } from "../support/log.ts";
import { until } from "../support/until.ts";

/** Evidence: what a record keeps of a failure, what the checks show of it, and the provider's health. */

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
});
afterAll(() => f.close());
beforeEach(async () => {
  f.idp.hooks = {};
  f.idp.person = { ...ADA };
});

const ids = () => ({ realm: f.realmId, id: f.profileId });
const checks = async () => {
  f.latchkey.clock.advance(10_000);
  await f.latchkey.app.tidy();
  const { body } = await f.store.call(checkProfile, { ids: ids() });
  return body.data.checks as { id: string; status: string; evidence: string; remedy: string | null }[];
};
const check = async (id: string) => (await checks()).find((one) => one.id === id);
const meta = async () => (await f.store.call(getProfile, { ids: ids() })).body.data.meta;
const sayAt = (path: string, status: number, body: unknown, type = "application/json") => {
  f.idp.hooks.answer = {
    [path]: (_, response) =>
      void response
        .writeHead(status, { "content-type": type })
        .end(typeof body === "string" ? body : JSON.stringify(body)),
  };
};

describe("the record of a failure at the token endpoint has the provider's error", () => {
  test.each<[SignOnReason, number, string, string | undefined]>([
    ["token.client_refused", 401, "invalid_client", undefined],
    ["token.client_refused", 403, "unauthorized_client", undefined],
    ["token.client_refused", 401, "unauthorized_client", "Invalid client or Invalid client credentials"],
    ["token.client_refused", 400, "invalid_client", "Wrong secret"],
    ["token.method_refused", 400, "invalid_client", "Parameter client_assertion_type is missing"],
    ["token.encryption_refused", 400, "invalid_request", "can not get encryption KEK"],
    ["token.redirect_uri", 400, "invalid_grant", "Incorrect redirect_uri"],
    ["token.flow_off", 400, "unauthorized_client", undefined],
    ["token.scope", 400, "invalid_scope", undefined],
    ["token.refused", 400, "invalid_grant", "PKCE verification failed: Code mismatch"],
    ["token.unavailable", 500, "invalid_client", "whatever its body says"],
    ["token.unavailable", 503, "invalid_grant", undefined],
    ["token.unavailable", 429, "too_many_requests", "Global limit has been reached"],
  ])("%s for %d %s %s", async (reason, status, error, error_description) => {
    sayAt("/token", status, { error, error_description });
    const { reference } = await f.signOn();
    expect(await f.recordOf(reference)).toMatchObject({
      reason,
      idp_answer: { call: "token", status, error, error_description: error_description ?? null },
    });
  });

  test("the event does not: events go to receivers, and the text may be about a person", async () => {
    sayAt("/token", 400, { error: "invalid_grant", error_description: "Ada Lovelace is not in the group" });
    const [event] = await happenedIn(f.latchkey, f.store, () => f.signOn());
    expect(event).toMatchObject({
      type: "sign_on.failed",
      data: {
        resource: { reason: "token.refused", idp_answer: { call: "token", status: 400, fault: null } },
      },
    });
    expect(JSON.stringify(event)).not.toMatch(/Lovelace|invalid_grant/);
  });

  test("at most 500 characters on one line, without tokens, codes and secrets", async () => {
    const token = f.idp.signToken({ sub: "x", email: "x".repeat(80) });
    f.idp.hooks.answer = {
      "/token": (request, response, body) => {
        const code = new URLSearchParams(body).get("code");
        const basic = Buffer.from(String(request.headers.authorization).slice(6), "base64").toString();
        const error_description = `UNIQUE\n\u202e${token} ${code} first secret, first secret ${basic} ${"long ".repeat(500)}`;
        response
          .writeHead(500, { "content-type": "application/json" })
          .end(JSON.stringify({ error: "internal_server_error", error_description }));
      },
    };
    const { reference } = await f.signOn();
    const { idp_answer } = await f.recordOf(reference);
    expect(idp_answer).toMatchObject({
      status: 500,
      fault: "status_not_200",
      error: "internal_server_error",
    });
    expect(idp_answer.error_description).toMatch(
      /^UNIQUE\ufffd\ufffd\(left out\) \(left out\) \(left out\), \(left out\) /,
    );
    expect(idp_answer.error_description).toHaveLength(500);
    expect(JSON.stringify(idp_answer)).not.toMatch(/idp-code|first secret|eyJ/);
  });

  test("the kind of failure, if there was no answer", async () => {
    f.idp.hooks.answer = { "/token": (_, response) => void response.destroy() };
    const { reference, error } = await f.signOn();
    expect(error).toBe("temporarily_unavailable");
    expect(await f.recordOf(reference)).toMatchObject({
      reason: "token.unavailable",
      idp_answer: { call: "token", status: null, fault: "answer_broken", error: null },
    });
  });

  test("also for a failure at UserInfo", async () => {
    f.idp.person = { sub: "without an e-mail" };
    sayAt("/userinfo", 403, { error: "insufficient_scope", error_description: "scope email" });
    const { reference } = await f.signOn();
    expect(await f.recordOf(reference)).toMatchObject({
      reason: "userinfo.unavailable",
      idp_answer: { call: "userinfo", status: 403, error: "insufficient_scope" },
    });
  });

  test("a successful sign-on has none", async () => {
    await f.signOn();
    expect((await f.records())[0]).toMatchObject({ outcome: "code_issued", idp_answer: null });
  });
});

test.each(["invalid_client", "unauthorized_client"])(
  "the next secret is tried after 403 %s, and becomes the current one",
  async (error) => {
    const data = { type: "oidc-profile", client_secret: "old", client_secret_next: "first secret" };
    await f.store.call(updateProfile, { ids: ids(), json: { data } });
    f.idp.hooks.answer = {
      "/token": (request, response) => {
        const basic = Buffer.from(String(request.headers.authorization).slice(6), "base64").toString();
        if (basic.endsWith(":first%20secret")) return "honest";
        response.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify({ error }));
        return undefined;
      },
    };
    expect((await f.signOn()).code).not.toBe("");
    expect((await meta()).has_next_client_secret).toBe(false);
  },
);

describe("a refused client secret", () => {
  const refusedWith = async (client_secret: string) => {
    f.latchkey.clock.advance(60_000);
    await f.store.call(updateProfile, {
      ids: ids(),
      json: { data: { type: "oidc-profile", client_secret } },
    });
    sayAt("/token", 401, { error: "invalid_client" });
    return f.recordOf((await f.signOn()).reference);
  };

  test.each(["~", "+", "/", "=", "%", ":"])(
    "with %j: the remedy mentions providers that decode it wrongly, and the record does not show the secret",
    async (character) => {
      const secret = `Zq${character}Xw${character}Kv`;
      const record = await refusedWith(secret);
      expect(record).toMatchObject({
        reason: "token.client_refused",
        remedy: expect.stringMatching(/^Enter the current client secret in the profile.*decode them wrongly/),
      });
      expect(record.checks.at(-1)).toMatchObject({ check: "token.encoded_credentials", passed: false });
      expect(JSON.stringify(record)).not.toMatch(/Zq|Xw|Kv/);
    },
  );

  test.each(["Zq-Xw.Kv_7", "Zq Xw Kv"])(
    "without such characters: the remedy does not mention decoding, for %j",
    async (secret) => {
      const record = await refusedWith(secret);
      expect(record.remedy).not.toMatch(/decode/);
      expect(record.checks).not.toContainEqual(
        expect.objectContaining({ check: "token.encoded_credentials" }),
      );
    },
  );

  afterAll(() =>
    f.store.call(updateProfile, {
      ids: ids(),
      json: { data: { type: "oidc-profile", client_secret: "first secret" } },
    }),
  );
});

describe("the checks after a failed sign-on", () => {
  test.each<[string, SignOnReason, number, string, string]>([
    ["R2", "token.method_refused", 400, "invalid_client", "Parameter client_assertion_type is missing"],
    ["R3", "token.flow_off", 400, "unauthorized_client", "Client not allowed for the code flow"],
    ["R4", "token.scope", 400, "invalid_scope", "Invalid scopes: openid email"],
    ["R6", "token.encryption_refused", 400, "invalid_request", "can not get encryption KEK"],
  ])("%s is not met after %s", async (id, _, status, error, error_description) => {
    f.latchkey.clock.advance(1000);
    sayAt("/token", status, { error, error_description });
    await f.signOn();
    f.idp.hooks = {};
    const found = await check(id);
    expect(found).toMatchObject({ status: "not_met", remedy: expect.stringMatching(/./) });
    expect(found?.evidence).toContain(`${status} "${error}: ${error_description}"`);
    f.latchkey.clock.advance(1000);
    await f.signOn();
    expect(await check(id)).toMatchObject({ status: "met" });
  });

  test.each<[string, SignOnReason, string, string]>([
    ["R3", "idp_error.par_required", "invalid_request", "Pushed Authorization Request is only allowed."],
    ["R3", "idp_error.flow_off", "unauthorized_client", "Standard flow is disabled for the client."],
    ["R4", "idp_error.scope", "invalid_scope", "Invalid scopes: openid email"],
    ["R8", "idp_error.acr_required", "invalid_request", "Missing acr_values"],
  ])(
    "%s is not met after %s in a redirect, with the note that anyone can forge it",
    async (id, reason, error, error_description) => {
      f.latchkey.clock.advance(1000);
      f.idp.hooks.redirect = ({ state = "" }) => ({ state, error, error_description });
      const { reference } = await f.signOn();
      expect((await f.recordOf(reference)).reason).toBe(reason);
      const found = await check(id);
      expect(found).toMatchObject({ status: "not_met" });
      expect(found?.evidence).toContain(`which anyone can forge, has "${error}: ${error_description}"`);
    },
  );

  test("R3 stays met after a French refusal with the word `par`", async () => {
    f.latchkey.clock.advance(1000);
    await f.signOn();
    f.latchkey.clock.advance(1000);
    const error_description = "Accès refusé par l'utilisateur.";
    f.idp.hooks.redirect = ({ state = "" }) => ({ state, error: "access_denied", error_description });
    const { reference } = await f.signOn();
    expect(await f.recordOf(reference)).toMatchObject({ reason: "idp_error", error: "access_denied" });
    expect(await check("R3")).toMatchObject({ status: "met" });
  });

  test("R8 stays unknown after a brokered sign-on, which always has a nonce", async () => {
    f.latchkey.clock.advance(1000);
    await f.signOn();
    expect(await check("R8")).toMatchObject({
      status: "unknown",
      evidence: expect.stringContaining("cannot find out whether the provider requires a nonce"),
    });
    expect(await check("R9")).toMatchObject({ status: "met" });
  });
});

describe("a refused logout token", () => {
  const post = (logout_token: string) =>
    call(f.latchkey.app, backchannelLogout, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      form: { logout_token },
    });
  const seconds = () => Math.floor(f.latchkey.clock.now() / 1000);
  const good = () => ({
    iss: f.idp.issuer,
    aud: f.idp.clientId,
    iat: seconds(),
    jti: "1",
    sub: "subject",
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });

  test("a token without exp is accepted for ten minutes only", async () => {
    expect((await post(f.idp.signToken(good()))).status).toBe(200);
    expect((await post(f.idp.signToken({ ...good(), iat: seconds() - 601 }))).code).toBe(
      "logout_token_invalid",
    );
  });

  test("leaves a record, and shows on the profile if the provider has signed it", async () => {
    expect((await post(f.idp.signToken({ ...good(), aud: "another" }))).status).toBe(400);
    const [record] = await f.records();
    expect(record).toMatchObject({
      outcome: "logout_refused",
      reason: "logout_token.aud",
      profile_id: f.profileId,
      remedy: expect.stringContaining("backchannel-logout-endpoint"),
    });
    expect(record.checks.at(-1)).toMatchObject({
      check: "logout_token.aud",
      passed: false,
      found: "another",
    });
    expect((await meta()).refused_logout).toMatchObject({
      reason: "logout_token.aud",
      means: expect.stringMatching(/./),
      at: expect.any(String),
    });
  });

  test("leaves a record and nothing on the profile if anybody could have made it", async () => {
    const before = (await meta()).refused_logout;
    f.latchkey.clock.advance(120_000);
    await post("a.b.c");
    expect((await f.records())[0]).toMatchObject({ reason: "logout_token.malformed" });
    expect((await meta()).refused_logout).toEqual(before);
  });
});

describe("the health of a provider", () => {
  const DOCUMENT = "/.well-known/openid-configuration";
  const fail = () => {
    f.idp.hooks.answer = { [DOCUMENT]: (_, response) => void response.writeHead(503).end() };
  };
  const status = async () => (await meta()).health.status;
  /** Advances the clock by a second per round; each round sends the probes that are due. */
  const untilStatus = (wanted: string) =>
    until(async () => {
      f.latchkey.clock.advance(1000);
      await f.latchkey.app.tidy();
      return (await status()) === wanted;
    });

  test("an old document is read again in the background of authorize", async () => {
    await f.begin({ cookie: undefined });
    f.latchkey.clock.advance(5 * 60_000);
    const asked = f.idp.asked(DOCUMENT);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    f.idp.hooks.answer = { [DOCUMENT]: () => held.then(() => "honest") };
    expect((await f.begin({ cookie: undefined })).headers.get("location")).toContain(f.idp.origin);
    release();
    await until(() => f.idp.asked(DOCUMENT) === asked + 1);
  });

  test("a failing provider becomes degraded, then down; a probe finds its return within ten seconds", async () => {
    fail();
    await until(async () => {
      f.latchkey.clock.advance(5 * 60_000);
      const sent = await f.begin({ cookie: undefined });
      expect(sent.headers.get("location")).toContain(f.idp.origin);
      return (await status()) === "degraded";
    });
    await untilStatus("down");
    const refused = await f.signOn();
    expect(refused.error).toBe("temporarily_unavailable");
    expect(refused.location).not.toContain(f.idp.origin);
    expect(await f.recordOf(refused.reference)).toMatchObject({
      reason: "idp_unavailable",
      idp_answer: { call: "discovery", status: 503 },
    });
    f.idp.hooks = {};
    const backAt = f.latchkey.clock.now();
    await untilStatus("up");
    expect(f.latchkey.clock.now() - backAt).toBeLessThanOrEqual(10_000);
    expect((await f.signOn()).code).not.toBe("");
  });

  /** The status in a list with a public token, as storefronts read it. */
  const shownAt = async ({ app }: Pick<TestApp, "app">) => {
    const { body } = await call(app, listProfiles, { token: f.implicit, ids: { realm: f.realmId } });
    return body.data.find(({ id }: { id: string }) => id === f.profileId).meta.health.status;
  };
  const untilShown = (at: Pick<TestApp, "app">, wanted: string) =>
    until(async () => {
      f.latchkey.clock.advance(1000);
      await at.app.tidy();
      return (await shownAt(at)) === wanted;
    });
  const failUntilDown = async () => {
    fail();
    for (let failure = 0; failure < 5; failure++) await f.store.call(checkProfile, { ids: ids() });
    await f.latchkey.app.tidy();
    expect(await status()).toBe("down");
  };

  test("a restarted process shows the stored status, and probes without waiting for shoppers", async () => {
    await failUntilDown();
    const { storage, clock, keyring } = f.latchkey;
    const allowedOrigins = [f.idp.origin];
    const restarted = await createTestApp({ storage, clock, keyring, allowedOrigins });
    expect(await shownAt(restarted)).toBe("down");
    f.idp.hooks = {};
    await untilShown(restarted, "up");
    await restarted.app.stop();
    const event = (await readLog(f.latchkey, f.store)).findLast(
      ({ type }) => type === "oidc_profile.health_changed",
    );
    expect(event.data.changes.health).toEqual({ before: "down", after: "up" });
    expect(event.data.resource.meta.health.status).toBe("up");
    await untilStatus("up");
  });

  test("a profile that was disabled while its provider was down becomes up soon after it is enabled", async () => {
    await failUntilDown();
    const switchTo = (enabled: boolean) =>
      f.store.call(updateProfile, { ids: ids(), json: { data: { type: "oidc-profile", enabled } } });
    await switchTo(false);
    f.latchkey.clock.advance(10_000);
    await f.latchkey.app.tidy();
    f.idp.hooks = {};
    expect((await switchTo(true)).status).toBe(200);
    await untilShown(f.latchkey, "up");
  });

  test("another issuer in the document shows on the profile before a sign-on fails", async () => {
    await f.signOn();
    f.idp.hooks.discovery = (document) => ({ ...document, issuer: "https://moved.example/realm" });
    f.latchkey.clock.advance(5 * 60_000);
    expect((await f.begin({ cookie: undefined })).headers.get("location")).toContain(f.idp.origin);
    await until(async () => (await meta()).issuer_found !== null);
    expect(await meta()).toMatchObject({
      issuer: f.idp.issuer,
      issuer_found: { issuer: "https://moved.example/realm" },
    });
    f.idp.hooks = {};
    f.latchkey.clock.advance(10_000);
    await f.begin({ cookie: undefined });
    await until(async () => (await meta()).issuer_found === null);
  });

  test("is unknown after a day without a request", async () => {
    const quiet = await f.addProfile({ name: "Quiet" });
    const of = async () => {
      const token = await f.store.token();
      const { body } = await call(f.latchkey.app, getProfile, {
        token,
        ids: { realm: f.realmId, id: quiet },
      });
      return body.data.meta.health.status;
    };
    expect(await of()).toBe("up");
    f.latchkey.clock.advance(31 * 3_600_000);
    expect(await of()).toBe("unknown");
  });
});
