import { createHash } from "node:crypto";
import * as argon2 from "@node-rs/argon2";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { createApplicationKey, deleteApplicationKey } from "../../src/contract/application-keys.ts";
import { issueCustomerToken, listCustomerTokens } from "../../src/contract/customer-tokens.ts";
import { createCustomer, getCustomer, listCustomers, updateCustomer } from "../../src/contract/customers.ts";
import { deleteProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import {
  createRealm,
  deleteRealm,
  getAuthenticationSettings,
  updateAuthenticationSettings,
} from "../../src/contract/realms.ts";
import { jwks } from "../../src/contract/sign-on.ts";
import { updateStore } from "../../src/contract/store.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import { createPasswords } from "../../src/passwords/password.ts";
import type { Database } from "../../src/storage/storage.ts";
import { getToken, PUBLIC_URL } from "../support/app.ts";
import { type Answer, type Call, call, toRequest } from "../support/call.ts";
import { createFederation, type Federation, newPkce, SHOP, type SignedOn } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";
import { watchDatabase } from "../support/statements.ts";
import { until } from "../support/until.ts";

const PASSWORD = "correct horse";
const EMAIL = "ada@shop.example";

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

/** A federation with other settings, for one test. */
async function withOptions(options: Parameters<typeof createFederation>[0]): Promise<void> {
  await f.close();
  f = await createFederation(options);
}

const outcome = ({ status, code }: Answer) => [status, code];
const db = () => f.latchkey.storage.db;
const attempts = () => db().selectFrom("sign_on_attempts").selectAll().execute();
const tokens = () => db().selectFrom("customer_tokens").selectAll().execute();
const customers = () => db().selectFrom("customers").selectAll().orderBy("id").execute();
const identities = () => db().selectFrom("customer_identities").selectAll().execute();
const answers = () => db().selectFrom("idempotent_answers").selectAll().execute();

/** All of a refusal but the request's own id. */
const withoutId = ({ body }: Answer) => body.errors.map((error: object) => ({ ...error, id: "" }));

/** Whether a customer token works now. */
async function isAlive({ body }: Answer): Promise<boolean> {
  const answer = await call(f.latchkey.app, getCustomer, {
    token: await f.store.token("implicit"),
    ids: { id: body.data.customer_id },
    headers: { "x-customer-token": body.data.token },
  });
  return answer.status === 200;
}

const ask = (data: object, request: Call = {}) =>
  call(f.latchkey.app, issueCustomerToken, {
    token: f.implicit,
    json: { data: { type: "token", ...data } },
    ...request,
  });
const withPassword = (email = EMAIL, password: unknown = PASSWORD, request: Call = {}) =>
  ask({ email, password }, request);

/** By the back office, which is believed on what is proven. */
const newCustomer = async (data: object = {}): Promise<string> => {
  const json = { data: { type: "customer", name: "Ada", email: EMAIL, password: PASSWORD, ...data } };
  return (await f.store.call(createCustomer, { json })).body.data.id;
};
const changeProfile = (data: object, id = f.profileId) =>
  f.store.call(updateProfile, {
    ids: { realm: f.realmId, id },
    json: { data: { type: "oidc-profile", ...data } },
  });

describe("a code", () => {
  test("200 with the same members as for a password, and nothing else (seed 4.4)", async () => {
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

  test("gives a token for its own store, realm, profile, issuer and subject, whatever else is going on (I3)", async () => {
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

  test("is kept as a hash, and what the provider said is not kept once it was redeemed", async () => {
    const signedOn = await f.signOn();
    expect(JSON.stringify(await attempts())).not.toContain(signedOn.code);
    await f.redeem(signedOn);
    const [attempt] = await attempts();
    expect(attempt).toMatchObject({ state: "exchanged", identity: null });
    await f.latchkey.app.tidy();
    const log = JSON.stringify(f.latchkey.logLines);
    for (const secret of [signedOn.code, signedOn.pkce.verifier, EMAIL]) expect(log).not.toContain(secret);
  });

  test("is refused in the same words, however it is wrong", async () => {
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
  ])("400 for %s, before the code is touched", async (_, changes) => {
    const signedOn = await f.signOn();
    const before = await attempts();
    const { status, codes } = await f.redeem(signedOn, changes);
    expect(status).toBe(400);
    for (const code of codes) expect(code).toMatch(/^member_(missing|invalid)$/);
    expect(await attempts()).toEqual(before);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("members that are not asked for widen nothing: who, where and for how long is in the code (A32, A36)", async () => {
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
  ])(
    "400 when it is %s, before the code is touched: the code still works (T10, R20, R29, A24)",
    async (_, verifier) => {
      const signedOn = await f.signOn();
      const before = await attempts();
      const answer = await f.redeem(signedOn, { oauth_code_verifier: verifier });
      expect(outcome(answer)).toEqual([400, verifier === undefined ? "member_missing" : "member_invalid"]);
      expect(answer.body.errors[0].source).toEqual({ pointer: "/data/oauth_code_verifier" });
      expect(await attempts()).toEqual(before);
      expect((await f.redeem(signedOn)).status).toBe(200);
    },
  );

  test("413 when it is larger than any body may be, before the code is touched (T10)", async () => {
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

  test("400 for a wrong one burns the code: the right one comes too late, and there is one record of it (T11, A25)", async () => {
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
    ["one letter more", ({ verifier }) => `${verifier}a`],
  ])("400 for %s", async (_, change) => {
    const signedOn = await f.signOn();
    const answer = await f.redeem(signedOn, { oauth_code_verifier: change(signedOn.pkce) });
    expect(outcome(answer)).toEqual([400, "verifier_mismatch"]);
  });

  test("400 for that of another tab: each code has its own", async () => {
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
    ["a slash more", `${SHOP}/`],
    ["another that is registered", `${SHOP}?shop=1`],
    ["a question mark more", `${SHOP}?`],
    ["a fragment", `${SHOP}#`],
    ["another case", SHOP.replace("shop", "Shop")],
    ["the default port", SHOP.replace(".example", ".example:443")],
    ["another scheme", SHOP.replace("https", "http")],
    ["a space behind", `${SHOP} `],
    ["a letter escaped", SHOP.replace("signed", "%73igned")],
    ["somewhere else", "https://evil.example/"],
  ])("400 with %s: the code is void, and nobody was made a customer (T13, R30)", async (_, uri) => {
    const signedOn = await f.signOn();
    const answer = await f.redeem(signedOn, { oauth_redirect_uri: uri });
    expect(outcome(answer)).toEqual([400, "redirect_uri_mismatch"]);
    expect(JSON.stringify(answer.body)).not.toContain(uri);
    expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_invalid"]);
    expect([await tokens(), await customers()]).toEqual([[], []]);
    expect(await f.records()).toMatchObject([{ outcome: "failed", reason: "redirect_uri_mismatch" }]);
  });

  test("200 with the one of the request, whichever of the registered it was (R30)", async () => {
    const uri = `${SHOP}?shop=1`;
    const signedOn = await f.signOn({ parameters: { redirect_uri: uri } });
    expect((await f.redeem(signedOn, { oauth_redirect_uri: uri })).status).toBe(200);
  });
});

describe("the code's life", () => {
  test("200 until it is 60 seconds old, 400 from then on (T14, R9)", async () => {
    const [early, late] = [await f.signOn(), await f.signOn()];
    f.latchkey.clock.advance(59_999);
    expect((await f.redeem(early)).status).toBe(200);
    f.latchkey.clock.advance(1);
    expect(outcome(await f.redeem(late))).toEqual([400, "code_expired"]);
    f.latchkey.clock.advance(60_001);
    expect(outcome(await f.redeem(late))).toEqual([400, "code_expired"]);
    expect(await f.records()).toContainEqual(
      expect.objectContaining({ outcome: "expired", reason: "code_expired" }),
    );
  });

  test("is what the operator says (LATCHKEY_CODE_SECONDS)", async () => {
    await withOptions({ codeSeconds: 5 });
    const [early, late] = [await f.signOn(), await f.signOn()];
    f.latchkey.clock.advance(4999);
    expect((await f.redeem(early)).status).toBe(200);
    f.latchkey.clock.advance(1);
    expect(outcome(await f.redeem(late))).toEqual([400, "code_expired"]);
  });

  test("is over for good: rows of codes, used or not, are swept, and an old code stays unknown (T14)", async () => {
    const [used, unused] = [await f.signOn(), await f.signOn()];
    await f.redeem(used);
    f.latchkey.clock.advance(2 * 3_600_000);
    await f.latchkey.app.tidy();
    expect(await attempts()).toEqual([]);
    const token = await f.store.token("implicit");
    for (const signedOn of [used, unused])
      expect(outcome(await f.redeem(signedOn, {}, { token }))).toEqual([400, "code_invalid"]);
  });
});

describe("a code of another store", () => {
  test("400 as for an unknown code; it is neither burnt nor told of, and still works at home (T15, R31)", async () => {
    const signedOn = await f.signOn();
    const before = await attempts();
    const stranger = await f.latchkey.createStore();
    for (const token of [await stranger.token("implicit"), await stranger.token()]) {
      const foreign = await f.redeem(signedOn, {}, { token });
      const unknown = await f.redeem({ ...signedOn, code: newCredential("lkac") }, {}, { token });
      expect(outcome(foreign)).toEqual([400, "code_invalid"]);
      expect(withoutId(foreign)).toEqual(withoutId(unknown));
      const guess = await f.redeem(signedOn, { oauth_code_verifier: newPkce().verifier }, { token });
      expect(withoutId(guess)).toEqual(withoutId(unknown));
    }
    expect(await attempts()).toEqual(before);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("400 when it was used: what it gave at home lives on, however it is tried (T15)", async () => {
    const signedOn = await f.signOn();
    const first = await f.redeem(signedOn);
    const stranger = await f.latchkey.createStore();
    f.latchkey.clock.advance(31_000);
    const token = await stranger.token("implicit");
    for (const changes of [{}, { oauth_code_verifier: newPkce().verifier }])
      expect(outcome(await f.redeem(signedOn, changes, { token }))).toEqual([400, "code_invalid"]);
    expect(await isAlive(first)).toBe(true);
  });
});

describe("the second use of a code", () => {
  test.each<[string, number, object, boolean]>([
    ["at once", 0, {}, true],
    ["after one second", 1000, {}, true],
    ["after 30 seconds", 30_000, {}, true],
    ["after more than 30 seconds", 30_001, {}, false],
    ["after 59 minutes", 59 * 60_000, {}, false],
    ["at once with a wrong verifier", 0, { oauth_code_verifier: "a".repeat(43) }, false],
    ["at once with another redirect URI", 0, { oauth_redirect_uri: `${SHOP}?shop=1` }, false],
  ])(
    "400 %s; the first token stays, or is revoked where no retry explains it (T16, R10)",
    async (_, afterMs, changes, stays) => {
      const signedOn = await f.signOn();
      const first = await f.redeem(signedOn);
      f.latchkey.clock.advance(afterMs);
      expect(outcome(await f.redeem(signedOn, changes))).toEqual([400, "code_already_used"]);
      expect(await isAlive(first)).toBe(stays);
      expect(await tokens()).toHaveLength(stays ? 1 : 0);
      expect(await f.records()).toMatchObject([
        { outcome: "exchanged", reason: stays ? null : "code_replayed" },
      ]);
    },
  );

  test("takes back that one token and no other of the customer", async () => {
    const other = await f.redeem(await f.signOn());
    const signedOn = await f.signOn();
    const first = await f.redeem(signedOn);
    await f.redeem(signedOn, { oauth_code_verifier: newPkce().verifier });
    expect(await isAlive(first)).toBe(false);
    expect(await isAlive(other)).toBe(true);
  });

  test("keeps in the record whose token it was that a replay took back (T16)", async () => {
    const signedOn = await f.signOn();
    const { body } = await f.redeem(signedOn);
    await f.redeem(signedOn, { oauth_code_verifier: newPkce().verifier });
    expect(await f.records()).toMatchObject([
      { reason: "code_replayed", customer_id: body.data.customer_id },
    ]);
  });

  test("400 for the retry of a lost answer; the next sign-on works, and an orphan is revoked by a late retry (T17)", async () => {
    const signedOn = await f.signOn();
    const lost = await f.redeem(signedOn);
    expect(outcome(await f.redeem(signedOn))).toEqual([400, "code_already_used"]);
    f.latchkey.clock.advance(31_000);
    await f.redeem(signedOn);
    expect(await isAlive(lost)).toBe(false);
    const next = await f.redeem(await f.signOn());
    expect(next.body.data.customer_id).toBe(lost.body.data.customer_id);
    expect(await isAlive(next)).toBe(true);
  });
});

describe("a code that is not taken any more", () => {
  test.each<[string, number, number, object]>([
    ["code_expired", 0, 60_000, {}],
    ["verifier_mismatch", 0, 0, { oauth_code_verifier: newPkce().verifier }],
    ["redirect_uri_mismatch", 0, 0, { oauth_redirect_uri: `${SHOP}?shop=1` }],
    ["code_already_used", 1, 0, {}],
  ])(
    "400 %s with the reference of its sign-on, which the shopper can tell support",
    async (code, uses, afterMs, changes) => {
      const signedOn = await f.signOn();
      for (let use = 0; use < uses; use++) await f.redeem(signedOn);
      f.latchkey.clock.advance(afterMs);
      const answer = await f.redeem(signedOn, changes);
      expect(outcome(answer)).toEqual([400, code]);
      const [{ reference }] = await f.records();
      expect(answer.body.errors[0].meta).toEqual({ reference });
    },
  );
});

describe("what is decided before the code is touched (wire 12)", () => {
  test("401 for a bad bearer token: the same code works with a good one", async () => {
    const signedOn = await f.signOn();
    const before = await attempts();
    for (const token of [undefined, "x", f.implicit.slice(0, -1)])
      expect((await f.redeem(signedOn, {}, { token })).status).toBe(401);
    expect(await attempts()).toEqual(before);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("401 when the application key was deleted between sign-on and exchange; another key of the store may go on (T24)", async () => {
    const { body } = await f.store.call(createApplicationKey, {
      json: { data: { type: "application_key", name: "Doomed" } },
    });
    const { id, client_id: clientId, client_secret: clientSecret } = body.data;
    const key = { ...f.store.key, clientId, clientSecret };
    const token = await getToken(f.latchkey.app, { ...f.store, key }, "implicit");
    const signedOn = await f.signOn();
    await f.store.call(deleteApplicationKey, { ids: { id } });
    expect((await f.redeem(signedOn, {}, { token })).status).toBe(401);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("429 with Retry-After and the rate limit fields; the same request works after the wait (T20)", async () => {
    const signedOn = await f.signOn();
    await f.store.call(updateStore, { json: { data: { type: "store", rate_limit: 1 } } });
    const before = await attempts();
    const useUp = () => call(f.latchkey.app, getAuthenticationSettings, { token: f.implicit });
    for (let i = 0; i < 10; i++) await useUp();
    const refused = await f.redeem(signedOn);
    expect(outcome(refused)).toEqual([429, "rate_limit_exceeded"]);
    expect(refused.headers.has("ratelimit") && refused.headers.has("ratelimit-policy")).toBe(true);
    expect(await attempts()).toEqual(before);
    f.latchkey.clock.advance(Number(refused.headers.get("retry-after")) * 1000);
    expect((await f.redeem(signedOn)).status).toBe(200);
  });
});

/** The database as it is, until it is away: for one statement, counted from now, or from that one on. */
function awayAt(of: Database, statement: number, { forGood = false } = {}): Database {
  let seen = 0;
  return watchDatabase(of, () => {
    const isAway = forGood ? seen >= statement : seen === statement;
    seen++;
    if (isAway) throw Object.assign(new Error("gone"), { code: "ECONNRESET" });
  });
}

describe("what is changed while a redeem waits for its turn at the database", () => {
  const changes = {
    "switched off": { enabled: 0 },
    "closed to new people": { provisioning: "existing" },
  };
  test.each(Object.entries(changes))(
    "400 when the profile was %s: nobody is made a customer",
    async (_, columns) => {
      const signedOn = await f.signOn();
      const { storage } = f.latchkey;
      const { transact } = storage;
      const customers = () => storage.db.selectFrom("customers").select("id").execute();
      const before = await customers();
      storage.transact = async (work) => {
        storage.transact = transact;
        await storage.db.updateTable("oidc_profiles").set(columns).execute();
        return storage.transact(work);
      };
      expect(outcome(await f.redeem(signedOn))).toEqual([400, "sign_on_refused"]);
      expect(await customers()).toEqual(before);
    },
  );
});

describe("when the database goes away (T19)", () => {
  test.each([false, true])(
    "503 at whichever statement, for good: %s; nothing is half done, and the code works afterwards (T18)",
    async (forGood) => {
      const signedOn = await f.signOn();
      // What is asked of the database the first time only is known from here on.
      await f.redeem({ ...signedOn, code: newCredential("lkac") });
      const before = await attempts();
      const { storage } = f.latchkey;
      const { db: whole } = storage;
      onTestFinished(() => {
        storage.db = whole;
      });
      for (let statement = 0; ; statement++) {
        storage.db = awayAt(whole, statement, { forGood });
        const answer = await f.redeem(signedOn, {}, { headers: { "idempotency-key": "k" } });
        storage.db = whole;
        if (answer.status === 200) {
          expect(statement).toBeGreaterThan(8);
          expect(await isAlive(answer)).toBe(true);
          break;
        }
        expect([statement, ...outcome(answer)]).toEqual([statement, 503, "storage_unavailable"]);
        expect(Number(answer.headers.get("retry-after"))).toBeGreaterThan(0);
        expect(await attempts()).toEqual(before);
        expect([await tokens(), await customers(), await identities(), await answers()]).toEqual([
          [],
          [],
          [],
          [],
        ]);
      }
    },
  );
});

describe("who a person is here (T21)", () => {
  type Policy = "allowed" | "api_only" | "disallowed";
  type Holder = "nobody" | "unproven" | "proven";
  /** Policy, who has the address here, whether the provider has verified it; then what comes of it. */
  // biome-ignore format: a table
  const TABLE: [Policy, Holder, boolean, string, string][] = [
    ["allowed",    "nobody",   true,  "new customer",     "provisioning_off"],
    ["allowed",    "unproven", true,  "new customer",     "provisioning_off"],
    ["allowed",    "unproven", false, "new customer",     "provisioning_off"],
    ["allowed",    "proven",   true,  "new customer",     "provisioning_off"],
    ["allowed",    "proven",   false, "new customer",     "provisioning_off"],
    ["api_only",   "nobody",   true,  "new customer",     "provisioning_off"],
    ["api_only",   "unproven", true,  "new customer",     "provisioning_off"],
    ["api_only",   "unproven", false, "new customer",     "provisioning_off"],
    ["api_only",   "proven",   true,  "linked",           "linked"],
    ["api_only",   "proven",   false, "email_unverified", "email_unverified"],
    ["disallowed", "nobody",   true,  "new customer",     "provisioning_off"],
    ["disallowed", "unproven", true,  "new customer",     "provisioning_off"],
    ["disallowed", "unproven", false, "new customer",     "provisioning_off"],
    ["disallowed", "proven",   true,  "email_taken",      "email_taken"],
    ["disallowed", "proven",   false, "email_taken",      "email_taken"],
  ];
  const rows = TABLE.flatMap(([policy, holder, verified, create, existing]) => [
    { policy, holder, verified, provisioning: "create", expected: create },
    { policy, holder, verified, provisioning: "existing", expected: existing },
  ]);

  test.each(rows)(
    "$policy, $provisioning, address here: $holder, verified there: $verified -> $expected (T21, A01, A02)",
    async ({ policy, holder, verified, provisioning, expected }) => {
      const old =
        holder === "nobody" ? undefined : await newCustomer({ email_verified: holder === "proven" });
      const session = old === undefined ? undefined : await withPassword();
      const before = await customers();
      await f.changeRealm({ duplicate_email_policy: policy });
      await changeProfile({ provisioning });
      f.idp.person = { ...ADA, email: "ADA@Shop.Example", email_verified: verified };

      const signedOn = await f.signOn();
      if (expected === "new customer" || expected === "linked") {
        const { status, body } = await f.redeem(signedOn);
        expect(status).toBe(200);
        expect(body.data.customer_id === old).toBe(expected === "linked");
        expect(await identities()).toMatchObject([{ customer_id: body.data.customer_id }]);
        expect(await f.records()).toMatchObject([
          { outcome: "exchanged", customer_id: body.data.customer_id },
        ]);
      } else {
        expect([signedOn.error, signedOn.code]).toEqual(["access_denied", ""]);
        expect(signedOn.returned.get("state")).toBe("the storefront's state");
        expect(await f.recordOf(signedOn.reference)).toMatchObject({ outcome: "failed", reason: expected });
        expect(await identities()).toEqual([]);
      }
      // Whoever was here before is as before: data, password and session.
      const after = await customers();
      expect(after).toHaveLength(before.length + (expected === "new customer" ? 1 : 0));
      expect(after).toEqual(expect.arrayContaining(before));
      if (session) expect(await isAlive(session)).toBe(true);
    },
  );

  test.each(["disallowed", "api_only"])(
    "%s: whose proven address it is in another store plays no part here (A33)",
    async (duplicate_email_policy) => {
      const other = await f.latchkey.createStore();
      const data = { type: "customer", name: "Ada", email: ADA.email, password: PASSWORD };
      await other.call(createCustomer, { json: { data: { ...data, email_verified: true } } });
      await f.changeRealm({ duplicate_email_policy });
      const { status, body } = await f.redeem(await f.signOn());
      expect(status).toBe(200);
      const ids = { id: body.data.customer_id };
      expect((await f.store.call(getCustomer, { ids })).status).toBe(200);
    },
  );

  test("disallowed: a stranger who registers somebody's address does not keep its owner out", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const json = {
      data: { type: "customer", name: "Mallory", email: ADA.email, password: "my own password" },
    };
    expect((await call(f.latchkey.app, createCustomer, { token: f.implicit, json })).status).toBe(201);
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("disallowed: a customer of the provider who takes on somebody's address does not keep its owner out", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    f.idp.person = { ...ADA, sub: "mallory", email: "mallory@shop.example" };
    const mallory = (await f.redeem(await f.signOn())).body.data;
    const renamed = await call(f.latchkey.app, updateCustomer, {
      token: f.implicit,
      ids: { id: mallory.customer_id },
      headers: { "x-customer-token": mallory.token },
      json: { data: { type: "customer", email: ADA.email } },
    });
    expect(renamed.status).toBe(200);
    f.idp.person = { ...ADA };
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("several customers with the proven address: 303 access_denied, several_matches", async () => {
    await newCustomer({ email_verified: true });
    await newCustomer({ email_verified: true, password: undefined });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const signedOn = await f.signOn();
    expect(signedOn.error).toBe("access_denied");
    expect(await f.recordOf(signedOn.reference)).toMatchObject({ reason: "several_matches" });
  });

  test("a new customer's address is as proven as the provider says, and only true is true (N83)", async () => {
    for (const [index, verified] of [true, false, "true", 1, null, undefined].entries()) {
      f.idp.person = { ...ADA, sub: `s${index}`, email: `s${index}@shop.example`, email_verified: verified };
      await f.redeem(await f.signOn());
    }
    const proven = (await customers()).map(({ email, email_verified }) => [email, email_verified]);
    expect(proven.sort()).toEqual([
      ["s0@shop.example", 1],
      ["s1@shop.example", 0],
      ["s2@shop.example", 0],
      ["s3@shop.example", 0],
      ["s4@shop.example", 0],
      ["s5@shop.example", 0],
    ]);
  });

  test("a subject stays the same customer when its e-mail, name and verification change (A10, R113)", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const first = await f.redeem(await f.signOn());
    await newCustomer({ email: "other@shop.example" });
    f.idp.person = { ...ADA, email: "other@shop.example", email_verified: false, name: "Eve" };
    const second = await f.redeem(await f.signOn());
    expect(second.body.data.customer_id).toBe(first.body.data.customer_id);
    const { body } = await f.store.call(getCustomer, { ids: { id: first.body.data.customer_id } });
    expect(body.data).toMatchObject({ email: EMAIL, name: "Eve", email_verified: true });
  });

  test("subjects that differ in case are two people, and so is one subject of two profiles (N41, A04)", async () => {
    const made = new Set<string>();
    for (const sub of ["subject", "Subject", "subject "]) {
      f.idp.person = { ...ADA, sub };
      made.add((await f.redeem(await f.signOn())).body.data.customer_id);
    }
    f.idp.person = { ...ADA };
    const profile = await f.addProfile({ name: "The same provider again" });
    made.add((await f.redeem(await f.signOn({ parameters: { profile } }))).body.data.customer_id);
    expect(made.size).toBe(4);
  });

  test("an attacker who registered the address first gains nothing by it (A03)", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const registered = await call(f.latchkey.app, createCustomer, {
      token: f.implicit,
      json: {
        data: { type: "customer", name: "Eve", email: EMAIL, password: PASSWORD, email_verified: true },
      },
    });
    const attacker = await withPassword();
    const victim = await f.redeem(await f.signOn());
    expect(victim.body.data.customer_id).not.toBe(registered.body.data.id);
    for (const session of [attacker, await withPassword()]) {
      expect(session.body.data.customer_id).toBe(registered.body.data.id);
      const peek = await call(f.latchkey.app, getCustomer, {
        token: f.implicit,
        ids: { id: victim.body.data.customer_id },
        headers: { "x-customer-token": session.body.data.token },
      });
      expect(peek.status).toBe(404);
    }
  });

  test("nor one whose own address was proven, and who then changed it to the victim's (A03)", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    f.idp.person = { ...ADA, sub: "attacker", email: "eve@shop.example" };
    const attacker = await f.redeem(await f.signOn());
    const id = attacker.body.data.customer_id;
    const changed = await call(f.latchkey.app, updateCustomer, {
      token: f.implicit,
      ids: { id },
      headers: { "x-customer-token": attacker.body.data.token },
      json: { data: { type: "customer", email: EMAIL, email_verified: true } },
    });
    expect(changed.body.data).toMatchObject({ email: EMAIL, email_verified: false });
    f.idp.person = { ...ADA };
    expect((await f.redeem(await f.signOn())).body.data.customer_id).not.toBe(id);
  });
});

describe("decided again at the exchange", () => {
  /** What comes of a code that the exchange refuses, and what is left of it. */
  async function redeemInVain(signedOn: SignedOn) {
    const answer = await f.redeem(signedOn);
    const { reason, reference } = answer.body.errors[0].meta;
    const record = await f.recordOf(reference);
    return {
      answer: [...outcome(answer), reason],
      record: [record.outcome, record.reason],
      left: [await tokens(), await identities()],
      again: outcome(await f.redeem(signedOn)),
    };
  }
  const refusedFor = (reason: string) => ({
    answer: [400, "sign_on_refused", reason],
    record: ["failed", reason],
    left: [[], []],
    again: [400, "code_invalid"],
  });

  test("400 when the e-mail became taken meanwhile, under disallowed (wire 15)", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    const signedOn = await f.signOn();
    await newCustomer({ email_verified: true });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("email_taken"));
  });

  test("400 when the profile meanwhile takes nobody new", async () => {
    const signedOn = await f.signOn();
    await changeProfile({ provisioning: "existing" });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("provisioning_off"));
  });

  test("400 when the realm meanwhile has another policy", async () => {
    await newCustomer({ email_verified: true });
    const signedOn = await f.signOn();
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("email_taken"));
  });

  test("200, linked, when somebody has proven the address meanwhile", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const signedOn = await f.signOn();
    const id = await newCustomer({ email_verified: true });
    expect((await f.redeem(signedOn)).body.data.customer_id).toBe(id);
  });

  test("200 for a customer who was deleted meanwhile: a new one, who has nothing of the old", async () => {
    const first = await f.redeem(await f.signOn());
    const signedOn = await f.signOn();
    await db().deleteFrom("customers").where("id", "=", first.body.data.customer_id).execute();
    const second = await f.redeem(signedOn);
    expect(second.status).toBe(200);
    expect(second.body.data.customer_id).not.toBe(first.body.data.customer_id);
    expect(await isAlive(first)).toBe(false);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["disabled", () => changeProfile({ enabled: false })],
    ["deleted", () => f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } })],
  ])("400 when the profile was %s meanwhile; other profiles of the realm work (T24, A09)", async (_, end) => {
    const profile = await f.addProfile({ name: "Another" });
    const signedOn = await f.signOn();
    await end();
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("profile_disabled"));
    const other = await f.signOn({ parameters: { profile } });
    expect((await f.redeem(other)).status).toBe(200);
  });

  test.each<[string, () => Promise<unknown>]>([
    ["disabled", () => changeProfile({ enabled: false })],
    ["deleted", () => f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } })],
  ])("303 access_denied when the profile was %s before the callback (T24, A09)", async (_, end) => {
    const [browser, pkce] = [{ cookie: undefined }, newPkce()];
    const begun = await f.begin(browser, { code_challenge: pkce.challenge });
    const back = f.idp.signIn(begun.headers.get("location") ?? "");
    await end();
    const { headers } = await f.comeBack(browser, back);
    const returned = new URL(headers.get("location") ?? "").searchParams;
    expect([returned.get("error"), returned.get("code")]).toEqual(["access_denied", null]);
    expect(f.idp.asked("/token")).toBe(0);
  });

  test("a customer who was linked before is refused as well while the profile is disabled, and again let in", async () => {
    const first = await f.redeem(await f.signOn());
    const [refused, later] = [await f.signOn(), await f.signOn()];
    await changeProfile({ enabled: false });
    expect(outcome(await f.redeem(refused))).toEqual([400, "sign_on_refused"]);
    await changeProfile({ enabled: true });
    expect((await f.redeem(later)).body.data.customer_id).toBe(first.body.data.customer_id);
  });

  test("400 when profile and realm were deleted meanwhile (T24)", async () => {
    const signedOn = await f.signOn();
    const realm = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "Another" } },
    });
    await f.store.call(updateAuthenticationSettings, {
      json: { data: { type: "customer-authentication-settings", realm_id: realm.body.data.id } },
    });
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
    expect((await f.store.call(deleteRealm, { ids: { id: f.realmId } })).status).toBe(204);
    expect(await redeemInVain(signedOn)).toEqual(refusedFor("profile_disabled"));
  });

  test("200 when the redirect URI is not registered any more: it was when the sign-on began", async () => {
    const signedOn = await f.signOn();
    await f.changeRealm({ redirect_uris: [] });
    expect((await f.redeem(signedOn)).status).toBe(200);
  });
});

describe("the token itself", () => {
  const published = async () => (await call(f.latchkey.app, jwks)).body;
  const verify = async (token: string) =>
    jwtVerify(token, createLocalJWKSet(await published()), {
      issuer: f.issuer,
      audience: PUBLIC_URL,
      typ: "at+jwt",
      algorithms: ["ES256"],
      currentDate: new Date(f.latchkey.clock.now()),
      requiredClaims: ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"],
    });

  test("is a JWT that anybody can check with our key set, and says who, where, how and until when (R55, R56)", async () => {
    const { body } = await f.redeem(await f.signOn());
    const { data } = body;
    const { payload, protectedHeader } = await verify(data.token);
    expect(protectedHeader).toEqual({ alg: "ES256", typ: "at+jwt", kid: expect.any(String) });
    expect((await published()).keys).toContainEqual(expect.objectContaining({ kid: protectedHeader.kid }));
    const now = f.latchkey.clock.now() / 1000;
    expect(payload).toEqual({
      iss: f.issuer,
      aud: PUBLIC_URL,
      sub: data.customer_id,
      client_id: "customers",
      iat: now,
      exp: now + 86_400,
      jti: data.id,
      store_id: f.store.store.id,
      amr: ["fed"],
      profile_id: f.profileId,
    });
    expect(data.expires).toBe(payload.exp);
  });

  test("says of a password that it was one, and names no profile", async () => {
    const id = await newCustomer();
    const { body } = await withPassword();
    const { payload } = await verify(body.data.token);
    expect(payload).toMatchObject({ iss: f.issuer, sub: id, jti: body.data.id, amr: ["pwd"] });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(86_400);
    expect(payload).not.toHaveProperty("profile_id");
    expect(decodeProtectedHeader(body.data.token)).toMatchObject({ alg: "ES256", typ: "at+jwt" });
  });

  test("holds nothing that identifies a person but the customer's id", async () => {
    const { body } = await f.redeem(await f.signOn());
    const text = JSON.stringify(decodeJwt(body.data.token));
    for (const personal of [EMAIL, "Ada", '"subject"', "session-1"]) expect(text).not.toContain(personal);
  });

  test("has whole seconds, and is never good for longer than it says", async () => {
    f.latchkey.clock.advance(999);
    const { body } = await f.redeem(await f.signOn());
    const { payload } = await verify(body.data.token);
    expect(payload.exp).toBe(body.data.expires);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(86_400);
    f.latchkey.clock.advance(86_400_000 - 999);
    expect(await isAlive({ body } as Answer)).toBe(false);
  });

  test("lives as long as the operator says (LATCHKEY_CUSTOMER_TOKEN_SECONDS)", async () => {
    await withOptions({ customerTokenSeconds: 120 });
    await newCustomer();
    for (const ask of [async () => f.redeem(await f.signOn()), () => withPassword()]) {
      const answer = await ask();
      expect(answer.body.data.expires).toBe(f.latchkey.clock.now() / 1000 + 120);
      const { exp = 0, iat = 0 } = decodeJwt(answer.body.data.token);
      expect(exp - iat).toBe(120);
      f.latchkey.clock.advance(119_999);
      expect(await isAlive(answer)).toBe(true);
      f.latchkey.clock.advance(1);
      expect(await isAlive(answer)).toBe(false);
    }
  });

  test("is not kept: the database has no token and nothing to make one from in clear", async () => {
    const { body } = await f.redeem(await f.signOn());
    const signature = body.data.token.split(".")[2];
    for (const table of ["customer_tokens", "sign_on_attempts", "sign_ons", "signing_keys"] as const) {
      const text = JSON.stringify(await db().selectFrom(table).selectAll().execute());
      expect(text).not.toContain(signature);
      expect(text).not.toMatch(/"d\\?":/);
    }
  });
});

describe("e-mail and password", () => {
  test.each([["email"], ["password"], [undefined]])(
    "200 with the mechanism %s (wire 8, 12)",
    async (mechanism) => {
      const id = await newCustomer();
      const answer = await ask({ authentication_mechanism: mechanism, email: EMAIL, password: PASSWORD });
      expect([answer.status, answer.body.data.customer_id]).toEqual([200, id]);
      const list = await f.store.call(listCustomerTokens, { ids: { customer: id } });
      expect(list.body.data).toMatchObject([{ authentication_mechanism: "password", profile_name: null }]);
    },
  );

  test("400 for a mechanism that there is not, with those that there are", async () => {
    const { body } = await ask({
      authentication_mechanism: "passwordless",
      email: EMAIL,
      password: PASSWORD,
    });
    expect(body.errors).toMatchObject([
      {
        detail: '`authentication_mechanism`: expected "oidc" or "email" or "password".',
        source: { pointer: "/data/authentication_mechanism" },
      },
    ]);
  });

  test("200 for the e-mail in any case, and by the back office's token too", async () => {
    const id = await newCustomer();
    const { body } = await withPassword("ADA@SHOP.EXAMPLE", PASSWORD, { token: await f.store.token() });
    expect(body.data.customer_id).toBe(id);
  });

  test("400 in the same words for a wrong password, an unknown e-mail and what is none", async () => {
    await newCustomer();
    const refused = [
      await withPassword(EMAIL, "another horse"),
      await withPassword(EMAIL, ""),
      await withPassword("nobody@shop.example"),
      await withPassword("nobody@shop.example", ""),
      await withPassword("no address"),
      await withPassword(""),
    ];
    for (const answer of refused) expect(outcome(answer)).toEqual([400, "credentials_wrong"]);
    expect(new Set(refused.map((answer) => JSON.stringify(withoutId(answer)))).size).toBe(1);
    expect(await tokens()).toEqual([]);
  });

  test("400 for the right ones of another store's customer (A33)", async () => {
    await newCustomer();
    const stranger = await f.latchkey.createStore();
    const answer = await withPassword(EMAIL, PASSWORD, { token: await stranger.token("implicit") });
    expect(outcome(answer)).toEqual([400, "credentials_wrong"]);
  });

  test.each([[""], [null], ["null"], ["undefined"], [PASSWORD], [0], [false], [[]], [{}]])(
    "400 for a customer who came by sign-on and has no password, with %j as for an unknown one (T22, A11)",
    async (password) => {
      await f.redeem(await f.signOn());
      const known = await withPassword(EMAIL, password);
      const unknown = await withPassword("nobody@shop.example", password);
      expect(known.status).toBe(400);
      expect(withoutId(known)).toEqual(withoutId(unknown));
    },
  );

  test("200 once the back office has given such a customer one; both ways are one customer (A11)", async () => {
    const { body } = await f.redeem(await f.signOn());
    const id = body.data.customer_id;
    const json = { data: { type: "customer", password: PASSWORD } };
    await f.store.call(updateCustomer, { ids: { id }, json });
    expect((await withPassword()).body.data.customer_id).toBe(id);
    expect((await f.redeem(await f.signOn())).body.data.customer_id).toBe(id);
    expect((await f.store.call(listCustomers)).body.meta.results.total).toBe(1);
  });

  test("429 with Retry-After after five failures, for the right password too; nothing is locked for good (R36)", async () => {
    await newCustomer();
    for (let i = 0; i < 5; i++) expect((await withPassword(EMAIL, "wrong horse")).status).toBe(400);
    const refused = await withPassword();
    expect(outcome(refused)).toEqual([429, "sign_in_attempts_exceeded"]);
    const wait = Number(refused.headers.get("retry-after"));
    expect(wait).toBeGreaterThanOrEqual(1);
    expect((await withPassword(EMAIL, PASSWORD, { peer: "192.0.2.7" })).status).toBe(200);
    f.latchkey.clock.advance(wait * 1000);
    expect((await withPassword()).status).toBe(200);
  });

  test("200: somebody who mistypes and then remembers, again and again, is not slowed down", async () => {
    await newCustomer();
    for (let round = 0; round < 4; round++) {
      for (let i = 0; i < 4; i++) expect((await withPassword(EMAIL, "wrong horse")).status).toBe(400);
      expect((await withPassword()).status).toBe(200);
    }
  });

  test("429 for one account in whatever spelling: case is no other e-mail (R36)", async () => {
    await newCustomer();
    for (const email of [
      EMAIL,
      "ADA@shop.example",
      "ada@SHOP.example",
      "Ada@Shop.Example",
      "aDa@shop.example",
    ])
      expect((await withPassword(email, "wrong horse")).status).toBe(400);
    expect((await withPassword("adA@shop.example")).status).toBe(429);
  });

  test("400 and no 429 for the store's own server, which signs in all shoppers from one address", async () => {
    await newCustomer();
    const token = await f.store.token();
    for (let i = 0; i < 20; i++)
      expect((await withPassword(EMAIL, "wrong horse", { token })).status).toBe(400);
    expect((await withPassword(EMAIL, PASSWORD, { token })).status).toBe(200);
  });

  test("guessing passwords does not slow down sign-on through the identity provider", async () => {
    await newCustomer();
    for (let i = 0; i < 10; i++) await withPassword(EMAIL, "wrong horse");
    expect((await f.redeem(await f.signOn())).status).toBe(200);
  });

  test("503 with Retry-After when too many passwords are being checked at once; a code is redeemed meanwhile", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const library = { ...argon2, verify: () => promise };
    // So slow that nobody may wait behind the first.
    const passwords = createPasswords({ clock: f.latchkey.clock, atOnce: 1, eachMs: 3000, library });
    await withOptions({ passwords });
    const checks = [withPassword("one@shop.example"), withPassword("other@shop.example")];
    const refused = await Promise.race(checks);
    expect(outcome(refused)).toEqual([503, "password_queue_full"]);
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await f.redeem(await f.signOn())).status).toBe(200);
    resolve(false);
    expect((await Promise.all(checks)).map(({ status }) => status).toSorted()).toEqual([400, 503]);
  });

  test("no password is checked for a shopper whose connection is closed when it is their turn", async () => {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const verify = vi.fn(() => promise);
    const passwords = createPasswords({ clock: f.latchkey.clock, atOnce: 1, library: { ...argon2, verify } });
    await withOptions({ passwords });
    const first = withPassword("one@shop.example");
    await until(() => verify.mock.calls.length === 1);
    const data = { type: "token", email: EMAIL, password: PASSWORD };
    const socket = { remoteAddress: "127.0.0.1", writable: true };
    const request = toRequest(issueCustomerToken, { token: f.implicit, json: { data } });
    const left = f.latchkey.app.fetch(request, { incoming: { socket } });
    await until(() => passwords.waiting() === 1);
    socket.writable = false;
    resolve(false);
    expect((await left).status).toBe(503);
    expect((await first).status).toBe(400);
    expect(verify).toHaveBeenCalledOnce();
  });

  test("503 when the database is away; the attempt costs nothing", async () => {
    await newCustomer();
    // Once before, so that the access token is known and it is the sign-in that fails.
    expect((await withPassword()).status).toBe(200);
    const { storage } = f.latchkey;
    const { db: whole } = storage;
    for (let i = 0; i < 20; i++) {
      storage.db = awayAt(whole, 0, { forGood: true });
      const answer = await withPassword(EMAIL, "wrong horse");
      storage.db = whole;
      expect(outcome(answer)).toEqual([503, "storage_unavailable"]);
    }
    expect((await withPassword()).status).toBe(200);
  });

  test("200 for the customer who has a password, although an older one without has the same e-mail (wire 15)", async () => {
    f.idp.person = { ...ADA, email: EMAIL };
    const older = (await f.redeem(await f.signOn())).body.data.customer_id;
    const id = await newCustomer();
    expect(id).not.toBe(older);
    expect((await withPassword()).body.data.customer_id).toBe(id);
  });

  test("400: a password that is replaced between its check and the token gives none, which would outlive the change", async () => {
    const id = await newCustomer();
    const { storage } = f.latchkey;
    const { db: whole } = storage;
    const replace = () => {
      storage.db = whole;
      const data = { type: "customer", password: "another horse" };
      return f.store.call(updateCustomer, { ids: { id }, json: { data } });
    };
    // The first transaction of a sign-in is the one that makes the token.
    const transaction = () => ({
      execute: async (work: Parameters<ReturnType<typeof whole.transaction>["execute"]>[0]) => {
        expect((await replace()).status).toBe(200);
        return whole.transaction().execute(work);
      },
    });
    storage.db = new Proxy(whole, {
      get: (target, name) =>
        name === "transaction" ? transaction : Reflect.get(target, name, target).bind?.(target),
    });
    const answer = await withPassword();
    storage.db = whole;
    expect(outcome(answer)).toEqual([400, "credentials_wrong"]);
    expect((await f.store.call(listCustomerTokens, { ids: { customer: id } })).body.data).toEqual([]);
    expect((await withPassword(EMAIL, "another horse")).status).toBe(200);
  });

  test("the password is in no log line and no answer", async () => {
    await newCustomer();
    const answered = [await withPassword(), await withPassword(EMAIL, "wrong horse")];
    const text = JSON.stringify([answered.map(({ body }) => body), f.latchkey.logLines]);
    for (const secret of [PASSWORD, "wrong horse", EMAIL]) expect(text).not.toContain(secret);
  });
});

describe("Idempotency-Key (wire 8)", () => {
  const KEY = "01890000-7000-4000-8000-000000000001";
  const repeatable = (key = KEY) => ({ headers: { "idempotency-key": key } });

  const textOf = async ({ code, pkce }: SignedOn, key = KEY): Promise<string> => {
    const request = toRequest(issueCustomerToken, {
      token: f.implicit,
      json: {
        data: {
          type: "token",
          authentication_mechanism: "oidc",
          oauth_authorization_code: code,
          oauth_redirect_uri: SHOP,
          oauth_code_verifier: pkce.verifier,
        },
      },
      ...repeatable(key),
    });
    return (await f.latchkey.app.fetch(request)).text();
  };

  test("200 for the same key and body within 30 seconds: the same answer byte for byte, and one token", async () => {
    const signedOn = await f.signOn();
    const first = await textOf(signedOn);
    expect(JSON.parse(first).data.token).toBeTruthy();
    expect(await textOf(signedOn)).toBe(first);
    f.latchkey.clock.advance(29_999);
    expect(await textOf(signedOn)).toBe(first);
    expect(await tokens()).toHaveLength(1);
    expect(await f.records()).toMatchObject([{ outcome: "exchanged", reason: null }]);
  });

  test("200 for a password as well: one token, however often it is asked", async () => {
    await newCustomer();
    const first = await withPassword(EMAIL, PASSWORD, repeatable());
    for (let i = 0; i < 10; i++)
      expect((await withPassword(EMAIL, PASSWORD, repeatable())).body).toEqual(first.body);
    expect(await tokens()).toHaveLength(1);
    expect((await withPassword()).body.data.id).not.toBe(first.body.data.id);
  });

  test("200 for twenty at once with the same key: all with the same token", async () => {
    const signedOn = await f.signOn();
    const all = await Promise.all(Array.from({ length: 20 }, () => textOf(signedOn)));
    expect(new Set(all).size).toBe(1);
    expect(JSON.parse(all[0] as string).data.id).toBe((await tokens())[0]?.id);
    expect(await tokens()).toHaveLength(1);
  });

  test("422 for the same key with another body; the code in it is not touched", async () => {
    const [first, second] = [await f.signOn(), await f.signOn()];
    await f.redeem(first, {}, repeatable());
    const answer = await f.redeem(second, {}, repeatable());
    expect(outcome(answer)).toEqual([422, "idempotency_key_reused"]);
    expect(answer.body.errors[0].source).toEqual({ header: "Idempotency-Key" });
    expect((await f.redeem(second)).status).toBe(200);
  });

  test("422 for the same key with a wrong verifier: the answer is for the body that it was given to", async () => {
    const signedOn = await f.signOn();
    const first = await f.redeem(signedOn, {}, repeatable());
    const guess = { oauth_code_verifier: newPkce().verifier };
    expect((await f.redeem(signedOn, guess, repeatable())).code).toBe("idempotency_key_reused");
    expect(await isAlive(first)).toBe(true);
  });

  test("two bodies at once with one key: one 200, one 422, and the other's code still works", async () => {
    const both = [await f.signOn(), await f.signOn()];
    const answered = await Promise.all(both.map((signedOn) => f.redeem(signedOn, {}, repeatable())));
    expect(answered.map(({ status }) => status).sort()).toEqual([200, 422]);
    const loser = both[answered.findIndex(({ status }) => status === 422)] as SignedOn;
    expect((await f.redeem(loser)).status).toBe(200);
  });

  test("400 after 31 seconds: the answer is forgotten, and the code was used", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn, {}, repeatable());
    f.latchkey.clock.advance(31_000);
    expect(outcome(await f.redeem(signedOn, {}, repeatable()))).toEqual([400, "code_already_used"]);
  });

  test("200 for a new body after 30 seconds: the key is free again", async () => {
    const first = await f.redeem(await f.signOn(), {}, repeatable());
    f.latchkey.clock.advance(30_000);
    const second = await f.redeem(await f.signOn(), {}, repeatable());
    expect(second.status).toBe(200);
    expect(second.body.data.id).not.toBe(first.body.data.id);
  });

  test("400 without the header, or with another: once means once", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn, {}, repeatable());
    for (const request of [{}, repeatable("another"), repeatable(KEY.toUpperCase().replace("-", "_"))])
      expect(outcome(await f.redeem(signedOn, {}, request))).toEqual([400, "code_already_used"]);
  });

  test("400 for another application key of the store, and for another store: nothing is shared (wire 15)", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn, {}, repeatable());
    const { body } = await f.store.call(createApplicationKey, {
      json: { data: { type: "application_key", name: "Second" } },
    });
    const { client_id: clientId, client_secret: clientSecret } = body.data;
    const key = { ...f.store.key, clientId, clientSecret };
    const second = await getToken(f.latchkey.app, { ...f.store, key }, "implicit");
    const foreign = await (await f.latchkey.createStore()).token("implicit");
    const by = (token: string) => f.redeem(signedOn, {}, { ...repeatable(), token });
    expect(outcome(await by(second))).toEqual([400, "code_already_used"]);
    expect(outcome(await by(foreign))).toEqual([400, "code_invalid"]);
  });

  test.each([
    ["an empty one", ""],
    ["a space inside", "a b"],
    ["256 characters", "a".repeat(256)],
    ["a letter outside ASCII", "schlüssel"],
    ["a control character", "a\tb"],
  ])("400 for %s, before the code is touched", async (_, key) => {
    const signedOn = await f.signOn();
    const answer = await f.redeem(signedOn, {}, repeatable(key));
    expect(outcome(answer)).toEqual([400, "idempotency_key_invalid"]);
    expect(answer.body.errors[0].source).toEqual({ header: "Idempotency-Key" });
    expect((await f.redeem(signedOn)).status).toBe(200);
  });

  test("200 for keys of 1 and of 255 characters", async () => {
    for (const key of ["~", "!".repeat(255)])
      expect((await f.redeem(await f.signOn(), {}, repeatable(key))).status).toBe(200);
  });

  test("a refusal is not remembered: the same key may be used again with what is right", async () => {
    await newCustomer();
    expect((await withPassword(EMAIL, "wrong horse", repeatable())).status).toBe(400);
    const signedOn = await f.signOn();
    expect((await f.redeem({ ...signedOn, code: "x" }, {}, repeatable())).status).toBe(400);
    expect(await answers()).toEqual([]);
    expect((await withPassword(EMAIL, PASSWORD, repeatable())).status).toBe(200);
  });

  test("a wrong verifier burns the code with the key as without", async () => {
    const signedOn = await f.signOn();
    const guess = { oauth_code_verifier: newPkce().verifier };
    expect((await f.redeem(signedOn, guess, repeatable())).code).toBe("verifier_mismatch");
    expect((await f.redeem(signedOn, {}, repeatable())).code).toBe("code_invalid");
  });

  test("the row that is kept holds nothing in clear, opens nowhere else, and is swept", async () => {
    const signedOn = await f.signOn();
    const { body } = await f.redeem(signedOn, {}, repeatable());
    const rows = await answers();
    expect(rows).toHaveLength(1);
    const text = JSON.stringify(rows);
    const decoded = Buffer.from(rows[0]?.sealed_answer.split(".")[1] ?? "", "base64url").toString("latin1");
    const secrets = [body.data.token, body.data.customer_id, body.data.id, signedOn.code, KEY, "eyJ"];
    for (const secret of secrets)
      expect([text.includes(secret), decoded.includes(secret)]).toEqual([false, false]);
    f.latchkey.clock.advance(61_000);
    await f.latchkey.app.tidy();
    expect(await answers()).toEqual([]);
  });

  test("the row that is kept for a password is no quick way to guess it: no plain digest of the request", async () => {
    await newCustomer();
    await withPassword(EMAIL, PASSWORD, repeatable());
    const body = JSON.stringify({ data: { type: "token", email: EMAIL, password: PASSWORD } });
    const digest = createHash("sha256").update(body).digest("hex");
    expect(JSON.stringify(await answers())).not.toContain(digest);
  });
});
