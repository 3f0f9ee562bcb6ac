import { describe, expect, test } from "vitest";
import { type SignOnReason, signOnReasons } from "../../../src/contract/sign-on-reasons.ts";
import { newId } from "../../../src/lib/ids.ts";
import { newPkce } from "../../support/federation.ts";
import { locationOf, newBrowser, redirectOf } from "../../support/redirects.ts";
import {
  ask,
  atIdp,
  authorizeRequests,
  f,
  idp,
  isAtIdp,
  queryOf,
  refusalFor,
  SENT_TO_IDP,
} from "./requests.ts";

/** The parameters of the request: each is required, refused or ignored. */

authorizeRequests();

test("a good request › 303 to the identity provider with eight parameters of the service's own (R75 to R78)", async () => {
  const answer = await f.begin(newBrowser());
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
  const browser = newBrowser();
  const begun = [await f.begin(browser), await f.begin(browser), await f.begin(newBrowser())].map(atIdp);
  for (const name of ["state", "nonce", "code_challenge"])
    expect(new Set(begun.map((parameters) => parameters.get(name))).size, name).toBe(3);
});

test("the storefront's challenge and state are not sent to the provider", async () => {
  const { challenge } = newPkce();
  const location = locationOf(
    await f.begin(newBrowser(), { code_challenge: challenge, state: "stays-here" }),
  );
  expect(location).not.toContain(challenge);
  expect(location).not.toContain("stays-here");
});

describe("a faulty request › 303 to the storefront with the reason, its state and iss", () => {
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
    ["no challenge (T09, R23)", "challenge_missing", { code_challenge: undefined }],
    ["an empty challenge (A24)", "challenge_missing", { code_challenge: "" }],
    [
      "no challenge and no method",
      "challenge_missing",
      { code_challenge: undefined, code_challenge_method: undefined },
    ],
    [
      "no method: it would mean plain (R23)",
      "challenge_method_unsupported",
      { code_challenge_method: undefined },
    ],
    ["an empty method", "challenge_method_unsupported", { code_challenge_method: "" }],
    ["the method plain (T09)", "challenge_method_unsupported", { code_challenge_method: "plain" }],
    ["the method s256 (T09)", "challenge_method_unsupported", { code_challenge_method: "s256" }],
    ["the method S512", "challenge_method_unsupported", { code_challenge_method: "S512" }],
    ["a challenge of 42 characters (R22)", "challenge_invalid", { code_challenge: challenge.slice(1) }],
    ["a challenge of 44 characters (R22)", "challenge_invalid", { code_challenge: `${challenge}A` }],
    ["a challenge with padding (T09)", "challenge_invalid", { code_challenge: `${challenge}=` }],
    ["a challenge with a plus", "challenge_invalid", { code_challenge: `+${challenge.slice(1)}` }],
    ["a challenge with a space", "challenge_invalid", { code_challenge: ` ${challenge.slice(1)}` }],
    ["a challenge with a line break", "challenge_invalid", { code_challenge: `${challenge}\n` }],
    ["a nonce of 513 characters", "nonce_invalid", { nonce: "n".repeat(513) }],
    ["a profile that is not an id", "profile_unknown", { profile: "1' or 1=1--" }],
    ["an unknown profile", "profile_unknown", { profile: newId() }],
  ];

  test.each(requests)("%s: %s", async (_, reason, changes) => {
    const answer = await f.begin(newBrowser(), changes);
    expect(answer.status).toBe(303);
    expect(redirectOf(answer)).toEqual(refusalFor(reason));
    expect(answer.headers.has("set-cookie")).toBe(false);
    expect(idp.journal).toEqual([]);
  });

  test("no state: the redirect has none either (T08, R76)", async () => {
    for (const state of [undefined, ""]) {
      const { state: _, ...refusal } = refusalFor("state_missing");
      expect(redirectOf(await f.begin(newBrowser(), { state }))).toEqual(refusal);
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
      expect(redirectOf(await ask(`${queryOf(once)}&${name}=${encodeURIComponent(second)}`))).toEqual(
        refusalFor("parameter_repeated"),
      );
  });

  test("state given twice: the redirect has none (R5)", async () => {
    const { state: _, ...refusal } = refusalFor("parameter_repeated");
    expect(redirectOf(await ask(`${queryOf()}&state=evil`))).toEqual(refusal);
  });

  test("every reason has an error and a description in the characters of RFC 6749 4.1.2.1", () => {
    for (const [reason, { error, means }] of Object.entries(signOnReasons)) {
      expect(error, reason).toMatch(/^[a-z_]+$/);
      expect(means, reason).toMatch(/^[\x20-\x21\x23-\x5b\x5d-\x7e]+$/);
    }
  });
});

describe("an unusual request › 303 to the provider", () => {
  test.each<[string, Record<string, string | undefined>]>([
    ["scopes in the other order (2.6 other-scope-order)", { scope: "email openid" }],
    ["unknown scopes", { scope: "openid email profile phone offline_access" }],
    ["scopes with two spaces between", { scope: "openid  email" }],
    [
      "unknown parameters (R5)",
      { foo: "bar", access_token: "x", code: "y", error: "z", iss: "https://evil" },
    ],
    ["a nonce of 512 characters", { nonce: "n".repeat(512) }],
    ["a state of one character", { state: "s" }],
  ])("%s", async (_, changes) => {
    expect(isAtIdp(await f.begin(newBrowser(), changes))).toBe(true);
  });

  test("unknown parameters given twice, and known ones that are empty the second time (R5)", async () => {
    expect(isAtIdp(await ask(`${queryOf()}&foo=1&foo=2&state=&scope=&redirect_uri=&client_id=`))).toBe(true);
  });

  test("openid, email and profile are the only scopes that reach the provider (A32)", async () => {
    const scopeFor = async (scope: string) => atIdp(await f.begin(newBrowser(), { scope })).get("scope");
    expect(await scopeFor("email openid offline_access admin")).toBe("openid email");
    expect(await scopeFor("profile email openid offline_access")).toBe("openid email profile");
  });
});

describe("a value of 8 KB", () => {
  test.each(["state", "display", "prompt", "ui_locales", "client_id", "redirect_uri", "foo"])(
    "414 as a page for %s; the page does not have the value (T07)",
    async (name) => {
      const answer = await f.begin(newBrowser(), { [name]: "evil".repeat(2048) });
      expect([answer.status, answer.code]).toEqual([414, "url_too_long"]);
      expect(answer.body).not.toContain("evil");
    },
  );
});
