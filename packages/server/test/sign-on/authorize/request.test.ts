import { describe, expect, test } from "vitest";
import { type SignOnReason, signOnReasons } from "../../../src/contract/sign-on-reasons.ts";
import { newId } from "../../../src/lib/ids.ts";
import { newPkce } from "../../support/federation.ts";
import {
  ask,
  atIdp,
  authorizeRequests,
  f,
  idp,
  isAtIdp,
  locationOf,
  nobody,
  queryOf,
  refusalFor,
  SENT_TO_IDP,
  told,
} from "./requests.ts";

/** The parameters of the request: each is required, refused or ignored. */

authorizeRequests();

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
