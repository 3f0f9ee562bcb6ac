import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { describe, expect, test } from "vitest";
import { jwks } from "../../../src/contract/sign-on.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { type Answer, call } from "../../support/call.ts";
import { db, EMAIL, exchanges, f, isAlive, newCustomer, withOptions, withPassword } from "./exchange.ts";

/** The customer token as a JWT. */

exchanges();

describe("the customer token", () => {
  const published = async () => (await call(f.latchkey.app, jwks)).body;
  const verify = async (token: string) =>
    jwtVerify(token, createLocalJWKSet(await published()), {
      issuer: f.issuer,
      audience: PUBLIC_URL,
      typ: "at+jwt",
      algorithms: ["ES256"],
      currentDate: new Date(f.latchkey.clock.now()),
      requiredClaims: ["iss", "exp", "aud", "sub", "client_id", "iat", "jti"],
    });

  test("is a JWT that the published keys verify, with issuer, customer, client and expiry (R55, R56)", async () => {
    const { body } = await f.redeem(await f.signOn());
    const { data } = body;
    const { payload, protectedHeader } = await verify(data.token);
    expect(protectedHeader).toEqual({ alg: "ES256", typ: "at+jwt", kid: expect.any(String) });
    expect((await published()).keys).toContainEqual(expect.objectContaining({ kid: protectedHeader.kid }));
    const now = f.latchkey.clock.now() / 1000;
    expect(payload).toEqual({
      iss: f.issuer,
      aud: PUBLIC_URL,
      sub: data.customer_id,
      client_id: "customers",
      iat: now,
      exp: now + 86_400,
      jti: data.id,
      store_id: f.store.store.id,
      amr: ["fed"],
      profile_id: f.profileId,
    });
    expect(data.expires).toBe(payload.exp);
  });

  test("has amr pwd and no profile when it is for a password", async () => {
    const id = await newCustomer();
    const { body } = await withPassword();
    const { payload } = await verify(body.data.token);
    expect(payload).toMatchObject({ iss: f.issuer, sub: id, jti: body.data.id, amr: ["pwd"] });
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(86_400);
    expect(payload).not.toHaveProperty("profile_id");
    expect(decodeProtectedHeader(body.data.token)).toMatchObject({ alg: "ES256", typ: "at+jwt" });
  });

  test("has the customer's id and nothing else about the person", async () => {
    const { body } = await f.redeem(await f.signOn());
    const text = JSON.stringify(decodeJwt(body.data.token));
    for (const personal of [EMAIL, "Ada", '"subject"', "session-1"]) expect(text).not.toContain(personal);
  });

  test("has whole seconds, and expires no later than it says", async () => {
    f.latchkey.clock.advance(999);
    const { body } = await f.redeem(await f.signOn());
    const { payload } = await verify(body.data.token);
    expect(payload.exp).toBe(body.data.expires);
    expect((payload.exp ?? 0) - (payload.iat ?? 0)).toBe(86_400);
    f.latchkey.clock.advance(86_400_000 - 999);
    expect(await isAlive({ body } as Answer)).toBe(false);
  });

  test("has a configurable lifetime (LATCHKEY_CUSTOMER_TOKEN_SECONDS)", async () => {
    await withOptions({ customerTokenSeconds: 120 });
    await newCustomer();
    for (const ask of [async () => f.redeem(await f.signOn()), () => withPassword()]) {
      const answer = await ask();
      expect(answer.body.data.expires).toBe(f.latchkey.clock.now() / 1000 + 120);
      const { exp = 0, iat = 0 } = decodeJwt(answer.body.data.token);
      expect(exp - iat).toBe(120);
      f.latchkey.clock.advance(119_999);
      expect(await isAlive(answer)).toBe(true);
      f.latchkey.clock.advance(1);
      expect(await isAlive(answer)).toBe(false);
    }
  });

  test("is not stored, nor is any private key in clear", async () => {
    const { body } = await f.redeem(await f.signOn());
    const signature = body.data.token.split(".")[2];
    for (const table of ["customer_tokens", "sign_on_attempts", "sign_ons", "signing_keys"] as const) {
      const text = JSON.stringify(await db().selectFrom(table).selectAll().execute());
      expect(text).not.toContain(signature);
      expect(text).not.toMatch(/"d\\?":/);
    }
  });
});
