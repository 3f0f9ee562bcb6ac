import { describe, expect, test } from "vitest";
import { GRACE } from "../support/honest-idp.ts";
import {
  closeFederations,
  type Federation,
  openBrowser,
  openFederation,
  openStorefront,
  signOn,
} from "./federation.ts";

/** A storefront of `fetch` alone, as the contract describes, in front of `oidc-provider`. */

closeFederations();

const loginPages = ({ idp }: Federation) =>
  idp.journal.filter(({ path }) => path.startsWith("/interaction/")).length;

describe("a storefront that follows the contract", () => {
  test("signs in a shopper whose e-mail is in UserInfo alone, with the access token in the header (seed 4, N28, N80, N86)", async () => {
    const f = await openFederation();
    const { status, token, storefront } = await signOn(f);
    expect(status).toBe(200);
    expect(token).toEqual({
      type: "token",
      id: expect.any(String),
      customer_id: expect.any(String),
      token: expect.any(String),
      expires: Math.floor(f.clock.now() / 1000) + 86_400,
    });
    const { body } = await storefront.lookAt(token);
    expect(body.data).toMatchObject({
      email: GRACE.email,
      email_verified: true,
      authentication_mechanism: "oidc",
      password: false,
    });
    const asked = f.idp.journal.filter(({ path }) => path === "/me");
    expect(asked).toEqual([
      { method: "GET", path: "/me", query: "", authorization: expect.stringMatching(/^Bearer \S+$/) },
    ]);
  });

  test.each(["RS256", "ES256"] as const)(
    "does not request UserInfo when the ID token, signed with %s, has the e-mail (N28)",
    async (algorithm) => {
      const f = await openFederation({ algorithm, emailIn: "id_token" });
      const { token, storefront } = await signOn(f);
      expect((await storefront.lookAt(token)).body.data.email).toBe(GRACE.email);
      expect(f.idp.asked("/me")).toBe(0);
    },
  );

  test("gets the shopper's name with the scope profile", async () => {
    const f = await openFederation();
    const nameless = await signOn(f);
    expect((await nameless.storefront.lookAt(nameless.token)).body.data.name).toBe(GRACE.email);
    f.idp.person = { ...GRACE, sub: "somebody else" };
    const { token, storefront } = await signOn(f, openBrowser(f), { scope: "openid email profile" });
    expect((await storefront.lookAt(token)).body.data.name).toBe(GRACE.name);
  });

  test("finds the same customer again, without another login page at the provider", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    const first = await signOn(f, browser);
    const pages = loginPages(f);
    const second = await signOn(f, browser);
    expect(loginPages(f)).toBe(pages);
    expect(second.token.customer_id).toBe(first.token.customer_id);
    expect(second.token.id).not.toBe(first.token.id);
    const elsewhere = await signOn(f, openBrowser(f));
    expect(elsewhere.token.customer_id).toBe(first.token.customer_id);
  });

  test("has three sign-ons open at once in one browser; all succeed, in any order, as one customer", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    const storefront = await openStorefront(f);
    const tabs = [storefront.begin(), storefront.begin(), storefront.begin()];
    const atIdp: string[] = [];
    for (const { url } of tabs) atIdp.push(await browser.visit(url));
    const returned = new Map<number, URL>();
    for (const tab of [1, 2, 0]) returned.set(tab, await browser.go(atIdp[tab] as string));
    const answers = await Promise.all(
      tabs.map((begun, tab) => storefront.finish(begun, returned.get(tab) as URL)),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
    expect(new Set(answers.map(({ body }) => body.data.customer_id)).size).toBe(1);
    expect(new Set(answers.map(({ body }) => body.data.token)).size).toBe(3);
  });
});

describe("parameters of the storefront", () => {
  test("prompt=login shows the login page again (seed 4.3)", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    await signOn(f, browser);
    const pages = loginPages(f);
    expect((await signOn(f, browser, { prompt: "login" })).status).toBe(200);
    expect(loginPages(f)).toBeGreaterThan(pages);
  });

  test("prompt=none without a session redirects with login_required (oidcc-prompt-none-not-logged-in)", async () => {
    const f = await openFederation();
    const storefront = await openStorefront(f);
    const { url, state } = storefront.begin({ prompt: "none" });
    const returned = await openBrowser(f).go(url);
    expect(Object.fromEntries(returned.searchParams)).toEqual({
      error: "login_required",
      error_description: expect.any(String),
      error_uri: expect.stringMatching(/\/errors\/idp_error$/),
      reason: "idp_error",
      reference: expect.any(String),
      state,
      iss: f.issuer,
    });
    expect(loginPages(f)).toBe(0);
  });

  test("prompt=none with a session at the provider signs in without a page (oidcc-prompt-none-logged-in)", async () => {
    const f = await openFederation();
    const browser = openBrowser(f);
    await signOn(f, browser);
    const pages = loginPages(f);
    expect((await signOn(f, browser, { prompt: "none" })).status).toBe(200);
    expect(loginPages(f)).toBe(pages);
  });

  test("display and ui_locales reach the provider unchanged, and the sign-on succeeds (seed 4.3)", async () => {
    const f = await openFederation();
    const wanted = { display: "popup", ui_locales: "fr-CA fr en" };
    expect((await signOn(f, openBrowser(f), wanted)).status).toBe(200);
    const { query } = f.idp.journal.find(({ path }) => path === "/auth") ?? {};
    expect(`&${query}&`).toContain(`&${new URLSearchParams(wanted)}&`);
  });
});

describe("answers of the provider", () => {
  test("a shopper who refuses there comes back with access_denied", async () => {
    const f = await openFederation();
    f.idp.refuses = true;
    const storefront = await openStorefront(f);
    const begun = storefront.begin();
    const { searchParams } = await openBrowser(f).go(begun.url);
    expect(Object.fromEntries(searchParams)).toMatchObject({
      error: "access_denied",
      state: begun.state,
      iss: f.issuer,
    });
    expect(searchParams.has("code")).toBe(false);
    expect(await f.recordOf(searchParams.get("reference") ?? "")).toMatchObject({
      outcome: "failed",
      reason: "idp_error",
      error: "access_denied",
    });
  });

  test("a refused client secret has another reason than a provider that is down", async () => {
    const f = await openFederation({ clientSecret: "not the one" });
    const storefront = await openStorefront(f);
    const { searchParams } = await openBrowser(f).go(storefront.begin().url);
    expect(searchParams.get("error")).toBe("server_error");
    expect((await f.recordOf(searchParams.get("reference") ?? "")).reason).toBe("token.client_refused");
  });

  test("a person without an e-mail address is refused with a reason (seed 1, requirement 4)", async () => {
    const f = await openFederation();
    f.idp.person = { sub: "nameless" };
    const storefront = await openStorefront(f);
    const { searchParams } = await openBrowser(f).go(storefront.begin().url);
    expect(searchParams.get("error")).toBe("access_denied");
    expect((await f.recordOf(searchParams.get("reference") ?? "")).reason).toBe("claims.email_missing");
  });

  test("new signing keys between two sign-ons are fetched at their first use (N53)", async () => {
    const f = await openFederation();
    const first = await signOn(f);
    const before = f.idp.asked("/jwks");
    f.idp.rotateKey();
    const second = await signOn(f);
    expect(second.status).toBe(200);
    expect(second.token.customer_id).toBe(first.token.customer_id);
    expect(f.idp.asked("/jwks")).toBe(before + 1);
    await signOn(f);
    expect(f.idp.asked("/jwks")).toBe(before + 1);
  });
});

describe("signing out at the provider", () => {
  async function openTwice(namesSession: boolean) {
    const f = await openFederation();
    f.idp.register({
      callback: f.links["callback-endpoint"],
      logout: f.links["backchannel-logout-endpoint"],
      namesSession,
    });
    const answers: number[] = [];
    f.idp.deliver = async (request) => {
      const response = await f.service(request);
      answers.push(response.status);
      return response;
    };
    const browsers = [openBrowser(f), openBrowser(f)] as const;
    const sessions = [await signOn(f, browsers[0]), await signOn(f, browsers[1])] as const;
    return { f, answers, browsers, sessions };
  }
  const lookUp = async ({ storefront, token }: Awaited<ReturnType<typeof signOn>>) =>
    (await storefront.lookAt(token)).status;

  test("ends the customer token of that browser alone, when the logout token names the session", async () => {
    const { f, answers, browsers, sessions } = await openTwice(true);
    expect([await lookUp(sessions[0]), await lookUp(sessions[1])]).toEqual([200, 200]);
    await f.idp.signOut(browsers[0].jar);
    expect(answers).toEqual([200]);
    expect([await lookUp(sessions[0]), await lookUp(sessions[1])]).toEqual([403, 200]);
    const { body } = await sessions[0].storefront.lookAt(sessions[0].token);
    expect(body.errors[0].code).toBe("customer_token_invalid");
  });

  test("ends all customer tokens of the person when the logout token names the person alone", async () => {
    const { f, answers, browsers, sessions } = await openTwice(false);
    await f.idp.signOut(browsers[1].jar);
    expect(answers).toEqual([200]);
    expect([await lookUp(sessions[0]), await lookUp(sessions[1])]).toEqual([403, 403]);
  });

  test("makes an unredeemed code void", async () => {
    const { f, browsers, sessions } = await openTwice(true);
    const { storefront } = sessions[0];
    const begun = storefront.begin();
    const returned = await browsers[0].go(begun.url);
    await f.idp.signOut(browsers[0].jar);
    const { status, body } = await storefront.finish(begun, returned);
    expect([status, body.errors[0].code]).toEqual([400, "code_invalid"]);
  });
});
