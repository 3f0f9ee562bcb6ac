import { generateKeyPairSync, randomBytes } from "node:crypto";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { introspectToken, revokeToken } from "../../src/contract/access-tokens.ts";
import {
  issueCustomerToken,
  listCustomerTokens,
  revokeCustomerToken,
  revokeCustomerTokens,
} from "../../src/contract/customer-tokens.ts";
import { createCustomer, deleteCustomer, getCustomer } from "../../src/contract/customers.ts";
import { updateProfile } from "../../src/contract/oidc-profiles.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { getAuthenticationSettings } from "../../src/contract/realms.ts";
import { jwks, realmToken } from "../../src/contract/sign-on.ts";
import { signJws } from "../../src/lib/jws.ts";
import { createKeyring } from "../../src/lib/keyring.ts";
import { addNextKey, PUBLISHED_BEFORE_MS, resealSigningKeys } from "../../src/signing-keys/key-rows.ts";
import { createSigningKeys, SIGNS_FOR_MS } from "../../src/signing-keys/signing-keys.ts";
import { createTestApp, getToken, PUBLIC_URL, type TestApp, type TestStore } from "../support/app.ts";
import { type Answer, type Call, call } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { createFederation, type Federation, SHOP } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";

const UNKNOWN = "01890000-0000-7000-8000-000000000000";
const PASSWORD = "correct horse";

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

type Session = { id: string; token: string; customer: string };

/** Access tokens live for an hour; what is tested here for longer. */
const bearer = () => f.store.token("implicit");

/** One more sign-on of a person. */
async function signIn(person: object = ADA): Promise<Session> {
  f.idp.person = { ...person };
  const { data } = (await f.redeem(await f.signOn(), {}, { token: await bearer() })).body;
  return { id: data.id, token: data.token, customer: data.customer_id };
}

const BEA = { ...ADA, sub: "bea", email: "bea@shop.example", sid: "session-bea" };

/** A call of a storefront in the name of a customer. */
const as = async ({ token }: Pick<Session, "token">, operation: Operation, request: Call = {}) =>
  call(f.latchkey.app, operation, {
    token: await bearer(),
    ...request,
    headers: { "x-customer-token": token, ...request.headers },
  });
const list = (session: Session, request: Call = {}) =>
  as(session, listCustomerTokens, { ids: { customer: session.customer }, ...request });
const outcome = ({ status, code }: Answer) => [status, code];
const isAlive = async (session: Session) => (await list(session)).status === 200;
const idsOf = ({ body }: Answer): string[] => body.data.map(({ id }: { id: string }) => id);
const withoutId = ({ body }: Answer) => body.errors.map((error: object) => ({ ...error, id: "" }));

describe("listing", () => {
  test("200 with what is live, oldest first, and which of them this is; never the token itself (wire 8)", async () => {
    const first = await signIn();
    f.latchkey.clock.advance(5000);
    const second = await signIn();
    const answer = await list(second);
    expect(answer.status).toBe(200);
    const member = (session: Session, at: string, current: boolean, expires: number) => ({
      type: "token",
      id: session.id,
      customer_id: second.customer,
      authentication_mechanism: "oidc",
      profile_name: "Hostile",
      browser: null,
      operating_system: null,
      network: null,
      current,
      expires,
      meta: { timestamps: { created_at: at } },
    });
    expect(answer.body.data).toEqual([
      member(first, "2026-01-01T00:00:00.000Z", false, Date.parse("2026-01-02T00:00:00.000Z") / 1000),
      member(second, "2026-01-01T00:00:05.000Z", true, Date.parse("2026-01-02T00:00:05.000Z") / 1000),
    ]);
    expect(answer.body.meta.results.total).toBe(2);
    for (const { token } of [first, second]) expect(JSON.stringify(answer.body)).not.toContain(token);
  });

  test("200 for the back office: every customer's, none of them current", async () => {
    const [ada, bea] = [await signIn(), await signIn(BEA)];
    for (const { customer, id } of [ada, bea]) {
      const answer = await f.store.call(listCustomerTokens, { ids: { customer } });
      expect(answer.body.data).toMatchObject([{ id, current: false }]);
    }
    const withToken = await as(ada, listCustomerTokens, {
      token: await f.store.token(),
      ids: { customer: ada.customer },
    });
    expect(withToken.body.data).toMatchObject([{ id: ada.id, current: false }]);
  });

  test("says how each was got: the profile as it was called then, or a password", async () => {
    const { body } = await f.store.call(createCustomer, {
      json: {
        data: { type: "customer", name: "Ada", email: ADA.email, password: PASSWORD, email_verified: true },
      },
    });
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    await call(f.latchkey.app, issueCustomerToken, {
      token: f.implicit,
      json: { data: { type: "token", email: ADA.email, password: PASSWORD } },
    });
    f.latchkey.clock.advance(1);
    const session = await signIn();
    expect(session.customer).toBe(body.data.id);
    await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: f.profileId },
      json: { data: { type: "oidc-profile", name: "Renamed" } },
    });
    f.latchkey.clock.advance(1);
    await signIn();
    expect((await list(session)).body.data).toMatchObject([
      { authentication_mechanism: "password", profile_name: null },
      { authentication_mechanism: "oidc", profile_name: "Hostile" },
      { authentication_mechanism: "oidc", profile_name: "Renamed" },
    ]);
  });

  test("says with which browser and from which network each was got, and nothing of a server that asked", async () => {
    const person = { name: "Bea", email: BEA.email, password: PASSWORD };
    await f.store.call(createCustomer, { json: { data: { type: "customer", ...person } } });
    const withPassword = { data: { type: "token", email: BEA.email, password: PASSWORD } };
    const FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0";
    const SAFARI =
      "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
    const got = async (peer: string, userAgent: string) => {
      f.latchkey.clock.advance(1);
      const headers = { "user-agent": userAgent };
      const { body } = await call(f.latchkey.app, issueCustomerToken, {
        token: f.implicit,
        json: withPassword,
        headers,
        peer,
      });
      return { ...body.data, customer: body.data.customer_id };
    };
    await got("203.0.113.7", FIREFOX);
    await got("2001:db8::7", SAFARI);
    const last = await got("198.51.100.9", "node");
    expect((await list(last)).body.data).toMatchObject([
      { browser: "Firefox 128", operating_system: "Linux", network: "203.0.113.0/24" },
      { browser: "Safari 17", operating_system: "iOS 17", network: "2001:db8:0:0::/64" },
      { browser: null, operating_system: null, network: null },
    ]);
  });

  test("says the browser of a sign-on too, whether its code is redeemed here or at the realm", async () => {
    const headers = {
      "user-agent": "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/126.0 Safari/537.36",
    };
    const first = (await f.redeem(await f.signOn(), {}, { headers, peer: "203.0.113.7" })).body.data;
    f.latchkey.clock.advance(1);
    const { code, pkce } = await f.signOn();
    const form = {
      grant_type: "authorization_code",
      code,
      redirect_uri: SHOP,
      client_id: "customers",
      code_verifier: pkce.verifier,
    };
    const ids = { store: f.store.store.id, realm: f.realmId };
    await call(f.latchkey.app, realmToken, { ids, form, headers, peer: "203.0.113.8" });
    const chrome = { browser: "Chrome 126", operating_system: "Windows", network: "203.0.113.0/24" };
    expect((await list({ ...first, customer: first.customer_id })).body.data).toMatchObject([chrome, chrome]);
  });

  test("has live ones only: not those that have expired, swept or not, nor those revoked", async () => {
    const early = await signIn();
    f.latchkey.clock.advance(43_200_000);
    const [late, revoked] = [await signIn(), await signIn()];
    await as(late, revokeCustomerToken, { ids: { customer: late.customer, id: revoked.id } });
    expect(idsOf(await list(late))).toEqual([early.id, late.id]);
    f.latchkey.clock.advance(43_200_000);
    expect(idsOf(await list(late))).toEqual([late.id]);
    await f.latchkey.app.tidy();
    expect(idsOf(await list(late))).toEqual([late.id]);
    expect(await f.latchkey.storage.db.selectFrom("customer_tokens").select("id").execute()).toEqual([
      { id: late.id },
    ]);
  });

  test("comes in pages, with links that stay in the list", async () => {
    const sessions: Session[] = [];
    for (let i = 0; i < 5; i++) sessions.push(await signIn());
    const [last] = sessions.slice(-1) as [Session];
    const seen: string[] = [];
    for (const offset of [0, 2, 4]) {
      const { body } = await list(last, { query: `page[limit]=2&page[offset]=${offset}` });
      expect(body.meta).toEqual({
        page: { limit: 2, offset, current: offset / 2 + 1, total: 3 },
        results: { total: 5 },
      });
      expect(body.links.current).toContain(`${PUBLIC_URL}/v2/customers/${last.customer}/tokens?`);
      expect([body.links.prev === null, body.links.next === null]).toEqual([offset === 0, offset === 4]);
      seen.push(...body.data.map(({ id }: { id: string }) => id));
    }
    expect(seen).toEqual(sessions.map(({ id }) => id));
  });
});

describe("revoking", () => {
  test("204 for one of one's own: dead at once, the others live; a second time 404", async () => {
    const [kept, doomed] = [await signIn(), await signIn()];
    const revoke = () => as(kept, revokeCustomerToken, { ids: { customer: kept.customer, id: doomed.id } });
    expect((await revoke()).status).toBe(204);
    expect(outcome(await list(doomed))).toEqual([403, "customer_token_invalid"]);
    expect(await isAlive(kept)).toBe(true);
    expect(outcome(await revoke())).toEqual([404, "customer_token_not_found"]);
  });

  test("204 for the very token that it is asked with: that is signing out", async () => {
    const session = await signIn();
    const ids = { customer: session.customer, id: session.id };
    expect((await as(session, revokeCustomerToken, { ids })).status).toBe(204);
    expect(outcome(await as(session, revokeCustomerToken, { ids }))).toEqual([403, "customer_token_invalid"]);
  });

  test("204 for all of one's own, that which is asked with among them; nobody else's", async () => {
    const [first, second, bea] = [await signIn(), await signIn(), await signIn(BEA)];
    const answer = await as(first, revokeCustomerTokens, { ids: { customer: first.customer } });
    expect(answer.status).toBe(204);
    for (const session of [first, second])
      expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
    expect(await isAlive(bea)).toBe(true);
    expect((await signIn()).customer).toBe(first.customer);
  });

  test("204 for the back office: one, all, and all of a customer who has none", async () => {
    const [first, second, third] = [await signIn(), await signIn(), await signIn()];
    const { customer } = first;
    expect((await f.store.call(revokeCustomerToken, { ids: { customer, id: first.id } })).status).toBe(204);
    expect([await isAlive(first), await isAlive(second)]).toEqual([false, true]);
    for (let i = 0; i < 2; i++)
      expect((await f.store.call(revokeCustomerTokens, { ids: { customer } })).status).toBe(204);
    expect([await isAlive(second), await isAlive(third)]).toEqual([false, false]);
  });

  test("dead at once on another instance too: nothing about a token is kept in memory (I4)", async () => {
    const { storage, clock } = f.latchkey;
    const other = await createTestApp({ storage, clock });
    const there = (session: Session) =>
      call(other.app, listCustomerTokens, {
        token: f.implicit,
        ids: { customer: session.customer },
        headers: { "x-customer-token": session.token },
      });
    const [first, second] = [await signIn(), await signIn()];
    for (const session of [first, second]) expect((await there(session)).status).toBe(200);
    await as(first, revokeCustomerToken, { ids: { customer: first.customer, id: first.id } });
    expect([(await there(first)).status, (await there(second)).status]).toEqual([403, 200]);
    await f.store.call(revokeCustomerTokens, { ids: { customer: first.customer } });
    expect((await there(second)).status).toBe(403);
  });

  test("404 for another customer's id, the same as for nobody's; nothing changes (A36)", async () => {
    const [ada, bea] = [await signIn(), await signIn(BEA)];
    for (const operation of [listCustomerTokens, revokeCustomerTokens]) {
      const others = await as(ada, operation, { ids: { customer: bea.customer } });
      const nobodys = await as(ada, operation, { ids: { customer: UNKNOWN } });
      expect(outcome(others)).toEqual([404, "customer_not_found"]);
      expect(withoutId(others)).toEqual(withoutId(nobodys));
    }
    const ids = { customer: bea.customer, id: bea.id };
    expect(outcome(await as(ada, revokeCustomerToken, { ids }))).toEqual([404, "customer_not_found"]);
    const own = { customer: ada.customer, id: bea.id };
    expect(outcome(await as(ada, revokeCustomerToken, { ids: own }))).toEqual([
      404,
      "customer_token_not_found",
    ]);
    expect([await isAlive(ada), await isAlive(bea)]).toEqual([true, true]);
  });

  test("404 for another store's customer and token, also for its back office (T30, A33)", async () => {
    const ada = await signIn();
    const stranger = await f.latchkey.createStore();
    for (const operation of [listCustomerTokens, revokeCustomerTokens, revokeCustomerToken]) {
      const answer = await stranger.call(operation, { ids: { customer: ada.customer, id: ada.id } });
      expect(outcome(answer)).toEqual([404, "customer_not_found"]);
    }
    expect(await isAlive(ada)).toBe(true);
  });

  test("404 for a token that has expired, and for an id that is none", async () => {
    const session = await signIn();
    f.latchkey.clock.advance(86_400_000);
    const token = await f.store.token();
    const revoke = (id: string) =>
      call(f.latchkey.app, revokeCustomerToken, { token, ids: { customer: session.customer, id } });
    for (const id of [session.id, UNKNOWN, "x"])
      expect(outcome(await revoke(id))).toEqual([404, "customer_token_not_found"]);
  });

  test("403 for an implicit token alone: it is public (wire 2)", async () => {
    const { customer, id } = await signIn();
    for (const operation of [listCustomerTokens, revokeCustomerTokens, revokeCustomerToken]) {
      const answer = await call(f.latchkey.app, operation, { token: f.implicit, ids: { customer, id } });
      expect(outcome(answer)).toEqual([403, "not_permitted"]);
      expect(answer.headers.get("www-authenticate")).toContain("insufficient_scope");
    }
  });

  test("deleting the customer ends all of the customer's tokens, and no others", async () => {
    const [first, second, bea] = [await signIn(), await signIn(), await signIn(BEA)];
    expect((await f.store.call(deleteCustomer, { ids: { id: first.customer } })).status).toBe(204);
    for (const session of [first, second])
      expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
    expect(await isAlive(bea)).toBe(true);
    const again = await f.store.call(listCustomerTokens, { ids: { customer: first.customer } });
    expect(outcome(again)).toEqual([404, "customer_not_found"]);
  });
});

describe("the header", () => {
  test.each(["x-customer-token", "x-moltin-customer-token", "X-CUSTOMER-TOKEN", "X-Moltin-Customer-Token"])(
    "200 with %s",
    async (name) => {
      const session = await signIn();
      const answer = await call(f.latchkey.app, listCustomerTokens, {
        token: f.implicit,
        ids: { customer: session.customer },
        headers: { [name]: session.token },
      });
      expect(answer.status).toBe(200);
    },
  );

  test.each([
    ["x-customer-token", "x-moltin-customer-token"],
    ["x-moltin-customer-token", "x-customer-token"],
  ])("200 with %s beside an empty %s", async (name, empty) => {
    const session = await signIn();
    const answer = await call(f.latchkey.app, listCustomerTokens, {
      token: f.implicit,
      ids: { customer: session.customer },
      headers: { [name]: session.token, [empty]: "" },
    });
    expect(answer.status).toBe(200);
  });

  test("401 when there is no bearer token beside it, or when it comes as one (R51, R58)", async () => {
    const session = await signIn();
    for (const token of [undefined, session.token]) expect((await list(session, { token })).status).toBe(401);
  });

  test.each(["", "x", "lkat_x", "a.b.c", "..", "null", "undefined", "' or 1=1--", "x".repeat(8000)])(
    "403 for what is no token: %j",
    async (token) => {
      const session = await signIn();
      const answer = await list({ ...session, token });
      expect(outcome(answer)).toEqual([403, token === "" ? "not_permitted" : "customer_token_invalid"]);
    },
  );

  test("403 for an access token, of either grant (R51)", async () => {
    const session = await signIn();
    for (const token of [f.implicit, await f.store.token()])
      expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 for an ID token of the same customer, ours or the provider's (R58)", async () => {
    const { code, pkce } = await f.signOn();
    const { body } = await call(f.latchkey.app, realmToken, {
      ids: { store: f.store.store.id, realm: f.realmId },
      form: {
        grant_type: "authorization_code",
        code,
        redirect_uri: SHOP,
        client_id: "customers",
        code_verifier: pkce.verifier,
      },
    });
    const customer = decodeJwt(body.id_token).sub as string;
    const session = { id: "", customer, token: body.access_token };
    expect(await isAlive(session)).toBe(true);
    const theirs = f.idp.signToken({ ...decodeJwt(body.access_token) }, { typ: "at+jwt" });
    for (const token of [body.id_token, theirs])
      expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 in another store, 404 beside its back-office token, which does not read it; it works on at home (A33)", async () => {
    const session = await signIn();
    const stranger = await f.latchkey.createStore();
    const answer = await list(session, { token: await stranger.token("implicit") });
    expect(outcome(answer)).toEqual([403, "customer_token_invalid"]);
    const backOffice = await list(session, { token: await stranger.token() });
    expect(outcome(backOffice)).toEqual([404, "customer_not_found"]);
    expect(await isAlive(session)).toBe(true);
  });

  test("403 in the same words, whatever is wrong with it (T03)", async () => {
    const session = await signIn();
    const revoked = await signIn();
    await as(session, revokeCustomerToken, { ids: { customer: session.customer, id: revoked.id } });
    const refused = await Promise.all(
      [revoked.token, `${session.token.slice(0, -8)}AAAAAAAA`, "x", f.implicit].map((token) =>
        list({ ...session, token }),
      ),
    );
    for (const answer of refused) expect(outcome(answer)).toEqual([403, "customer_token_invalid"]);
    expect(new Set(refused.map((answer) => JSON.stringify(withoutId(answer)))).size).toBe(1);
  });

  test("403 from the second on in which it expires, swept or not", async () => {
    const session = await signIn();
    f.latchkey.clock.advance(86_399_999);
    expect(await isAlive(session)).toBe(true);
    f.latchkey.clock.advance(1);
    expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
    await f.latchkey.app.tidy();
    expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
  });

  test("200 for the back office also when the customer token beside its own is bad: it is not read (wire 25)", async () => {
    const session = await signIn();
    const answer = await list({ ...session, token: "x" }, { token: await f.store.token() });
    expect(outcome(answer)).toEqual([200, undefined]);
  });

  test("200 for signing in with a bad or expired one beside it, and for what everybody may read", async () => {
    const session = await signIn();
    f.latchkey.clock.advance(86_400_000);
    const token = await bearer();
    for (const name of ["x-customer-token", "x-moltin-customer-token"]) {
      for (const bad of [session.token, "x"]) {
        const headers = { [name]: bad };
        expect((await f.redeem(await f.signOn(), {}, { token, headers })).status).toBe(200);
        const read = await call(f.latchkey.app, getAuthenticationSettings, { token, headers });
        expect(read.status).toBe(200);
      }
    }
  });
});

describe("what is signed, and by whom", () => {
  /** The service's own key, as nobody outside has it: a signature alone must not do. */
  const ownSigner = () => {
    const { storage, clock, keyring } = f.latchkey;
    return createSigningKeys({ storage, clock, keyring, customerTokenSeconds: 86_400 }).current();
  };

  test("200 for the same claims signed again: what the table below changes is what it is refused for", async () => {
    const session = await signIn();
    const token = signJws(await ownSigner(), "at+jwt", decodeJwt(session.token));
    expect(await isAlive({ ...session, token })).toBe(true);
  });

  test.each<[string, string, object]>([
    ["another type", "JWT", {}],
    ["the type of a logout token", "logout+jwt", {}],
    ["another audience", "at+jwt", { aud: "https://evil.example" }],
    ["a client id as audience, as in an ID token", "at+jwt", { aud: "customers" }],
    ["several audiences", "at+jwt", { aud: [PUBLIC_URL] }],
    ["no audience", "at+jwt", { aud: undefined }],
    ["another store", "at+jwt", { store_id: UNKNOWN }],
    ["no store", "at+jwt", { store_id: undefined }],
    ["the id of no token", "at+jwt", { jti: UNKNOWN }],
    ["no id", "at+jwt", { jti: undefined }],
    ["a list of ids", "at+jwt", { jti: [UNKNOWN] }],
    ["an expiry in the past", "at+jwt", { exp: 1 }],
    ["no expiry", "at+jwt", { exp: undefined }],
    ["a text as expiry", "at+jwt", { exp: "4102444800" }],
  ])("403 for %s, though our own key signed it (R57, R68)", async (_, typ, changes) => {
    const session = await signIn();
    const token = signJws(await ownSigner(), typ, { ...decodeJwt(session.token), ...changes });
    expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 for a longer life than its row has", async () => {
    const session = await signIn();
    const claims = { ...decodeJwt(session.token), exp: 4_102_444_800 };
    const token = signJws(await ownSigner(), "at+jwt", claims);
    f.latchkey.clock.advance(86_400_000);
    expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 for the right claims under another's key, with our key's id or its own (R64, A41)", async () => {
    const session = await signIn();
    const { kid } = decodeProtectedHeader(session.token) as { kid: string };
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    for (const of of [kid, "another", "../../etc/passwd", "' or 1=1--"]) {
      const token = signJws({ kid: of, alg: "ES256", privateKey }, "at+jwt", decodeJwt(session.token));
      expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
    }
  });

  test("403 for one character changed in any of its parts", async () => {
    const session = await signIn();
    const parts = session.token.split(".");
    for (const index of [0, 1, 2]) {
      const changed = parts.map((part, at) =>
        at === index ? part.replace(/[A-Za-z]/, (letter) => (letter === "A" ? "B" : "A")) : part,
      );
      const answer = await list({ ...session, token: changed.join(".") });
      expect(outcome(answer)).toEqual([403, "customer_token_invalid"]);
    }
  });
});

describe("introspection and revocation (RFC 7662, RFC 7009)", () => {
  const credentials = ({ key }: TestStore) => ({
    client_id: key.clientId,
    client_secret: key.clientSecret,
  });
  const introspect = (token: string, by = f.store) =>
    call(f.latchkey.app, introspectToken, { form: { token, ...credentials(by) } });
  const revoke = (token: string, by = f.store) =>
    call(f.latchkey.app, revokeToken, { form: { token, ...credentials(by) } });
  const INACTIVE = { active: false };

  test("200 says of a live one whose it is and how long, and nothing of the person", async () => {
    const session = await signIn();
    const { body, status } = await introspect(session.token);
    const now = f.latchkey.clock.now() / 1000;
    expect(status).toBe(200);
    expect(body).toEqual({
      active: true,
      token_type: "Bearer",
      sub: session.customer,
      store_id: f.store.store.id,
      identifier: "customer",
      iat: now,
      exp: now + 86_400,
      jti: session.id,
    });
  });

  test('200 with exactly {"active":false} for revoked, expired, tampered, ID and foreign tokens (R141, R142)', async () => {
    const [revoked, deleted] = [await signIn(), await signIn(BEA)];
    await f.store.call(revokeCustomerToken, { ids: { customer: revoked.customer, id: revoked.id } });
    await f.store.call(deleteCustomer, { ids: { id: deleted.customer } });
    const session = await signIn();
    const stranger = await f.latchkey.createStore();
    expect((await introspect(session.token, stranger)).body).toEqual(INACTIVE);
    for (const token of [revoked.token, deleted.token, `${session.token.slice(0, -8)}AAAAAAAA`, "x"])
      expect((await introspect(token)).body).toEqual(INACTIVE);
    expect((await introspect(session.token)).body.active).toBe(true);
    f.latchkey.clock.advance(86_400_000);
    expect((await introspect(session.token)).body).toEqual(INACTIVE);
  });

  test("200 revokes a customer token of the client's own store: dead at once; a second time changes nothing (R136)", async () => {
    const [doomed, kept] = [await signIn(), await signIn()];
    for (let i = 0; i < 2; i++) expect((await revoke(doomed.token)).status).toBe(200);
    expect([await isAlive(doomed), await isAlive(kept)]).toEqual([false, true]);
    expect((await introspect(doomed.token)).body).toEqual(INACTIVE);
  });

  test("200 for a client of another store, and the token lives on (R135)", async () => {
    const session = await signIn();
    const stranger = await f.latchkey.createStore();
    expect((await revoke(session.token, stranger)).status).toBe(200);
    expect(await isAlive(session)).toBe(true);
  });

  test("401 for a client without its secret, which anybody could be; the token lives on (R140)", async () => {
    const session = await signIn();
    for (const operation of [introspectToken, revokeToken]) {
      const form = { token: session.token, client_id: f.store.key.clientId };
      expect((await call(f.latchkey.app, operation, { form })).status).toBe(401);
    }
    expect(await isAlive(session)).toBe(true);
  });
});

describe("signing keys", () => {
  const DAY = 86_400_000;
  const published = async (at: TestApp = f.latchkey): Promise<string[]> =>
    (await call(at.app, jwks)).body.keys
      .filter(({ alg }: { alg: string }) => alg === "ES256")
      .map(({ kid }: { kid: string }) => kid);
  const kidOf = ({ token }: Session) => decodeProtectedHeader(token).kid as string;

  async function verifies({ token }: Session): Promise<boolean> {
    const keySet = createLocalJWKSet((await call(f.latchkey.app, jwks)).body);
    const currentDate = new Date(f.latchkey.clock.now());
    return jwtVerify(token, keySet, { currentDate }).then(
      () => true,
      () => false,
    );
  }
  async function advance(ms: number): Promise<void> {
    f.latchkey.clock.advance(ms);
    await f.latchkey.app.tidy();
  }

  test("200 the key set has public parts only, and may be kept for five minutes by anybody", async () => {
    const session = await signIn();
    const { body, headers } = await call(f.latchkey.app, jwks);
    const rsa = { kty: "RSA", n: expect.any(String), e: "AQAB", use: "sig", alg: "RS256" };
    expect(body.keys.toSorted((a: { kty: string }, b: { kty: string }) => (a.kty < b.kty ? -1 : 1))).toEqual([
      {
        kty: "EC",
        crv: "P-256",
        x: expect.any(String),
        y: expect.any(String),
        kid: kidOf(session),
        use: "sig",
        alg: "ES256",
      },
      { ...rsa, kid: expect.any(String) },
    ]);
    expect(headers.get("cache-control")).toBe("public, max-age=300");
    const { x, y } = body.keys.find(({ kty }: { kty: string }) => kty === "EC");
    const rows = await f.latchkey.storage.db.selectFrom("signing_keys").selectAll().execute();
    expect(rows).toHaveLength(1);
    expect(rows[0]?.sealed_private_key).not.toContain(x.slice(0, 12));
    expect(rows[0]?.sealed_private_key).not.toContain(y.slice(0, 12));
  });

  test("a day before it is due nothing changes; ten minutes before, the next one is published, and does not sign yet", async () => {
    const old = kidOf(await signIn());
    await advance(SIGNS_FOR_MS - DAY);
    expect(await published()).toEqual([old]);
    await advance(DAY - PUBLISHED_BEFORE_MS);
    const both = await published();
    expect(both).toHaveLength(2);
    expect(both[0]).toBe(old);
    expect(kidOf(await signIn())).toBe(old);
    // Whoever keeps the key set for as long as it may be kept knows the new key before a token has it.
    await advance(300_000);
    expect(kidOf(await signIn())).toBe(old);
  });

  test("tokens of the old key are good until they expire, and then it is gone from the key set (oidcc-server-rotate-keys)", async () => {
    const old = kidOf(await signIn());
    await advance(SIGNS_FOR_MS - PUBLISHED_BEFORE_MS);
    await advance(PUBLISHED_BEFORE_MS - 1000);
    const last = await signIn();
    expect(kidOf(last)).toBe(old);
    await advance(1000);
    const first = await signIn();
    expect(kidOf(first)).not.toBe(old);
    for (const session of [last, first])
      expect([await isAlive(session), await verifies(session)]).toEqual([true, true]);
    // A key set is read again after a minute: so two looks, to see what the first has swept.
    for (const ms of [61_000, 61_000, DAY - 185_000, 61_000]) {
      await advance(ms);
      for (const session of [last, first])
        expect([await isAlive(session), await verifies(session)]).toEqual([true, true]);
    }
    await advance(2 * 3_600_000);
    await advance(61_000);
    expect(await published()).toEqual([kidOf(first)]);
    expect(await verifies(last)).toBe(false);
  });

  test("rotation goes on for ever, with two keys at most for as long as a token lives a day", async () => {
    const signedWith = new Set<string>();
    for (let day = 0; day < 100; day += 5) {
      signedWith.add(kidOf(await signIn()));
      expect((await published()).length).toBeLessThanOrEqual(2);
      await advance(5 * DAY);
    }
    expect(signedWith.size).toBe(4);
  });

  test("keys go away as well where tokens live longer than a key signs", async () => {
    await f.close();
    f = await createFederation({ customerTokenSeconds: (40 * DAY) / 1000 });
    const first = await signIn();
    for (let day = 0; day < 160; day += 2) {
      if (day < 40) expect(await verifies(first)).toBe(true);
      await advance(2 * DAY);
    }
    await signIn();
    expect(await published()).not.toContain(kidOf(first));
    expect((await published()).length).toBeLessThanOrEqual(4);
  });

  test("a service that was down when it was due catches up: published first, then signing", async () => {
    const old = kidOf(await signIn());
    await advance(3 * SIGNS_FOR_MS);
    expect(await published()).toHaveLength(2);
    expect(kidOf(await signIn())).toBe(old);
    await advance(PUBLISHED_BEFORE_MS);
    const next = await signIn();
    expect(kidOf(next)).not.toBe(old);
    expect(await verifies(next)).toBe(true);
  });

  test("two instances that rotate at once make one key, and each takes the other's tokens", async () => {
    const { storage, clock } = f.latchkey;
    const other = await createTestApp({ storage, clock });
    const old = kidOf(await signIn());
    expect(await published(other)).toEqual([old]);
    clock.advance(SIGNS_FOR_MS - PUBLISHED_BEFORE_MS);
    await Promise.all([f.latchkey.app.tidy(), other.app.tidy(), f.latchkey.app.tidy(), other.app.tidy()]);
    expect(await storage.db.selectFrom("signing_keys").select("kid").execute()).toHaveLength(2);
    clock.advance(PUBLISHED_BEFORE_MS);
    const session = await signIn();
    expect(kidOf(session)).not.toBe(old);
    const there = await call(other.app, getCustomer, {
      token: await bearer(),
      ids: { id: session.customer },
      headers: { "x-customer-token": session.token },
    });
    expect(there.status).toBe(200);
    expect(await published(other)).toEqual(await published());
  });

  test("an instance that has not seen a new key yet looks again when a token names it", async () => {
    const { storage, clock, keyring } = f.latchkey;
    const other = await createTestApp({ storage, clock });
    await signIn();
    expect(await published(other)).toHaveLength(1);
    clock.advance(2000);
    const kid = await addNextKey({ storage, clock, keyring });
    const another = await createTestApp({ storage, clock });
    await storage.db
      .updateTable("signing_keys")
      .set({ signs_from: clock.now() })
      .where("kid", "=", kid)
      .execute();
    const { code, pkce } = await f.signOn();
    const json = {
      data: {
        type: "token",
        authentication_mechanism: "oidc",
        oauth_authorization_code: code,
        oauth_redirect_uri: SHOP,
        oauth_code_verifier: pkce.verifier,
      },
    };
    const { body } = await call(another.app, issueCustomerToken, { token: f.implicit, json });
    expect(decodeProtectedHeader(body.data.token).kid).toBe(kid);
    const there = await call(other.app, getCustomer, {
      token: await bearer(),
      ids: { id: body.data.customer_id },
      headers: { "x-customer-token": body.data.token },
    });
    expect(there.status).toBe(200);
  });

  test("an instance whose clock is behind that of the one that made the first key can sign all the same (T48)", async () => {
    const { storage, clock } = f.latchkey;
    await f.store.call(createCustomer, {
      json: { data: { type: "customer", name: "Ada", email: ADA.email, password: PASSWORD } },
    });
    await signIn();
    const behind = await createTestApp({ storage, clock: handClock(clock.now() - 5000) });
    const { body, status } = await call(behind.app, issueCustomerToken, {
      token: await getToken(behind.app, f.store, "implicit"),
      json: { data: { type: "token", email: ADA.email, password: PASSWORD } },
    });
    expect(status).toBe(200);
    expect(await verifies({ token: body.data.token } as Session)).toBe(true);
  });

  test("200 from memory while the database is away: a key does not go bad", async () => {
    const session = await signIn();
    const { storage, clock } = f.latchkey;
    const { db } = storage;
    clock.advance(120_000);
    storage.db = new Proxy(db, {
      get() {
        throw Object.assign(new Error("gone"), { code: "ECONNREFUSED" });
      },
    });
    const kept = await published();
    storage.db = db;
    expect(kept).toEqual([kidOf(session)]);
  });

  test("a changed master key: sealed anew, the same keys sign on, and the old master key is not needed (T53)", async () => {
    const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
    await f.close();
    f = await createFederation({ keyring: createKeyring([oldKey]), databaseUrl: "sqlite::memory:" });
    const session = await signIn();
    const { storage, clock } = f.latchkey;
    const both = createKeyring([newKey, oldKey]);
    const during = await createTestApp({ storage, clock, keyring: both });
    expect(await published(during)).toEqual([kidOf(session)]);
    expect(await resealSigningKeys({ storage, keyring: both })).toEqual({ resealed: 1, kept: 1 });
    expect(await resealSigningKeys({ storage, keyring: both })).toEqual({ resealed: 0, kept: 2 });
    const after = await createTestApp({ storage, clock, keyring: createKeyring([newKey]) });
    expect(await published(after)).toEqual([kidOf(session)]);
    const there = await call(after.app, getCustomer, {
      token: await getToken(after.app, f.store, "implicit"),
      ids: { id: session.customer },
      headers: { "x-customer-token": session.token },
    });
    expect(there.status).toBe(200);
  });

  test("sealing anew without the master key that a signing key needs says which, and changes nothing (T53)", async () => {
    await signIn();
    const { storage } = f.latchkey;
    const rows = () => storage.db.selectFrom("signing_keys").selectAll().execute();
    const before = await rows();
    const stranger = createKeyring([randomBytes(32)]);
    await expect(resealSigningKeys({ storage, keyring: stranger })).rejects.toThrow(before[0]?.kid);
    expect(await rows()).toEqual(before);
  });
});
