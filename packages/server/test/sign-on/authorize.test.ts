import { createHash } from "node:crypto";
import { request as httpRequest, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { updateProfile } from "../../src/contract/oidc-profiles.ts";
import { createRealm } from "../../src/contract/realms.ts";
import { authorize, authorizeByForm, callback, realmMetadata } from "../../src/contract/sign-on.ts";
import { type SignOnReason, signOnReasonEntry, signOnReasons } from "../../src/contract/sign-on-reasons.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { newId } from "../../src/lib/ids.ts";
import { PUBLIC_URL } from "../support/app.ts";
import { type Answer, type Call, call } from "../support/call.ts";
import {
  type Browser,
  COOKIE,
  createFederation,
  type Federation,
  newPkce,
  SHOP,
} from "../support/federation.ts";
import { ADA, type HostileIdp, startHostileIdp } from "../support/hostile-idp.ts";

/** Where every sign-on begins: a link that anybody can write, and that anybody can be made to follow. */

let idp: HostileIdp;
let shared: Federation;
let f: Federation;

beforeAll(async () => {
  idp = await startHostileIdp();
  shared = await createFederation({ idp });
});
afterAll(async () => {
  await shared.close();
  await idp.close();
});
beforeEach(() => {
  f = shared;
  // So that the many requests of this file come from a source that has not asked for a while.
  f.latchkey.clock.advance(10_000);
  idp.now = f.latchkey.clock.now;
  idp.hooks = {};
  idp.person = { ...ADA };
  idp.journal.length = 0;
});

/** For tests that change something, or count: a federation of their own. */
function eachAlone(): void {
  beforeEach(async () => {
    f = await createFederation({ idp });
    idp.journal.length = 0;
  });
  afterEach(() => f.close());
}

const nobody = (): Browser => ({ cookie: undefined });
const idsOfRealm = () => ({ store: f.store.store.id, realm: f.realmId });
const queryOf = (changes: Record<string, string | undefined> = {}) =>
  new URLSearchParams(f.parameters(changes)).toString();
/** Sends a query as it is written. */
const ask = (query: string, request: Call = {}) =>
  call(f.latchkey.app, authorize, { ids: idsOfRealm(), query, ...request });

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
const REFERENCE = /^[0-9A-HJKMNP-TV-Z]{4}-[0-9A-HJKMNP-TV-Z]{4}$/;
/** All that a storefront is told of a refusal, and nothing beside it: no code above all. */
const refusalFor = (reason: SignOnReason, changes: Record<string, unknown> = {}) => ({
  target: SHOP,
  error: signOnReasonEntry(reason).error,
  error_description: signOnReasonEntry(reason).means,
  reason,
  reference: expect.stringMatching(REFERENCE),
  state: "the storefront's state",
  iss: f.issuer,
  ...changes,
});
const referenceOnPage = (answer: Answer): string => /<strong>([^<]+)<\/strong>/.exec(answer.body)?.[1] ?? "";

const SENT_TO_IDP = [
  "scope",
  "response_type",
  "client_id",
  "redirect_uri",
  "state",
  "nonce",
  "code_challenge_method",
  "code_challenge",
];
const atIdp = (answer: Answer) => new URL(locationOf(answer)).searchParams;
const isAtIdp = (answer: Answer) => locationOf(answer).startsWith(`${idp.origin}/authorize?`);

async function countRows(): Promise<Record<string, number>> {
  const { db } = f.latchkey.storage;
  const counts: Record<string, number> = {};
  for (const { name } of await db.introspection.getTables()) {
    const rows = await db
      .selectFrom(name as "stores")
      .select(({ fn }) => fn.countAll().as("count"))
      .executeTakeFirst();
    counts[name] = Number(rows?.count);
  }
  return counts;
}

test("303 sends the shopper to the identity provider with what is ours, and nothing else (R75 to R78)", async () => {
  const answer = await f.begin(nobody());
  expect(answer.status).toBe(303);
  expect(isAtIdp(answer)).toBe(true);
  expect([...atIdp(answer).keys()]).toEqual(SENT_TO_IDP);
  expect(Object.fromEntries(atIdp(answer))).toMatchObject({
    scope: "openid email",
    response_type: "code",
    client_id: idp.clientId,
    redirect_uri: f.callbackUrl,
    code_challenge_method: "S256",
    code_challenge: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    nonce: expect.stringMatching(/^[A-Za-z0-9_-]{43}$/),
    state: expect.stringMatching(/^[0-9a-f]{8}\.[A-Za-z0-9_-]+$/),
  });
});

test("two sign-ons share neither state, nonce nor challenge, in one browser or in two (R78)", async () => {
  const browser = nobody();
  const begun = [await f.begin(browser), await f.begin(browser), await f.begin(nobody())].map(atIdp);
  for (const name of ["state", "nonce", "code_challenge"])
    expect(new Set(begun.map((parameters) => parameters.get(name))).size, name).toBe(3);
});

test("the storefront's own challenge and state stay between us and it", async () => {
  const { challenge } = newPkce();
  const location = locationOf(await f.begin(nobody(), { code_challenge: challenge, state: "stays-here" }));
  expect(location).not.toContain(challenge);
  expect(location).not.toContain("stays-here");
});

describe("400: a redirect URI that is not registered, byte for byte, is never gone to (R1 to R4, T05, A27, A28)", () => {
  const variants: [string, string][] = [
    ["the scheme in capitals", "HTTPS://shop.example/signed-in"],
    ["the host in capitals", "https://SHOP.example/signed-in"],
    ["the path in capitals", "https://shop.example/Signed-in"],
    ["a slash at its end", `${SHOP}/`],
    ["a slash too many", "https://shop.example//signed-in"],
    ["a path cut short", "https://shop.example/signed"],
    ["no path", "https://shop.example"],
    ["a dot segment behind it", `${SHOP}/../evil`],
    ["a dot segment before it", "https://shop.example/evil/../signed-in"],
    ["an encoded dot segment", "https://shop.example/%2e%2e/signed-in"],
    ["an encoded letter", "https://shop.example/%73igned-in"],
    ["a letter encoded twice", "https://shop.example/%2573igned-in"],
    ["a query added", `${SHOP}?x=1`],
    ["an empty query added", `${SHOP}?`],
    ["the query of another that is registered, changed", `${SHOP}?shop=2`],
    ["the query of another that is registered, with more", `${SHOP}?shop=1&x=1`],
    ["a fragment", `${SHOP}#f`],
    ["an empty fragment", `${SHOP}#`],
    ["the default port", "https://shop.example:443/signed-in"],
    ["another port", "https://shop.example:8443/signed-in"],
    ["http", "http://shop.example/signed-in"],
    ["no scheme", "//shop.example/signed-in"],
    ["no scheme and another host", "//evil.example/signed-in"],
    ["only the path", "/signed-in"],
    ["backslashes for slashes", "https:\\\\evil.example"],
    ["a backslash in the path", "https://shop.example\\@evil.example/signed-in"],
    ["the host as a user", "https://shop.example@evil.example/signed-in"],
    ["a user", "https://evil@shop.example/signed-in"],
    ["a user and password", "https://evil:pass@shop.example/signed-in"],
    ["the host as a prefix", "https://shop.example.evil.example/signed-in"],
    ["the host as a suffix", "https://evilshop.example/signed-in"],
    ["a dot at the host's end", "https://shop.example./signed-in"],
    ["a full-width dot", "https://shop．example/signed-in"],
    ["a letter that only looks like one", "https://shоp.example/signed-in"],
    ["an address", "https://[::1]/signed-in"],
    ["a mapped address", "https://[::ffff:127.0.0.1]/signed-in"],
    ["a pattern", "https://*.example/signed-in"],
    ["a tab inside", "https://shop.example/\tsigned-in"],
    ["a tab in the scheme", "ht\ttps://shop.example/signed-in"],
    ["a line feed at its end", `${SHOP}\n`],
    ["a carriage return at its end", `${SHOP}\r`],
    ["a header behind it", `${SHOP}\r\nLocation: https://evil.example`],
    ["an encoded line break", `${SHOP}%0d%0a`],
    ["a null byte", `${SHOP}\0`],
    ["an encoded null byte", `${SHOP}%00`],
    ["a space before it", ` ${SHOP}`],
    ["a space behind it", `${SHOP} `],
    ["a space of no width", `${SHOP}\u200b`],
    ["two in one", `${SHOP} https://evil.example`],
    ["a list", `${SHOP},https://evil.example`],
    ["itself, encoded twice", encodeURIComponent(SHOP)],
    ["itself in quotes", `"${SHOP}"`],
    ["a script", "javascript:alert('evil')"],
    ["a script that looks like a URL", "javascript://shop.example/%0aalert(1)"],
    ["a document", "data:text/html,<script>evil</script>"],
    ["markup", "https://evil.example/<script>alert(1)</script>"],
    ["our own callback", "https://keys.example/sign-on"],
    ["a very long one", `${SHOP}?${"evil".repeat(1000)}`],
  ];

  test.each(variants)("%s", async (_, uri) => {
    const answer = await f.begin(nobody(), { redirect_uri: uri });
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.headers.has("location")).toBe(false);
    expect(answer.headers.has("set-cookie")).toBe(false);
    for (const text of [uri, encodeURIComponent(uri), "evil", "shop.example", "signed-in", "javascript"])
      expect(answer.body).not.toContain(text);
    expect(idp.journal).toEqual([]);
    expect(isAtIdp(await f.begin(nobody()))).toBe(true);
  });

  const uri = encodeURIComponent(SHOP);
  test.each([
    ["missing", () => queryOf({ redirect_uri: undefined })],
    ["empty", () => queryOf({ redirect_uri: "" })],
    ["without a value", () => `${queryOf({ redirect_uri: undefined })}&redirect_uri`],
    ["given twice", () => `${queryOf()}&redirect_uri=${uri}`],
    ["given twice, the second of another host", () => `${queryOf()}&redirect_uri=https://evil.example`],
    ["given twice, the first of another host", () => `redirect_uri=https://evil.example&${queryOf()}`],
    ["under another name", () => `${queryOf({ redirect_uri: undefined })}&REDIRECT_URI=${uri}`],
    ["as a list", () => `${queryOf({ redirect_uri: undefined })}&redirect_uri%5B%5D=${uri}`],
  ])("%s", async (_, query) => {
    const answer = await ask(query());
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.body).not.toContain("evil");
  });

  test("not even after a good one, with the same browser", async () => {
    const browser = nobody();
    await f.begin(browser);
    expect((await f.begin(browser, { redirect_uri: `${SHOP}/` })).status).toBe(400);
  });
});

describe("a redirect URI that is registered", () => {
  eachAlone();

  test("on this machine the port counts too", async () => {
    await f.changeRealm({ redirect_uris: ["http://localhost:3000/cb"] });
    expect(isAtIdp(await f.begin(nobody(), { redirect_uri: "http://localhost:3000/cb" }))).toBe(true);
    expect((await f.begin(nobody(), { redirect_uri: "http://localhost:3001/cb" })).status).toBe(400);
    expect((await f.begin(nobody(), { redirect_uri: "http://127.0.0.1:3000/cb" })).status).toBe(400);
  });

  test("one that is in the database but would not be registered today is not gone to either (A28)", async () => {
    const uris = [
      "http://shop.example/cb",
      "javascript:alert(1)",
      "https://shop.example/cb#f",
      "//evil.example",
    ];
    await f.latchkey.storage.db
      .updateTable("authentication_realms")
      .set({ redirect_uris: JSON.stringify(uris) })
      .execute();
    for (const redirect_uri of uris)
      expect((await f.begin(nobody(), { redirect_uri })).code).toBe("redirect_uri_unregistered");
  });

  test("works exactly, however the query spells it", async () => {
    for (const spelling of [SHOP, encodeURIComponent(SHOP), SHOP.replaceAll("e", "%65")])
      expect(isAtIdp(await ask(`${queryOf({ redirect_uri: undefined })}&redirect_uri=${spelling}`))).toBe(
        true,
      );
  });

  test("with a query of its own keeps it: code and errors are appended with an ampersand (T05)", async () => {
    const redirect_uri = `${SHOP}?shop=1`;
    const signedOn = await f.signOn({ parameters: { redirect_uri } });
    expect(signedOn.location).toMatch(
      new RegExp(`^${SHOP.replaceAll(".", "\\.")}\\?shop=1&code=lkac_\\w+&state=[^&]+&iss=[^&]+$`),
    );
    const { status } = await f.redeem(signedOn, { oauth_redirect_uri: redirect_uri });
    expect(status).toBe(200);
    const refused = await f.begin(nobody(), { redirect_uri, response_type: "token" });
    expect(locationOf(refused).startsWith(`${redirect_uri}&error=unsupported_response_type&`)).toBe(true);
  });

  test.each(["https://shop.example/cb?", "https://shop.example/cb?a=?", "https://shop.example/cb?a=1&"])(
    "%s gets code, state and iss as parameters of their own",
    async (redirect_uri) => {
      await f.changeRealm({ redirect_uris: [redirect_uri] });
      const { location } = await f.signOn({ parameters: { redirect_uri } });
      expect(location.startsWith(redirect_uri)).toBe(true);
      const { searchParams } = new URL(location);
      expect(searchParams.get("code")).toMatch(/^lkac_/);
      expect(searchParams.get("iss")).toBe(f.issuer);
    },
  );
});

describe("400: a client that is not the store's is not answered (R1)", () => {
  test.each([
    ["another", "evil-client"],
    ["the identity provider's", "the-store"],
    ["its name in capitals", "CUSTOMERS"],
    ["its name with a space", "customers "],
    ["its name with a null byte", "customers\0"],
    ["a script", "<script>alert('evil')</script>"],
    ["a header", "customers\r\nSet-Cookie: evil=1"],
    ["a long one", "evil".repeat(500)],
  ])("%s", async (_, client_id) => {
    const answer = await f.begin(nobody(), { client_id });
    expect([answer.status, answer.code]).toEqual([400, "sign_on_client_unknown"]);
    expect(answer.body).not.toContain("evil");
    expect(answer.headers.has("set-cookie")).toBe(false);
  });

  test.each([
    ["none", () => queryOf({ client_id: undefined })],
    ["an empty one", () => queryOf({ client_id: "" })],
    ["two", () => `${queryOf()}&client_id=evil`],
    ["the same twice", () => `${queryOf()}&client_id=customers`],
  ])("%s", async (_, query) => {
    expect((await ask(query())).code).toBe("sign_on_client_unknown");
  });
});

describe("404", () => {
  eachAlone();

  test("for a store or realm that is not there, or a realm of another store: the same page", async () => {
    const other = await f.latchkey.createStore();
    const ids = idsOfRealm();
    const pages = [];
    for (const wrong of [
      { ...ids, realm: newId() },
      { ...ids, store: newId() },
      { ...ids, store: other.store.id },
      { ...ids, realm: "evil" },
      { store: "%00", realm: "..%2f" },
    ])
      pages.push(await ask(queryOf(), { ids: wrong }));
    for (const answer of pages) {
      expect([answer.status, answer.code]).toEqual([404, "realm_not_found"]);
      expect(answer.body).not.toContain("evil");
    }
    expect(new Set(pages.map(({ body }) => body.replace(/<strong>.*?<\/strong>/, ""))).size).toBe(1);
  });

  test("for another realm of the store its own redirect URIs count", async () => {
    const json = { data: { type: "authentication-realm", name: "Wholesale", redirect_uris: [] } };
    const { body } = await f.store.call(createRealm, { json });
    const answer = await ask(queryOf(), { ids: { ...idsOfRealm(), realm: body.data.id } });
    expect(answer.code).toBe("redirect_uri_unregistered");
  });
});

describe("405: nothing but GET and POST", () => {
  test.each(["PUT", "DELETE", "OPTIONS", "PATCH"])("%s (R6, R13)", async (method) => {
    const url = `http://internal${new URL(f.issuer).pathname}/authorize?${queryOf()}`;
    const response = await f.latchkey.app.fetch(new Request(url, { method }));
    expect(response.status).toBe(405);
    expect(response.headers.get("allow")).toBe("GET, POST");
    expect(response.headers.has("location")).toBe(false);
    expect(response.headers.has("access-control-allow-origin")).toBe(false);
  });
});

describe("303 tells the storefront what is wrong with its request, with its state and our iss", () => {
  const { challenge } = newPkce();
  const requests: [string, SignOnReason, Record<string, string | undefined>][] = [
    ["no response_type (R7)", "response_type_missing", { response_type: undefined }],
    ["an empty response_type (R5)", "response_type_missing", { response_type: "" }],
    ["response_type token (T06, A31)", "response_type_unsupported", { response_type: "token" }],
    ["response_type id_token", "response_type_unsupported", { response_type: "id_token" }],
    ["response_type code token", "response_type_unsupported", { response_type: "code token" }],
    ["response_type code id_token", "response_type_unsupported", { response_type: "code id_token" }],
    ["response_type none", "response_type_unsupported", { response_type: "none" }],
    ["response_type CODE", "response_type_unsupported", { response_type: "CODE" }],
    ["response_type with a space", "response_type_unsupported", { response_type: "code " }],
    ["no scope (T06)", "scope_incomplete", { scope: undefined }],
    ["a scope without openid", "scope_incomplete", { scope: "email profile" }],
    ["a scope without email", "scope_incomplete", { scope: "openid profile" }],
    ["a scope in capitals", "scope_incomplete", { scope: "OPENID EMAIL" }],
    ["scopes with a tab between", "scope_incomplete", { scope: "openid\temail" }],
    ["scopes with a comma between", "scope_incomplete", { scope: "openid,email" }],
    ["no challenge (T09, R23)", "challenge_invalid", { code_challenge: undefined }],
    ["an empty challenge (A24)", "challenge_invalid", { code_challenge: "" }],
    [
      "no challenge and no method",
      "challenge_invalid",
      { code_challenge: undefined, code_challenge_method: undefined },
    ],
    ["no method: it would mean plain (R23)", "challenge_invalid", { code_challenge_method: undefined }],
    ["an empty method", "challenge_invalid", { code_challenge_method: "" }],
    ["the method plain (T09)", "challenge_invalid", { code_challenge_method: "plain" }],
    ["the method s256 (T09)", "challenge_invalid", { code_challenge_method: "s256" }],
    ["the method S512", "challenge_invalid", { code_challenge_method: "S512" }],
    ["a challenge of 42 characters (R22)", "challenge_invalid", { code_challenge: challenge.slice(1) }],
    ["a challenge of 44 characters (R22)", "challenge_invalid", { code_challenge: `${challenge}A` }],
    ["a challenge with padding (T09)", "challenge_invalid", { code_challenge: `${challenge}=` }],
    ["a challenge with a plus", "challenge_invalid", { code_challenge: `+${challenge.slice(1)}` }],
    ["a challenge with a space", "challenge_invalid", { code_challenge: ` ${challenge.slice(1)}` }],
    ["a challenge with a line break", "challenge_invalid", { code_challenge: `${challenge}\n` }],
    ["a nonce of 513 characters", "nonce_invalid", { nonce: "n".repeat(513) }],
    ["a profile that is no id", "profile_unknown", { profile: "1' or 1=1--" }],
    ["a profile that nobody has", "profile_unknown", { profile: newId() }],
  ];

  test.each(requests)("%s: %s", async (_, reason, changes) => {
    const answer = await f.begin(nobody(), changes);
    expect(answer.status).toBe(303);
    expect(told(answer)).toEqual(refusalFor(reason));
    expect(answer.headers.has("set-cookie")).toBe(false);
    expect(idp.journal).toEqual([]);
  });

  test("no state: there is none to give back (T08, R76)", async () => {
    for (const state of [undefined, ""]) {
      const { state: _, ...refusal } = refusalFor("state_missing");
      expect(told(await f.begin(nobody(), { state }))).toEqual(refusal);
    }
  });

  test.each([
    "profile",
    "scope",
    "response_type",
    "nonce",
    "code_challenge",
    "code_challenge_method",
    "display",
    "prompt",
    "ui_locales",
  ])("%s given twice (R5, T08)", async (name) => {
    const once = { nonce: "n", display: "page", prompt: "login", ui_locales: "de" };
    const value = new URLSearchParams(queryOf(once)).get(name) ?? "";
    for (const second of [value, "evil"])
      expect(told(await ask(`${queryOf(once)}&${name}=${encodeURIComponent(second)}`))).toEqual(
        refusalFor("parameter_repeated"),
      );
  });

  test("state given twice: neither is believed (R5)", async () => {
    const { state: _, ...refusal } = refusalFor("parameter_repeated");
    expect(told(await ask(`${queryOf()}&state=evil`))).toEqual(refusal);
  });

  test("in words that RFC 6749 4.1.2.1 allows, whatever the reason", () => {
    for (const [reason, { error, means }] of Object.entries(signOnReasons)) {
      expect(error, reason).toMatch(/^[a-z_]+$/);
      expect(means, reason).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  });
});

describe("what is no fault", () => {
  test.each<[string, Record<string, string | undefined>]>([
    ["scopes in the other order (2.6 other-scope-order)", { scope: "email openid" }],
    ["more scopes than we know", { scope: "openid email profile phone offline_access" }],
    ["scopes with two spaces between", { scope: "openid  email" }],
    [
      "unknown parameters (R5)",
      { foo: "bar", access_token: "x", code: "y", error: "z", iss: "https://evil" },
    ],
    ["a nonce of 512 characters", { nonce: "n".repeat(512) }],
    ["a state of one character", { state: "s" }],
  ])("%s", async (_, changes) => {
    expect(isAtIdp(await f.begin(nobody(), changes))).toBe(true);
  });

  test("unknown parameters given twice, and known ones that are empty the second time (R5)", async () => {
    expect(isAtIdp(await ask(`${queryOf()}&foo=1&foo=2&state=&scope=&redirect_uri=&client_id=`))).toBe(true);
  });

  test("of the scopes only ours go on: openid, email, and profile if it was asked for (A32)", async () => {
    const scopeFor = async (scope: string) => atIdp(await f.begin(nobody(), { scope })).get("scope");
    expect(await scopeFor("email openid offline_access admin")).toBe("openid email");
    expect(await scopeFor("profile email openid offline_access")).toBe("openid email profile");
  });
});

describe("the storefront's state comes back unchanged (R8)", () => {
  test.each([
    ["punctuation", "a&b=c#d?e/f+g h%20i;j,k'l\"m\\n|o"],
    ["markup (T07, A73)", "<script>alert(1)</script>\"'><img src=x>"],
    ["line breaks (T07)", "a\r\nSet-Cookie: evil=1\r\n\r\n<html>"],
    ["a null byte", "a\0b"],
    ["Unicode", "ключ 🔑 é e\u0301 \u2028 \u202e עברית"],
    ["what looks like our own parameters", "x&code=evil&iss=https://evil.example"],
    ["what looks like an escape", "%41%0d%0a%zz"],
    ["spaces around it", "  s  "],
    ["JSON", '{"__proto__":{"x":1}}'],
    ["2048 characters", "s".repeat(2048)],
    ["2048 characters, a third of them not ASCII", `${"éab".repeat(682)}éa`],
  ])("%s", async (_, state) => {
    const { location, returned, answer } = await f.signOn({ parameters: { state } });
    expect(answer.status).toBe(303);
    expect(location).toMatch(/^[\x21-\x7e]+$/);
    expect([...returned.keys()]).toEqual(["code", "state", "iss"]);
    expect(returned.get("state")).toBe(state);
    const refused = await f.begin(nobody(), { state, response_type: "token" });
    expect(told(refused)).toEqual(refusalFor("response_type_unsupported", { state }));
    expect(locationOf(refused)).toMatch(/^[\x21-\x7e]+$/);
  });

  test("2049 characters are refused", async () => {
    const state = "s".repeat(2049);
    expect(told(await f.begin(nobody(), { state }))).toEqual(refusalFor("state_missing", { state }));
  });

  test.each([
    ["control characters", "\x01"],
    ["backslashes", "\\"],
    ["quotes", '"'],
    ["what is no character of a URL", "\x7f"],
  ])("2048 %s are refused, or come back: no callback is too long to be read", async (_, character) => {
    const { answer, code, error } = await f.signOn({ parameters: { state: character.repeat(2048) } });
    expect(answer.status).toBe(303);
    expect(error ?? code).toMatch(/^(invalid_request|lkac_)/);
  });
});

describe("display, prompt, ui_locales and login_hint are passed on byte for byte, and nothing else is (R19, seed 4.3)", () => {
  test.each([
    "de-CH%20fr+en",
    "de-CH+fr%20en",
    "%64%65",
    "%c3%a9%C3%A9",
    "%FF%fe",
    "a%00b",
    "a%26client_id%3Devil%26redirect_uri%3Dhttps://evil.example",
    "a%23client_id=evil",
    "a%0D%0ALocation:%20https://evil.example",
    "%3Cscript%3E",
    "none+login",
    "a=b=c",
    "a/b?c:d@e,f!$()*~_.-",
  ])("%s", async (sent) => {
    for (const name of ["display", "prompt", "ui_locales", "login_hint"]) {
      const answer = await ask(`${queryOf()}&${name}=${sent}`);
      expect(locationOf(answer).endsWith(`&${name}=${sent}`), name).toBe(true);
      expect([...atIdp(answer).keys()]).toEqual([...SENT_TO_IDP, name]);
      expect(atIdp(answer).get("client_id")).toBe(idp.clientId);
      expect(locationOf(answer)).toMatch(/^[\x21-\x7e]+$/);
    }
  });

  test("all three at once, in whatever order they came; empty ones are absent (R5)", async () => {
    const answer = await ask(`ui_locales=de&${queryOf()}&prompt=none&display=popup`);
    expect(locationOf(answer).endsWith("&display=popup&prompt=none&ui_locales=de")).toBe(true);
    const empty = await ask(`ui_locales=&${queryOf()}&prompt&display=`);
    expect([...atIdp(empty).keys()]).toEqual(SENT_TO_IDP);
  });

  test("what stands in a query unencoded arrives as the same value, over a real connection too (T07)", async () => {
    const server = createHttpServer(f.latchkey.app.serve, f.latchkey.app.onRefused);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as AddressInfo;
    const value = `a'b|c"d<e>f#g\\h^{i}[j]\`k`;
    const path = `${new URL(f.issuer).pathname}/authorize?${queryOf()}&prompt=${value}&display=page`;
    try {
      const response = await new Promise<IncomingMessage>((resolve, reject) => {
        httpRequest({ host: "127.0.0.1", port, path, agent: false }, resolve).on("error", reject).end();
      });
      response.resume();
      const location = response.headers.location ?? "";
      expect(response.statusCode).toBe(303);
      expect(location).toMatch(/^[\x21-\x7e]+$/);
      expect(location).not.toMatch(/["<>#\\^{}`|]/);
      expect([...new URL(location).searchParams.keys()]).toEqual([...SENT_TO_IDP, "display", "prompt"]);
      expect(new URL(location).searchParams.get("prompt")).toBe(value);
    } finally {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    }
  });

  test("a semicolon smuggles nothing to a provider that takes it for an ampersand (T07)", async () => {
    const answer = await ask(`${queryOf()}&prompt=login;client_id=evil;redirect_uri=https://evil.example`);
    const names = locationOf(answer)
      .split("?")[1]
      ?.split(/[&;]/)
      .map((pair) => pair.split("=")[0]);
    expect(names).toEqual([...SENT_TO_IDP, "prompt"]);
    expect(atIdp(answer).get("prompt")).toBe("login;client_id=evil;redirect_uri=https://evil.example");
  });

  test("no other parameter of the caller's reaches the provider, and none makes us fetch anything (T08)", async () => {
    await f.begin(nobody());
    idp.journal.length = 0;
    const answer = await f.begin(nobody(), {
      nonce: "not-passed-on-nonce",
      id_token_hint: "not-passed-on-hint",
      claims: '{"not-passed-on":1}',
      acr_values: "not-passed-on",
      response_mode: "form_post",
      resource: "https://not-passed-on.example",
      audience: "not-passed-on",
      code_verifier: "not-passed-on",
      client_secret: "not-passed-on",
      dpop_jkt: "not-passed-on",
    });
    expect([...atIdp(answer).keys()]).toEqual(SENT_TO_IDP);
    expect(locationOf(answer)).not.toContain("not-passed-on");
    expect(atIdp(answer).get("nonce")).toMatch(/^[A-Za-z0-9_-]{43}$/);
    expect(idp.journal).toEqual([]);
  });
});

describe("values of 8 KB", () => {
  test.each(["state", "display", "prompt", "ui_locales", "client_id", "redirect_uri", "foo"])(
    "414 for %s, as a page without it (T07)",
    async (name) => {
      const answer = await f.begin(nobody(), { [name]: "evil".repeat(2048) });
      expect([answer.status, answer.code]).toEqual([414, "url_too_long"]);
      expect(answer.body).not.toContain("evil");
    },
  );
});

describe("the answer's header fields", () => {
  test("no frame, no other origin, no referrer, nothing kept: on redirects and on pages (R12 to R15)", async () => {
    const answers = [
      await f.begin(nobody()),
      await f.begin(nobody(), { response_type: "token" }),
      await f.begin(nobody(), { redirect_uri: "https://evil.example" }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([303, 303, 400]);
    for (const { headers } of answers) {
      expect(headers.get("content-security-policy")).toContain("frame-ancestors 'none'");
      expect(headers.get("x-frame-options")).toBe("DENY");
      expect(headers.get("referrer-policy")).toBe("no-referrer");
      expect(headers.get("cache-control")).toBe("no-store");
      expect([...headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  test("pages load nothing from anywhere and link to nowhere (R15)", async () => {
    const { body } = await f.begin(nobody(), { redirect_uri: "https://evil.example" });
    expect([...body.matchAll(/(?:href|src|action)="([^"]*)"/g)].map((match) => match[1])).toEqual(["data:,"]);
    expect(body).not.toMatch(/<(script|img|iframe|form|meta http-equiv)|url\(|@import/i);
  });

  test("iss is in every redirect to the storefront, and published as such (R17)", async () => {
    const { body } = await call(f.latchkey.app, realmMetadata, { ids: idsOfRealm() });
    expect(body.authorization_response_iss_parameter_supported).toBe(true);
    expect(told(await f.begin(nobody(), { scope: "x" })).iss).toBe(body.issuer);
    expect((await f.signOn()).returned.get("iss")).toBe(body.issuer);
  });

  test("where we are comes from the configuration, whatever the request says of it (T34, R181, A60)", async () => {
    const headers = {
      host: "elsewhere.example",
      forwarded: "host=elsewhere.example;proto=http",
      "x-forwarded-host": "elsewhere.example",
      "x-forwarded-proto": "http",
      "x-forwarded-port": "666",
      "x-original-url": "/elsewhere",
      "x-rewrite-url": "/elsewhere",
    };
    const begun = await ask(queryOf(), { headers });
    const refused = await ask(queryOf({ scope: "x" }), { headers });
    const page = await ask(queryOf({ client_id: "x" }), { headers });
    expect(atIdp(begun).get("redirect_uri")).toBe(f.callbackUrl);
    expect(told(refused).iss).toBe(f.issuer);
    for (const { headers: fields, body } of [begun, refused, page])
      expect(JSON.stringify([...fields]) + body).not.toContain("elsewhere");
  });
});

describe("the profile", () => {
  eachAlone();

  const change = (profileId: string, data: object) =>
    f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: profileId },
      json: { data: { type: "oidc-profile", ...data } },
    });

  test("of another realm or store is unknown (N95, A33)", async () => {
    const other = await createFederation({ idp, storage: f.latchkey.storage, clock: f.latchkey.clock });
    await other.latchkey.app.stop();
    expect(told(await f.begin(nobody(), { profile: other.profileId }))).toEqual(
      refusalFor("profile_unknown"),
    );
  });

  test("that is disabled is not used (A09)", async () => {
    await change(f.profileId, { enabled: false });
    expect(told(await f.begin(nobody()))).toEqual(refusalFor("profile_disabled"));
  });

  test("that is used directly is not used through us", async () => {
    const profile = await f.addProfile({ flow: "direct", client_id: "customers" });
    expect(told(await f.begin(nobody(), { profile }))).toEqual(refusalFor("profile_direct"));
  });

  test("need not be named when there is one", async () => {
    for (const profile of [undefined, ""]) {
      const answer = await f.begin(nobody(), { profile });
      expect(atIdp(answer).get("redirect_uri")).toBe(f.callbackUrl);
    }
  });

  test("without any that is enabled the storefront is told so", async () => {
    await change(f.profileId, { enabled: false });
    await f.addProfile({ flow: "direct", client_id: "customers" });
    expect(told(await f.begin(nobody(), { profile: undefined }))).toEqual(refusalFor("profile_none"));
  });
});

describe("when the provider's documents cannot be had", () => {
  eachAlone();

  const DAY = 24 * 3_600_000;
  const isDown = {
    "/.well-known/openid-configuration": (_: unknown, r: { destroy(): void }) => void r.destroy(),
  };

  test("303 temporarily_unavailable once what we knew is a day old, and at once well again", async () => {
    await f.begin(nobody());
    idp.hooks.answer = isDown;
    f.latchkey.clock.advance(DAY - 1);
    expect(isAtIdp(await f.begin(nobody()))).toBe(true);
    f.latchkey.clock.advance(10_000);
    expect(told(await f.begin(nobody()))).toEqual(refusalFor("idp_unavailable"));
    idp.hooks = {};
    f.latchkey.clock.advance(10_000);
    expect(isAtIdp(await f.begin(nobody()))).toBe(true);
  });

  test.each<[string, (issuer: string) => string]>([
    ["another issuer", (issuer) => `${issuer}INVALID`],
    ["an issuer in capitals", (issuer) => issuer.toUpperCase()],
    ["an issuer with another host", (issuer) => issuer.replace("127.0.0.1", "localhost")],
    ["an issuer with a path", (issuer) => `${issuer}/tenant`],
    ["no issuer", () => ""],
  ])(
    "%s is never followed: the old endpoints until they are too old, then none (N50, N51)",
    async (_, change) => {
      await f.begin(nobody());
      idp.hooks.discovery = (document) => ({
        ...document,
        issuer: change(idp.issuer),
        authorization_endpoint: `${idp.origin}/evil`,
      });
      f.latchkey.clock.advance(5 * 60_000);
      const answer = await f.begin(nobody());
      expect(isAtIdp(answer)).toBe(true);
      f.latchkey.clock.advance(DAY);
      expect(told(await f.begin(nobody()))).toEqual(refusalFor("idp_unavailable"));
    },
  );

  test("an issuer with a slash at its end is drift, and never followed: the old endpoints for as long as it answers (N51)", async () => {
    await f.begin(nobody());
    idp.hooks.discovery = (document) => ({
      ...document,
      issuer: `${idp.issuer}/`,
      authorization_endpoint: `${idp.origin}/evil`,
    });
    for (let day = 0; day < 3; day++) {
      f.latchkey.clock.advance(DAY);
      const location = (await f.begin(nobody())).headers.get("location") ?? "";
      expect(location.startsWith(`${idp.origin}/authorize?`)).toBe(true);
    }
  });
});

describe("it writes nothing", () => {
  eachAlone();

  test("a thousand sign-ons that nobody finishes leave no row behind, in any table (A76)", async () => {
    await f.begin(nobody());
    await f.latchkey.app.tidy();
    const before = await countRows();
    for (let index = 0; index < 1000; index++) {
      f.latchkey.clock.advance(10);
      expect((await f.begin(nobody(), { state: `state ${index}` })).status).toBe(303);
    }
    await f.latchkey.app.tidy();
    expect(await countRows()).toEqual(before);
    expect(Object.keys(before).length).toBeGreaterThan(10);
  });

  test("429 for whoever asks too often, as a page, and nobody else (A76)", async () => {
    const statuses = [];
    for (let index = 0; index < 201; index++)
      statuses.push((await ask(queryOf(), { peer: "192.0.2.1" })).status);
    expect(statuses.slice(0, 200).every((status) => status === 303)).toBe(true);
    expect(statuses[200]).toBe(429);
    expect((await ask(queryOf(), { peer: "192.0.2.2" })).status).toBe(303);
  });
});

describe("the browser's cookie", () => {
  /** The one that it is looked for first; the second has the same value. */
  const given = (answer: Answer) => answer.headers.getSetCookie()[0] ?? null;

  test("is for this host alone, over TLS alone, out of reach of scripts and of other sites' requests (A22)", async () => {
    const cookies = (await f.begin(nobody())).headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies) {
      const [pair = "", ...attributes] = cookie.split("; ");
      expect(pair).toMatch(/^__Host-latchkey(\.[A-Za-z0-9_-])?=[A-Za-z0-9_-]{43}$/);
      expect(attributes.sort()).toEqual(["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
    }
  });

  /** As a browser keeps them: a later one takes the place of an earlier one with its name. */
  const jarOf = (...answers: Answer[]) =>
    new Map(
      answers
        .flatMap(({ headers }) => headers.getSetCookie())
        .map((cookie) => cookie.slice(0, cookie.indexOf(";")).split("=") as [string, string]),
    );
  const comeBackWith = (jar: ReadonlyMap<string, string>, begun: Answer) => {
    const back = idp.signIn(locationOf(begun));
    const ids = { ...idsOfRealm(), profile: f.profileId };
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    return call(f.latchkey.app, callback, {
      ids,
      query: back.slice(back.indexOf("?") + 1),
      headers: { cookie },
    });
  };
  /** Two that differ also in the name that each has of its own: one in 64 times they do not. */
  const beginTwo = async (second = () => f.begin(nobody())): Promise<[Answer, Answer]> => {
    for (;;) {
      const two: [Answer, Answer] = [await f.begin(nobody()), await second()];
      if (jarOf(...two).size !== 2) return two;
    }
  };

  test.each([
    ["was answered first", (two: Answer[]) => two],
    ["was answered last", (two: Answer[]) => two.toReversed()],
  ])(
    "lets two tabs finish where neither brought one, as when a browser opens both at once, also the one that %s",
    async (_, answered) => {
      const two = await beginTwo();
      const jar = jarOf(...answered(two));
      for (const begun of two) expect(told(await comeBackWith(jar, begun)).code).toMatch(/^lkac_/);
    },
  );

  test("of a tab that is open goes on to count when a form of another site begins a sign-on, which brings none", async () => {
    const byForm = () => call(f.latchkey.app, authorizeByForm, { ids: idsOfRealm(), form: f.parameters() });
    const [open, posted] = await beginTwo(byForm);
    const jar = jarOf(open, posted);
    for (const begun of [open, posted]) expect(told(await comeBackWith(jar, begun)).code).toMatch(/^lkac_/);
  });

  test("of another browser opens nothing under either name (A22, N96)", async () => {
    const [mine, stranger] = await beginTwo();
    expect((await comeBackWith(jarOf(stranger), mine)).code).toBe("browser_changed");
    const [, [own = "", value = ""] = []] = [...jarOf(stranger)];
    const [, [nameOfMine = ""] = []] = [...jarOf(mine)];
    expect((await comeBackWith(new Map([[nameOfMine, value]]), mine)).code).toBe("browser_changed");
    expect((await comeBackWith(new Map([[own, value]]), mine)).code).toBe("browser_changed");
  });

  test("is made once and kept: a second tab does not push out the first", async () => {
    const browser = nobody();
    const first = await f.begin(browser);
    const second = await f.begin(browser);
    expect(given(first)).not.toBeNull();
    expect(given(second)).toBeNull();
    for (const begun of [second, first])
      expect(told(await f.comeBack(browser, idp.signIn(locationOf(begun)))).code).toMatch(/^lkac_/);
  });

  test("differs from browser to browser", async () => {
    const cookies = [];
    for (let index = 0; index < 20; index++) cookies.push(given(await f.begin(nobody())));
    expect(new Set(cookies).size).toBe(20);
  });

  test.each([
    ["too short", `${COOKIE}=abc`],
    ["too long", `${COOKIE}=${"x".repeat(44)}`],
    ["of other characters", `${COOKIE}=${"x".repeat(42)}!`],
    ["in quotes", `${COOKIE}="${"x".repeat(41)}"`],
    ["empty", `${COOKIE}=`],
    ["there twice", `${COOKIE}=${"x".repeat(43)}; ${COOKIE}=${"y".repeat(43)}`],
    ["under the plain name", `latchkey=${"x".repeat(43)}`],
    ["under a name in capitals", `__HOST-latchkey=${"x".repeat(43)}`],
  ])("is replaced when it is %s", async (_, cookie) => {
    const begun = await ask(queryOf(), { headers: { cookie } });
    const made = given(begun) ?? "";
    expect(made).toMatch(/^__Host-latchkey=[A-Za-z0-9_-]{43};/);
    const browser = { cookie: /=([^;]+)/.exec(made)?.[1] };
    expect(told(await f.comeBack(browser, idp.signIn(locationOf(begun)))).code).toMatch(/^lkac_/);
  });

  test("is found among others", async () => {
    const cookie = `a=1; ${COOKIE}=${"x".repeat(43)}; b=2`;
    expect(given(await ask(queryOf(), { headers: { cookie } }))).toBeNull();
  });

  test("does not go to the provider, nor does anything it could be found from", async () => {
    const browser = nobody();
    const location = locationOf(await f.begin(browser));
    expect(location).not.toContain(browser.cookie);
    const digest = createHash("sha256")
      .update(browser.cookie ?? "")
      .digest("base64url");
    expect(location).not.toContain(digest);
  });

  test("has a plain name and no Secure on this machine without TLS, and works there", async () => {
    const publicUrl = "http://localhost:4000";
    const local = await createFederation({ idp, publicUrl });
    const begun = await local.begin(nobody());
    const cookie = given(begun) ?? "";
    expect(cookie).toMatch(/^latchkey=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const back = idp.signIn(locationOf(begun));
    expect(back.startsWith(`${publicUrl}/sign-on/`)).toBe(true);
    const answer = await call(local.latchkey.app, callback, {
      ids: { store: local.store.store.id, realm: local.realmId, profile: local.profileId },
      query: back.slice(back.indexOf("?") + 1),
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    expect(told(answer)).toMatchObject({ target: SHOP, code: expect.stringMatching(/^lkac_/) });
    await local.close();
  });
});

describe("an error leaves a record that its reference finds", () => {
  eachAlone();

  test("when it was a redirect", async () => {
    const { reference = "" } = told(await f.begin(nobody(), { response_type: "token" }));
    const { means, remedy } = signOnReasonEntry("response_type_unsupported");
    expect(await f.recordOf(reference)).toMatchObject({
      reference,
      realm_id: f.realmId,
      profile_id: null,
      outcome: "failed",
      reason: "response_type_unsupported",
      error: "unsupported_response_type",
      means,
      remedy,
      customer_id: null,
      checks: [],
    });
  });

  test("when it was a page", async () => {
    const answer = await f.begin(nobody(), { redirect_uri: "https://evil.example" });
    const reference = referenceOnPage(answer);
    expect(reference).toMatch(REFERENCE);
    const record = await f.recordOf(reference);
    expect(record).toMatchObject({ outcome: "failed", reason: "redirect_uri_unregistered", error: null });
    expect(record.remedy).toMatch(/redirect_uris/);
    const { redirect_uri, ...rest } = record;
    expect(redirect_uri).toBe("https://evil.example");
    expect(JSON.stringify(rest)).not.toContain("evil");
  });

  test("and of which provider it was", async () => {
    await f.store.call(updateProfile, {
      ids: { realm: f.realmId, id: f.profileId },
      json: { data: { type: "oidc-profile", enabled: false } },
    });
    const { reference = "" } = told(await f.begin(nobody()));
    expect(await f.recordOf(reference)).toMatchObject({
      reason: "profile_disabled",
      profile_id: f.profileId,
      profile_name: "Hostile",
    });
  });

  /** All records of the store: a page of the API has a hundred at most. */
  const countRecords = async (): Promise<number> => {
    await f.latchkey.app.tidy();
    const rows = await f.latchkey.storage.db
      .selectFrom("sign_ons")
      .where("store_id", "=", f.store.store.id)
      .select("id")
      .execute();
    return rows.length;
  };

  test("a good request leaves none", async () => {
    await f.begin(nobody());
    expect(await f.records()).toEqual([]);
  });

  test("no more than twenty at once from one source, then one a second; others are not touched (wire 15)", async () => {
    const fail = (peer: string) => ask(queryOf({ scope: "x" }), { peer });
    const answers = [];
    for (let index = 0; index < 25; index++) answers.push(await fail("192.0.2.1"));
    const references = answers.map((answer) => told(answer).reference).filter((one) => one !== undefined);
    expect(new Set(references).size).toBe(20);
    expect(await f.records()).toHaveLength(20);
    await fail("192.0.2.2");
    expect(await f.records()).toHaveLength(21);
    f.latchkey.clock.advance(1000);
    await fail("192.0.2.1");
    await fail("192.0.2.1");
    expect(await f.records()).toHaveLength(22);
  });

  test("no more than twenty at once from one IPv6 /48, however many of its networks are used", async () => {
    const fail = (peer: string) => ask(queryOf({ scope: "x" }), { peer });
    for (let index = 0; index < 25; index++) await fail(`2001:db8:1:${index.toString(16)}::1`);
    expect(await countRecords()).toBe(20);
    await fail("2001:db8:2::1");
    expect(await countRecords()).toBe(21);
  });

  test("no more than two hundred at once for a store, then two a second, whatever the number of addresses", async () => {
    const fail = (index: number) =>
      ask(queryOf({ scope: "x" }), { peer: `198.51.${100 + Math.floor(index / 250)}.${index % 250}` });
    const answers = [];
    for (let index = 0; index < 210; index++) answers.push(told(await fail(index)));
    expect(answers.every(({ error }) => error === "invalid_scope")).toBe(true);
    expect(answers.filter(({ reference }) => reference !== undefined)).toHaveLength(200);
    expect(await countRecords()).toBe(200);
    f.latchkey.clock.advance(1000);
    for (let index = 210; index < 220; index++) await fail(index);
    expect(await countRecords()).toBe(202);
  });
});

describe("the log", () => {
  eachAlone();

  const lineFor = () => f.latchkey.logLines.at(-1) ?? {};
  const marked = {
    state: "marker-state",
    nonce: "marker-nonce",
    prompt: "marker-prompt",
    login_hint: "marker-hint",
    foo: "marker-foo",
  };

  test("has reference and reason of a refusal, and nothing of the query or the cookie (A70, I10)", async () => {
    const { challenge } = newPkce();
    const headers = { cookie: `${COOKIE}=${"marker".repeat(7)}x`, referer: "https://marker.example" };
    const query = queryOf({ ...marked, code_challenge: challenge, scope: "marker-scope" });
    const { reference } = told(await ask(query, { headers }));
    expect(lineFor()).toMatchObject({
      event: "request",
      method: "GET",
      route: authorize.path,
      status: 303,
      reference,
      reason: "scope_incomplete",
    });
    for (const text of ["marker", challenge, "shop.example", f.realmId, f.store.store.id])
      expect(JSON.stringify(lineFor())).not.toContain(text);
  });

  test("has the reference of a page, and what it was", async () => {
    const answer = await f.begin(nobody(), { ...marked, redirect_uri: "https://marker.example" });
    expect(lineFor()).toMatchObject({
      status: 400,
      reference: referenceOnPage(answer),
      problems: ["redirect_uri_unregistered"],
    });
    expect(JSON.stringify(lineFor())).not.toContain("marker");
  });

  test("has nothing of a sign-on that begins", async () => {
    const browser = nobody();
    const begun = await f.begin(browser, marked);
    const line = JSON.stringify(lineFor());
    const secrets = ["state", "nonce", "code_challenge"].map((name) => atIdp(begun).get(name) ?? "");
    for (const text of [...secrets, browser.cookie ?? "", "marker", PUBLIC_URL])
      expect(line).not.toContain(text);
  });
});
