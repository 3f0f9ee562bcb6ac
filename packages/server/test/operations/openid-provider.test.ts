import { decodeJwt, decodeProtectedHeader } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  rotateApplicationKey,
} from "../../src/contract/application-keys.ts";
import { deleteCustomer } from "../../src/contract/customers.ts";
import { updateProfile } from "../../src/contract/oidc-profiles.ts";
import { createRealm, getRealm } from "../../src/contract/realms.ts";
import { authorizeByForm, jwks, realmToken, userinfo, userinfoByPost } from "../../src/contract/sign-on.ts";
import { endSession, endSessionByForm, signedOut } from "../../src/contract/sign-out.ts";
import { signJws } from "../../src/lib/jws.ts";
import { newKey, readKeys } from "../../src/signing-keys/key-rows.ts";
import { createTestApp } from "../support/app.ts";
import { type Answer, type Call, call } from "../support/call.ts";
import { createFederation, type Federation, newPkce, SHOP, type SignedOn } from "../support/federation.ts";

/** What section 22 of the interface adds to the realm as an OpenID provider, and what somebody hostile makes of it. */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const ids = () => ({ store: f.store.store.id, realm: f.realmId });
const outcome = ({ status, code, body }: Answer) => [status, code, body?.error];
const basic = (id: string, secret: string) => ({
  authorization: `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString("base64")}`,
});

type Changes = Record<string, string | undefined>;

function redeem(signedOn: Pick<SignedOn, "code" | "pkce">, changes: Changes = {}, request: Call = {}) {
  const fields = {
    grant_type: "authorization_code",
    code: signedOn.code,
    redirect_uri: SHOP,
    client_id: "customers",
    code_verifier: signedOn.pkce.verifier,
    ...changes,
  };
  const form = Object.fromEntries(
    Object.entries(fields).filter((pair): pair is [string, string] => pair[1] !== undefined),
  );
  return call(f.latchkey.app, realmToken, { ids: ids(), form, ...request });
}

type Tokens = { access_token: string; id_token: string; scope: string };
const signIn = async (parameters: Changes = {}): Promise<Tokens> =>
  (await redeem(await f.signOn({ parameters }))).body;

const askUserinfo = (authorization?: string, request: Call = {}) =>
  call(f.latchkey.app, userinfo, {
    ids: ids(),
    ...(authorization !== undefined && { headers: { authorization } }),
    ...request,
  });

const isAlive = async (token: string): Promise<boolean> =>
  (await askUserinfo(`Bearer ${token}`)).status === 200;

const algOf = (token: string) => decodeProtectedHeader(token).alg;

describe("ID tokens are signed as the realm says", () => {
  const published = async () =>
    (await call(f.latchkey.app, jwks)).body.keys as { kid: string; alg: string }[];

  test("RS256 for a realm of today, ES256 where it says so; customer tokens stay ES256; both keys are published (wire 22)", async () => {
    const keys = await published();
    expect(keys.map(({ alg }) => alg).toSorted()).toEqual(["ES256", "RS256"]);
    const { body } = await f.store.call(getRealm, { ids: { id: f.realmId } });
    expect(body.data.id_token_signed_response_alg).toBe("RS256");
    const rs256 = await signIn();
    await f.changeRealm({ id_token_signed_response_alg: "ES256" });
    const es256 = await signIn();
    expect([rs256, es256].map(({ id_token }) => algOf(id_token))).toEqual(["RS256", "ES256"]);
    expect([rs256, es256].map(({ access_token }) => algOf(access_token))).toEqual(["ES256", "ES256"]);
    for (const { id_token } of [rs256, es256]) {
      const { alg, kid } = decodeProtectedHeader(id_token);
      expect(keys).toContainEqual(expect.objectContaining({ alg, kid }));
    }
  });

  test("a realm of the release before, which knew no choice, goes on with ES256", async () => {
    await published();
    await f.latchkey.storage.db
      .updateTable("authentication_realms")
      .set({ id_token_signed_response_alg: null })
      .execute();
    expect(algOf((await signIn()).id_token)).toBe("ES256");
  });

  test.each(["none", "HS256", "PS256", "rs256", ""])("400 for the algorithm %j", async (alg) => {
    const json = { data: { type: "authentication-realm", name: "Odd", id_token_signed_response_alg: alg } };
    expect((await f.store.call(createRealm, { json })).code).toBe("member_invalid");
  });

  test("the first sign-on neither waits for an RSA key nor fails for want of one: it is signed with what there is", async () => {
    await f.close();
    const making = Promise.withResolvers<never>();
    f = await createFederation({
      makeKey: (alg) => (alg === "RS256" ? making.promise : newKey(alg)),
    });
    const reading = published();
    expect(algOf((await signIn()).id_token)).toBe("ES256");
    making.reject(new Error("no entropy"));
    // Who reads the key set is told of the keys that there are.
    expect((await reading).map(({ alg }) => alg)).toEqual(["ES256"]);
  });

  test("where tokens were signed for longer than a key set is kept, a first RSA key is published for ten minutes before it signs", async () => {
    await signIn();
    f.latchkey.clock.advance(11 * 60_000);
    expect((await published()).map(({ alg }) => alg)).toContain("RS256");
    expect(algOf((await signIn()).id_token)).toBe("ES256");
    f.latchkey.clock.advance(10 * 60_000);
    expect(algOf((await signIn()).id_token)).toBe("RS256");
  });

  test("instances that make the first RSA key at the same moment end with one, which each of them publishes", async () => {
    const { storage, clock } = f.latchkey;
    const others = await Promise.all([1, 2].map(() => createTestApp({ storage, clock })));
    const apps = [f.latchkey, ...others].map(({ app }) => app);
    await Promise.all(apps.map((app) => call(app, jwks)));
    expect(await storage.db.selectFrom("id_token_keys").select("kid").execute()).toHaveLength(1);
    const [first, ...rest] = await Promise.all(apps.map(async (app) => (await call(app, jwks)).body));
    for (const other of rest) expect(other).toEqual(first);
  });

  test("the private half lies sealed in the database", async () => {
    await published();
    const [row] = await f.latchkey.storage.db.selectFrom("id_token_keys").selectAll().execute();
    expect(JSON.parse(row?.public_jwk ?? "{}")).not.toHaveProperty("d");
    expect(row?.sealed_private_key).not.toContain("{");
  });
});

describe("userinfo", () => {
  const EMAIL = { sub: expect.any(String), email: "ada@shop.example", email_verified: true };

  test("200 with GET and POST: sub as in the ID token, and the name only for who asked for `profile`", async () => {
    const plain = await signIn();
    const named = await signIn({ scope: "openid email profile" });
    expect([plain.scope, named.scope]).toEqual(["openid email", "openid email profile"]);
    const first = await askUserinfo(`Bearer ${plain.access_token}`);
    expect(first.body).toEqual({ ...EMAIL, sub: decodeJwt(plain.id_token).sub });
    const request = { ids: ids(), headers: { authorization: `Bearer ${named.access_token}` } };
    for (const answer of [
      await call(f.latchkey.app, userinfoByPost, request),
      await call(f.latchkey.app, userinfoByPost, { ...request, form: { any: "body" } }),
      await askUserinfo(`bearer ${named.access_token}`),
    ])
      expect(answer.body).toEqual({ ...EMAIL, name: "Ada Lovelace" });
  });

  test("401 by POST as well for what is no token", async () => {
    const headers = { authorization: "Bearer x" };
    expect((await call(f.latchkey.app, userinfoByPost, { ids: ids(), headers })).code).toBe("token_invalid");
  });

  test("200 for the customer token of the other door too, and any origin may read it", async () => {
    const { body } = await f.redeem(await f.signOn());
    const origin = { origin: "https://shop.example", authorization: `Bearer ${body.data.token}` };
    const answer = await askUserinfo(undefined, { headers: origin });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  });

  test("401 with WWW-Authenticate for no token, and for anything that is no customer token of this realm (R48, R51, R58)", async () => {
    const { access_token, id_token } = await signIn();
    const { body } = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "B" } },
    });
    const elsewhere = { ids: { ...ids(), realm: body.data.id } };
    const stranger = await f.latchkey.createStore();
    const good = `Bearer ${access_token}`;
    const answers = [
      await askUserinfo(),
      await askUserinfo(`Bearer ${f.implicit}`),
      await askUserinfo(`Bearer ${await f.store.token()}`),
      await askUserinfo(`Bearer ${await stranger.token("implicit")}`),
      await askUserinfo(`Bearer ${id_token}`),
      await askUserinfo(`Bearer ${access_token.slice(0, -2)}`),
      await askUserinfo(`Bearer ${access_token} ${access_token}`),
      await askUserinfo(`Bearer ${"a".repeat(5000)}`),
      await askUserinfo(basic("customers", access_token).authorization),
      await askUserinfo(access_token),
      await askUserinfo(good, elsewhere),
      await call(f.latchkey.app, userinfoByPost, { ids: ids(), form: { access_token } }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(401);
      expect(headers.get("www-authenticate")).toMatch(/^Bearer realm="latchkey"/);
    }
    expect(answers[0]?.headers.get("www-authenticate")).not.toContain("error");
    expect((await askUserinfo(good)).status).toBe(200);
  });

  test("400 for a token in the URL, also beside a good one (R46, R47)", async () => {
    const { access_token } = await signIn();
    const query = `access_token=${access_token}`;
    expect((await askUserinfo(undefined, { query })).code).toBe("token_misplaced");
    expect((await askUserinfo(`Bearer ${access_token}`, { query })).code).toBe("token_misplaced");
  });

  test("401 once the token has expired, or its customer is gone; 404 for a realm that nobody has", async () => {
    const { access_token } = await signIn();
    const unknown = { ...ids(), realm: "01890000-0000-7000-8000-000000000000" };
    expect((await askUserinfo(`Bearer ${access_token}`, { ids: unknown })).code).toBe("realm_not_found");
    await f.store.call(deleteCustomer, { ids: { id: decodeJwt(access_token).sub as string } });
    expect((await askUserinfo(`Bearer ${access_token}`)).code).toBe("token_invalid");
    const late = await signIn();
    f.latchkey.clock.advance(86_400_000);
    expect((await askUserinfo(`Bearer ${late.access_token}`)).code).toBe("token_invalid");
  });
});

describe("max_age", () => {
  const now = () => f.latchkey.clock.now() / 1000;
  const statesAuthTime = (authTime: unknown) => {
    f.idp.hooks.claims = (claims) => ({ ...claims, auth_time: authTime });
  };

  test.each(["0", "300", "9999999999"])(
    "%s is passed on, and the ID token has the provider's auth_time",
    async (maxAge) => {
      const authTime = now();
      statesAuthTime(authTime);
      const begun = await f.begin({ cookie: undefined }, { max_age: maxAge });
      expect(new URL(begun.headers.get("location") ?? "").searchParams.get("max_age")).toBe(maxAge);
      const { id_token } = await signIn({ max_age: maxAge });
      expect(decodeJwt(id_token).auth_time).toBe(authTime);
    },
  );

  test.each(["-1", "1.5", "1e3", "+5", " 5", "0x10", "soon", "99999999999", "٣"])(
    "invalid_request for %j, and the provider is not asked",
    async (maxAge) => {
      const { error, returned } = await f.signOn({ parameters: { max_age: maxAge } });
      expect([error, returned.get("state")]).toEqual(["invalid_request", "the storefront's state"]);
    },
  );

  test("login_required when the provider states no auth_time, an older one, one to come, or something else", async () => {
    for (const authTime of [undefined, now() - 400, now() + 120, "now", null, String(now())]) {
      statesAuthTime(authTime);
      const { error, reference, code } = await f.signOn({ parameters: { max_age: "300" } });
      expect([authTime, error, code]).toEqual([authTime, "login_required", ""]);
      const { checks, reason } = await f.recordOf(reference);
      expect(reason).toMatch(/^id_token\.auth_time/);
      expect(checks).toContainEqual(expect.objectContaining({ check: "id_token.auth_time", passed: false }));
    }
  });

  test("the age counts from the beginning of the sign-on, within a minute of skew: time at the provider's pages costs nobody anything", async () => {
    statesAuthTime(now() - 59);
    const browser = { cookie: undefined };
    const begun = await f.begin(browser, { max_age: "0" });
    f.latchkey.clock.advance(5 * 60_000);
    const back = await f.comeBack(browser, f.idp.signIn(begun.headers.get("location") ?? ""));
    expect(new URL(back.headers.get("location") ?? "").searchParams.has("code")).toBe(true);
    statesAuthTime(now() + 60);
    expect((await f.signOn({ parameters: { max_age: "0" } })).error).toBeNull();
    for (const authTime of [now() - 61, now() + 61]) {
      statesAuthTime(authTime);
      expect((await f.signOn({ parameters: { max_age: "0" } })).error).toBe("login_required");
    }
  });

  test("without it auth_time plays no part and is not passed on (requirement 9)", async () => {
    for (const authTime of [0, "nonsense", now() + 86_400]) {
      statesAuthTime(authTime);
      expect(decodeJwt((await signIn()).id_token)).not.toHaveProperty("auth_time");
    }
  });
});

describe("what could say something else than the rest of a request is refused (Core 6, 7.2.1)", () => {
  test.each([
    ["request", "request_not_supported", "eyJhbGciOiJub25lIn0.e30."],
    ["request_uri", "request_uri_not_supported", "https://evil.example/request"],
    ["registration", "registration_not_supported", "{}"],
  ])("%s with %s, and nothing is fetched", async (name, error, value) => {
    f.idp.journal.length = 0;
    const signedOn = await f.signOn({ parameters: { [name]: value } });
    expect([signedOn.error, signedOn.returned.get("state")]).toEqual([error, "the storefront's state"]);
    expect((await f.signOn({ parameters: { [name]: "" } })).error).toBeNull();
    const page = await f.begin(
      { cookie: undefined },
      { [name]: value, redirect_uri: "https://evil.example/" },
    );
    expect(page.code).toBe("redirect_uri_unregistered");
  });
});

describe("an application key as a confidential client", () => {
  const asKey = () => f.signOn({ parameters: { client_id: f.store.key.clientId } });
  const key = () => f.store.key;

  test("200 with its secret by Basic or in the form, and the ID token is for it; PKCE as for anybody", async () => {
    const byForm = await redeem(await asKey(), {
      client_id: key().clientId,
      client_secret: key().clientSecret,
    });
    const headers = basic(key().clientId, key().clientSecret);
    const byBasic = await redeem(await asKey(), { client_id: undefined }, { headers });
    for (const { status, body } of [byForm, byBasic]) {
      expect(status).toBe(200);
      expect(decodeJwt(body.id_token).aud).toBe(key().clientId);
      expect(decodeJwt(body.access_token).client_id).toBe(key().clientId);
    }
    const noChallenge = await f.signOn({
      parameters: { client_id: key().clientId, code_challenge: undefined, code_challenge_method: undefined },
    });
    expect(noChallenge.error).toBe("invalid_request");
    const wrong = { code_verifier: newPkce().verifier, client_id: undefined };
    expect(outcome(await redeem(await asKey(), wrong, { headers }))).toEqual([
      400,
      "verifier_mismatch",
      "invalid_grant",
    ]);
    const none = { code_verifier: undefined, client_id: undefined };
    expect(outcome(await redeem(await asKey(), none, { headers }))).toEqual([
      400,
      "member_missing",
      "invalid_request",
    ]);
  });

  test("401 without its secret, with a wrong one, another key's, one that was rotated out, or Basic that is none; the code is not touched", async () => {
    const signedOn = await asKey();
    const other = (
      await f.store.call(createApplicationKey, { json: { data: { type: "application_key", name: "Other" } } })
    ).body.data;
    const { clientId, clientSecret } = key();
    const raw = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString("base64")}` });
    const answers = [
      await redeem(signedOn, { client_id: clientId }),
      await redeem(signedOn, { client_id: undefined }),
      await redeem(signedOn, { client_id: clientId, client_secret: "" }),
      await redeem(signedOn, { client_id: clientId, client_secret: `${clientSecret}x` }),
      await redeem(signedOn, { client_id: clientId, client_secret: other.client_secret }),
      await redeem(signedOn, { client_id: undefined }, { headers: raw(`${clientId}`) }),
      await redeem(signedOn, { client_id: undefined }, { headers: raw(`${clientId}:%zz`) }),
      await redeem(
        signedOn,
        { client_id: undefined },
        { headers: { authorization: `Basic ${clientId}:${clientSecret}` } },
      ),
      await redeem(
        signedOn,
        { client_id: undefined },
        { headers: { authorization: `Bearer ${f.implicit}` } },
      ),
    ];
    for (const { status, headers, body } of answers) {
      expect([status, body.error]).toEqual([401, "invalid_client"]);
      expect(headers.get("www-authenticate")).toMatch(/^Basic /);
    }
    const twice = await redeem(
      signedOn,
      { client_id: clientId, client_secret: clientSecret },
      { headers: basic(clientId, clientSecret) },
    );
    expect(outcome(twice)).toEqual([400, "client_authenticated_twice", "invalid_request"]);
    await f.store.call(rotateApplicationKey, { ids: { id: key().id }, json: { data: { grace_seconds: 0 } } });
    f.latchkey.clock.advance(1);
    const rotated = await redeem(
      signedOn,
      { client_id: undefined },
      { headers: basic(clientId, clientSecret) },
    );
    expect(rotated.code).toBe("secret_rotated");
  });

  test("a code of its own is worth nothing to another key of the store, to the public client, or at the other door without its secret", async () => {
    const other = (
      await f.store.call(createApplicationKey, { json: { data: { type: "application_key", name: "Other" } } })
    ).body.data;
    const headers = basic(other.client_id, other.client_secret);
    expect(outcome(await redeem(await asKey(), { client_id: undefined }, { headers }))).toEqual([
      400,
      "code_invalid",
      "invalid_grant",
    ]);
    expect(outcome(await redeem(await asKey()))).toEqual([400, "code_invalid", "invalid_grant"]);
    expect((await f.redeem(await asKey())).code).toBe("code_invalid");
    const form = {
      grant_type: "client_credentials",
      client_id: other.client_id,
      client_secret: other.client_secret,
    };
    const token = (await call(f.latchkey.app, issueAccessToken, { form })).body.access_token;
    expect((await f.redeem(await asKey(), {}, { token })).code).toBe("code_invalid");
    expect((await f.redeem(await asKey(), {}, { token: await f.store.token() })).status).toBe(200);
  });

  test("a key with its secret is not the public client: a code of that is refused to it", async () => {
    const headers = basic(key().clientId, key().clientSecret);
    const answer = await redeem(await f.signOn(), { client_id: undefined }, { headers });
    expect(outcome(answer)).toEqual([400, "code_invalid", "invalid_grant"]);
  });

  test("a key of another store, or one that was deleted, begins nothing and redeems nothing", async () => {
    const stranger = await f.latchkey.createStore();
    const foreign = await f.begin({ cookie: undefined }, { client_id: stranger.key.clientId });
    expect([foreign.status, foreign.code]).toEqual([400, "sign_on_client_unknown"]);
    const headers = basic(stranger.key.clientId, stranger.key.clientSecret);
    const answer = await redeem(await asKey(), { client_id: undefined }, { headers });
    expect(outcome(answer)).toEqual([401, "client_unknown", "invalid_client"]);
    const spare = (
      await f.store.call(createApplicationKey, { json: { data: { type: "application_key", name: "Spare" } } })
    ).body.data;
    const begun = await f.signOn({ parameters: { client_id: spare.client_id } });
    await f.store.call(deleteApplicationKey, { ids: { id: spare.id } });
    const late = await redeem(
      begun,
      { client_id: undefined },
      { headers: basic(spare.client_id, spare.client_secret) },
    );
    expect(late.status).toBe(401);
    expect((await f.begin({ cookie: undefined }, { client_id: spare.client_id })).code).toBe(
      "sign_on_client_unknown",
    );
  });

  test("only the realm's redirect URIs count for it too", async () => {
    const answer = await f.begin(
      { cookie: undefined },
      { client_id: key().clientId, redirect_uri: "https://evil.example/" },
    );
    expect(answer.code).toBe("redirect_uri_unregistered");
  });
});

describe("POST at authorize", () => {
  const post = (form: Record<string, string>, request: Call = {}) =>
    call(f.latchkey.app, authorizeByForm, { ids: ids(), form, ...request });
  const locationOf = (answer: Answer) => new URL(answer.headers.get("location") ?? "");

  test("303 to the provider, as with GET, and the sign-on goes on from there", async () => {
    const pkce = newPkce();
    const begun = await post(f.parameters({ code_challenge: pkce.challenge }));
    expect(begun.status).toBe(303);
    const cookie = /=([^;]+)/.exec(begun.headers.get("set-cookie") ?? "")?.[1];
    const back = await f.comeBack({ cookie }, f.idp.signIn(locationOf(begun).href));
    const code = locationOf(back).searchParams.get("code") ?? "";
    expect((await redeem({ code, pkce })).status).toBe(200);
  });

  test("303 with what the link's query has and the rest as a form; a parameter in both, or twice in the form, is refused", async () => {
    const { profile = "", ...rest } = f.parameters();
    expect(locationOf(await post(rest, { query: `profile=${profile}` })).origin).toBe(f.idp.origin);
    const inBoth = await post(f.parameters(), { query: `profile=${profile}` });
    expect(locationOf(inBoth).searchParams.get("error")).toBe("invalid_request");
    const form = new URLSearchParams(f.parameters()).toString();
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const twice = (name: string) =>
      call(f.latchkey.app, authorizeByForm, { ids: ids(), raw: `${form}&${name}=evil`, headers });
    for (const name of ["scope", "state", "code_challenge", "nonce=a&nonce", "max_age=1&max_age"])
      expect(locationOf(await twice(name)).searchParams.get("error")).toBe("invalid_request");
    expect((await twice("client_id")).code).toBe("sign_on_client_unknown");
    expect((await twice("redirect_uri")).code).toBe("redirect_uri_unregistered");
  });

  test("413 for a form that is too large, 415 for another media type, as pages", async () => {
    expect((await post({ ...f.parameters(), junk: "x".repeat(17_000) })).code).toBe("body_too_large");
    for (const type of ["application/json", "text/plain", "multipart/form-data; boundary=x"]) {
      const raw = new URLSearchParams(f.parameters()).toString();
      const answer = await call(f.latchkey.app, authorizeByForm, {
        ids: ids(),
        raw,
        headers: { "content-type": type },
      });
      expect([answer.status, answer.code]).toEqual([415, "media_type_unsupported"]);
    }
  });

  test.each([authorizeByForm, endSessionByForm])(
    "400 for a form that breaks off ($id)",
    async (operation) => {
      const raw = new ReadableStream({
        start: (controller) => controller.error(Object.assign(new Error("aborted"), { code: "ECONNRESET" })),
      });
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const answer = await call(f.latchkey.app, operation, { ids: ids(), raw, headers });
      expect([answer.status, answer.code]).toEqual([400, "body_broke_off"]);
    },
  );

  test("the page to choose on has a request that is no longer than it must be", async () => {
    await f.addProfile({ name: "Second" });
    const { profile: _, ...rest } = f.parameters({ ui_locales: "de fr" });
    const { status, body } = await post({ ...rest, junk: "x".repeat(12_000) });
    expect(status).toBe(200);
    const [, action = ""] = /action="(http[^"]+)"/.exec(body) ?? [];
    const { searchParams } = new URL(action.replaceAll("&amp;", "&").replaceAll("&#39;", "'"));
    expect([searchParams.get("ui_locales"), searchParams.has("junk")]).toEqual(["de fr", false]);
  });
});

describe("end_session_endpoint", () => {
  const end = (parameters: Record<string, string>, request: Call = {}) =>
    call(f.latchkey.app, endSession, {
      ids: ids(),
      query: new URLSearchParams(parameters).toString(),
      ...request,
    });

  test("303 to the registered address with its state, and the customer token of that sign-on is dead, and no other", async () => {
    const [ended, kept] = [await signIn(), await signIn()];
    const answer = await end({
      id_token_hint: ended.id_token,
      post_logout_redirect_uri: `${SHOP}?shop=1`,
      state: "a b&c",
      client_id: "customers",
    });
    expect(answer.headers.get("location")).toBe(`${SHOP}?shop=1&state=a%20b%26c`);
    expect([await isAlive(ended.access_token), await isAlive(kept.access_token)]).toEqual([false, true]);
    const plain = await end({ id_token_hint: kept.id_token, post_logout_redirect_uri: SHOP });
    expect(plain.headers.get("location")).toBe(SHOP);
    expect(await isAlive(kept.access_token)).toBe(false);
  });

  test("the same with a form; again for who is signed out already; and a page where no address was given", async () => {
    const { id_token, access_token } = await signIn();
    const form = { id_token_hint: id_token, post_logout_redirect_uri: SHOP };
    for (let visit = 0; visit < 2; visit++) {
      const answer = await call(f.latchkey.app, endSessionByForm, { ids: ids(), form });
      expect(answer.headers.get("location")).toBe(SHOP);
    }
    expect(await isAlive(access_token)).toBe(false);
    const onlyHint = { id_token_hint: id_token };
    const byForm = await call(f.latchkey.app, endSessionByForm, { ids: ids(), form: onlyHint });
    for (const page of [await end(onlyHint), byForm])
      expect([page.status, page.body.includes("You are signed out")]).toEqual([200, true]);
  });

  test("a form is judged as a query is: the address, the state, its size", async () => {
    const { id_token } = await signIn();
    const post = (form: Record<string, string>) =>
      call(f.latchkey.app, endSessionByForm, { ids: ids(), form: { id_token_hint: id_token, ...form } });
    expect((await post({ post_logout_redirect_uri: "https://evil.example/" })).code).toBe(
      "logout_uri_unregistered",
    );
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const raw = `id_token_hint=${id_token}&state=a&state=b`;
    const twice = await call(f.latchkey.app, endSessionByForm, { ids: ids(), raw, headers });
    expect(twice.code).toBe("parameter_invalid");
    expect((await post({ junk: "x".repeat(17_000) })).code).toBe("body_too_large");
  });

  test("an ID token that has expired will do (R176)", async () => {
    const { id_token, access_token } = await signIn();
    f.latchkey.clock.advance(2 * 3_600_000);
    expect((await end({ id_token_hint: id_token })).status).toBe(200);
    expect(await isAlive(access_token)).toBe(false);
  });

  test.each([
    "https://evil.example/",
    `${SHOP}/`,
    `${SHOP}?shop=2`,
    `${SHOP}#x`,
    "https://shop.example@evil.example/signed-in",
    "javascript:alert(1)",
    "//evil.example",
    "https://SHOP.example/signed-in",
  ])(
    "400, as a page and without a redirect, for the address %s; signed out they are all the same (R175)",
    async (uri) => {
      const { id_token, access_token } = await signIn();
      const answer = await end({ id_token_hint: id_token, post_logout_redirect_uri: uri, state: "s" });
      expect([answer.status, answer.code]).toEqual([400, "logout_uri_unregistered"]);
      expect(answer.body).not.toContain("evil");
      expect(await isAlive(access_token)).toBe(false);
    },
  );

  test("400 for an address that is in the database but would not be registered today (A28)", async () => {
    const { id_token } = await signIn();
    const uris = ["http://shop.example/out", "javascript:alert(1)", "https://shop.example/out#f"];
    await f.latchkey.storage.db
      .updateTable("authentication_realms")
      .set({ redirect_uris: JSON.stringify(uris) })
      .where("id", "=", f.realmId)
      .execute();
    for (const uri of uris)
      expect((await end({ id_token_hint: id_token, post_logout_redirect_uri: uri })).code).toBe(
        "logout_uri_unregistered",
      );
  });

  test("a state of 2048 characters comes back; 2049 are refused", async () => {
    const { id_token } = await signIn();
    const ask = (length: number) =>
      end({ id_token_hint: id_token, post_logout_redirect_uri: SHOP, state: "x".repeat(length) });
    expect((await ask(2048)).headers.get("location")).toBe(`${SHOP}?state=${"x".repeat(2048)}`);
    expect((await ask(2049)).code).toBe("logout_uri_unregistered");
  });

  test("400 and nothing ends for a hint that is none of ours: cut, forged, a customer token, another realm's, another store's, another client's", async () => {
    const { id_token, access_token } = await signIn();
    const { storage, keyring } = f.latchkey;
    const { keys } = await readKeys({ storage, keyring });
    const [signer] = keys.filter(({ alg }) => alg === algOf(id_token));
    if (!signer) throw new Error("no key");
    const claims = decodeJwt(id_token);
    const elsewhere = claims.iss?.replace(/realms\/.*/, "realms/01890000-0000-7000-8000-000000000000");
    const [head, body, signature] = id_token.split(".");
    const hints = [
      "nonsense",
      id_token.slice(0, -4),
      `${head}.${body}.`,
      `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${body}.`,
      `${head}.${Buffer.from(JSON.stringify({ ...claims, sid: "x" })).toString("base64url")}.${signature}`,
      access_token,
      signJws(signer, "JWT", { ...claims, iss: elsewhere }),
      signJws(signer, "JWT", { ...claims, iss: "https://evil.example" }),
      signJws(signer, "JWT", { ...claims, sid: "../../x" }),
      signJws(signer, "logout+jwt", claims),
    ];
    for (const id_token_hint of hints) {
      const answer = await end({ id_token_hint, post_logout_redirect_uri: SHOP, state: "s" });
      expect([answer.status, answer.code]).toEqual([400, "logout_hint_invalid"]);
    }
    const withClient = await end({
      id_token_hint: id_token,
      client_id: "another",
      post_logout_redirect_uri: SHOP,
    });
    expect(withClient.code).toBe("logout_hint_invalid");
    const { body: realm } = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "B", redirect_uris: [SHOP] } },
    });
    const there = { ids: { ...ids(), realm: realm.data.id } };
    expect((await end({ id_token_hint: id_token }, there)).code).toBe("logout_hint_invalid");
    const twice = `id_token_hint=${id_token}&post_logout_redirect_uri=${SHOP}&post_logout_redirect_uri=${SHOP}`;
    expect((await call(f.latchkey.app, endSession, { ids: ids(), query: twice })).code).toBe(
      "parameter_invalid",
    );
    expect(await isAlive(access_token)).toBe(true);
  });

  describe("propagate_logout", () => {
    const allow = () =>
      f.store.call(updateProfile, {
        ids: { realm: f.realmId, id: f.profileId },
        json: { data: { type: "oidc-profile", propagate_logout: true } },
      });
    /** Another profile, for a provider that says where its sessions end. */
    const withEndSession = (endpoint: string) => {
      f.idp.hooks.discovery = (document) => ({ ...(document as object), end_session_endpoint: endpoint });
      return f.addProfile({ name: "Ends sessions", propagate_logout: true });
    };

    test("goes on to the provider's own end, comes back to us, and ends at the storefront with its state", async () => {
      const own = await withEndSession(`${f.idp.origin}/end?tenant=1`);
      const { id_token, access_token } = await signIn({ profile: own });
      const answer = await end({
        id_token_hint: id_token,
        post_logout_redirect_uri: SHOP,
        state: "its-own-state",
      });
      const away = new URL(answer.headers.get("location") ?? "");
      expect(away.href.startsWith(`${f.idp.origin}/end?tenant=1&`)).toBe(true);
      expect(away.searchParams.get("client_id")).toBe(f.idp.clientId);
      const back = new URL(away.searchParams.get("post_logout_redirect_uri") ?? "");
      expect(back.href).toBe(`${f.issuer}/profiles/${own}/signed-out`);
      expect(await isAlive(access_token)).toBe(false);
      const state = away.searchParams.get("state") ?? "";
      expect(state).not.toContain("its-own-state");
      const return_ = (value: string, profile = own) =>
        call(f.latchkey.app, signedOut, {
          ids: { ...ids(), profile },
          query: new URLSearchParams({ state: value }).toString(),
        });
      expect((await return_(state)).headers.get("location")).toBe(`${SHOP}?state=its-own-state`);
      for (const bad of ["", "x", `${state}x`, "https://evil.example/"])
        expect((await return_(bad)).status).toBe(200);
      expect((await return_(state, "01890000-0000-7000-8000-000000000000")).code).toBe("profile_not_found");
      await f.changeRealm({ redirect_uris: [`${SHOP}?shop=1`] });
      expect((await return_(state)).status).toBe(200);
    });

    test("stays here where the profile does not say so, the provider has no such endpoint, or it is on a host that nobody has seen or no plain address", async () => {
      const straight = async (profile = f.profileId) => {
        const { id_token } = await signIn({ profile });
        const answer = await end({ id_token_hint: id_token, post_logout_redirect_uri: SHOP });
        return answer.headers.get("location");
      };
      await allow();
      expect(await straight()).toBe(SHOP);
      expect(await straight(await withEndSession("https://evil.example/end"))).toBe(SHOP);
      for (const odd of ["/end\r\nSet-Cookie: x=y", "/end\n", "/abmelden-\u20ac", "/end#here"])
        expect(await straight(await withEndSession(`${f.idp.origin}${odd}`)), odd).toBe(SHOP);
      const quiet = await withEndSession(`${f.idp.origin}/end`);
      const change = { ids: { realm: f.realmId, id: quiet } };
      await f.store.call(updateProfile, {
        ...change,
        json: { data: { type: "oidc-profile", propagate_logout: false } },
      });
      expect(await straight(quiet)).toBe(SHOP);
    });
  });
});
