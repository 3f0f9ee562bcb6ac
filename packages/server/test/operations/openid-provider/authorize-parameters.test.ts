import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { authorizeByForm } from "../../../src/contract/sign-on.ts";
import { endSessionByForm } from "../../../src/contract/sign-out.ts";
import { type Answer, type Call, call } from "../../support/call.ts";
import { newPkce } from "../../support/federation.ts";
import { f, ids, realmAsProvider, redeem, signIn } from "./realm.ts";

/** max_age, request objects, and authorization requests by POST. */

realmAsProvider();

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
    "invalid_request for %j",
    async (maxAge) => {
      const { error, returned } = await f.signOn({ parameters: { max_age: maxAge } });
      expect([error, returned.get("state")]).toEqual(["invalid_request", "the storefront's state"]);
    },
  );

  test("login_required without auth_time, or with one that is too old, in the future or malformed", async () => {
    for (const authTime of [undefined, now() - 400, now() + 120, "now", null, String(now())]) {
      statesAuthTime(authTime);
      const { error, reference, code } = await f.signOn({ parameters: { max_age: "300" } });
      expect([authTime, error, code]).toEqual([authTime, "login_required", ""]);
      const { checks, reason } = await f.recordOf(reference);
      expect(reason).toMatch(/^id_token\.auth_time/);
      expect(checks).toContainEqual(expect.objectContaining({ check: "id_token.auth_time", passed: false }));
    }
  });

  test("is compared with the beginning of the sign-on, with a minute of skew", async () => {
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

  test("without it auth_time is ignored and not passed on (requirement 9)", async () => {
    for (const authTime of [0, "nonsense", now() + 86_400]) {
      statesAuthTime(authTime);
      expect(decodeJwt((await signIn()).id_token)).not.toHaveProperty("auth_time");
    }
  });
});

describe("request objects and registration are refused (Core 6, 7.2.1)", () => {
  test.each([
    ["request", "request_not_supported", "eyJhbGciOiJub25lIn0.e30."],
    ["request_uri", "request_uri_not_supported", "https://evil.example/request"],
    ["registration", "registration_not_supported", "{}"],
  ])("%s with %s; no URL is fetched", async (name, error, value) => {
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

describe("POST at authorize", () => {
  const post = (form: Record<string, string>, request: Call = {}) =>
    call(f.latchkey.app, authorizeByForm, { ids: ids(), form, ...request });
  const locationOf = (answer: Answer) => new URL(answer.headers.get("location") ?? "");

  test("303 to the provider, as with GET; the sign-on succeeds", async () => {
    const pkce = newPkce();
    const begun = await post(f.parameters({ code_challenge: pkce.challenge }));
    expect(begun.status).toBe(303);
    const cookie = /=([^;]+)/.exec(begun.headers.get("set-cookie") ?? "")?.[1];
    const back = await f.comeBack({ cookie }, f.idp.signIn(locationOf(begun).href));
    const code = locationOf(back).searchParams.get("code") ?? "";
    expect((await redeem({ code, pkce })).status).toBe(200);
  });

  test("303 for parameters in query and form together; invalid_request for a repeated one", async () => {
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

  test("413 as a page for a form that is too large, 415 for another media type", async () => {
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

  test("the page of providers keeps known parameters only", async () => {
    await f.addProfile({ name: "Second" });
    const { profile: _, ...rest } = f.parameters({ ui_locales: "de fr" });
    const { status, body } = await post({ ...rest, junk: "x".repeat(12_000) });
    expect(status).toBe(200);
    const [, action = ""] = /action="(http[^"]+)"/.exec(body) ?? [];
    const { searchParams } = new URL(action.replaceAll("&amp;", "&").replaceAll("&#39;", "'"));
    expect([searchParams.get("ui_locales"), searchParams.has("junk")]).toEqual(["de fr", false]);
  });
});
