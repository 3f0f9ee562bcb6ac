import { describe, expect, test } from "vitest";
import { introspectToken, revokeToken } from "../../../src/contract/access-tokens.ts";
import {
  issueCustomerToken,
  listCustomerTokens,
  revokeCustomerToken,
  revokeCustomerTokens,
} from "../../../src/contract/customer-tokens.ts";
import { createCustomer, deleteCustomer } from "../../../src/contract/customers.ts";
import { updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { realmToken } from "../../../src/contract/sign-on.ts";
import { createTestApp, PUBLIC_URL, type TestStore } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { SHOP } from "../../support/federation.ts";
import { ADA } from "../../support/hostile-idp.ts";
import {
  as,
  BEA,
  customerSessions,
  f,
  idsOf,
  isAlive,
  list,
  outcome,
  PASSWORD,
  type Session,
  signIn,
  UNKNOWN,
  withoutId,
} from "./sessions.ts";

/** A customer's live tokens: listed, revoked and introspected. */

customerSessions();

describe("the list of a customer's tokens", () => {
  test("200 with live tokens, oldest first, and the current one marked; never the token itself (wire 8)", async () => {
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

  test("200 for the back office with any customer's tokens, none marked as current", async () => {
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

  test("has the mechanism and the profile's name at sign-on", async () => {
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

  test("has browser, system and network of the sign-in; nothing for a server's request", async () => {
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

  test("has the browser of a sign-on at both token endpoints", async () => {
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

  test("leaves out expired and revoked tokens, swept or not", async () => {
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

  test("has pages, whose links stay in the list", async () => {
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

describe("revocation", () => {
  test("204 for an own token: it ends at once, others stay; a second time 404", async () => {
    const [kept, doomed] = [await signIn(), await signIn()];
    const revoke = () => as(kept, revokeCustomerToken, { ids: { customer: kept.customer, id: doomed.id } });
    expect((await revoke()).status).toBe(204);
    expect(outcome(await list(doomed))).toEqual([403, "customer_token_invalid"]);
    expect(await isAlive(kept)).toBe(true);
    expect(outcome(await revoke())).toEqual([404, "customer_token_not_found"]);
  });

  test("204 for the token of the request itself", async () => {
    const session = await signIn();
    const ids = { customer: session.customer, id: session.id };
    expect((await as(session, revokeCustomerToken, { ids })).status).toBe(204);
    expect(outcome(await as(session, revokeCustomerToken, { ids }))).toEqual([403, "customer_token_invalid"]);
  });

  test("204 for all own tokens, the one of the request included; other customers' tokens stay", async () => {
    const [first, second, bea] = [await signIn(), await signIn(), await signIn(BEA)];
    const answer = await as(first, revokeCustomerTokens, { ids: { customer: first.customer } });
    expect(answer.status).toBe(204);
    for (const session of [first, second])
      expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
    expect(await isAlive(bea)).toBe(true);
    expect((await signIn()).customer).toBe(first.customer);
  });

  test("204 for the back office: one token, all tokens, and none left", async () => {
    const [first, second, third] = [await signIn(), await signIn(), await signIn()];
    const { customer } = first;
    expect((await f.store.call(revokeCustomerToken, { ids: { customer, id: first.id } })).status).toBe(204);
    expect([await isAlive(first), await isAlive(second)]).toEqual([false, true]);
    for (let i = 0; i < 2; i++)
      expect((await f.store.call(revokeCustomerTokens, { ids: { customer } })).status).toBe(204);
    expect([await isAlive(second), await isAlive(third)]).toEqual([false, false]);
  });

  test("counts on another instance at once: no token is cached (I4)", async () => {
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

  test("404 for another customer, as for an unknown one; no token ends (A36)", async () => {
    const [ada, bea] = [await signIn(), await signIn(BEA)];
    for (const operation of [listCustomerTokens, revokeCustomerTokens]) {
      const others = await as(ada, operation, { ids: { customer: bea.customer } });
      const unknown = await as(ada, operation, { ids: { customer: UNKNOWN } });
      expect(outcome(others)).toEqual([404, "customer_not_found"]);
      expect(withoutId(others)).toEqual(withoutId(unknown));
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

  test("404 for another store's customer and token (T30, A33)", async () => {
    const ada = await signIn();
    const stranger = await f.latchkey.createStore();
    for (const operation of [listCustomerTokens, revokeCustomerTokens, revokeCustomerToken]) {
      const answer = await stranger.call(operation, { ids: { customer: ada.customer, id: ada.id } });
      expect(outcome(answer)).toEqual([404, "customer_not_found"]);
    }
    expect(await isAlive(ada)).toBe(true);
  });

  test("404 for an expired token, an unknown one and a malformed id", async () => {
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

  test("a deletion of the customer ends all of the customer's tokens, and no others", async () => {
    const [first, second, bea] = [await signIn(), await signIn(), await signIn(BEA)];
    expect((await f.store.call(deleteCustomer, { ids: { id: first.customer } })).status).toBe(204);
    for (const session of [first, second])
      expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
    expect(await isAlive(bea)).toBe(true);
    const again = await f.store.call(listCustomerTokens, { ids: { customer: first.customer } });
    expect(outcome(again)).toEqual([404, "customer_not_found"]);
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

  test("200 with the customer's id and the expiry of a live token, and nothing else about the person", async () => {
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

  test("200 revokes a customer token of the client's own store; a second time changes nothing (R136)", async () => {
    const [doomed, kept] = [await signIn(), await signIn()];
    for (let i = 0; i < 2; i++) expect((await revoke(doomed.token)).status).toBe(200);
    expect([await isAlive(doomed), await isAlive(kept)]).toEqual([false, true]);
    expect((await introspect(doomed.token)).body).toEqual(INACTIVE);
  });

  test("200 for a client of another store; the token stays (R135)", async () => {
    const session = await signIn();
    const stranger = await f.latchkey.createStore();
    expect((await revoke(session.token, stranger)).status).toBe(200);
    expect(await isAlive(session)).toBe(true);
  });

  test("401 for a client without its secret; the token stays (R140)", async () => {
    const session = await signIn();
    for (const operation of [introspectToken, revokeToken]) {
      const form = { token: session.token, client_id: f.store.key.clientId };
      expect((await call(f.latchkey.app, operation, { form })).status).toBe(401);
    }
    expect(await isAlive(session)).toBe(true);
  });
});
