import * as oidc from "openid-client";
import { afterEach, describe, expect, test, vi } from "vitest";
import { createCustomer } from "../../server/src/contract/customers.ts";
import { checkProfile } from "../../server/src/contract/oidc-profiles.ts";
import { SHOP } from "../../server/test/support/federation.ts";
import { startPracticeIdp } from "../src/practice-idp/start.ts";
import { type Federation, openBrowser, openFederation, signOn } from "./practice-federation.ts";

let opened: { close(): Promise<void> }[] = [];

afterEach(async () => {
  for (const one of opened) await one.close();
  opened = [];
});

async function open(options?: Parameters<typeof openFederation>[0]): Promise<Federation> {
  const federation = await openFederation(options);
  opened.push(federation);
  return federation;
}

async function openIdp() {
  const idp = await startPracticeIdp({ quiet: true });
  opened.push(idp);
  const service = () => Promise.reject(new Error("there is no service here"));
  return { idp, browser: openBrowser({ idp, service }) };
}

const ADA = { person: "ada" };
const BEN = { person: "ben" };

describe("as an identity provider", () => {
  test("the first sign-on proves every requirement except R8, which cannot be checked while Latchkey sends a nonce (seed 1)", async () => {
    const f = await open();
    const check = async () =>
      (await f.store.call(checkProfile, { ids: { realm: f.realmId, id: f.profileId } })).body.data;
    type Checks = { checks: { id: string; status: string }[] };
    const statuses = ({ checks }: Checks) =>
      new Set(checks.flatMap(({ id, status }) => (id === "R8" ? [] : [status])));
    const before = await check();
    expect(statuses(before)).not.toContain("not_met");
    expect(before.warnings).toEqual([]);
    f.clock.advance(1000);
    await signOn(f, ADA);
    await f.tidy();
    expect(statuses(await check())).toEqual(new Set(["met"]));
  });

  test("another client library accepts it; ID token and UserInfo have e-mail and name", async () => {
    const { idp, browser } = await openIdp();
    idp.setClient({ clientId: "by-hand", clientSecret: "a secret", redirectUris: [SHOP] });
    const config = await oidc.discovery(
      new URL(idp.issuer),
      "by-hand",
      undefined,
      oidc.ClientSecretBasic("a secret"),
      { execute: [oidc.allowInsecureRequests, oidc.enableNonRepudiationChecks] },
    );
    expect(config.serverMetadata()).toMatchObject({
      authorization_response_iss_parameter_supported: true,
      backchannel_logout_supported: true,
      code_challenge_methods_supported: ["S256"],
      scopes_supported: ["openid", "email", "profile"],
      token_endpoint_auth_methods_supported: ["client_secret_basic"],
    });
    const pkceCodeVerifier = oidc.randomPKCECodeVerifier();
    const url = oidc.buildAuthorizationUrl(config, {
      redirect_uri: SHOP,
      scope: "openid email profile",
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: "S256",
    });
    const returned = await browser.walk(url.href, ADA);
    const tokens = await oidc.authorizationCodeGrant(config, returned, { pkceCodeVerifier });
    const said = { sub: "ada", name: "Ada", email: "ada@shop.example", email_verified: true };
    expect(tokens.claims()).toMatchObject(said);
    expect(await oidc.fetchUserInfo(config, tokens.access_token, "ada")).toEqual(said);
  });

  test("a person who has signed in sees no page the second time", async () => {
    const f = await open();
    const browser = openBrowser(f);
    const first = await signOn(f, BEN, { browser });
    const second = await signOn(f, undefined, { browser });
    expect(second.token?.customer_id).toBe(first.token?.customer_id);
    expect(browser.pages).toHaveLength(1);
  });

  test.each(["login", "select_account", "login consent"])(
    "prompt=%s shows the page again, and somebody else can be chosen",
    async (prompt) => {
      const f = await open();
      const browser = openBrowser(f);
      await signOn(f, ADA, { browser });
      const { customer } = await signOn(f, BEN, { browser, prompt });
      expect(customer.email).toBe("ben@shop.example");
      expect(browser.pages[1]?.text).toContain("You are signed in here as <strong>Ada</strong>");
      expect((await signOn(f, undefined, { browser })).customer.email).toBe("ben@shop.example");
    },
  );

  test("the later sign-in of two tabs replaces the earlier one", async () => {
    const f = await open();
    const browser = openBrowser(f);
    const meanwhile = () => signOn(f, ADA, { browser });
    expect((await signOn(f, BEN, { browser, meanwhile })).customer.email).toBe("ben@shop.example");
  });

  test("prompt=none never shows a page: login_required, or signed in", async () => {
    const f = await open();
    const browser = openBrowser(f);
    const refused = await signOn(f, undefined, { browser, prompt: "none" });
    expect([refused.error, refused.reason]).toEqual(["login_required", "idp_error"]);
    await signOn(f, ADA, { browser });
    expect((await signOn(f, undefined, { browser, prompt: "none" })).reason).toBeNull();
  });

  test("Cancel on the page is access_denied", async () => {
    const f = await open();
    const { error, reason } = await signOn(f, { action: "cancel" });
    expect([error, reason]).toEqual(["access_denied", "idp_error"]);
  });

  test("a finished sign-in shows a page that says so", async () => {
    const { idp } = await openIdp();
    const response = await fetch(`${idp.origin}/interaction/unknown`);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain("This sign-in is over");
  });

  test("prints nothing when it is quiet, from start to end", async () => {
    const written = [vi.spyOn(process.stdout, "write"), vi.spyOn(process.stderr, "write")];
    const said = (["log", "info", "warn", "error"] as const).map((name) => vi.spyOn(console, name));
    const f = await open();
    f.idp.knobs.rotateKeys();
    await signOn(f, ADA);
    await fetch(`${f.idp.origin}/auth?client_id=unknown`);
    const exchange = {
      method: "POST",
      headers: { origin: "https://shop.example" },
      body: new URLSearchParams("a=b"),
    };
    await fetch(`${f.idp.origin}/token`, exchange);
    // A client does not wait for the answer.
    f.idp.knobs.set({ tokenDelayMs: 60_000 });
    const impatient = fetch(`${f.idp.origin}/token`, { ...exchange, signal: AbortSignal.timeout(100) });
    await expect(impatient).rejects.toThrow();
    await f.idp.close();
    for (const spy of [...written, ...said]) {
      expect(spy).not.toHaveBeenCalled();
      spy.mockRestore();
    }
  });
});

describe("people", () => {
  test("Ada, with a verified e-mail, becomes a customer", async () => {
    const { customer } = await signOn(await open(), ADA);
    expect(customer).toMatchObject({ name: "Ada", email: "ada@shop.example", email_verified: true });
  });

  test("Ben becomes a customer whose e-mail is not verified", async () => {
    const { customer } = await signOn(await open(), BEN);
    expect(customer).toMatchObject({ email: "ben@shop.example", email_verified: false });
  });

  test("Ben is refused if a customer has his address", async () => {
    const f = await open();
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    await newCustomer(f, "ben@shop.example");
    expect(await signOn(f, BEN)).toMatchObject({ error: "access_denied", reason: "email_unverified" });
  });

  test("Cleo, without an e-mail, is refused", async () => {
    const refused = await signOn(await open(), { person: "cleo" });
    expect(refused).toMatchObject({ error: "access_denied", reason: "claims.email_missing" });
  });

  test("Dora and her twin are linked, created or refused, as the realm's policy says", async () => {
    const f = await open();
    const existing = await newCustomer(f, "dora@shop.example");
    const both = async () => [await signOn(f, { person: "dora" }), await signOn(f, { person: "dora-twin" })];
    const reasons = (all: { reason: string | null }[]) => all.map(({ reason }) => reason);
    await f.changeRealm({ duplicate_email_policy: "disallowed" });
    expect(reasons(await both())).toEqual(["email_taken", "email_taken"]);
    await f.changeRealm({ duplicate_email_policy: "api_only" });
    expect((await both()).map(({ customer }) => customer.id)).toEqual([existing, existing]);

    const other = await open();
    const customers = [
      existing,
      ...(await Promise.all([signOn(other, { person: "dora" }), signOn(other, { person: "dora-twin" })])).map(
        ({ customer }) => customer.id,
      ),
    ];
    expect(new Set(customers).size).toBe(3);
  });

  test("a typed person gets the same subject when typed again", async () => {
    const f = await open();
    const typed = { action: "typed", name: "Zoë <b>", email: "zoe@shop.example", verified: "yes" };
    const first = await signOn(f, typed);
    expect(first.customer).toMatchObject({
      name: "Zoë <b>",
      email: "zoe@shop.example",
      email_verified: true,
    });
    const { verified: _, ...unverified } = { ...typed, email: "ZOE@shop.example" };
    expect((await signOn(f, unverified)).customer.id).toBe(first.customer.id);
    expect((await signOn(f, { ...typed, email: "" })).reason).toBe("claims.email_missing");
    expect((await signOn(f, { ...typed, email: "no address" })).reason).toBe("claims.email_invalid");
  });
});

async function newCustomer(f: Federation, email: string): Promise<string> {
  const data = { type: "customer", name: "Old customer", email, email_verified: true };
  return (await f.store.call(createCustomer, { json: { data } })).body.data.id;
}
