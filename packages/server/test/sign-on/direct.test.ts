import { afterEach, beforeEach, expect, test } from "vitest";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { getProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { updateAuthenticationSettings } from "../../src/contract/realms.ts";
import { backchannelLogout } from "../../src/contract/sign-on.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import { call } from "../support/call.ts";
import { createFederation, type Federation, newPkce, SHOP } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";

/** `flow: "direct"`: the storefront sends the shopper to the provider, and brings the provider's code (seed 4.3). */

let f: Federation;
let directId: string;

beforeEach(async () => {
  f = await createFederation();
  await change({ enabled: false });
  await f.store.call(updateAuthenticationSettings, {
    json: { data: { type: "customer-authentication-settings", client_id: f.idp.clientId } },
  });
  directId = await f.addProfile({ flow: "direct", name: "Direct" });
});
afterEach(() => f.close());

const change = (data: object, id = f.profileId) =>
  f.store.call(updateProfile, {
    ids: { realm: f.realmId, id },
    json: { data: { type: "oidc-profile", ...data } },
  });

/** The storefront appends its parameters to the profile's link with `&`. */
async function signOnDirectly(redirectUri = SHOP) {
  const { body } = await f.store.call(getProfile, { ids: { realm: f.realmId, id: directId } });
  const pkce = newPkce();
  const parameters = new URLSearchParams({
    scope: "openid email",
    response_type: "code",
    client_id: f.idp.clientId,
    redirect_uri: redirectUri,
    state: "s",
    code_challenge_method: "S256",
    code_challenge: pkce.challenge,
  });
  const back = new URL(f.idp.signIn(`${body.links["authorization-endpoint"]}&${parameters}`));
  return { pkce, code: back.searchParams.get("code") ?? "" };
}

test("the direct flow › 200 for the provider's own code: the service redeems it, and answers with a customer token", async () => {
  const answer = await f.redeem(await signOnDirectly());
  expect(answer.status).toBe(200);
  const [record] = await f.records();
  expect(record).toMatchObject({
    outcome: "exchanged",
    profile_name: "Direct",
    customer_id: answer.body.data.customer_id,
  });
  expect(record.checks.map(({ check }: { check: string }) => check)).toContain("id_token.aud");
});

test("the direct flow › the record has browser and system of the request", async () => {
  const phone =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
  await f.redeem(await signOnDirectly(), {}, { headers: { "user-agent": phone } });
  expect(await f.records()).toMatchObject([{ browser: "Safari 17", operating_system: "iOS 17" }]);
});

test("the direct flow › the same person is the same customer the next time", async () => {
  const first = await f.redeem(await signOnDirectly());
  const second = await f.redeem(await signOnDirectly());
  expect(second.body.data.customer_id).toBe(first.body.data.customer_id);
});

test("the direct flow › 400 for a second use; the provider gets no second request", async () => {
  const signedOn = await signOnDirectly();
  await f.redeem(signedOn);
  const asked = f.idp.asked("/token");
  expect((await f.redeem(signedOn)).code).toBe("code_already_used");
  expect(f.idp.asked("/token")).toBe(asked);
});

test("a code that is sent twenty times at once gives one token", async () => {
  const signedOn = await signOnDirectly();
  const answers = await Promise.all(Array.from({ length: 20 }, () => f.redeem(signedOn)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(f.idp.asked("/token")).toBe(1);
});

test("the direct flow › 200 with the same answer for the same Idempotency-Key", async () => {
  const signedOn = await signOnDirectly();
  const headers = { "idempotency-key": "once-and-for-all" };
  const first = await f.redeem(signedOn, {}, { headers });
  const second = await f.redeem(signedOn, {}, { headers });
  expect([second.status, second.body]).toEqual([200, first.body]);
});

test("the direct flow › three at once with one Idempotency-Key get the same answer (wire 8)", async () => {
  const signedOn = await signOnDirectly();
  const headers = { "idempotency-key": "twins" };
  const answers = await Promise.all([1, 2, 3].map(() => f.redeem(signedOn, {}, { headers })));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
  expect(new Set(answers.map(({ body }) => body.data.token)).size).toBe(1);
});

test.each([
  ["with another verifier", 0, () => ({ oauth_code_verifier: newPkce().verifier })],
  ["after 31 seconds", 31_000, () => ({})],
])("the direct flow › a second use %s revokes the first token (wire 8)", async (_, laterMs, changes) => {
  const signedOn = await signOnDirectly();
  await f.redeem(signedOn);
  f.latchkey.clock.advance(laterMs);
  expect((await f.redeem(signedOn, changes())).code).toBe("code_already_used");
  expect(await f.latchkey.storage.db.selectFrom("customer_tokens").select("id").execute()).toEqual([]);
});

test("the direct flow › 400 when the provider refuses the verifier; the code is void", async () => {
  const signedOn = await signOnDirectly();
  const wrong = await f.redeem({ ...signedOn, pkce: newPkce() });
  expect([wrong.status, wrong.code]).toEqual([400, "code_invalid"]);
  expect((await f.recordOf(wrong.body.errors[0].meta?.reference)).reason).toBe("token.refused");
  expect((await f.redeem(signedOn)).status).toBe(400);
});

test("the direct flow › 400 when the provider ends the session during the token request; the code is void (N116)", async () => {
  const signedOn = await signOnDirectly();
  const now = Math.floor(f.latchkey.clock.now() / 1000);
  const logoutToken = f.idp.signToken({
    iss: f.idp.issuer,
    aud: f.idp.clientId,
    iat: now,
    exp: now + 120,
    jti: "one",
    sub: ADA.sub,
    events: { "http://schemas.openid.net/event/backchannel-logout": {} },
  });
  f.idp.hooks.answer = {
    async "/token"() {
      const ids = { store: f.store.store.id, realm: f.realmId, profile: directId };
      await call(f.latchkey.app, backchannelLogout, { ids, form: { logout_token: logoutToken } });
      return "honest";
    },
  };
  const answer = await f.redeem(signedOn);
  expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
  expect(answer.body.errors[0].meta.reason).toBe("session_ended");
  expect((await f.redeem(signedOn)).code).toBe("code_invalid");
  expect(await f.latchkey.storage.db.selectFrom("customer_tokens").selectAll().execute()).toEqual([]);
});

test("the direct flow › 400 for an unregistered redirect URI; the code still works", async () => {
  const signedOn = await signOnDirectly();
  const wrong = await f.redeem(signedOn, { oauth_redirect_uri: "https://evil.example/" });
  expect([wrong.status, wrong.code]).toEqual([400, "redirect_uri_mismatch"]);
  expect((await f.redeem(signedOn)).status).toBe(200);
});

test("the direct flow › 400 with the reason for a bad ID token, in answer and record", async () => {
  f.idp.hooks.claims = (claims) => ({ ...claims, aud: [f.idp.clientId, "stranger"] });
  const answer = await f.redeem(await signOnDirectly());
  expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
  const { reason, reference } = answer.body.errors[0].meta;
  expect(reason).toBe("id_token.aud");
  expect(await f.recordOf(reference)).toMatchObject({ outcome: "failed", reason: "id_token.aud" });
});

test.each([
  ["answers 502", 502],
  ["answers 429", 429],
])(
  "the direct flow › 503 with Retry-After and a reference when the provider %s; the same code works afterwards",
  async (_, status) => {
    const signedOn = await signOnDirectly();
    f.idp.hooks.answer = {
      "/token": (_request, response) =>
        void response
          .writeHead(status, { "content-type": "application/json" })
          .end(JSON.stringify({ error: "too_many_requests" })),
    };
    const away = await f.redeem(signedOn);
    expect([away.status, away.code, away.headers.get("retry-after")]).toEqual([503, "idp_unavailable", "10"]);
    expect(away.body.errors[0].meta).toEqual({ reference: (await f.records())[0].reference });
    f.idp.hooks.answer = {};
    expect((await f.redeem(signedOn)).status).toBe(200);
  },
);

test("the direct flow › 503 for several at once while the provider is down; the code still works", async () => {
  const signedOn = await signOnDirectly();
  f.idp.hooks.answer = { "/token": (_request, response) => void response.writeHead(502).end() };
  const answers = await Promise.all([1, 2, 3].map(() => f.redeem(signedOn)));
  expect(answers.map(({ code }) => code)).toEqual(Array(3).fill("idp_unavailable"));
  f.idp.hooks.answer = {};
  expect((await f.redeem(signedOn)).status).toBe(200);
});

test("forged codes leave fewer than 50 records; a signed ID token always leaves one (A76)", async () => {
  const { pkce } = await signOnDirectly();
  f.idp.hooks.token = () => ({ error: "invalid_grant" });
  for (let i = 0; i < 60; i++)
    expect((await f.redeem({ code: `made-up-${i}`, pkce })).code).toBe("code_invalid");
  expect((await f.records()).length).toBeLessThan(50);
  f.idp.hooks = { claims: (claims) => ({ ...claims, aud: "stranger" }) };
  const answer = await f.redeem(await signOnDirectly());
  expect((await f.recordOf(answer.body.errors[0].meta.reference)).reason).toBe("id_token.aud");
});

test("the direct flow › the same code at another store is not used up (A33)", async () => {
  const { storage, clock } = f.latchkey;
  const other = await createFederation({ storage, clock });
  const settings = { type: "customer-authentication-settings", client_id: other.idp.clientId };
  await other.store.call(updateAuthenticationSettings, { json: { data: settings } });
  await other.store.call(updateProfile, {
    ids: { realm: other.realmId, id: other.profileId },
    json: { data: { type: "oidc-profile", flow: "direct" } },
  });
  other.idp.hooks.token = () => ({ error: "invalid_grant" });
  const signedOn = await signOnDirectly();
  expect((await other.redeem(signedOn)).code).toBe("code_invalid");
  expect(other.idp.asked("/token")).toBe(1);
  expect((await f.redeem(signedOn)).status).toBe(200);
  await other.idp.close();
});

test("Latchkey's own codes are never sent to the provider", async () => {
  const { pkce } = await signOnDirectly();
  expect((await f.redeem({ code: newCredential("lkac"), pkce })).code).toBe("code_invalid");
  expect(f.idp.asked("/token")).toBe(0);
});

test("the direct flow › 400 when the profile was disabled; the provider gets no request", async () => {
  const signedOn = await signOnDirectly();
  await change({ enabled: false }, directId);
  expect((await f.redeem(signedOn)).code).toBe("code_invalid");
  expect(f.idp.asked("/token")).toBe(0);
});

test.each<[string, object]>([
  ["was disabled", { enabled: false }],
  ["became brokered", { flow: "brokered" }],
])(
  "the direct flow › 400 when the profile %s during the token request; the code is void, and no customer is made",
  async (_, data) => {
    const signedOn = await signOnDirectly();
    f.idp.hooks.answer = {
      "/token": async (_request, response) => {
        expect((await change(data, directId)).status).toBe(200);
        const now = Math.floor(f.latchkey.clock.now() / 1000);
        const claims = { ...f.idp.person, iss: f.idp.issuer, aud: f.idp.clientId, iat: now, exp: now + 300 };
        const tokens = { access_token: "at", token_type: "Bearer", id_token: f.idp.signToken(claims) };
        response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(tokens));
      },
    };
    const answer = await f.redeem(signedOn);
    expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
    expect(await f.latchkey.storage.db.selectFrom("customers").selectAll().execute()).toEqual([]);
    await change({ enabled: true, flow: "direct" }, directId);
    expect((await f.redeem(signedOn)).code).toBe("code_invalid");
    expect(f.idp.asked("/token")).toBe(1);
  },
);

test("the direct flow › 400 when the profile was moved to another issuer during the token request; no customer is made", async () => {
  const signedOn = await signOnDirectly();
  f.idp.hooks.answer = {
    "/token": async (_, response) => {
      const now = Math.floor(f.latchkey.clock.now() / 1000);
      const claims = { ...f.idp.person, iss: f.idp.issuer, aud: f.idp.clientId, iat: now, exp: now + 300 };
      const tokens = { access_token: "at", token_type: "Bearer", id_token: f.idp.signToken(claims) };
      f.idp.issuer = `${f.idp.origin}/`;
      const place = { discovery_url: f.idp.issuer, client_secret: f.idp.clientSecrets[0] };
      expect((await change(place, directId)).status).toBe(200);
      response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(tokens));
    },
  };
  const { code, body } = await f.redeem(signedOn);
  expect([code, body.errors?.[0].meta.reason]).toEqual(["sign_on_refused", "profile_disabled"]);
  expect(await f.latchkey.storage.db.selectFrom("customers").selectAll().execute()).toEqual([]);
});

test("the direct flow › 400 for a missing member", async () => {
  const { code } = await signOnDirectly();
  const answer = await call(f.latchkey.app, issueCustomerToken, {
    token: f.implicit,
    json: {
      data: { type: "token", authentication_mechanism: "oidc", oauth_authorization_code: code },
    },
  });
  expect(answer.codes).toEqual(["member_missing", "member_missing"]);
});
