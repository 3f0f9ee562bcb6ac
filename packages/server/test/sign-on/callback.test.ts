import { randomBytes } from "node:crypto";
import type { Socket } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { App } from "../../src/app.ts";
import { createCustomer } from "../../src/contract/customers.ts";
import { limits } from "../../src/contract/limits.ts";
import { createProfile, deleteProfile, updateProfile } from "../../src/contract/oidc-profiles.ts";
import {
  createRealm,
  deleteRealm,
  getAuthenticationSettings,
  updateAuthenticationSettings,
} from "../../src/contract/realms.ts";
import { callback, realmToken } from "../../src/contract/sign-on.ts";
import { type SignOnReason, signOnReasonEntry } from "../../src/contract/sign-on-reasons.ts";
import { createEgress } from "../../src/egress/egress.ts";
import { newId } from "../../src/lib/ids.ts";
import { createKeyring } from "../../src/lib/keyring.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { type Answer, call } from "../support/call.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import {
  type Browser,
  COOKIE,
  createFederation,
  type Federation,
  newPkce,
  SHOP,
} from "../support/federation.ts";
import { ADA, type Hooks, type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";
import { until, untilServed } from "../support/until.ts";

/** The way back: what an identity provider, a browser or anybody in between may bring, and what becomes of it. */

let idp: HostileIdp;
let second: HostileIdp;
let shared: Federation;
let f: Federation;
let instances: TestApp[];
let redirects: string[];

beforeAll(async () => {
  idp = await startHostileIdp();
  second = await startHostileIdp();
  shared = await federate();
});
afterAll(async () => {
  await shared.close();
  await idp.close();
  await second.close();
});
beforeEach(async () => {
  f = shared;
  // Later, with nothing recorded and nobody known: as if nothing had been before.
  f.latchkey.clock.advance(10_000);
  for (const table of ["sign_on_attempts", "sign_ons", "customers"] as const)
    await f.latchkey.storage.db.deleteFrom(table).execute();
  f.latchkey.logLines.length = 0;
  redirects = [];
  instances = [];
  for (const provider of [idp, second]) {
    provider.hooks = {};
    provider.person = { ...ADA };
    provider.now = f.latchkey.clock.now;
    provider.journal.length = 0;
  }
});
afterEach(async () => {
  for (const { app } of instances) await app.stop();
  await f.latchkey.app.tidy();
  // Of everything that this file makes the service do: it sends a browser to a provider or to a registered URI (A29).
  const known = [`${idp.origin}/authorize?`, `${second.origin}/authorize?`, `${SHOP}?`];
  expect(redirects.filter((location) => !known.some((start) => location.startsWith(start)))).toEqual([]);
});

async function federate(options: Parameters<typeof createFederation>[0] = {}): Promise<Federation> {
  const made = await createFederation({ idp, allowedOrigins: [idp.origin, second.origin], ...options });
  second.now = made.latchkey.clock.now;
  watch(made.latchkey.app);
  idp.journal.length = 0;
  second.journal.length = 0;
  return made;
}

/** For tests that change more than a reset undoes: a federation of their own. */
function eachAlone(options: () => Parameters<typeof createFederation>[0] = () => ({})): void {
  beforeEach(async () => {
    f = await federate(options());
  });
  afterEach(() => f.close());
}

/** Another instance of the service, on the same database. */
async function beside(options: Parameters<typeof createTestApp>[0] = {}): Promise<App> {
  const { storage, clock } = f.latchkey;
  const allowedOrigins = [idp.origin, second.origin];
  const instance = await createTestApp({ storage, clock, allowedOrigins, ...options });
  instances.push(instance);
  watch(instance.app);
  return instance.app;
}

function watch(app: App): void {
  const { fetch } = app;
  app.fetch = async (request, env) => {
    const response = await fetch(request, env);
    if (response.status >= 300 && response.status < 400)
      redirects.push(response.headers.get("location") ?? "");
    return response;
  };
}

const nobody = (): Browser => ({ cookie: undefined });
const locationOf = (answer: Answer) => answer.headers.get("location") ?? "";
/** Where a redirect leads, and what it says. */
function told(answer: Answer): Record<string, string> {
  const location = locationOf(answer);
  const end = location.indexOf("?");
  return {
    target: location.slice(0, end),
    ...Object.fromEntries(new URLSearchParams(location.slice(end + 1))),
  };
}
const STATE = "the storefront's state";
/** After this, the provider's documents are read again. */
const REREAD_MS = 5 * 60_000;
const REFERENCE = /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/;
/** All that a storefront is told of a refusal, and nothing beside it: no code above all. */
const refusalFor = (reason: SignOnReason, changes: Record<string, unknown> = {}) => ({
  target: SHOP,
  error: signOnReasonEntry(reason).error,
  error_description: signOnReasonEntry(reason).means,
  reason,
  reference: expect.stringMatching(REFERENCE),
  state: STATE,
  iss: f.issuer,
  ...changes,
});
const welcome = () => ({ target: SHOP, code: expect.stringMatching(/^lkac_/), state: STATE, iss: f.issuer });
const referenceOnPage = (answer: Answer): string => /<strong>([^<]+)<\/strong>/.exec(answer.body)?.[1] ?? "";

type Begun = { browser: Browser; location: string; back: string };
/** From the click to the moment before the browser is sent back. */
async function begin(browser = nobody(), parameters = {}, provider = idp): Promise<Begun> {
  const location = locationOf(await f.begin(browser, parameters));
  return { browser, location, back: provider.signIn(location) };
}
const end = ({ browser, back }: Pick<Begun, "browser" | "back">) => f.comeBack(browser, back);

/** The callback at another path, or of another instance, or with other cookies. */
function endAt(
  app: App,
  { browser, back }: Pick<Begun, "browser" | "back">,
  changes: Record<string, string> = {},
) {
  return call(app, callback, {
    ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId, ...changes },
    query: back.slice(back.indexOf("?") + 1),
    headers: browser.cookie === undefined ? {} : { cookie: `${COOKIE}=${browser.cookie}` },
  });
}

const withQuery = (back: string, change: (query: URLSearchParams) => void): string => {
  const [path, search] = back.split("?");
  const query = new URLSearchParams(search);
  change(query);
  return `${path}?${query}`;
};

async function customerOf(provider: HostileIdp, parameters: Record<string, string> = {}): Promise<string> {
  const pkce = newPkce();
  const begun = await begin(nobody(), { code_challenge: pkce.challenge, ...parameters }, provider);
  const { code = "" } = told(await end(begun));
  return (await f.redeem({ code, pkce })).body.data.customer_id;
}

const changeProfile = (data: object) =>
  f.store.call(updateProfile, {
    ids: { realm: f.realmId, id: f.profileId },
    json: { data: { type: "oidc-profile", ...data } },
  });
const removeProfile = () => f.store.call(deleteProfile, { ids: { realm: f.realmId, id: f.profileId } });
const newCustomer = (data: object = {}) =>
  f.store.call(createCustomer, {
    json: { data: { type: "customer", name: "Ada", email: ADA.email, email_verified: true, ...data } },
  });

const rowsOf = (table: "customers" | "customer_identities" | "customer_tokens" | "sign_on_attempts") =>
  f.latchkey.storage.db.selectFrom(table).selectAll().execute();
/** Everything that a sign-on could change of anybody. */
const people = async () => ({
  customers: await rowsOf("customers"),
  identities: await rowsOf("customer_identities"),
  tokens: await rowsOf("customer_tokens"),
});

describe("400: what does not belong to a sign-on that began here", () => {
  const states: [string, (state: string) => string | undefined][] = [
    ["a state with its last letter changed (N90)", (s) => s.slice(0, -1) + (s.endsWith("A") ? "B" : "A")],
    [
      "a state with a letter changed in its middle (N90)",
      (s) => `${s.slice(0, 60)}${s[60] === "A" ? "B" : "A"}${s.slice(61)}`,
    ],
    ["a state that was cut short (N90)", (s) => s.slice(0, -4)],
    ["a state that was added to (N90)", (s) => `${s}AAAA`],
    ["a state of another master key (N90)", (s) => `00000000${s.slice(8)}`],
    ["a state in capitals (N90)", (s) => s.toUpperCase()],
    ["a state with a space behind it (N90)", (s) => `${s} `],
    ["the storefront's own state (N90)", () => STATE],
    ["no state (N91, A23)", () => undefined],
    ["an empty state (N91)", () => ""],
    ["a state that is markup (A73)", () => "<script>alert('evil')</script>"],
    ["a state of 7 KB", () => "e".repeat(7000)],
  ];

  test.each(states)("%s", async (_, change) => {
    const begun = await begin();
    const back = withQuery(begun.back, (query) => {
      const changed = change(query.get("state") ?? "");
      query.delete("state");
      if (changed !== undefined) query.set("state", changed);
    });
    const answer = await end({ ...begun, back });
    expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    expect(answer.body).not.toContain("evil");
    expect(idp.asked("/token")).toBe(0);
    expect(await f.records()).toEqual([]);
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("a state given twice, whichever is right (R5)", async () => {
    const begun = await begin();
    const { state = "" } = Object.fromEntries(new URLSearchParams(begun.back.split("?")[1]));
    for (const back of [`${begun.back}&state=${state}`, begun.back.replace("?", "?state=evil&")])
      expect((await end({ ...begun, back })).code).toBe("attempt_invalid");
    expect(idp.asked("/token")).toBe(0);
  });

  test("nothing at all, and an error without a state", async () => {
    for (const query of ["", "error=access_denied", "code=x"]) {
      const answer = await f.comeBack(nobody(), `${f.callbackUrl}?${query}`);
      expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    }
  });

  test("404 for a realm that is not there; a profile that is not there has no sign-ons", async () => {
    const begun = await begin();
    expect((await endAt(f.latchkey.app, begun, { realm: newId() })).code).toBe("realm_not_found");
    expect((await endAt(f.latchkey.app, begun, { store: newId() })).code).toBe("realm_not_found");
    expect((await endAt(f.latchkey.app, begun, { profile: "x" })).code).toBe("attempt_invalid");
    expect((await endAt(f.latchkey.app, begun, { profile: newId() })).code).toBe("attempt_invalid");
  });

  test("405 for a form that was posted: answers come in the query", async () => {
    const { back, browser } = await begin();
    const [path = "", body = ""] = back.split("?");
    const response = await f.latchkey.app.fetch(
      new Request(path, {
        method: "POST",
        body,
        headers: {
          cookie: `${COOKIE}=${browser.cookie}`,
          "content-type": "application/x-www-form-urlencoded",
        },
      }),
    );
    expect([response.status, response.headers.get("allow")]).toEqual([405, "GET"]);
    expect(idp.asked("/token")).toBe(0);
  });
});

describe("400: the path that a sign-on comes back to is the one that it began for (N95, A20, A21, R82)", () => {
  eachAlone();

  test("not another profile of the realm, not even of the same provider", async () => {
    const twin = await f.addProfile();
    const other = await f.addProfile({ discovery_url: second.discoveryUrl });
    idp.journal.length = 0;
    second.journal.length = 0;
    const begun = await begin();
    for (const profile of [twin, other]) {
      const answer = await endAt(f.latchkey.app, begun, { profile });
      expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    }
    expect([idp.asked("/token"), second.asked("/token")]).toEqual([0, 0]);
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("not another realm of the store, nor another store, with the same provider and redirect URI", async () => {
    const begun = await begin();
    const other = await f.latchkey.createStore(10_000);
    for (const store of [f.store, other]) {
      const realm = { type: "authentication-realm", name: "Other", redirect_uris: [SHOP] };
      const made = await store.call(createRealm, { json: { data: realm } });
      const profile = {
        type: "oidc-profile",
        name: "Other",
        discovery_url: idp.discoveryUrl,
        client_id: idp.clientId,
        client_secret: "s",
      };
      const ids = { realm: made.body.data.id };
      const profileId = (await store.call(createProfile, { ids, json: { data: profile } })).body.data.id;
      for (const profileIn of [profileId, f.profileId]) {
        const at = { store: store.store.id, realm: made.body.data.id, profile: profileIn };
        expect((await endAt(f.latchkey.app, begun, at)).code).toBe("attempt_invalid");
      }
    }
    expect(idp.asked("/token")).toBe(0);
  });

  test("a code of another provider is shown to the one that was asked, and to nobody else (R79)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const [honest, other] = [await begin(), await begin(nobody(), { profile }, second)];
    const stolen = new URLSearchParams(other.back.split("?")[1]).get("code") ?? "";
    const back = withQuery(honest.back, (query) => query.set("code", stolen));
    expect(told(await end({ ...honest, back })).error).toBe("server_error");
    expect([idp.asked("/token"), second.asked("/token")]).toEqual([1, 0]);
  });
});

describe("400: a sign-on ends in the browser in which it began (N96, A22, A30, R83)", () => {
  const cookies: [string, (own: string, stranger: string) => string | undefined][] = [
    ["no cookie", () => undefined],
    ["the cookie of another browser", (_, stranger) => `${COOKIE}=${stranger}`],
    ["the cookie with a letter changed", (own) => `${COOKIE}=${own.slice(1)}_`],
    ["the cookie cut short", (own) => `${COOKIE}=${own.slice(1)}`],
    ["an empty cookie", () => `${COOKIE}=`],
    ["the cookie twice", (own) => `${COOKIE}=${own}; ${COOKIE}=${own}`],
    ["the cookie beside another's", (own, stranger) => `${COOKIE}=${stranger}; ${COOKIE}=${own}`],
    ["the cookie under its plain name", (own) => `latchkey=${own}`],
    ["the cookie in quotes", (own) => `${COOKIE}="${own}"`],
  ];

  test.each(cookies)("%s", async (_, cookieOf) => {
    const stranger = nobody();
    await f.begin(stranger);
    const begun = await begin();
    const cookie = cookieOf(begun.browser.cookie ?? "", stranger.cookie ?? "");
    const answer = await call(f.latchkey.app, callback, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      query: begun.back.slice(begun.back.indexOf("?") + 1),
      headers: cookie === undefined ? {} : { cookie },
    });
    expect([answer.status, answer.code]).toEqual([400, "browser_changed"]);
    expect(referenceOnPage(answer)).toMatch(REFERENCE);
    expect(idp.asked("/token")).toBe(0);
    expect(await rowsOf("sign_on_attempts")).toEqual([]);
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("any number of tabs can be open in one browser, and end in any order", async () => {
    const browser = nobody();
    const tabs = [];
    for (const state of ["first", "second", "third"]) tabs.push(await begin(browser, { state }));
    const answers = [];
    for (const tab of tabs.reverse()) answers.push(told(await end(tab)));
    expect(answers.map(({ state }) => state)).toEqual(["third", "second", "first"]);
    expect(new Set(answers.map(({ code }) => code)).size).toBe(3);
  });

  test("an attacker's own sign-on cannot be finished by somebody else, nor somebody else's by the attacker", async () => {
    const [attacker, victim] = [await begin(), await begin()];
    expect((await end({ browser: victim.browser, back: attacker.back })).code).toBe("browser_changed");
    expect((await end({ browser: attacker.browser, back: victim.back })).code).toBe("browser_changed");
    expect(idp.asked("/token")).toBe(0);
  });

  test("a code of somebody else, brought with one's own state, is refused by the provider for its verifier (A23, R77)", async () => {
    const [attacker, victim] = [await begin(), await begin()];
    const code = new URLSearchParams(attacker.back.split("?")[1]).get("code") ?? "";
    const back = withQuery(victim.back, (query) => query.set("code", code));
    expect(told(await end({ ...victim, back }))).toEqual(refusalFor("token.refused"));
  });
});

describe("who answered (RFC 9207)", () => {
  eachAlone();

  const saysIss = (document: object) => ({
    ...document,
    authorization_response_iss_parameter_supported: true,
  });

  test.each<[string, (issuer: string) => string]>([
    ["another", () => "https://evil.example"],
    ["with a slash at its end", (issuer) => `${issuer}/`],
    ["in capitals", (issuer) => issuer.toUpperCase()],
    ["with a space", (issuer) => `${issuer} `],
    ["cut short", (issuer) => issuer.slice(0, -1)],
    ["encoded twice", (issuer) => encodeURIComponent(issuer)],
    ["our own", () => f.issuer],
  ])("303: an issuer that is %s stops it, whether or not one was announced (N92, R80)", async (_, change) => {
    for (const discovery of [undefined, saysIss]) {
      f.latchkey.clock.advance(REREAD_MS);
      idp.hooks = {
        ...(discovery && { discovery }),
        redirect: (parameters) => ({ ...parameters, iss: change(idp.issuer) }),
      };
      expect(told(await end(await begin()))).toEqual(refusalFor("response.iss_mismatch"));
      expect(idp.asked("/token")).toBe(0);
    }
  });

  test("303: none stops it when one was announced (N93, R81)", async () => {
    idp.hooks = { discovery: saysIss };
    expect(told(await end(await begin()))).toEqual(refusalFor("response.iss_missing"));
    expect(idp.asked("/token")).toBe(0);
  });

  test("none is needed when none was announced; the right one is always good (N93)", async () => {
    expect(told(await end(await begin()))).toEqual(welcome());
    idp.hooks.redirect = (parameters) => ({ ...parameters, iss: idp.issuer });
    expect(told(await end(await begin()))).toEqual(welcome());
    idp.hooks.discovery = saysIss;
    f.latchkey.clock.advance(REREAD_MS);
    expect(told(await end(await begin()))).toEqual(welcome());
  });

  test("an error is believed from the issuer alone, too (R80)", async () => {
    idp.hooks.redirect = ({ state = "" }) => ({ state, error: "access_denied", iss: "https://evil.example" });
    expect(told(await end(await begin()))).toEqual(refusalFor("response.iss_mismatch"));
  });

  test("an error without the issuer that was announced is not believed, and is in the record (R81)", async () => {
    idp.hooks = {
      discovery: saysIss,
      redirect: ({ state = "" }) => ({ state, error: "access_denied", error_description: "she said no" }),
    };
    const answer = told(await end(await begin()));
    expect(answer).toEqual(refusalFor("response.iss_missing"));
    expect(await f.recordOf(answer.reference ?? "")).toMatchObject({
      remedy: expect.stringContaining("beside errors too"),
      idp_answer: { call: "authorize", error: "access_denied", error_description: "she said no" },
    });
  });

  test("both issuers are in the record, on one line each and cut short", async () => {
    const iss = `evil\r\n\u202e\0${"x".repeat(500)}`;
    idp.hooks.redirect = (parameters) => ({ ...parameters, iss });
    const { reference = "" } = told(await end(await begin()));
    const [check] = (await f.recordOf(reference)).checks;
    expect(check).toMatchObject({ check: "response.iss", passed: false, expected: idp.issuer });
    expect(check.found.length).toBeLessThanOrEqual(200);
    expect(check.found).toMatch(/^evil[^\p{C}\p{Zl}\p{Zp}]+$/u);
  });
});

describe("coming back again", () => {
  eachAlone();

  test("303 callback_replay after it worked, with the first one's reference; the code still works (N94, R85)", async () => {
    const pkce = newPkce();
    const begun = await begin(nobody(), { code_challenge: pkce.challenge });
    const { code = "" } = told(await end(begun));
    const [{ reference, checks, timings }] = await f.records();
    for (let time = 0; time < 3; time++)
      expect(told(await end(begun))).toEqual(refusalFor("callback_replay", { reference }));
    expect(idp.asked("/token")).toBe(1);
    expect((await f.redeem({ code, pkce })).status).toBe(200);
    expect(told(await end(begun))).toEqual(refusalFor("callback_replay", { reference }));
    const records = await f.records();
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ outcome: "exchanged", reason: null, reference, checks, timings });
    expect(checks.length).toBeGreaterThan(0);
  });

  test("303 callback_replay after it failed, with the first one's reference (N94)", async () => {
    idp.hooks.claims = ({ nonce: _, ...claims }) => claims;
    const begun = await begin();
    const { reference = "" } = told(await end(begun));
    idp.hooks = {};
    expect(told(await end(begun))).toEqual(refusalFor("callback_replay", { reference }));
    expect(idp.asked("/token")).toBe(1);
    expect(await f.recordOf(reference)).toMatchObject({ outcome: "failed", reason: "id_token.nonce" });
  });

  test("303 callback_replay without a reference after a failure that left no record, because there were too many", async () => {
    const fail = async (begun: Begun) =>
      told(await end({ ...begun, back: withQuery(begun.back, (query) => query.delete("code")) }));
    let begun = await begin();
    while ((await fail(begun)).reference !== undefined) begun = await begin();
    expect(await fail(begun)).toMatchObject({ error: "callback_replay" });
    expect(await fail(begun)).not.toHaveProperty("reference");
    await f.latchkey.app.tidy();
    expect(await fail(begun)).not.toHaveProperty("reference");
  });

  test("with another code or error in it, it is still the same sign-on (N94)", async () => {
    const begun = await begin();
    await end(begun);
    for (const change of [
      (query: URLSearchParams) => query.set("code", "another"),
      (query: URLSearchParams) => query.set("error", "access_denied"),
      (query: URLSearchParams) => query.delete("code"),
    ]) {
      const answer = await end({ ...begun, back: withQuery(begun.back, change) });
      expect(told(answer)).toEqual(refusalFor("callback_replay"));
    }
    expect(idp.asked("/token")).toBe(1);
  });

  test("an error that came first cannot be followed by a code (R86)", async () => {
    const begun = await begin();
    const back = withQuery(begun.back, (query) => query.set("error", "login_required"));
    expect(told(await end({ ...begun, back })).error).toBe("login_required");
    expect(told(await end(begun))).toEqual(refusalFor("callback_replay"));
    expect(idp.asked("/token")).toBe(0);
  });

  test("in another browser, or ten minutes later, leaves the record of the first time as it was", async () => {
    const signedOn = await f.signOn();
    await f.redeem(signedOn);
    const [before] = await f.records();
    expect(before.checks.length).toBeGreaterThan(5);
    await end({ browser: nobody(), back: signedOn.callback });
    f.latchkey.clock.advance(600_000);
    expect((await end({ browser: signedOn.browser, back: signedOn.callback })).code).toBe("attempt_expired");
    const after = (await f.records()).find(({ id }) => id === before.id);
    expect(after).toEqual(before);
  });

  test("in another browser a hundred times leaves few records (A76)", async () => {
    const begun = await begin();
    for (let time = 0; time < 100; time++)
      expect((await end({ ...begun, browser: nobody() })).code).toBe("browser_changed");
    expect((await f.records()).length).toBeLessThan(50);
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("a stranger who came first does not hide why the sign-on itself failed", async () => {
    const begun = await begin();
    expect((await end({ browser: nobody(), back: begun.back })).code).toBe("browser_changed");
    idp.hooks.token = () => ({ error: "invalid_grant" });
    const { reference = "" } = told(await end(begun));
    await f.latchkey.app.tidy();
    const records = (await f.records()).filter((record) => record.reference === reference);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({ reason: "token.refused", profile_id: f.profileId });
  });

  test("ids of attempts are remembered for as long as their state can be opened (N94, N100)", async () => {
    const begun = await begin();
    f.latchkey.clock.advance(599_000);
    await end(begun);
    f.latchkey.clock.advance(500);
    await f.latchkey.app.tidy();
    expect(told(await end(begun))).toEqual(refusalFor("callback_replay"));
  });
});

describe.each(engines)("on $name", (engine) => {
  let database: TestDatabase;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    f = await federate({ databaseUrl: database.url });
  });
  afterEach(async () => {
    if (f === shared) return;
    for (const { storage } of instances) if (storage !== f.latchkey.storage) await storage.close();
    await f.close();
    await database.drop();
  });

  test("twenty callbacks at once over two instances: one token request, one code, nineteen replays (N94, I1)", async () => {
    const other = engine.name === "sqlite" ? await beside() : await apart();
    const pkce = newPkce();
    const begun = await begin(nobody(), { code_challenge: pkce.challenge });
    const apps = [f.latchkey.app, other];
    // Whoever hears that the database is too busy comes again, as a shopper would.
    const comeBack = (app: App) =>
      untilServed(async () => {
        const answer = await endAt(app, begun);
        return told(answer).error === "temporarily_unavailable" ? { ...answer, status: 503 } : answer;
      });
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => comeBack(apps[index % 2] as App)),
    );
    const codes = answers.map((answer) => told(answer).code).filter((code) => code !== undefined);
    expect(codes).toHaveLength(1);
    const errors = answers.map((answer) => told(answer).error).filter((error) => error !== undefined);
    expect(errors).toEqual(Array(19).fill("callback_replay"));
    expect(new Set(answers.map((answer) => told(answer).reference)).size).toBe(2);
    expect(idp.asked("/token")).toBe(1);
    expect((await f.redeem({ code: codes[0] ?? "", pkce })).status).toBe(200);
    expect(await rowsOf("sign_on_attempts")).toHaveLength(1);
  });

  test("a nonce of any characters is refused at once, or comes back as it was (OpenID Connect Core 3.1.2.1)", async () => {
    for (const nonce of ["a\0b", "ключ 🔑", "\x01\x7f\u2028"]) {
      const signedOn = await f.signOn({ parameters: { nonce } });
      if (signedOn.error === "invalid_request") continue;
      expect(signedOn.error, JSON.stringify(nonce)).toBeNull();
      const { body } = await call(f.latchkey.app, realmToken, {
        ids: { store: f.store.store.id, realm: f.realmId },
        form: {
          grant_type: "authorization_code",
          code: signedOn.code,
          redirect_uri: SHOP,
          client_id: "customers",
          code_verifier: signedOn.pkce.verifier,
        },
      });
      const payload = JSON.parse(Buffer.from(body.id_token.split(".")[1], "base64url").toString());
      expect(payload.nonce).toBe(nonce);
    }
  });

  /** With connections of its own, as another process has. */
  async function apart(): Promise<App> {
    const allowedOrigins = [idp.origin, second.origin];
    const { clock } = f.latchkey;
    const instance = await createTestApp({ databaseUrl: database.url, clock, allowedOrigins });
    instances.push(instance);
    watch(instance.app);
    return instance.app;
  }
});

describe("the provider says no", () => {
  const description = "marker <script>alert(1)</script>\r\nSet-Cookie: a=b";
  const sayNo = (error: string) => {
    idp.hooks.redirect = ({ state = "" }) => ({
      state,
      error,
      error_description: description,
      error_uri: "https://marker.example",
    });
  };

  test.each([
    "access_denied",
    "login_required",
    "interaction_required",
    "consent_required",
    "account_selection_required",
    "temporarily_unavailable",
    "server_error",
    "invalid_request",
    "unauthorized_client",
    "unsupported_response_type",
    "invalid_scope",
  ])("303: %s is passed on; its description is in the record alone, on one line (N98)", async (error) => {
    sayNo(error);
    const answer = await end(await begin());
    const known: Record<string, SignOnReason> = {
      invalid_scope: "idp_error.scope",
      unauthorized_client: "idp_error.flow_off",
      unsupported_response_type: "idp_error.flow_off",
    };
    const reason = known[error] ?? "idp_error";
    expect(told(answer)).toEqual(refusalFor(reason, { error }));
    const record = await f.recordOf(told(answer).reference ?? "");
    expect(record).toMatchObject({
      reason,
      error,
      idp_answer: {
        call: "authorize",
        status: null,
        fault: null,
        error,
        error_description: "marker <script>alert(1)</script>\ufffd\ufffdSet-Cookie: a=b",
      },
    });
    expect(JSON.stringify(record)).not.toContain("marker.example");
    expect(JSON.stringify([f.latchkey.logLines, [...answer.headers]])).not.toContain("marker");
    expect(idp.asked("/token")).toBe(0);
  });

  test.each([
    ["markup", "<script>alert('marker')</script>"],
    ["a header", "access_denied\r\nSet-Cookie: marker=1"],
    ["capitals", "ACCESS_DENIED"],
    ["a space behind it", "access_denied "],
    ["a code of its own", "marker_error"],
    ["a code of ours", "callback_replay"],
    ["a code of the token endpoint", "invalid_grant"],
    ["a member of every object", "constructor"],
    ["five thousand characters", "marker".repeat(800)],
  ])("303: %s for a code is a server_error (N99)", async (_, error) => {
    sayNo(error);
    const answer = await end(await begin());
    expect(told(answer)).toEqual(refusalFor("idp_error", { error: "server_error" }));
    const { error: shown, idp_answer } = await f.recordOf(told(answer).reference ?? "");
    expect(shown).toBe("server_error");
    expect(idp_answer.error).toMatch(/^\P{C}{1,100}$/u);
    expect(JSON.stringify([f.latchkey.logLines, [...answer.headers]])).not.toContain("marker");
  });

  test("414: ten thousand characters are not read; the sign-on can still end well (N99)", async () => {
    const begun = await begin();
    const answer = await end({ ...begun, back: `${begun.back}&error=${"marker".repeat(1700)}` });
    expect([answer.status, answer.code]).toEqual([414, "url_too_long"]);
    expect(answer.body).not.toContain("marker");
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("an error beside a code is an error; an empty one is none (R5, R86)", async () => {
    idp.hooks.redirect = (parameters) => ({ ...parameters, error: "login_required" });
    expect(told(await end(await begin()))).toEqual(refusalFor("idp_error", { error: "login_required" }));
    expect(idp.asked("/token")).toBe(0);
    idp.hooks.redirect = (parameters) => ({ ...parameters, error: "" });
    expect(told(await end(await begin()))).toEqual(welcome());
  });

  test("prompt=none for somebody who is not signed in goes there and back (2.6 prompt-none-not-logged-in)", async () => {
    idp.hooks.redirect = ({ state = "" }) => ({ state, error: "login_required" });
    const begun = await begin(nobody(), { prompt: "none" });
    expect(new URL(begun.location).searchParams.get("prompt")).toBe("none");
    expect(told(await end(begun))).toEqual(refusalFor("idp_error", { error: "login_required" }));
  });
});

describe("ten minutes", () => {
  eachAlone();

  test.each([
    ["9:59", 599_000],
    ["one millisecond before ten", 599_999],
  ])("%s is in time (N100)", async (_, waitMs) => {
    const begun = await begin();
    f.latchkey.clock.advance(waitMs);
    expect(told(await end(begun))).toEqual(welcome());
  });

  test.each([
    ["10:00", 600_000],
    ["an hour", 3_500_000],
  ])("400: %s is too late, with a page that says to start again (N100)", async (_, waitMs) => {
    const begun = await begin();
    f.latchkey.clock.advance(waitMs);
    const answer = await end(begun);
    expect([answer.status, answer.code]).toEqual([400, "attempt_expired"]);
    expect(answer.body).toContain("sign in again");
    expect(idp.asked("/token")).toBe(0);
    const record = await f.recordOf(referenceOnPage(answer));
    expect(record).toMatchObject({ outcome: "failed", reason: "attempt_expired", error: null });
    expect(await rowsOf("sign_on_attempts")).toEqual([]);
  });
});

describe("what changed while the shopper was away", () => {
  eachAlone();

  test("303 access_denied: the profile was disabled; others of the realm go on (T24, A09)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const [begun, other] = [await begin(), await begin(nobody(), { profile }, second)];
    await changeProfile({ enabled: false });
    idp.journal.length = 0;
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect(idp.journal).toEqual([]);
    expect(told(await end(other))).toEqual(welcome());
  });

  test("303 access_denied: the profile was deleted (T24)", async () => {
    const begun = await begin();
    await removeProfile();
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect(idp.asked("/token")).toBe(0);
  });

  test("303 access_denied: the profile was deleted and made again: it is another (A04)", async () => {
    const begun = await begin();
    await removeProfile();
    const profile = await f.addProfile();
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect((await endAt(f.latchkey.app, begun, { profile })).code).toBe("attempt_invalid");
  });

  test("400: the profile was disabled after the callback; the code is worth nothing (T24, A09)", async () => {
    const signedOn = await f.signOn();
    await changeProfile({ enabled: false });
    const answer = await f.redeem(signedOn);
    expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
    expect(await people()).toEqual({ customers: [], identities: [], tokens: [] });
    await changeProfile({ enabled: true });
    expect((await f.redeem(signedOn)).code).toBe("code_invalid");
  });

  test("400: the profile was turned direct after the callback; the code is void, also when it is turned back (T24)", async () => {
    const signedOn = await f.signOn();
    const settings = { type: "customer-authentication-settings", client_id: idp.clientId };
    await f.store.call(updateAuthenticationSettings, { json: { data: settings } });
    expect((await changeProfile({ flow: "direct" })).status).toBe(200);
    idp.journal.length = 0;
    const answer = await f.redeem(signedOn);
    expect([answer.status, answer.code]).toEqual([400, "sign_on_refused"]);
    expect(answer.body.errors[0].meta.reason).toBe("profile_disabled");
    expect(idp.journal).toEqual([]);
    expect(await people()).toEqual({ customers: [], identities: [], tokens: [] });
    await changeProfile({ flow: "brokered" });
    expect((await f.redeem(signedOn)).code).toBe("code_invalid");
  });

  test("400: the redirect URI was taken off the realm; there is nowhere to go back to (T24)", async () => {
    const begun = await begin();
    await f.changeRealm({ redirect_uris: [`${SHOP}?shop=1`, `${SHOP}/`] });
    const answer = await end(begun);
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.body).not.toContain("shop.example");
    expect(idp.asked("/token")).toBe(0);
    await f.changeRealm({ redirect_uris: [SHOP] });
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("404: the realm was deleted (T24)", async () => {
    const begun = await begin();
    await removeProfile();
    const realm = { type: "authentication-realm", name: "Other" };
    const made = await f.store.call(createRealm, { json: { data: realm } });
    const settings = { type: "customer-authentication-settings", realm_id: made.body.data.id };
    await f.store.call(updateAuthenticationSettings, { json: { data: settings } });
    await f.store.call(deleteRealm, { ids: { id: f.realmId } });
    const answer = await end(begun);
    expect([answer.status, answer.code]).toEqual([404, "realm_not_found"]);
    expect((await f.store.call(getAuthenticationSettings)).body.data.realm_id).toBe(made.body.data.id);
  });

  test("303 access_denied: the profile was pointed at another provider, which is shown nothing of this sign-on (R79, A20)", async () => {
    const begun = await begin();
    const moved = await changeProfile({
      discovery_url: second.discoveryUrl,
      client_secret: second.clientSecrets[0],
    });
    expect(moved.status).toBe(200);
    expect(told(await end(begun))).toEqual(refusalFor("profile_disabled"));
    expect([idp.asked("/token"), second.asked("/token")]).toEqual([0, 0]);
  });

  test("the client secret was replaced: the new one is used", async () => {
    const begun = await begin();
    await changeProfile({ client_secret: "another secret" });
    expect(told(await end(begun))).toEqual(welcome());
    const sent = idp.journal.find(({ path }) => path === "/token")?.authorization ?? "";
    expect(atob(sent.slice("Basic ".length))).toBe("the-store:another%20secret");
  });

  test("303 temporarily_unavailable: our database went away; when it is back, the same sign-on goes on (T19)", async () => {
    const begun = await begin();
    const { storage } = f.latchkey;
    const { ahead } = storage;
    storage.ahead = async () => {
      throw Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
    };
    expect(told(await end(begun))).toEqual(refusalFor("storage_unavailable"));
    expect(idp.asked("/token")).toBe(0);
    storage.ahead = ahead;
    expect(told(await end(begun))).toEqual(welcome());
  });

  test("303 temporarily_unavailable: the provider's documents have become too old", async () => {
    await f.begin(nobody());
    idp.hooks.answer = { "/.well-known/openid-configuration": (_, response) => void response.destroy() };
    f.latchkey.clock.advance(24 * 3_600_000 - 60_000);
    const begun = await begin();
    f.latchkey.clock.advance(120_000);
    expect(told(await end(begun))).toEqual(refusalFor("idp_unavailable"));
    expect(idp.asked("/token")).toBe(0);
  });
});

describe("another instance", () => {
  const [oldKey, newKey] = [randomBytes(32), randomBytes(32)];
  eachAlone(() => ({ keyring: createKeyring([oldKey]) }));

  test("takes the callback of a sign-on that began elsewhere, and a third one redeems its code", async () => {
    const pkce = newPkce();
    const begun = await begin(nobody(), { code_challenge: pkce.challenge });
    const other = await beside({ keyring: createKeyring([oldKey]) });
    const { code = "" } = told(await endAt(other, begun));
    expect((await f.redeem({ code, pkce })).status).toBe(200);
    expect(told(await end(begun))).toEqual(refusalFor("callback_replay"));
  });

  test("with a new master key before the old one opens what the old one sealed (T53)", async () => {
    const begun = await begin();
    const rotated = await beside({ keyring: createKeyring([newKey, oldKey]) });
    expect(told(await endAt(rotated, begun))).toEqual(welcome());
  });

  test("400: with the old master key taken away, it cannot be opened (T53)", async () => {
    const begun = await begin();
    const answer = await endAt(await beside({ keyring: createKeyring([newKey]) }), begun);
    expect([answer.status, answer.code]).toEqual([400, "attempt_invalid"]);
    expect(idp.asked("/token")).toBe(0);
    expect(told(await end(begun))).toEqual(welcome());
  });
});

/** How long the service waits for a provider. */
const patience = (callMs: number) => () => ({
  egress: createEgress({ allowedOrigins: [idp.origin, second.origin], callMs }),
});

describe("a provider that does not answer", () => {
  eachAlone(patience(1500));

  test("303 temporarily_unavailable in bounded time, each of them; once it answers, the next one is signed on at once (T40, A57)", async () => {
    const attempts: Begun[] = [];
    for (let index = 0; index < 12; index++) attempts.push(await begin());
    const take = (count: number) => Promise.all(attempts.splice(0, count).map(end));
    idp.hooks.answer = { "/token": () => {} };
    for (const answer of await take(6)) expect(told(answer)).toEqual(refusalFor("token.unavailable"));
    for (const answer of await take(5)) expect(told(answer)).toEqual(refusalFor("token.unavailable"));
    expect(idp.asked("/token")).toBe(11);
    idp.hooks = {};
    expect(told(await end(attempts[0] as Begun))).toEqual(welcome());
    expect(told(await end(await begin()))).toEqual(welcome());
  });
});

describe("a provider that drips", () => {
  eachAlone(patience(2500));

  test("sixty at once: all are told, and another provider's sign-on is done first (T41, A57)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const attempts: Begun[] = [];
    for (let index = 0; index < 60; index++) attempts.push(await begin());
    const open = new Set<Socket>();
    idp.hooks.answer = {
      "/token": ({ socket }, response) => {
        open.add(socket);
        response.writeHead(200, { "Content-Type": "application/json" });
        const drip = setInterval(() => response.write(" "), 50);
        socket.once("close", () => {
          clearInterval(drip);
          open.delete(socket);
        });
      },
    };
    let isOver = false;
    const stuck = Promise.all(attempts.map(end)).finally(() => {
      isOver = true;
    });
    expect(told(await end(await begin(nobody(), { profile }, second)))).toEqual(welcome());
    expect(isOver).toBe(false);
    // All from one address: half of the places are for those. The others wait, and not for longer than anybody else.
    const unnamed = ({ reference: _, ...rest }: Record<string, unknown>) => rest;
    const refusals = [refusalFor("token.unavailable"), refusalFor("source_busy")].map(unnamed);
    for (const answer of await stuck) expect(refusals).toContainEqual(unnamed(told(answer)));
    expect(idp.asked("/token")).toBeGreaterThanOrEqual(limits.idpInFlight / 2);
    await until(() => open.size === 0);
    expect(told(await end(await begin(nobody(), { profile }, second)))).toEqual(welcome());
  });
});

/**
 * The standard refusal: told to the storefront with its state and our iss and without a code; the provider is asked nothing
 * more; nobody is changed; the attempt is over; one record says why and holds no secret; the next sign-on works.
 */
describe("303: a fault ends the sign-on and harms nothing", () => {
  const ACCESS_TOKEN = "access-token-of-the-provider";
  /** What is wrong, and what the provider was asked for by then, and to the end. */
  type Fault = [reason: SignOnReason, what: string, asked: string[], hooks: Hooks, more?: More];
  type More = {
    error?: string;
    before?: () => unknown;
    /** While the shopper is away. */
    meanwhile?: () => unknown;
    back?: (url: string) => string;
    /** What an administrator does about it. */
    mend?: () => unknown;
    /** The profile to sign in through after that, where it is another. */
    profileAfter?: () => Promise<string>;
  };

  /**
   * What was asked for this sign-on. Documents that are old are read behind its back, the keys after the metadata; of a reading that
   * began before it, the keys alone are here, and before any token.
   */
  function askedFor(): string[] {
    const paths = idp.journal.map(({ path }) => path);
    for (;;) {
      const at = paths.indexOf("/.well-known/openid-configuration");
      if (at === -1) break;
      const keysAt = paths.indexOf("/keys", at);
      if (keysAt !== -1) paths.splice(keysAt, 1);
      paths.splice(at, 1);
    }
    return paths[0] === "/keys" ? paths.slice(1) : paths;
  }

  async function walkInto(
    reason: SignOnReason,
    asked: string[],
    hooks: Hooks,
    more: More = {},
  ): Promise<void> {
    const { error = signOnReasonEntry(reason).error } = more;
    await more.before?.();
    const issued: string[] = [];
    const { token: change = (own: object) => own } = hooks;
    idp.hooks = {
      ...hooks,
      token: (own, form) => {
        issued.push(String(own.id_token));
        return change({ ...own, access_token: ACCESS_TOKEN }, form);
      },
    };
    idp.journal.length = 0;
    const begun = await begin();
    await more.meanwhile?.();
    const back = more.back?.(begun.back) ?? begun.back;
    const before = await people();

    const answer = await end({ ...begun, back });
    expect(answer.status).toBe(303);
    expect(told(answer)).toEqual(refusalFor(reason, { error }));
    const { reference = "" } = told(answer);
    expect(askedFor()).toEqual(asked);
    expect(await people()).toEqual(before);
    expect(await rowsOf("sign_on_attempts")).toEqual([
      expect.objectContaining({ state: "failed", code_expires_at: null, identity: null, token_id: null }),
    ]);

    const sent = new URLSearchParams(idp.journal.find(({ path }) => path === "/token")?.body);
    const atIdp = new URL(begun.location).searchParams;
    const secrets = [
      new URLSearchParams(begun.back.split("?")[1]).get("code"),
      sent.get("code_verifier"),
      atIdp.get("state"),
      atIdp.get("nonce"),
      begun.browser.cookie,
      ...issued.flatMap((token) => (token === "undefined" ? [] : [token, token.split(".")[2]])),
      ACCESS_TOKEN,
      STATE,
      "first secret",
    ].filter((text): text is string => text !== undefined && text !== null && text !== "");
    expect(secrets.length).toBeGreaterThanOrEqual(6);

    for (const _ of ["with the same fault", "with an honest answer"]) {
      expect(told(await end({ ...begun, back }))).toEqual(refusalFor("callback_replay", { reference }));
      idp.hooks = {};
    }
    expect(askedFor()).toEqual(asked);

    const { means, remedy } = signOnReasonEntry(reason);
    expect(await f.records()).toHaveLength(1);
    const record = await f.recordOf(reference);
    expect(record).toMatchObject({ outcome: "failed", reason, error, means, remedy, customer_id: null });
    expect(record.realm_id).toBe(f.realmId);
    expect(f.latchkey.logLines).toContainEqual(expect.objectContaining({ reference, reason, status: 303 }));
    const written = JSON.stringify([record, f.latchkey.logLines]);
    for (const secret of secrets) expect(written).not.toContain(secret);

    await more.mend?.();
    const profile = (await more.profileAfter?.()) ?? f.profileId;
    const next = await f.signOn({ parameters: { profile } });
    expect(told(next.answer)).toEqual(welcome());
    expect((await f.redeem(next)).status).toBe(200);
  }

  const json = { "Content-Type": "application/json" };
  const says = (path: string, status: number, body = "", headers: Record<string, string> = json): Hooks => ({
    answer: { [path]: (_, response) => void response.writeHead(status, headers).end(body) },
  });
  const redirect = (change: NonNullable<Hooks["redirect"]>): Hooks => ({ redirect: change });
  const claims = (changes: Record<string, unknown>): Hooks => ({ claims: (own) => ({ ...own, ...changes }) });
  const shifted = (name: string, seconds: number): Hooks => ({
    claims: (own) => ({ ...own, [name]: Number(own.iat) + seconds }),
  });
  const without = (name: string): Hooks => ({ claims: ({ [name]: _, ...own }) => own });
  const tokens = (changes: Record<string, unknown>): Hooks => ({ token: (own) => ({ ...own, ...changes }) });
  const forged = (change: (parts: string[]) => string[]): Hooks => ({
    token: (own) => ({ ...own, id_token: change(String(own.id_token).split(".")).join(".") }),
  });
  const turned = (signature = "") =>
    Buffer.from(Buffer.from(signature, "base64url").map((byte) => byte ^ 0x5a)).toString("base64url");
  const changed = (payload = "") => {
    const own = JSON.parse(Buffer.from(payload, "base64url").toString());
    return Buffer.from(JSON.stringify({ ...own, sub: "admin" })).toString("base64url");
  };
  const noEmail = without("email");
  const reread = () => f.latchkey.clock.advance(REREAD_MS);
  const saysIss: Hooks = {
    discovery: (own) => ({ ...own, authorization_response_iss_parameter_supported: true }),
  };
  const breaksOff: Hooks = {
    answer: {
      "/token": (_, response) => {
        response.writeHead(200, { ...json, "Content-Length": "100" });
        response.write("{", () => response.destroy());
      },
    },
  };
  const html = { "Content-Type": "text/html" };
  const jwt = { "Content-Type": "application/jwt" };
  const bringsKey = { kid: "mine", jwk: { kty: "EC" }, jku: "https://evil.example/keys" };
  const twoEmails = ["ada@shop.example", "evil@example.com"];
  const elsewhere = (own: Record<string, string>) => ({ ...own, iss: "https://evil.example" });
  const twoIssuers = (url: string) => `${url}&iss=${encodeURIComponent(idp.issuer)}&iss=evil`;
  const [NOTHING, TOKEN, KEYS, USERINFO] = [[], ["/token"], ["/token", "/keys"], ["/token", "/userinfo"]];

  const faults: Fault[] = [
    ["response.iss_mismatch", "another issuer (N92)", NOTHING, redirect(elsewhere)],
    ["response.iss_missing", "no issuer (N93, A23)", NOTHING, saysIss, { before: reread, mend: reread }],
    ["response.code_missing", "no code", NOTHING, redirect(({ state = "" }) => ({ state }))],
    ["response.code_missing", "an empty code", NOTHING, redirect((own) => ({ ...own, code: "" }))],
    [
      "response.code_missing",
      "5 KB of code",
      NOTHING,
      redirect((own) => ({ ...own, code: "c".repeat(5000) })),
    ],
    ["response.parameter_repeated", "two codes", NOTHING, {}, { back: (url) => `${url}&code=evil` }],
    ["response.parameter_repeated", "two errors", NOTHING, {}, { back: (url) => `${url}&error=a&error=b` }],
    ["response.parameter_repeated", "two issuers", NOTHING, {}, { back: twoIssuers }],
    [
      "idp_error",
      "a refusal (N98)",
      NOTHING,
      redirect(({ state = "" }) => ({ state, error: "access_denied" })),
      { error: "access_denied" },
    ],
    [
      "idp_error",
      "an odd refusal (N99)",
      NOTHING,
      redirect(({ state = "" }) => ({ state, error: "<evil>" })),
    ],
    ["token.refused", "400 invalid_grant (N74)", TOKEN, says("/token", 400, '{"error":"invalid_grant"}')],
    ["token.refused", "an error with 200 (N74)", TOKEN, { token: () => ({ error: "x" }) }],
    ["token.client_refused", "401 (N74)", TOKEN, says("/token", 401, '{"error":"invalid_client"}')],
    ["token.client_refused", "400 invalid_client", TOKEN, says("/token", 400, '{"error":"invalid_client"}')],
    ["token.unavailable", "500", TOKEN, says("/token", 500)],
    ["token.unavailable", "a redirect (N59)", TOKEN, says("/token", 307, "", { Location: "/keys" })],
    ["token.unavailable", "HTML (N75)", TOKEN, says("/token", 200, "<html>", html)],
    ["token.unavailable", "nothing (N75)", TOKEN, says("/token", 200)],
    ["token.unavailable", "half of a JSON (N75)", TOKEN, says("/token", 200, '{"a":')],
    ["token.unavailable", "100 KB (N75)", TOKEN, says("/token", 200, `{"a":"${"x".repeat(100_000)}"}`)],
    ["token.unavailable", "a reset in the middle (N75)", TOKEN, breaksOff],
    ["token.type", "another token type (R91)", TOKEN, tokens({ token_type: "mac" })],
    ["token.type", "no token type", TOKEN, tokens({ token_type: undefined })],
    ["id_token.missing", "no ID token (N73)", TOKEN, tokens({ id_token: undefined })],
    ["id_token.missing", "null for an ID token (N73)", TOKEN, tokens({ id_token: null })],
    ["id_token.missing", "an object for an ID token (N73)", TOKEN, tokens({ id_token: { a: 1 } })],
    ["id_token.encrypted", "five parts (N37, R92)", TOKEN, tokens({ id_token: "a.b.c.d.e" })],
    ["id_token.malformed", "two parts (N38)", TOKEN, tokens({ id_token: "a.b" })],
    [
      "id_token.malformed",
      "a space behind it (N38)",
      TOKEN,
      forged(([a, b, c]) => [`${a}`, `${b}`, `${c} `]),
    ],
    ["id_token.alg", "no signature (N25)", TOKEN, { header: { alg: "none" } }],
    ["id_token.alg", "HS256 (N22)", TOKEN, { header: { alg: "HS256" } }],
    ["id_token.alg", "an algorithm that is not listed (N27)", TOKEN, { header: { alg: "RS256" } }],
    ["id_token.key", "a key not in the set, with one look again (N32)", KEYS, { header: { kid: "unknown" } }],
    ["id_token.key", "a key that it brings along (N34, N35)", KEYS, { header: bringsKey }],
    [
      "id_token.keys_unread",
      "a key that is not known while the keys cannot be read",
      KEYS,
      { header: { kid: "unknown" }, ...says("/keys", 503) },
    ],
    [
      "id_token.signature",
      "another signature (N20, R96)",
      KEYS,
      forged(([a, b, c]) => [`${a}`, `${b}`, turned(c)]),
    ],
    ["id_token.signature", "other claims (N20)", KEYS, forged(([a, b, c]) => [`${a}`, changed(b), `${c}`])],
    ["id_token.iss", "another issuer (N01)", TOKEN, claims({ iss: "https://evil.example" })],
    ["id_token.iss", "no issuer (N02)", TOKEN, without("iss")],
    ["id_token.aud", "another audience (N04)", TOKEN, claims({ aud: "the-store1" })],
    ["id_token.aud", "no audience (N05)", TOKEN, without("aud")],
    ["id_token.aud", "a second audience (N06)", TOKEN, claims({ aud: ["the-store", "x"] })],
    ["id_token.aud", "a second, our azp (N07)", TOKEN, claims({ aud: ["the-store", "x"], azp: "the-store" })],
    ["id_token.azp", "the azp of a stranger (N08)", TOKEN, claims({ azp: "stranger" })],
    ["id_token.exp", "expired (N14)", TOKEN, shifted("exp", -360)],
    ["id_token.exp", "no end (N13)", TOKEN, without("exp")],
    ["id_token.exp", "an end that is a text (N16)", TOKEN, claims({ exp: "4102444800" })],
    ["id_token.iat", "no beginning (N10)", TOKEN, without("iat")],
    ["id_token.iat", "a week ago (N11)", TOKEN, shifted("iat", -604_800)],
    ["id_token.iat", "ten minutes to come (N12)", TOKEN, shifted("iat", 600)],
    ["id_token.nbf", "not good yet (N17)", TOKEN, shifted("nbf", 600)],
    ["id_token.nonce", "another nonce (N18)", TOKEN, claims({ nonce: "evil" })],
    ["id_token.nonce", "no nonce (N19, A23, R101)", TOKEN, without("nonce")],
    ["id_token.nonce", "an empty nonce (A23)", TOKEN, claims({ nonce: "" })],
    ["id_token.sub", "no subject (N03, A05)", TOKEN, without("sub")],
    ["id_token.sub", "an empty subject (N41, A05)", TOKEN, claims({ sub: "" })],
    ["id_token.sub", "a number (N41)", TOKEN, claims({ sub: 7 })],
    ["id_token.sub", "256 characters (N41)", TOKEN, claims({ sub: "s".repeat(256) })],
    ["id_token.sub", "a null byte (N41)", TOKEN, claims({ sub: "a\0b" })],
    ["id_token.at_hash", "another access token (N42)", TOKEN, claims({ at_hash: "evil" })],
    ["userinfo.unavailable", "500 (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 500) }],
    ["userinfo.unavailable", "401 (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 401, "{}") }],
    ["userinfo.malformed", "signed (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 200, "a.b.c", jwt) }],
    ["userinfo.malformed", "a list (N79)", USERINFO, { ...noEmail, ...says("/userinfo", 200, "[]") }],
    [
      "userinfo.sub",
      "somebody else (N78)",
      USERINFO,
      { ...noEmail, userinfo: () => ({ ...ADA, sub: "evil" }) },
    ],
    ["userinfo.sub", "nobody (N79)", USERINFO, { ...noEmail, userinfo: () => ({ email: ADA.email }) }],
    ["claims.email_missing", "no e-mail anywhere (N81)", USERINFO, noEmail],
    ["claims.email_invalid", "two in one (N84, A08)", TOKEN, claims({ email: twoEmails.join(",") })],
    ["claims.email_invalid", "a list of them (N84)", TOKEN, claims({ email: twoEmails })],
  ];

  test.each(faults)("%s: %s", async (reason, _, asked, hooks, more) => {
    await walkInto(reason, asked, hooks, more);
  });

  describe("of the store's own making", () => {
    eachAlone();
    const policy = (duplicate_email_policy: string) => f.changeRealm({ duplicate_email_policy });
    const customersAnd = (count: number, then: () => Promise<unknown>) => async () => {
      for (let made = 0; made < count; made++) await newCustomer();
      await then();
    };
    const toDirect = { flow: "direct", client_id: "customers", client_secret: "first secret" };

    const choices: Fault[] = [
      [
        "email_taken",
        "an address that is taken, where none may be twice (T21)",
        TOKEN,
        {},
        { before: customersAnd(1, () => policy("disallowed")), mend: () => policy("allowed") },
      ],
      [
        "email_unverified",
        "an address that the provider has not proven (T21, A02, N83)",
        TOKEN,
        claims({ email_verified: "true" }),
        { before: customersAnd(1, () => policy("api_only")) },
      ],
      [
        "several_matches",
        "an address of several customers (A02)",
        TOKEN,
        {},
        { before: customersAnd(2, () => policy("api_only")), mend: () => policy("allowed") },
      ],
      [
        "provisioning_off",
        "somebody new, where nobody new is wanted",
        TOKEN,
        {},
        {
          before: () => changeProfile({ provisioning: "existing" }),
          mend: () => changeProfile({ provisioning: "create" }),
        },
      ],
      [
        "profile_disabled",
        "a profile that was disabled meanwhile (T24, A09)",
        NOTHING,
        {},
        {
          meanwhile: () => changeProfile({ enabled: false }),
          mend: () => changeProfile({ enabled: true }),
        },
      ],
      [
        "profile_disabled",
        "a profile that was deleted meanwhile (T24)",
        NOTHING,
        {},
        { meanwhile: () => removeProfile(), profileAfter: () => f.addProfile() },
      ],
      [
        "profile_direct",
        "a profile that is used directly by now",
        NOTHING,
        {},
        {
          meanwhile: () => changeProfile(toDirect),
          mend: () => changeProfile({ flow: "brokered" }),
        },
      ],
    ];

    test.each(choices)("%s: %s", async (reason, _, asked, hooks, more) => {
      await walkInto(reason, asked, hooks, more);
    });

    test("with what came from outside, more than 25 reasons are looked at here", () => {
      expect(new Set([...faults, ...choices].map(([reason]) => reason)).size).toBeGreaterThan(25);
    });
  });
});

describe("what is no fault of the provider", () => {
  test.each<[string, Hooks]>([
    ["an audience in a list of one (N09)", { claims: (own) => ({ ...own, aud: ["the-store"] }) }],
    ["our azp", { claims: (own) => ({ ...own, azp: "the-store" }) }],
    ["the token type in other letters (N71)", { token: (own) => ({ ...own, token_type: "bEARER" }) }],
    ["no expires_in (N72)", { token: ({ expires_in: _, ...own }) => own }],
    [
      "a token that expired thirty seconds ago (N15)",
      { claims: (own) => ({ ...own, exp: Number(own.iat) - 30 }) },
    ],
    ["a header without a kid, with one key (N29)", { header: { kid: undefined } }],
    [
      "more in the redirect than we know",
      { redirect: (own) => ({ ...own, session_state: "x", scope: "openid" }) },
    ],
    [
      "the e-mail in UserInfo only (N80)",
      { claims: ({ email: _, ...own }) => own, userinfo: (own) => ({ ...own, email: "ada@shop.example" }) },
    ],
  ])("%s", async (_, hooks) => {
    idp.hooks = hooks;
    expect(told(await end(await begin()))).toEqual(welcome());
  });

  test("a key that was replaced while the shopper was away (N53, N54)", async () => {
    const begun = await begin();
    idp.rotateKey();
    idp.journal.length = 0;
    expect(told(await end(begun))).toEqual(welcome());
    expect(idp.journal.map(({ path }) => path)).toEqual(["/token", "/keys"]);
  });
});

describe("who it is", () => {
  test("the same subject and e-mail of two providers are two customers (A01, A04)", async () => {
    const profile = await f.addProfile({ discovery_url: second.discoveryUrl });
    const [one, other] = [await customerOf(idp), await customerOf(second, { profile })];
    expect(other).not.toBe(one);
    expect([await customerOf(idp), await customerOf(second, { profile })]).toEqual([one, other]);
    const [first, next] = await rowsOf("customers");
    expect(first?.email_key).toBe(next?.email_key);
  });

  test("the same subject of one provider through two profiles is two customers (A04)", async () => {
    const profile = await f.addProfile();
    expect(await customerOf(idp, { profile })).not.toBe(await customerOf(idp));
  });

  test("the same subject in another store is another customer (A04, A33)", async () => {
    const one = await customerOf(idp);
    const { storage, clock } = f.latchkey;
    const other = await createFederation({ idp, storage, clock });
    const signedOn = await other.signOn();
    const { body } = await other.redeem(signedOn);
    expect(body.data.customer_id).not.toBe(one);
    await other.latchkey.app.stop();
  });

  test("a new name, user name or e-mail at the provider makes nobody else of the customer (A10, R113)", async () => {
    const ids = [await customerOf(idp)];
    for (const change of [
      { preferred_username: "ada" },
      { preferred_username: "lovelace" },
      { name: "Augusta Ada King" },
      { email: "countess@shop.example" },
      { email: "countess@shop.example", email_verified: false },
    ]) {
      idp.person = { ...ADA, ...change };
      ids.push(await customerOf(idp));
    }
    expect(new Set(ids).size).toBe(1);
    expect(await rowsOf("customers")).toHaveLength(1);
  });

  test("somebody else who is given the old e-mail is somebody else (A01)", async () => {
    const one = await customerOf(idp);
    idp.person = { ...ADA, sub: "the new owner of the address" };
    expect(await customerOf(idp)).not.toBe(one);
  });

  test("subjects that differ in a letter's case, or in a space, are different people (N41, R104, R107)", async () => {
    const ids = [];
    for (const sub of ["subject", "Subject", "SUBJECT", "subject ", " subject", "null", "undefined", "0"]) {
      idp.person = { ...ADA, sub };
      ids.push(await customerOf(idp));
    }
    expect(new Set(ids).size).toBe(ids.length);
  });

  test("the token is for the store, realm, profile, issuer and subject of its sign-on (I3)", async () => {
    const customer = await customerOf(idp);
    const place = { store_id: f.store.store.id, profile_id: f.profileId, customer_id: customer };
    expect(await rowsOf("customer_identities")).toEqual([
      expect.objectContaining({ ...place, realm_id: f.realmId, issuer: idp.issuer, subject: ADA.sub }),
    ]);
    expect(await rowsOf("customer_tokens")).toEqual([
      expect.objectContaining({ ...place, subject: ADA.sub }),
    ]);
  });

  test("nobody is made before the storefront redeems its code (I3)", async () => {
    expect(told(await end(await begin()))).toEqual(welcome());
    expect(await people()).toEqual({ customers: [], identities: [], tokens: [] });
  });
});

describe("a callback that works", () => {
  test("goes back to the very URI that it began with, by 303, and leaves nothing for others to see (R14, R15)", async () => {
    const redirect_uri = `${SHOP}?shop=1`;
    const answer = await end(await begin(nobody(), { redirect_uri }));
    expect(answer.status).toBe(303);
    expect(locationOf(answer).startsWith(`${redirect_uri}&code=lkac_`)).toBe(true);
    expect(answer.headers.get("referrer-policy")).toBe("no-referrer");
    expect(answer.headers.has("set-cookie")).toBe(false);
  });

  test("shows the provider our callback, the verifier of the challenge, and no secret in a URL (R35, R90)", async () => {
    const begun = await begin();
    await end(begun);
    const sent = idp.journal.find(({ path }) => path === "/token");
    const form = new URLSearchParams(sent?.body);
    expect([...form.keys()].sort()).toEqual(["code", "code_verifier", "grant_type", "redirect_uri"]);
    expect(form.get("redirect_uri")).toBe(f.callbackUrl);
    expect(form.get("code_verifier")).toMatch(/^[A-Za-z0-9\-._~]{43,128}$/);
    expect(begun.location).not.toContain(form.get("code_verifier"));
  });

  test("where we are comes from the configuration, whatever the request says of it (T34)", async () => {
    const begun = await begin();
    const answer = await call(f.latchkey.app, callback, {
      ids: { store: f.store.store.id, realm: f.realmId, profile: f.profileId },
      query: begun.back.slice(begun.back.indexOf("?") + 1),
      headers: {
        cookie: `${COOKIE}=${begun.browser.cookie}`,
        host: "evil.example",
        forwarded: "host=evil.example",
        "x-forwarded-host": "evil.example",
        "x-forwarded-proto": "http",
      },
    });
    expect(told(answer)).toEqual(welcome());
    expect(idp.journal.at(-1)?.body).not.toContain("evil.example");
  });

  test("leaves a record with every check passed, without a secret, and a log line without the query (I10)", async () => {
    const signedOn = await f.signOn();
    const [record] = await f.records();
    expect(record).toMatchObject({
      outcome: "code_issued",
      reason: null,
      error: null,
      profile_name: "Hostile",
    });
    expect(record.checks.every(({ passed }: { passed: boolean }) => passed)).toBe(true);
    expect(Object.keys(record.timings)).toEqual(["discovery", "wait", "token", "identify", "write"]);
    const written = JSON.stringify([record, f.latchkey.logLines]);
    const query = new URLSearchParams(signedOn.callback.split("?")[1]);
    for (const secret of [
      signedOn.code,
      query.get("code"),
      query.get("state"),
      signedOn.browser.cookie,
      STATE,
    ])
      expect(written).not.toContain(secret);
  });
});
