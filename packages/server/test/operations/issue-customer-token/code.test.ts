import { createHash } from "node:crypto";
import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { newCredential } from "../../../src/lib/secrets.ts";
import type { Answer } from "../../support/call.ts";
import { newPkce, SHOP, type SignedOn } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import {
  attempts,
  customers,
  EMAIL,
  exchanges,
  f,
  identities,
  isAlive,
  newCustomer,
  outcome,
  PASSWORD,
  tokens,
  withoutId,
  withPassword,
} from "./exchange.ts";

/** A code is exchanged with its verifier and its redirect URI. */

exchanges();

describe("a code", () => {
  test("200 with the same members as for a password (seed 4.4)", async () => {
    await newCustomer({ email: "bea@shop.example" });
    const bySignOn = await f.redeem(await f.signOn());
    const byPassword = await withPassword("bea@shop.example");
    for (const { status, body } of [bySignOn, byPassword]) {
      expect(status).toBe(200);
      expect(body).toEqual({
        data: {
          type: "token",
          id: expect.any(String),
          customer_id: expect.any(String),
          token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
          expires: f.latchkey.clock.now() / 1000 + 86_400,
        },
      });
      expect(await isAlive({ body } as Answer)).toBe(true);
    }
  });

  test("gives a token for its own store, profile and subject, also when codes are redeemed in another order (I3)", async () => {
    const people = ["one", "two", "three"].map((sub) => ({ ...ADA, sub, email: `${sub}@shop.example` }));
    const signedOn: SignedOn[] = [];
    for (const person of people) {
      f.idp.person = person;
      signedOn.push(await f.signOn());
    }
    const redeemed = await Promise.all([...signedOn].reverse().map((one) => f.redeem(one)));
    const given = await identities();
    for (const [index, { body }] of redeemed.reverse().entries()) {
      const { sub } = people[index] as { sub: string };
      const token = (await tokens()).find(({ id }) => id === body.data.id);
      expect(token).toMatchObject({
        store_id: f.store.store.id,
        customer_id: body.data.customer_id,
        profile_id: f.profileId,
        subject: sub,
      });
      expect(given.find(({ customer_id }) => customer_id === body.data.customer_id)).toMatchObject({
        store_id: f.store.store.id,
        realm_id: f.realmId,
        profile_id: f.profileId,
        issuer: f.idp.issuer,
        subject: sub,
      });
    }
  });

  test("is stored as a hash; the identity of the attempt is deleted when the code is redeemed", async () => {
    const signedOn = await f.signOn();
    expect(JSON.stringify(await attempts())).not.toContain(signedOn.code);
    await f.redeem(signedOn);
    const [attempt] = await attempts();
    expect(attempt).toMatchObject({ state: "exchanged", identity: null });
    await f.latchkey.app.tidy();
    const log = JSON.stringify(f.latchkey.logLines);
    for (const secret of [signedOn.code, signedOn.pkce.verifier, EMAIL]) expect(log).not.toContain(secret);
  });

  test("is refused with the same answer in every malformed or unknown form", async () => {
    const { pkce } = await f.signOn();
    const wrong = [
      "x",
      newCredential("lkac"),
      newCredential("lksk"),
      "lkac_",
      "x".repeat(4096),
      "' or 1=1--",
    ];
    const refused = await Promise.all(wrong.map((code) => f.redeem({ code, pkce })));
    expect(new Set(refused.map((answer) => answer.code))).toEqual(new Set(["code_invalid"]));
    expect(new Set(refused.map((answer) => JSON.stringify(withoutId(answer)))).size).toBe(1);
  });

  test.each<[string, object]>([
    ["no code", { oauth_authorization_code: undefined }],
    ["an empty code", { oauth_authorization_code: "" }],
    ["a list of codes", { oauth_authorization_code: ["x"] }],
    ["a code of 4097 characters", { oauth_authorization_code: "x".repeat(4097) }],
    ["no redirect URI", { oauth_redirect_uri: undefined }],
    ["an empty redirect URI", { oauth_redirect_uri: "" }],
    ["null as redirect URI", { oauth_redirect_uri: null }],
    ["another type", { type: "customer" }],
    ["an unknown mechanism", { authentication_mechanism: "saml" }],
    ["null as mechanism", { authentication_mechanism: null }],
    ["the mechanism of the other kind", { authentication_mechanism: "password" }],
  ])("400 for %s, before the code is read", async (_, changes) => {
    const signedOn = await f.signOn();
    const before = await attempts();
    const { status, codes } = await f.redeem(signedOn, changes);
    expect(status).toBe(400);
    for (const code of codes) expect(code).toMatch(/^member_(missing|invalid)$/);
    expect(await attempts()).toEqual(before);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("unknown members change neither customer, store nor lifetime (A32, A36)", async () => {
    f.idp.person = { ...ADA, sub: "victim", email: "victim@shop.example" };
    const victim = await f.redeem(await f.signOn());
    f.idp.person = { ...ADA };
    const { body, status } = await f.redeem(await f.signOn(), {
      id: victim.body.data.id,
      customer_id: victim.body.data.customer_id,
      store_id: "01890000-0000-7000-8000-000000000000",
      realm_id: "01890000-0000-7000-8000-000000000000",
      profile_id: "01890000-0000-7000-8000-000000000000",
      sub: "victim",
      email: "victim@shop.example",
      password: PASSWORD,
      scope: "admin",
      expires: 4_102_444_800,
    });
    expect(status).toBe(200);
    expect(body.data.customer_id).not.toBe(victim.body.data.customer_id);
    const claims = decodeJwt(body.data.token);
    expect(claims).toMatchObject({ sub: body.data.customer_id, store_id: f.store.store.id });
    expect(claims).not.toHaveProperty("scope");
    expect(body.data.expires).toBe(f.latchkey.clock.now() / 1000 + 86_400);
  });
});

describe("the verifier", () => {
  test.each<[string, unknown]>([
    ["missing", undefined],
    ["empty", ""],
    ["1 character", "a"],
    ["42 characters", "a".repeat(42)],
    ["129 characters", "a".repeat(129)],
    ["ten thousand characters", "a".repeat(10_000)],
    ["spelled with a space", `${"a".repeat(42)} `],
    ["spelled with a plus", `${"a".repeat(42)}+`],
    ["spelled with a slash", `${"a".repeat(42)}/`],
    ["padded", `${"a".repeat(42)}=`],
    ["ended with a line break", `${"a".repeat(43)}\n`],
    ["outside ASCII", `${"a".repeat(42)}é`],
    ["a number", 1e43],
    ["a list", ["a".repeat(43)]],
    ["an object", { verifier: "a".repeat(43) }],
    ["true", true],
    ["null", null],
  ])("400 when it is %s; the code still works (T10, R20, R29, A24)", async (_, verifier) => {
    const signedOn = await f.signOn();
    const before = await attempts();
    const answer = await f.redeem(signedOn, { oauth_code_verifier: verifier });
    expect(outcome(answer)).toEqual([400, verifier === undefined ? "member_missing" : "member_invalid"]);
    expect(answer.body.errors[0].source).toEqual({ pointer: "/data/oauth_code_verifier" });
    expect(await attempts()).toEqual(before);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("413 when the body is too large; the code still works (T10)", async () => {
    const signedOn = await f.signOn();
    expect((await f.redeem(signedOn, { oauth_code_verifier: "a".repeat(1_000_000) })).status).toBe(413);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  const s256 = (verifier: string) => createHash("sha256").update(verifier).digest("base64url");

  test.each<[string, string, string]>([
    [
      "that of RFC 7636 appendix B (R25)",
      "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    ],
    ["43 characters of every kind (R20)", `-._~${"aZ09".repeat(10)}`.slice(0, 43), ""],
    ["128 characters (R20)", "~".repeat(128), ""],
  ])("200 when it is %s", async (_, verifier, challenge) => {
    const pkce = { verifier, challenge: challenge || s256(verifier) };
    const { code } = await f.signOn({ parameters: { code_challenge: pkce.challenge } });
    expect((await f.redeem({ code, pkce })).status).toBe(200);
  });

  test("400 for a wrong one; the code is void, and there is one record (T11, A25)", async () => {
    const signedOn = await f.signOn();
    const guess = await f.redeem(signedOn, { oauth_code_verifier: newPkce().verifier });
    expect(outcome(guess)).toEqual([400, "verifier_mismatch"]);
    for (let i = 0; i < 3; i++) expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_invalid"]);
    expect([await tokens(), await customers()]).toEqual([[], []]);
    expect(await attempts()).toMatchObject([{ state: "failed", identity: null, token_id: null }]);
    expect(await f.records()).toMatchObject([{ outcome: "failed", reason: "verifier_mismatch" }]);
  });

  test.each<[string, (pkce: SignedOn["pkce"]) => string]>([
    ["the challenge itself: plain is not a method (A24)", ({ challenge }) => challenge],
    ["another case", ({ verifier }) => verifier.toUpperCase()],
    ["one more letter", ({ verifier }) => `${verifier}a`],
  ])("400 for %s", async (_, change) => {
    const signedOn = await f.signOn();
    const answer = await f.redeem(signedOn, { oauth_code_verifier: change(signedOn.pkce) });
    expect(outcome(answer)).toEqual([400, "verifier_mismatch"]);
  });

  test("400 for the verifier of another tab", async () => {
    const [first, second] = [await f.signOn(), await f.signOn()];
    expect(outcome(await f.redeem({ code: first.code, pkce: second.pkce }))).toEqual([
      400,
      "verifier_mismatch",
    ]);
    expect((await f.redeem(second)).status).toBe(200);
  });
});

describe("the redirect URI", () => {
  test.each([
    ["another slash", `${SHOP}/`],
    ["another registered URI", `${SHOP}?shop=1`],
    ["an empty query", `${SHOP}?`],
    ["a fragment", `${SHOP}#`],
    ["another case", SHOP.replace("shop", "Shop")],
    ["the default port", SHOP.replace(".example", ".example:443")],
    ["another scheme", SHOP.replace("https", "http")],
    ["a space behind", `${SHOP} `],
    ["a letter escaped", SHOP.replace("signed", "%73igned")],
    ["somewhere else", "https://evil.example/"],
  ])("400 with %s; the code is void, and no customer is made (T13, R30)", async (_, uri) => {
    const signedOn = await f.signOn();
    const answer = await f.redeem(signedOn, { oauth_redirect_uri: uri });
    expect(outcome(answer)).toEqual([400, "redirect_uri_mismatch"]);
    expect(JSON.stringify(answer.body)).not.toContain(uri);
    expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_invalid"]);
    expect([await tokens(), await customers()]).toEqual([[], []]);
    expect(await f.records()).toMatchObject([{ outcome: "failed", reason: "redirect_uri_mismatch" }]);
  });

  test("200 with any registered URI, if the request at authorize had it (R30)", async () => {
    const uri = `${SHOP}?shop=1`;
    const signedOn = await f.signOn({ parameters: { redirect_uri: uri } });
    expect((await f.redeem(signedOn, { oauth_redirect_uri: uri })).status).toBe(200);
  });
});
