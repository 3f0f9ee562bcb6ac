import { randomBytes } from "node:crypto";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { issueAccessToken } from "../../src/contract/access-tokens.ts";
import { deleteCustomer, eraseCustomer } from "../../src/contract/customers.ts";
import { listEvents } from "../../src/contract/events.ts";
import { authorize, callback } from "../../src/contract/sign-on.ts";
import { listSignOns } from "../../src/contract/sign-ons.ts";
import { createKeyring } from "../../src/lib/keyring.ts";
import { resealAll } from "../../src/sealed.ts";
import { createTestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { COOKIE, createFederation, type Federation, SHOP } from "../support/federation.ts";
import { ADA as PERSON } from "../support/hostile-idp.ts";

/** The facts of a record: request id, browser, network, redirect URI; and how support finds a caller's sign-on. */

const PHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1";
const FIRST = randomBytes(32);
const ADA = { email: String(PERSON.email) };

describe.each(engines)("records on $name", (engine) => {
  let database: TestDatabase;
  let f: Federation;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await createFederation({ databaseUrl: database.url, keyring: createKeyring([FIRST]) });
  });
  afterEach(async () => {
    await f?.close();
    await database?.drop();
  });

  const find = async (filter: string) => {
    await f.latchkey.app.tidy();
    const query = `filter=${encodeURIComponent(filter)}`;
    return (await f.store.call(listSignOns, { query })).body.data;
  };
  const ids = () => ({ store: f.store.store.id, realm: f.realmId });
  const begin = (changes: Record<string, string | undefined>, peer: string) =>
    call(f.latchkey.app, authorize, {
      ids: ids(),
      query: new URLSearchParams(f.parameters(changes)).toString(),
      headers: { "user-agent": PHONE },
      peer,
    });

  test("are found by the id of the failed request, at authorize and at the exchange", async () => {
    const refused = await begin({ scope: "email" }, "203.0.113.77");
    const requestId = refused.headers.get("x-request-id") ?? "";
    expect(await find(`eq(request_id,${requestId})`)).toMatchObject([{ request_id: requestId }]);
    const wrong = await f.redeem(await f.signOn(), { oauth_code_verifier: "w".repeat(43) });
    expect(wrong.status).toBe(400);
    const exchangeId = wrong.headers.get("x-request-id") ?? "";
    expect(await find(`eq(request_id,${exchangeId})`)).toMatchObject([{ outcome: "failed" }]);
    expect(await find(`eq(request_id,${crypto.randomUUID()})`)).toEqual([]);
  });

  test("have redirect URI, browser, system and the network as /24 or /64", async () => {
    await begin({ redirect_uri: "https://shop.example/singed-in\u0000" }, "203.0.113.77");
    await begin({ scope: "email" }, "2001:db8:1:2:3:4:5:6");
    const [unregistered] = await find("eq(reason,redirect_uri_unregistered)");
    const [unscoped] = await find("eq(reason,scope_incomplete)");
    const phone = { browser: "Safari 17", operating_system: "iOS 17", test: false };
    expect(unregistered).toMatchObject({
      reason: "redirect_uri_unregistered",
      redirect_uri: "https://shop.example/singed-in\ufffd",
      network: "203.0.113.0/24",
      ...phone,
    });
    expect(unscoped).toMatchObject({ redirect_uri: SHOP, network: "2001:db8:1:2::/64", ...phone });
    await f.redeem(await f.signOn());
    expect((await find("eq(outcome,exchanged)"))[0]).toMatchObject({ redirect_uri: SHOP, browser: null });
  });

  test("are found by the whole e-mail; the stored rows have only its digest", async () => {
    await f.redeem(await f.signOn());
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    await f.signOn();
    f.idp.hooks.claims = (claims) => ({ ...claims, email: "other@shop.example" });
    await f.signOn();
    const outcomes = async (email: string) =>
      (await find(`eq(email,${email})`)).map(({ outcome }: { outcome: string }) => outcome).sort();
    expect(await outcomes(ADA.email)).toEqual(["exchanged", "failed"]);
    expect(await outcomes(ADA.email.toUpperCase())).toEqual(["exchanged", "failed"]);
    expect(await outcomes("other@shop.example")).toEqual(["code_issued"]);
    for (const unknown of [ADA.email.slice(1), "unknown@shop.example", "no address"])
      expect(await outcomes(unknown)).toEqual([]);
    const rows = await f.latchkey.storage.db.selectFrom("sign_ons").selectAll().execute();
    expect(JSON.stringify(rows).toLowerCase()).not.toContain(ADA.email.toLowerCase());
    expect(new Set(rows.map((row) => row.email_digest)).size).toBe(2);
    const other = await f.latchkey.createStore();
    const query = `filter=eq(email,${ADA.email})`;
    expect((await other.call(listSignOns, { query })).body.data).toEqual([]);
  });

  test("are found by an e-mail with an unencoded plus sign", async () => {
    f.idp.hooks.claims = (claims) => ({ ...claims, email: "ada+shop@shop.example" });
    await f.signOn();
    await f.latchkey.app.tidy();
    for (const email of ["ada+shop@shop.example", "ada%2Bshop@shop.example"]) {
      const { body } = await f.store.call(listSignOns, { query: `filter=eq(email,${email})` });
      expect(body.data).toHaveLength(1);
    }
  });

  test("are found by e-mail after the master key was replaced", async () => {
    await f.signOn();
    await f.latchkey.app.tidy();
    const { storage, clock } = f.latchkey;
    const second = randomBytes(32);
    expect(await resealAll({ storage, keyring: createKeyring([second, FIRST]) })).toEqual({
      resealed: 2,
      kept: 0,
    });
    expect(await resealAll({ storage, keyring: createKeyring([second]) })).toEqual({ resealed: 0, kept: 2 });
    const later = await createTestApp({ storage, clock, keyring: createKeyring([second]) });
    const { key } = f.store;
    const form = {
      grant_type: "client_credentials",
      client_id: key.clientId,
      client_secret: key.clientSecret,
    };
    const issued = await call(later.app, issueAccessToken, { form });
    const query = `filter=eq(email,${ADA.email})`;
    const answer = await call(later.app, listSignOns, { query, token: issued.body.access_token });
    expect(answer.body.data).toHaveLength(1);
  });

  test("lose e-mail, network and customer when the customer is erased; the rest stays", async () => {
    const { body } = await f.redeem(await f.signOn({ browser: { cookie: undefined, peer: "203.0.113.77" } }));
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    const failed = await f.signOn();
    f.idp.hooks.claims = (claims) => ({ ...claims, sub: "grace", email: "grace@shop.example" });
    await f.redeem(await f.signOn());
    await f.latchkey.app.tidy();
    const { data } = (await f.store.call(eraseCustomer, { ids: { id: body.data.customer_id } })).body;
    expect(data.complete).toBe(true);
    const rows = await f.latchkey.storage.db.selectFrom("sign_ons").selectAll().execute();
    expect(rows.filter((row) => row.email_digest !== null).map((row) => row.outcome)).toEqual(["exchanged"]);
    expect(await find(`eq(email,${ADA.email})`)).toEqual([]);
    expect(await find(`eq(customer_id,${body.data.customer_id})`)).toEqual([]);
    const [record] = await find(`eq(reference,${failed.reference})`);
    expect(record).toMatchObject({ reason: "id_token.aud", network: null, redirect_uri: SHOP });
  });

  test("in memory lose the person soon after the erasure", async () => {
    const { body } = await f.redeem(await f.signOn({ browser: { cookie: undefined, peer: "203.0.113.77" } }));
    await f.store.call(eraseCustomer, { ids: { id: body.data.customer_id } });
    // An instance with a clock ahead takes the erasure for an old one.
    const { storage, clock, keyring } = f.latchkey;
    const ahead = { ...clock, now: () => clock.now() + 60_000 };
    const other = await createTestApp({ storage, clock: ahead, keyring });
    await other.app.tidy();
    await f.latchkey.app.tidy();
    clock.advance(125_000);
    await f.latchkey.app.tidy();
    const [row] = await f.latchkey.storage.db.selectFrom("sign_ons").selectAll().execute();
    expect(row).toMatchObject({ outcome: "exchanged", customer_id: null, email_digest: null, network: null });
    expect(await f.latchkey.storage.db.selectFrom("event_erasures").selectAll().execute()).toEqual([]);
  });

  test("are erased also for a deleted customer", async () => {
    const { body } = await f.redeem(await f.signOn());
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    await f.signOn();
    await f.latchkey.app.tidy();
    const person = { ids: { id: body.data.customer_id } };
    await f.store.call(deleteCustomer, person);
    expect((await f.store.call(eraseCustomer, person)).body.data.complete).toBe(true);
    expect(await find(`eq(email,${ADA.email})`)).toEqual([]);
  });

  test("are erased by a second request, even when the customer's own rows are gone", async () => {
    const { body } = await f.redeem(await f.signOn());
    f.idp.hooks.claims = (claims) => ({ ...claims, aud: "another" });
    await f.signOn();
    await f.latchkey.app.tidy();
    const { db } = f.latchkey.storage;
    const failed = await db.selectFrom("sign_ons").selectAll().where("outcome", "=", "failed").execute();
    const person = { ids: { id: body.data.customer_id } };
    await f.store.call(deleteCustomer, person);
    // The state after an interrupted round: the customer's records are blank, failures under the same e-mail are not.
    await db
      .updateTable("sign_ons")
      .set({ customer_id: null, email_digest: null })
      .where("outcome", "=", "exchanged")
      .execute();
    const order = { store_id: f.store.store.id, person_id: body.data.customer_id, asked_at: 0 };
    await db
      .insertInto("event_erasures")
      .values({ ...order, email_digest: failed[0]?.email_digest ?? null })
      .execute();
    expect((await f.store.call(eraseCustomer, person)).body.data.complete).toBe(true);
    expect(await find(`eq(email,${ADA.email})`)).toEqual([]);
    expect(await db.selectFrom("event_erasures").selectAll().execute()).toEqual([]);
  });

  test("become events without browser, system and network, which the log could not erase", async () => {
    await begin({ scope: "email" }, "203.0.113.77");
    await f.latchkey.app.tidy();
    const { data } = (await f.store.call(listEvents, { query: "types=sign_on.failed" })).body;
    expect(data[0].data.resource).toMatchObject({ reason: "scope_incomplete", redirect_uri: SHOP });
    // Checks the data only: the hashes of an event may contain any three letters.
    expect(JSON.stringify(data[0].data)).not.toMatch(/203\.0\.113|Safari|iOS/);
  });

  test("become events without an unregistered redirect URI, which may contain an e-mail", async () => {
    const redirect_uri = "https://shop.example/signed-in?email=grace@shop.example";
    await begin({ redirect_uri }, "203.0.113.77");
    await begin({ redirect_uri, client_id: "unknown" }, "203.0.113.77");
    await f.latchkey.app.tidy();
    expect(await find("eq(reason,redirect_uri_unregistered)")).toMatchObject([{ redirect_uri }]);
    const { data } = (await f.store.call(listEvents, { query: "types=sign_on.failed" })).body;
    expect(data).toHaveLength(2);
    expect(JSON.stringify(data)).not.toContain("grace");
  });
});

describe("a reference that is shown finds a record", () => {
  let f: Federation;
  beforeEach(async () => {
    f = await createFederation();
  });
  afterEach(() => f.close());

  const shown = (page: string) => /Reference <strong>([^<]+)/.exec(page)?.[1];
  const inAnySpelling = async (reference: string) => {
    for (const typed of [
      reference,
      reference.toLowerCase(),
      reference.replace("-", " "),
      reference.replaceAll("0", "O"),
    ])
      expect((await f.recordOf(encodeURIComponent(typed))).reference).toBe(reference);
  };

  test("on a page; a state that cannot be opened has no reference", async () => {
    const ids = { store: f.store.store.id, realm: f.realmId };
    const at = { ...ids, profile: f.profileId };
    const browser = { cookie: undefined as string | undefined };
    const begun = await f.begin(browser);
    const back = f.idp.signIn(begun.headers.get("location") ?? "");
    const query = back.slice(back.indexOf("?") + 1);
    const headers = { cookie: `${COOKIE}=${browser.cookie}` };
    const { app, clock } = f.latchkey;
    const pages = [
      await f.begin({ cookie: undefined }, { client_id: "another" }),
      await call(app, callback, { ids: at, query }),
    ];
    clock.advance(700_000);
    pages.push(await call(app, callback, { ids: at, query, headers }));
    clock.advance(-700_000);
    const codes = ["sign_on_client_unknown", "browser_changed", "attempt_expired"];
    expect(pages.map(({ code }) => code)).toEqual(codes);
    const unknown = await call(app, callback, { ids: at, query: "state=made-up&code=c" });
    expect([unknown.code, shown(unknown.body)]).toEqual(["attempt_invalid", undefined]);
    for (const { body } of pages) await inAnySpelling(shown(body) ?? "none");
  });

  test("in a redirect; no reference is shown when the record was not kept", async () => {
    const answers = [];
    for (let i = 0; i < 25; i++) answers.push(await f.signOn({ parameters: { scope: "x" } }));
    expect(answers.every(({ error }) => error === "invalid_scope")).toBe(true);
    const references = answers.map(({ reference }) => reference).filter((reference) => reference !== "");
    expect(references).toHaveLength(20);
    for (const reference of references) await f.recordOf(reference);
    const page = await f.begin({ cookie: undefined }, { client_id: "another" });
    expect([shown(page.body), page.body]).toEqual([
      undefined,
      expect.stringContaining("Request ID <strong>"),
    ]);
  });
});
