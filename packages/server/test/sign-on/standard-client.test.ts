import { decodeJwt } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { authorize, authorizeByForm, realmMetadata } from "../../src/contract/sign-on.ts";
import { type Answer, call } from "../support/call.ts";
import { createFederation, type Federation, SHOP } from "../support/federation.ts";
import { ADA } from "../support/hostile-idp.ts";
import {
  askUserinfo,
  basic,
  type Changes,
  makeKey,
  redeemAtRealm,
  type StandardKey,
  withoutChallenge,
} from "../support/standard-client.ts";

/**
 * Demands of OpenID Connect Core 1.0 on a `standard` application key, beside the seed's demands on the public client.
 * In brackets: modules of the OpenID Foundation's suite that ask for the same.
 */

let f: Federation;
let key: StandardKey;
beforeAll(async () => {
  f = await createFederation();
  key = await makeKey(f, "standard");
});
afterAll(() => f.close());

const ids = () => ({ store: f.store.store.id, realm: f.realmId });
const parametersOf = (answer: Answer) =>
  Object.fromEntries(new URL(answer.headers.get("location") ?? "").searchParams);
const atIdp = (answer: Answer) => {
  expect(answer.headers.get("location")).toContain(`${f.idp.origin}/authorize?`);
  return parametersOf(answer);
};

type Client = {
  name: string;
  request(more?: Changes): Changes;
  signIn(more?: Changes): Promise<Answer>;
};

const publicClient: Client = {
  name: "the public client",
  request: (more = {}) => ({ nonce: "its-nonce", ...more }),
  async signIn(more) {
    const signedOn = await f.signOn({ parameters: this.request(more) });
    const proof = { client_id: "customers", code_verifier: signedOn.pkce.verifier };
    return redeemAtRealm(f, signedOn, proof);
  },
};
const standardKey: Client = {
  name: "a `standard` key",
  request: (more) => withoutChallenge(key, more),
  async signIn(more) {
    const signedOn = await f.signOn({ parameters: this.request(more) });
    return redeemAtRealm(f, signedOn, {}, { headers: basic(key) });
  },
};
const begin = (client: Client, more?: Changes) => f.begin({ cookie: undefined }, client.request(more));

/** The scope, and the granted scope of a `standard` key and of the public client; undefined: invalid_scope. */
const SCOPES: [string, string | undefined, string | undefined][] = [
  ["openid", "openid", undefined],
  ["openid profile", "openid profile", undefined],
  ["openid email", "openid email", "openid email"],
  ["email openid", "openid email", "openid email"],
  ["openid address", "openid", undefined],
  ["openid phone", "openid", undefined],
  ["openid offline_access", "openid", undefined],
  ["openid profile email address phone", "openid email profile", "openid email profile"],
  ["profile email", undefined, undefined],
  ["openid-email", undefined, undefined],
];

describe.each(SCOPES)(
  "scope `%s` (oidcc-scope-*, ensure-other-scope-order-succeeds)",
  (scope, ofKey, ofPublic) => {
    test.each([
      [standardKey, ofKey],
      [publicClient, ofPublic],
    ] as const)("$0.name", async (client, granted) => {
      if (granted === undefined) {
        expect(parametersOf(await begin(client, { scope }))).toMatchObject({ error: "invalid_scope" });
        return;
      }
      const { status, body } = await client.signIn({ scope });
      expect([status, body.scope]).toEqual([200, granted]);
      const claims = decodeJwt(body.id_token);
      const hasEmail = granted.includes("email");
      expect([claims.email, claims.email_verified]).toEqual(
        hasEmail ? [ADA.email, true] : [undefined, undefined],
      );
      const person = (await askUserinfo(f, body.access_token)).body;
      expect(person).toEqual({
        sub: claims.sub,
        ...(hasEmail && { email: ADA.email, email_verified: true }),
        ...(granted.includes("profile") && { name: expect.any(String) }),
      });
    });
  },
);

test("every request to the provider has the scope email (seed 1.4)", async () => {
  for (const [scope, sent] of [
    ["openid", "openid email"],
    ["openid profile", "openid email profile"],
  ])
    expect(atIdp(await begin(standardKey, { scope })).scope).toBe(sent);
});

describe.each([standardKey, publicClient])("$name", (client) => {
  test("gets its nonce in the ID token, and no auth_time unless it asks for one", async () => {
    const claims = decodeJwt((await client.signIn()).body.id_token);
    expect([claims.nonce, claims.auth_time]).toEqual(["its-nonce", undefined]);
    expect(claims.aud).toBe(client === standardKey ? key.clientId : "customers");
  });

  test("max_age: the ID token has auth_time; login_required if the provider sends none (oidcc-max-age)", async () => {
    const authTime = Math.floor(f.latchkey.clock.now() / 1000);
    f.idp.hooks.claims = (claims) => ({ ...claims, auth_time: authTime });
    const { body } = await client.signIn({ max_age: "10000" });
    f.idp.hooks = {};
    expect(decodeJwt(body.id_token).auth_time).toBe(authTime);
    const signedOn = await f.signOn({ parameters: client.request({ max_age: "1" }) });
    expect(signedOn.error).toBe("login_required");
  });

  test("prompt, display, ui_locales, login_hint are passed on; login_required comes back (oidcc-prompt-none-not-logged-in)", async () => {
    const passed = { prompt: "none", display: "popup", ui_locales: "de", login_hint: "ada@shop.example" };
    expect(atIdp(await begin(client, passed))).toMatchObject(passed);
    expect(atIdp(await begin(client, { prompt: "login" })).prompt).toBe("login");
    f.idp.hooks.redirect = ({ state = "" }) => ({ error: "login_required", state });
    const signedOn = await f.signOn({ parameters: client.request({ prompt: "none" }) });
    f.idp.hooks = {};
    expect([signedOn.error, signedOn.returned.get("state")]).toEqual([
      "login_required",
      "the storefront's state",
    ]);
  });

  test("claims, acr_values, claims_locales and unknown parameters are ignored (ensure-request-with-unknown-parameter-succeeds)", async () => {
    const claims = JSON.stringify({ userinfo: { name: { essential: true } } });
    const more = { claims, acr_values: "1 2", claims_locales: "de", extra: "foobar" };
    const sent = atIdp(await begin(client, more));
    for (const name of Object.keys(more)) expect(sent).not.toHaveProperty(name);
    expect((await client.signIn(more)).status).toBe(200);
    const { body } = await call(f.latchkey.app, realmMetadata, { ids: ids() });
    expect(body).toMatchObject({
      claims_parameter_supported: false,
      request_parameter_supported: false,
      request_uri_parameter_supported: false,
      scopes_supported: ["openid", "email", "profile"],
    });
    for (const name of Object.keys(decodeJwt((await client.signIn()).body.id_token)))
      expect(body.claims_supported).toContain(name);
  });

  test.each([
    ["request", "request_not_supported"],
    ["request_uri", "request_uri_not_supported"],
    ["registration", "registration_not_supported"],
  ])("303 for %s: %s", async (name, error) => {
    expect(parametersOf(await begin(client, { [name]: "https://client.example/x" })).error).toBe(error);
  });

  test("303 invalid_request without response_type, unsupported_response_type for another (oidcc-response-type-missing)", async () => {
    expect(parametersOf(await begin(client, { response_type: undefined })).error).toBe("invalid_request");
    for (const response_type of ["token", "id_token", "code id_token"])
      expect(parametersOf(await begin(client, { response_type })).error).toBe("unsupported_response_type");
  });

  test("400 as a page for an unregistered, extended or missing redirect URI (oidcc-redirect-uri-*)", async () => {
    for (const redirect_uri of [`${SHOP}x`, `${SHOP}?foo=bar`, `${SHOP}?shop=1&x=1`, undefined]) {
      const answer = await begin(client, { redirect_uri });
      expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
      expect(answer.headers.has("location")).toBe(false);
    }
    expect((await begin(client, { redirect_uri: `${SHOP}?shop=1` })).status).toBe(303);
  });

  test("POST at authorize works like GET (oidcc-ensure-post-request-succeeds)", async () => {
    const form = f.parameters(client.request());
    expect(atIdp(await call(f.latchkey.app, authorizeByForm, { ids: ids(), form })).response_type).toBe(
      "code",
    );
  });
});

test("a `standard` key › 200 with its secret by Basic or in the body, 401 without", async () => {
  const begun = () => f.signOn({ parameters: withoutChallenge(key) });
  const inBody = { client_id: key.clientId, client_secret: key.clientSecret };
  expect((await redeemAtRealm(f, await begun(), {}, { headers: basic(key) })).status).toBe(200);
  expect((await redeemAtRealm(f, await begun(), inBody)).status).toBe(200);
  expect((await redeemAtRealm(f, await begun(), { client_id: key.clientId })).status).toBe(401);
});

describe("id_token_hint (oidcc-id-token-hint)", () => {
  const hintOf = async (client = standardKey) => (await client.signIn()).body.id_token as string;
  const reasonOf = async (parameters: Changes) => {
    const { error, returned } = await f.signOn({ parameters: standardKey.request(parameters) });
    return [error, returned.get("reason")];
  };

  test("is kept on the page of providers", async () => {
    const second = await f.addProfile({ name: "Second" });
    const id_token_hint = await hintOf();
    const query = new URLSearchParams(
      f.parameters({ ...standardKey.request({ id_token_hint }), profile: undefined }),
    ).toString();
    const page = await call(f.latchkey.app, authorize, { ids: ids(), query });
    expect(page.body).toContain(`id_token_hint=${id_token_hint}`);
    expect(page.body).toContain(`value="${second}"`);
  });

  test("a `standard` key's hint lets the named customer sign on, also when expired or another client's", async () => {
    const hints = [await hintOf(), await hintOf(publicClient)];
    f.latchkey.clock.advance(2 * 3_600_000);
    f.implicit = await f.store.token("implicit");
    for (const id_token_hint of hints)
      expect((await standardKey.signIn({ id_token_hint, prompt: "none" })).status).toBe(200);
  });

  test("login_required when another customer comes back, known or new", async () => {
    const id_token_hint = await hintOf();
    f.idp.person = { ...ADA, sub: "another-subject", email: "else@shop.example" };
    expect(await reasonOf({ id_token_hint })).toEqual(["login_required", "hint_unmatched"]);
    await standardKey.signIn();
    expect(await reasonOf({ id_token_hint })).toEqual(["login_required", "hint_unmatched"]);
    f.idp.person = { ...ADA };
  });

  test("login_required for a hint that is no ID token of this realm, without a request to the provider", async () => {
    const { body } = await standardKey.signIn();
    const [head, , signature] = body.id_token.split(".");
    const other = Buffer.from(JSON.stringify({ ...decodeJwt(body.id_token), sub: "x" })).toString(
      "base64url",
    );
    for (const id_token_hint of ["x", body.access_token, `${head}.${other}.${signature}`])
      expect(parametersOf(await begin(standardKey, { id_token_hint }))).toMatchObject({
        error: "login_required",
        reason: "hint_unmatched",
      });
  });

  test("the public client's hint is ignored (wire 7)", async () => {
    expect((await publicClient.signIn({ id_token_hint: "x" })).status).toBe(200);
  });
});
