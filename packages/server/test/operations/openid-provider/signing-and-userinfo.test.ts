import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, test } from "vitest";
import { deleteCustomer } from "../../../src/contract/customers.ts";
import { createRealm, getRealm } from "../../../src/contract/realms.ts";
import { jwks, userinfoByPost } from "../../../src/contract/sign-on.ts";
import { newKey } from "../../../src/signing-keys/key-rows.ts";
import { createTestApp } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { algOf, askUserinfo, basic, f, ids, realmAsProvider, signIn, UNKNOWN, withOptions } from "./realm.ts";

/** The keys of ID tokens, and the UserInfo endpoint. */

realmAsProvider();

describe("the signature of ID tokens", () => {
  const published = async () =>
    (await call(f.latchkey.app, jwks)).body.keys as { kid: string; alg: string }[];

  test("RS256 by default, ES256 if the realm says so; customer tokens stay ES256; both keys are published (wire 22)", async () => {
    const keys = await published();
    expect(keys.map(({ alg }) => alg).toSorted()).toEqual(["ES256", "RS256"]);
    const { body } = await f.store.call(getRealm, { ids: { id: f.realmId } });
    expect(body.data.id_token_signed_response_alg).toBe("RS256");
    const rs256 = await signIn();
    await f.changeRealm({ id_token_signed_response_alg: "ES256" });
    const es256 = await signIn();
    expect([rs256, es256].map(({ id_token }) => algOf(id_token))).toEqual(["RS256", "ES256"]);
    expect([rs256, es256].map(({ access_token }) => algOf(access_token))).toEqual(["ES256", "ES256"]);
    for (const { id_token } of [rs256, es256]) {
      const { alg, kid } = decodeProtectedHeader(id_token);
      expect(keys).toContainEqual(expect.objectContaining({ alg, kid }));
    }
  });

  test("a realm of the release before the choice keeps ES256", async () => {
    await published();
    await f.latchkey.storage.db
      .updateTable("authentication_realms")
      .set({ id_token_signed_response_alg: null })
      .execute();
    expect(algOf((await signIn()).id_token)).toBe("ES256");
  });

  test.each(["none", "HS256", "PS256", "rs256", ""])("400 for the algorithm %j", async (alg) => {
    const json = { data: { type: "authentication-realm", name: "Odd", id_token_signed_response_alg: alg } };
    expect((await f.store.call(createRealm, { json })).code).toBe("member_invalid");
  });

  test("the first sign-on does not wait for an RSA key: ES256 signs until there is one", async () => {
    const making = Promise.withResolvers<never>();
    await withOptions({
      makeKey: (alg) => (alg === "RS256" ? making.promise : newKey(alg)),
    });
    const reading = published();
    expect(algOf((await signIn()).id_token)).toBe("ES256");
    making.reject(new Error("no entropy"));
    // The key set is answered with the keys that exist.
    expect((await reading).map(({ alg }) => alg)).toEqual(["ES256"]);
  });

  test("a first RSA key is published for ten minutes before it signs, if tokens were signed before", async () => {
    await signIn();
    f.latchkey.clock.advance(11 * 60_000);
    expect((await published()).map(({ alg }) => alg)).toContain("RS256");
    expect(algOf((await signIn()).id_token)).toBe("ES256");
    f.latchkey.clock.advance(10 * 60_000);
    expect(algOf((await signIn()).id_token)).toBe("RS256");
  });

  test("instances that make the first RSA key at once agree on one", async () => {
    const { storage, clock } = f.latchkey;
    const others = await Promise.all([1, 2].map(() => createTestApp({ storage, clock })));
    const apps = [f.latchkey, ...others].map(({ app }) => app);
    await Promise.all(apps.map((app) => call(app, jwks)));
    expect(await storage.db.selectFrom("id_token_keys").select("kid").execute()).toHaveLength(1);
    const [first, ...rest] = await Promise.all(apps.map(async (app) => (await call(app, jwks)).body));
    for (const other of rest) expect(other).toEqual(first);
  });

  test("the private key is sealed in the database", async () => {
    await published();
    const [row] = await f.latchkey.storage.db.selectFrom("id_token_keys").selectAll().execute();
    expect(JSON.parse(row?.public_jwk ?? "{}")).not.toHaveProperty("d");
    expect(row?.sealed_private_key).not.toContain("{");
  });
});

describe("userinfo", () => {
  const EMAIL = { sub: expect.any(String), email: "ada@shop.example", email_verified: true };

  test("200 with GET and POST: the ID token's sub, and the name only with the scope `profile`", async () => {
    const plain = await signIn();
    const named = await signIn({ scope: "openid email profile" });
    expect([plain.scope, named.scope]).toEqual(["openid email", "openid email profile"]);
    const first = await askUserinfo(`Bearer ${plain.access_token}`);
    expect(first.body).toEqual({ ...EMAIL, sub: decodeJwt(plain.id_token).sub });
    const request = { ids: ids(), headers: { authorization: `Bearer ${named.access_token}` } };
    for (const answer of [
      await call(f.latchkey.app, userinfoByPost, request),
      await call(f.latchkey.app, userinfoByPost, { ...request, form: { any: "body" } }),
      await askUserinfo(`bearer ${named.access_token}`),
    ])
      expect(answer.body).toEqual({ ...EMAIL, name: "Ada Lovelace" });
  });

  test("401 by POST for text that is not a token", async () => {
    const headers = { authorization: "Bearer x" };
    expect((await call(f.latchkey.app, userinfoByPost, { ids: ids(), headers })).code).toBe("token_invalid");
  });

  test("200 for a customer token from POST /v2/customers/tokens, readable from any origin", async () => {
    const { body } = await f.redeem(await f.signOn());
    const origin = { origin: "https://shop.example", authorization: `Bearer ${body.data.token}` };
    const answer = await askUserinfo(undefined, { headers: origin });
    expect([answer.status, answer.headers.get("access-control-allow-origin")]).toEqual([200, "*"]);
  });

  test("401 with WWW-Authenticate without a token, and for any token that is no customer token of this realm (R48, R51, R58)", async () => {
    const { access_token, id_token } = await signIn();
    const { body } = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "B" } },
    });
    const elsewhere = { ids: { ...ids(), realm: body.data.id } };
    const stranger = await f.latchkey.createStore();
    const good = `Bearer ${access_token}`;
    const answers = [
      await askUserinfo(),
      await askUserinfo(`Bearer ${f.implicit}`),
      await askUserinfo(`Bearer ${await f.store.token()}`),
      await askUserinfo(`Bearer ${await stranger.token("implicit")}`),
      await askUserinfo(`Bearer ${id_token}`),
      await askUserinfo(`Bearer ${access_token.slice(0, -2)}`),
      await askUserinfo(`Bearer ${access_token} ${access_token}`),
      await askUserinfo(`Bearer ${"a".repeat(5000)}`),
      await askUserinfo(basic("customers", access_token).authorization),
      await askUserinfo(access_token),
      await askUserinfo(good, elsewhere),
      await call(f.latchkey.app, userinfoByPost, { ids: ids(), form: { access_token } }),
    ];
    for (const { status, headers } of answers) {
      expect(status).toBe(401);
      expect(headers.get("www-authenticate")).toMatch(/^Bearer realm="latchkey"/);
    }
    expect(answers[0]?.headers.get("www-authenticate")).not.toContain("error");
    expect((await askUserinfo(good)).status).toBe(200);
  });

  test("400 for a token in the URL, also beside a good one (R46, R47)", async () => {
    const { access_token } = await signIn();
    const query = `access_token=${access_token}`;
    expect((await askUserinfo(undefined, { query })).code).toBe("token_misplaced");
    expect((await askUserinfo(`Bearer ${access_token}`, { query })).code).toBe("token_misplaced");
  });

  test("401 for an expired token or a deleted customer; 404 for an unknown realm", async () => {
    const { access_token } = await signIn();
    const unknown = { ...ids(), realm: UNKNOWN };
    expect((await askUserinfo(`Bearer ${access_token}`, { ids: unknown })).code).toBe("realm_not_found");
    await f.store.call(deleteCustomer, { ids: { id: decodeJwt(access_token).sub as string } });
    expect((await askUserinfo(`Bearer ${access_token}`)).code).toBe("token_invalid");
    const late = await signIn();
    f.latchkey.clock.advance(86_400_000);
    expect((await askUserinfo(`Bearer ${late.access_token}`)).code).toBe("token_invalid");
  });
});
