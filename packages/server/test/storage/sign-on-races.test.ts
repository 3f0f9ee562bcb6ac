import { decodeProtectedHeader } from "jose";
import { sql } from "kysely";
import pg from "pg";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createCustomer, deleteCustomer, getCustomer, updateCustomer } from "../../src/contract/customers.ts";
import { deleteProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import { backchannelLogout, callback, jwks } from "../../src/contract/sign-on.ts";
import { newId } from "../../src/lib/ids.ts";
import { newCredential } from "../../src/lib/secrets.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { type Answer, call, toRequest } from "../support/call.ts";
import { bothEngines, type TestDatabase } from "../support/engines.ts";
import {
  type Browser,
  COOKIE,
  createFederation,
  type Federation,
  newPkce,
  SHOP,
  type SignedOn,
} from "../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { until, untilServed } from "../support/until.ts";

/**
 * Two instances on one database. A SQLite file is served by a single process, so there the two share its connection; on
 * PostgreSQL each has its own.
 */
describe.each(bothEngines)("two instances on $name", (engine) => {
  let database: TestDatabase;
  let idp: HostileIdp;
  let f: Federation;
  let instances: TestApp[];

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    idp = await startHostileIdp();
    f = await createFederation({ databaseUrl: database.url, idp });
    const { storage, clock } = f.latchkey;
    const shared = engine.name === "sqlite" ? { storage } : { databaseUrl: database.url };
    instances = [f.latchkey, await createTestApp({ ...shared, clock, allowedOrigins: [idp.origin] })];
  });
  afterEach(async () => {
    const faults = (instances ?? [])
      .flatMap(({ logLines }) => logLines)
      .filter(({ status }) => Number(status) >= 500 && status !== 503);
    for (const storage of new Set(instances?.map((instance) => instance.storage))) await storage.close();
    await idp?.close();
    await database?.drop();
    // The log line has the stack, which the answer has not.
    expect(faults).toEqual([]);
  });

  const at = (index: number) => instances[index % 2] as TestApp;
  const times = <T>(count: number, work: (index: number) => Promise<T>): Promise<T[]> =>
    Promise.all(Array.from({ length: count }, (_, index) => work(index)));
  const db = () => f.latchkey.storage.db;
  const tokens = () => db().selectFrom("customer_tokens").selectAll().execute();
  const customers = () => db().selectFrom("customers").selectAll().execute();
  const identities = () => db().selectFrom("customer_identities").selectAll().execute();

  type Given = { changes?: object; headers?: Record<string, string> };
  const requestFor = (
    { code, pkce }: Pick<SignedOn, "code" | "pkce">,
    { changes = {}, headers = {} }: Given = {},
  ) => ({
    token: f.implicit,
    headers,
    json: {
      data: {
        type: "token",
        authentication_mechanism: "oidc",
        oauth_authorization_code: code,
        oauth_redirect_uri: SHOP,
        oauth_code_verifier: pkce.verifier,
        ...changes,
      },
    },
  });
  const redeem = (index: number, signedOn: Pick<SignedOn, "code" | "pkce">, given?: Given) =>
    untilServed(() => call(at(index).app, issueCustomerToken, requestFor(signedOn, given)));
  /** Without the checks against the contract, which take longer than the answer, so that requests really race. */
  const redeemQuickly = (index: number, signedOn: SignedOn): Promise<Answer> =>
    untilServed(async () => {
      const request = toRequest(issueCustomerToken, requestFor(signedOn));
      const response = await at(index).app.fetch(request);
      const body = JSON.parse(await response.text());
      const codes: string[] = (body.errors ?? []).map((error: { code: string }) => error.code);
      return { status: response.status, headers: response.headers, body, code: codes[0], codes };
    });
  const withPassword = (index: number, headers: Record<string, string> = {}) =>
    untilServed(() =>
      call(at(index).app, issueCustomerToken, {
        token: f.implicit,
        headers,
        json: { data: { type: "token", email: ADA.email, password: "correct horse" } },
      }),
    );
  const isAlive = async (index: number, { body }: Answer): Promise<boolean> => {
    const answer = await call(at(index).app, getCustomer, {
      token: f.implicit,
      ids: { id: body.data.customer_id },
      headers: { "x-customer-token": body.data.token },
    });
    return answer.status === 200;
  };
  /** The number of answers of each kind. */
  const tally = (answers: Answer[]): Record<string, number> => {
    const counts: Record<string, number> = {};
    for (const { status, code } of answers) {
      const kind = code === undefined ? `${status}` : `${status} ${code}`;
      counts[kind] = (counts[kind] ?? 0) + 1;
    }
    return counts;
  };
  const signOns = async (people: object[], parameters = {}): Promise<SignedOn[]> => {
    const made: SignedOn[] = [];
    for (const person of people) {
      idp.person = { ...person };
      made.push(await f.signOn({ parameters }));
    }
    return made;
  };

  test("200 redemptions of one code: exactly one 200, 199 times 400, one token, which works (T12, I1, A26)", async () => {
    const signedOn = await f.signOn();
    // Every connection is open, so the requests race for the code and not for a connection.
    await times(40, (index) => redeem(index, { code: newCredential("lkac"), pkce: newPkce() }));
    const answers = await times(200, (index) => redeemQuickly(index, signedOn));
    expect(tally(answers)).toEqual({ "200": 1, "400 code_already_used": 199 });
    const winner = answers.find(({ status }) => status === 200) as Answer;
    expect(await tokens()).toMatchObject([{ id: winner.body.data.id }]);
    expect([await isAlive(0, winner), await isAlive(1, winner)]).toEqual([true, true]);
    expect([(await customers()).length, (await identities()).length]).toEqual([1, 1]);
  });

  test.each(["allowed", "disallowed"])(
    "fifty first sign-ons of one subject, policy %s: fifty times 200 with one customer (T23, I5)",
    async (policy) => {
      await f.changeRealm({ duplicate_email_policy: policy });
      const made = await signOns(Array.from({ length: 50 }, () => ADA));
      const answers = await Promise.all(made.map((signedOn, index) => redeem(index, signedOn)));
      expect(tally(answers)).toEqual({ "200": 50 });
      expect(new Set(answers.map(({ body }) => body.data.customer_id)).size).toBe(1);
      expect([(await customers()).length, (await identities()).length]).toEqual([1, 1]);
      expect(await tokens()).toHaveLength(50);
      expect(new Set(answers.map(({ body }) => body.data.token)).size).toBe(50);
    },
  );

  test.each(["allowed", "api_only", "disallowed"])(
    "sixteen new shoppers at once in one realm, policy %s: sixteen times 200",
    async (policy) => {
      await f.changeRealm({ duplicate_email_policy: policy });
      const people = Array.from({ length: 16 }, (_, index) => ({
        ...ADA,
        sub: `new ${index}`,
        email: `new-${index}@shop.example`,
      }));
      const made = await signOns(people);
      const answers = await Promise.all(made.map((signedOn, index) => redeem(index, signedOn)));
      expect(tally(answers)).toEqual({ "200": 16 });
      expect([(await customers()).length, (await identities()).length]).toEqual([16, 16]);
    },
  );

  test("twenty sign-ons of a known subject: twenty times 200, and no new customer (I5)", async () => {
    const [first, ...made] = await signOns(Array.from({ length: 21 }, () => ADA));
    const known = await redeem(0, first as SignedOn);
    const answers = await Promise.all(made.map((signedOn, index) => redeem(index, signedOn)));
    expect(tally(answers)).toEqual({ "200": 20 });
    expect(new Set(answers.map(({ body }) => body.data.customer_id))).toEqual(
      new Set([known.body.data.customer_id]),
    );
    expect([(await customers()).length, (await identities()).length]).toEqual([1, 1]);
  });

  test("two subjects with one e-mail where that is not allowed: exactly one customer, in every round (T21, A06)", async () => {
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    for (let round = 0; round < 6; round++) {
      const email = `round-${round}@shop.example`;
      const people = ["a", "b"].map((sub) => ({ ...ADA, sub: `${sub}${round}`, email }));
      const made = await signOns(people);
      const answers = await Promise.all(made.map((signedOn, index) => redeem(index, signedOn)));
      expect(tally(answers)).toEqual({ "200": 1, "400 sign_on_refused": 1 });
      const refused = answers.find(({ status }) => status === 400) as Answer;
      expect(refused.body.errors[0].meta.reason).toBe("email_taken");
      expect((await customers()).filter((customer) => customer.email === email)).toHaveLength(1);
    }
    expect([(await identities()).length, (await tokens()).length]).toEqual([6, 6]);
  });

  test("two subjects with the verified e-mail of one customer: both are linked, and none is created (T21)", async () => {
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    const { body } = await f.store.call(createCustomer, {
      json: { data: { type: "customer", name: "Ada", email: ADA.email, email_verified: true } },
    });
    const made = await signOns(Array.from({ length: 10 }, (_, index) => ({ ...ADA, sub: `s${index}` })));
    const answers = await Promise.all(made.map((signedOn, index) => redeem(index, signedOn)));
    expect(tally(answers)).toEqual({ "200": 10 });
    expect(new Set(answers.map((answer) => answer.body.data.customer_id))).toEqual(new Set([body.data.id]));
    expect([(await customers()).length, (await identities()).length]).toEqual([1, 10]);
  });

  test("twenty callbacks of one attempt: one code, one token request, and an error for the others (N94)", async () => {
    const browser: Browser = { cookie: undefined };
    const pkce = newPkce();
    const begun = await f.begin(browser, { code_challenge: pkce.challenge });
    const back = new URL(idp.signIn(begun.headers.get("location") ?? ""));
    const ids = { store: f.store.store.id, realm: f.realmId, profile: f.profileId };
    const headers = { cookie: `${COOKIE}=${browser.cookie}` };
    const query = back.search.slice(1);
    const answers = await times(20, (index) => call(at(index).app, callback, { ids, query, headers }));
    const returned = answers.map((answer) => new URL(answer.headers.get("location") ?? "").searchParams);
    const codes = returned.map((one) => one.get("code")).filter((code) => code !== null);
    expect(codes).toHaveLength(1);
    expect(returned.filter((one) => one.get("error") === "callback_replay")).toHaveLength(19);
    expect(idp.asked("/token")).toBe(1);
    expect((await redeem(0, { code: codes[0] as string, pkce })).status).toBe(200);
  });

  test("twenty twins with one Idempotency-Key: twenty times 200 with one token (wire 8)", async () => {
    const signedOn = await f.signOn();
    const headers = { "idempotency-key": "twins" };
    const answers = await times(20, (index) => redeem(index, signedOn, { headers }));
    expect(tally(answers)).toEqual({ "200": 20 });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await tokens()).toHaveLength(1);
    expect(await isAlive(1, answers[0] as Answer)).toBe(true);
  });

  test("twins with a password and one Idempotency-Key: one token (wire 8)", async () => {
    await f.store.call(createCustomer, {
      json: { data: { type: "customer", name: "Ada", email: ADA.email, password: "correct horse" } },
    });
    const headers = { "idempotency-key": "twins" };
    const answers = await times(4, (index) => withPassword(index, headers));
    expect(tally(answers)).toEqual({ "200": 4 });
    expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    expect(await tokens()).toHaveLength(1);
  });

  test("two codes with one Idempotency-Key: one 200, one 422, whose code is not used up (wire 8)", async () => {
    for (let round = 0; round < 5; round++) {
      const both = await signOns([ADA, ADA]);
      const headers = { "idempotency-key": `round-${round}` };
      const answers = await Promise.all(both.map((signedOn, index) => redeem(index, signedOn, { headers })));
      expect(tally(answers)).toEqual({ "200": 1, "422 idempotency_key_reused": 1 });
      const loser = both[answers.findIndex(({ status }) => status === 422)] as SignedOn;
      expect((await redeem(0, loser)).status).toBe(200);
    }
  });

  test("owner and thief, who lacks the verifier, at once: in either order, no token stays valid (R10, A25)", async () => {
    for (let round = 0; round < 6; round++) {
      const [signedOn] = await signOns([ADA]);
      const guess = { changes: { oauth_code_verifier: newPkce().verifier } };
      const attempts = [() => redeem(0, signedOn as SignedOn), () => redeem(1, signedOn as SignedOn, guess)];
      if (round % 2 === 1) attempts.reverse();
      const answers = await Promise.all(attempts.map((attempt) => attempt()));
      const good = answers.filter(({ status }) => status === 200);
      expect(good.length).toBeLessThanOrEqual(1);
      for (const answer of good) expect(await isAlive(round, answer)).toBe(false);
    }
    expect(await tokens()).toEqual([]);
  });

  test("200 for a logout token whose times are fractions of a second: the session's token and code end (N116)", async () => {
    const [redeemed, issued] = await signOns([ADA, ADA]);
    const answer = await redeem(0, redeemed as SignedOn);
    const { status } = await call(f.latchkey.app, backchannelLogout, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      form: {
        logout_token: idp.signToken({
          iss: idp.issuer,
          aud: idp.clientId,
          iat: f.latchkey.clock.now() / 1000 + 0.0001,
          exp: f.latchkey.clock.now() / 1000 + 120.5,
          jti: "logout",
          sub: ADA.sub,
          events: { "http://schemas.openid.net/event/backchannel-logout": {} },
        }),
      },
    });
    expect([status, await isAlive(0, answer)]).toEqual([200, false]);
    expect((await redeem(0, issued as SignedOn)).code).toBe("code_invalid");
  });

  test("redemption and logout by the provider at once: in either order, no token stays valid (N116)", async () => {
    const ids = { store: f.store.store.id, realm: f.realmId, profile: f.profileId };
    const now = f.latchkey.clock.now() / 1000;
    const logOut = (index: number) =>
      call(at(index).app, backchannelLogout, {
        ids,
        form: {
          logout_token: idp.signToken({
            iss: idp.issuer,
            aud: idp.clientId,
            iat: now,
            exp: now + 120,
            jti: `logout-${index}`,
            sub: ADA.sub,
            sid: ADA.sid,
            events: { "http://schemas.openid.net/event/backchannel-logout": {} },
          }),
        },
      });
    for (let round = 0; round < 6; round++) {
      // A sign-on in the same millisecond as the end of the session counts as before it.
      f.latchkey.clock.advance(1000);
      const made = await signOns([ADA, ADA, ADA]);
      const [ended, ...answers] = await Promise.all([
        logOut(round),
        ...made.map((signedOn, index) => redeem(index, signedOn)),
      ]);
      expect(ended.status).toBe(200);
      for (const answer of answers) expect([200, 400]).toContain(answer.status);
      expect(await tokens()).toEqual([]);
    }
  });

  test("redemption and deletion of the profile at once: in either order, no token stays valid, adopted or not", async () => {
    const admin = await f.store.token();
    let profileId = f.profileId;
    const issued: Answer[] = [];
    for (let round = 0; round < 4; round++) {
      const made = await signOns([ADA, ADA, ADA], { profile: profileId });
      const before = await redeem(0, made.pop() as SignedOn);
      expect(await isAlive(1, before)).toBe(true);
      const [deleted, ...answers] = await Promise.all([
        call(at(round).app, deleteProfile, { ids: { realm: f.realmId, id: profileId }, token: admin }),
        ...made.map((signedOn, index) => redeem(index, signedOn)),
      ]);
      expect(deleted.status).toBe(204);
      for (const answer of answers) expect([200, 400]).toContain(answer.status);
      issued.push(before, ...answers.filter(({ status }) => status === 200));
      for (const answer of issued) expect(await isAlive(round, answer)).toBe(false);
      profileId = await f.addProfile({ adopt_identities_of: profileId });
      for (const answer of issued) expect(await isAlive(round, answer)).toBe(false);
    }
  });

  test.each<[string, () => object]>([
    ["left behind", () => ({ adopt_identities_of: null })],
    ["carried over", () => ({ adopt_identities_of: f.profileId, confirm: "Hostile" })],
  ])(
    "400 for a code that its profile was pointed at another issuer after, with its people %s; it is void (A09, I4)",
    async (_, choice) => {
      const [known, ...later] = await signOns([ADA, ADA, { ...ADA, sub: "new" }]);
      expect((await redeem(0, known as SignedOn)).status).toBe(200);
      idp.issuer = `${idp.origin}/`;
      const place = { discovery_url: idp.issuer, client_secret: idp.clientSecrets[0] };
      const moved = await f.store.call(updateProfile, {
        ids: { realm: f.realmId, id: f.profileId },
        json: { data: { type: "oidc-profile", ...place, ...choice() } },
      });
      expect(moved.status).toBe(200);
      for (const [index, signedOn] of later.entries()) {
        const { code, body } = await redeem(index, signedOn);
        expect([code, body.errors?.[0].meta.reason]).toEqual(["sign_on_refused", "profile_disabled"]);
        expect((await redeem(index, signedOn)).code).toBe("code_invalid");
      }
      expect([(await customers()).length, (await tokens()).length]).toEqual([1, 1]);
      const [after] = await signOns([ADA]);
      expect((await redeem(1, after as SignedOn)).status).toBe(200);
    },
  );

  test("a customer who is deleted during a sign-on, in every round: no 5xx, and no session without a customer", async () => {
    const admin = await f.store.token();
    for (let round = 0; round < 10; round++) {
      const signedOn = await signOns([ADA, ADA, ADA]);
      const [known] = await customers();
      const ids = { id: known?.id ?? newId() };
      const answers = await Promise.all([
        ...signedOn.map((one, index) => redeem(index, one)),
        call(at(round).app, deleteCustomer, { ids, token: admin }),
      ]);
      for (const { status } of answers) expect(status).toBeLessThan(500);
      const people = new Set((await customers()).map(({ id }) => id));
      for (const row of await tokens()) expect(people).toContain(row.customer_id);
    }
  });

  test("an address that becomes another customer's during its sign-on: 200, and the customer keeps the old one", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("one transaction at a time writes to a SQLite");
    const { customer_id: id } = (await f.redeem(await f.signOn())).body.data;
    const json = { data: { type: "customer", password: "correct horse" } };
    await f.store.call(updateCustomer, { ids: { id }, json });
    const [signedOn] = await signOns([{ ...ADA, email: "new@shop.example" }]);
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin");
    const changes = { id: newId(), email: "new@shop.example", email_key: "new@shop.example" };
    await other.query(
      "insert into customers select (jsonb_populate_record(customers, $1)).* from customers limit 1",
      [JSON.stringify(changes)],
    );
    const redeeming = redeem(0, signedOn as SignedOn);
    const waits = sql`select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like 'update "customers"%'`;
    await until(async () => (await waits.execute(db())).rows.length === 1);
    await other.query("commit");
    await other.end();
    const answer = await redeeming;
    expect([answer.status, answer.body.data?.customer_id]).toEqual([200, id]);
    expect((await customers()).find((customer) => customer.id === id)?.email).toBe(ADA.email);
  });

  test("an address that is verified during a sign-on with another, unverified one: the address stays", async ({
    skip,
  }) => {
    if (engine.name === "sqlite") skip("one transaction at a time writes to a SQLite");
    const [first, second] = await signOns([
      ADA,
      { ...ADA, email: "new@shop.example", email_verified: false },
    ]);
    const { customer_id: id } = (await redeem(0, first as SignedOn)).body.data;
    await f.store.call(updateCustomer, {
      ids: { id },
      json: { data: { type: "customer", email_verified: false } },
    });
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin");
    await other.query("update customers set email_verified = 1, updated_at = updated_at + 1");
    const redeeming = redeem(0, second as SignedOn);
    const waits = sql`select 1 from pg_stat_activity where datname = current_database()
      and wait_event_type = 'Lock' and query like 'update "customers"%'`;
    await until(async () => (await waits.execute(db())).rows.length === 1);
    await other.query("commit");
    await other.end();
    expect((await redeeming).status).toBe(200);
    expect(await customers()).toMatchObject([{ id, email: ADA.email, email_verified: 1 }]);
  });

  test("two new instances that sign at once create one key, and each accepts the other's tokens", async () => {
    await f.store.call(createCustomer, {
      json: { data: { type: "customer", name: "Ada", email: ADA.email, password: "correct horse" } },
    });
    expect(await db().selectFrom("signing_keys").select("kid").execute()).toEqual([]);
    const answers = await times(4, (index) => withPassword(index));
    expect(tally(answers)).toEqual({ "200": 4 });
    expect(new Set(answers.map(({ body }) => decodeProtectedHeader(body.data.token).kid)).size).toBe(1);
    for (const [index, answer] of answers.entries()) expect(await isAlive(index + 1, answer)).toBe(true);
    const sets = await times(2, (index) => call(at(index).app, jwks));
    expect(sets[0]?.body).toEqual(sets[1]?.body);
    // ES256 signs customer tokens, RS256 signs ID tokens for libraries.
    const kinds = sets[0]?.body.keys.map(({ alg }: { alg: string }) => alg);
    expect(kinds.toSorted()).toEqual(["ES256", "RS256"]);
  });
});
