import { generateKeyPairSync } from "node:crypto";
import { decodeJwt, decodeProtectedHeader } from "jose";
import { describe, expect, test } from "vitest";
import { listCustomerTokens, revokeCustomerToken } from "../../../src/contract/customer-tokens.ts";
import { getAuthenticationSettings } from "../../../src/contract/realms.ts";
import { realmToken } from "../../../src/contract/sign-on.ts";
import { signJws } from "../../../src/lib/jws.ts";
import { SigningKeys } from "../../../src/signing-keys/signing-keys.ts";
import { PUBLIC_URL } from "../../support/app.ts";
import { call } from "../../support/call.ts";
import { SHOP } from "../../support/federation.ts";
import {
  as,
  bearer,
  customerSessions,
  f,
  isAlive,
  list,
  outcome,
  signIn,
  UNKNOWN,
  withoutId,
} from "./sessions.ts";

/** The customer token in its header: which tokens the service accepts. */

customerSessions();

describe("the customer token's header", () => {
  test.each(["x-customer-token", "x-moltin-customer-token", "X-CUSTOMER-TOKEN", "X-Moltin-Customer-Token"])(
    "200 with %s",
    async (name) => {
      const session = await signIn();
      const answer = await call(f.latchkey.app, listCustomerTokens, {
        token: f.implicit,
        ids: { customer: session.customer },
        headers: { [name]: session.token },
      });
      expect(answer.status).toBe(200);
    },
  );

  test.each([
    ["x-customer-token", "x-moltin-customer-token"],
    ["x-moltin-customer-token", "x-customer-token"],
  ])("200 with %s beside an empty %s", async (name, empty) => {
    const session = await signIn();
    const answer = await call(f.latchkey.app, listCustomerTokens, {
      token: f.implicit,
      ids: { customer: session.customer },
      headers: { [name]: session.token, [empty]: "" },
    });
    expect(answer.status).toBe(200);
  });

  test("401 without a bearer token, or with the customer token as bearer token (R51, R58)", async () => {
    const session = await signIn();
    for (const token of [undefined, session.token]) expect((await list(session, { token })).status).toBe(401);
  });

  test.each(["", "x", "lkat_x", "a.b.c", "..", "null", "undefined", "' or 1=1--", "x".repeat(8000)])(
    "403 for text that is not a token: %j",
    async (token) => {
      const session = await signIn();
      const answer = await list({ ...session, token });
      expect(outcome(answer)).toEqual([403, token === "" ? "not_permitted" : "customer_token_invalid"]);
    },
  );

  test("403 for an access token of either grant (R51)", async () => {
    const session = await signIn();
    for (const token of [f.implicit, await f.store.token()])
      expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 for an ID token of the same customer, Latchkey's or the provider's (R58)", async () => {
    const { code, pkce } = await f.signOn();
    const { body } = await call(f.latchkey.app, realmToken, {
      ids: { store: f.store.store.id, realm: f.realmId },
      form: {
        grant_type: "authorization_code",
        code,
        redirect_uri: SHOP,
        client_id: "customers",
        code_verifier: pkce.verifier,
      },
    });
    const customer = decodeJwt(body.id_token).sub as string;
    const session = { id: "", customer, token: body.access_token };
    expect(await isAlive(session)).toBe(true);
    const theirs = f.idp.signToken({ ...decodeJwt(body.access_token) }, { typ: "at+jwt" });
    for (const token of [body.id_token, theirs])
      expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 in another store, 404 with that store's back-office token; the token still works in its own store (A33)", async () => {
    const session = await signIn();
    const stranger = await f.latchkey.createStore();
    const answer = await list(session, { token: await stranger.token("implicit") });
    expect(outcome(answer)).toEqual([403, "customer_token_invalid"]);
    const backOffice = await list(session, { token: await stranger.token() });
    expect(outcome(backOffice)).toEqual([404, "customer_not_found"]);
    expect(await isAlive(session)).toBe(true);
  });

  test("403 with the same answer for every bad token (T03)", async () => {
    const session = await signIn();
    const revoked = await signIn();
    await as(session, revokeCustomerToken, { ids: { customer: session.customer, id: revoked.id } });
    const refused = await Promise.all(
      [revoked.token, `${session.token.slice(0, -8)}AAAAAAAA`, "x", f.implicit].map((token) =>
        list({ ...session, token }),
      ),
    );
    for (const answer of refused) expect(outcome(answer)).toEqual([403, "customer_token_invalid"]);
    expect(new Set(refused.map((answer) => JSON.stringify(withoutId(answer)))).size).toBe(1);
  });

  test("403 from the second of its expiry on, swept or not", async () => {
    const session = await signIn();
    f.latchkey.clock.advance(86_399_999);
    expect(await isAlive(session)).toBe(true);
    f.latchkey.clock.advance(1);
    expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
    await f.latchkey.app.tidy();
    expect(outcome(await list(session))).toEqual([403, "customer_token_invalid"]);
  });

  test("200 for the back office beside a bad customer token: the header is ignored (wire 25)", async () => {
    const session = await signIn();
    const answer = await list({ ...session, token: "x" }, { token: await f.store.token() });
    expect(outcome(answer)).toEqual([200, undefined]);
  });

  test("200 for a sign-in and for public data beside a bad or expired customer token", async () => {
    const session = await signIn();
    f.latchkey.clock.advance(86_400_000);
    const token = await bearer();
    for (const name of ["x-customer-token", "x-moltin-customer-token"]) {
      for (const bad of [session.token, "x"]) {
        const headers = { [name]: bad };
        expect((await f.redeem(await f.signOn(), {}, { token, headers })).status).toBe(200);
        const read = await call(f.latchkey.app, getAuthenticationSettings, { token, headers });
        expect(read.status).toBe(200);
      }
    }
  });
});

describe("the claims of a customer token", () => {
  /** The service's own signing key: a valid signature is not enough. */
  const ownSigner = () => {
    const { storage, clock, keyring } = f.latchkey;
    return new SigningKeys({ storage, clock, keyring, customerTokenSeconds: 86_400 }).current();
  };

  test("200 for the same claims with a new signature: the table below differs in one claim each", async () => {
    const session = await signIn();
    const token = signJws(await ownSigner(), "at+jwt", decodeJwt(session.token));
    expect(await isAlive({ ...session, token })).toBe(true);
  });

  test.each<[string, string, object]>([
    ["another type", "JWT", {}],
    ["the type of a logout token", "logout+jwt", {}],
    ["another audience", "at+jwt", { aud: "https://evil.example" }],
    ["a client id as audience, as in an ID token", "at+jwt", { aud: "customers" }],
    ["several audiences", "at+jwt", { aud: [PUBLIC_URL] }],
    ["no audience", "at+jwt", { aud: undefined }],
    ["another store", "at+jwt", { store_id: UNKNOWN }],
    ["no store", "at+jwt", { store_id: undefined }],
    ["an unknown token id", "at+jwt", { jti: UNKNOWN }],
    ["no id", "at+jwt", { jti: undefined }],
    ["a list of ids", "at+jwt", { jti: [UNKNOWN] }],
    ["an expiry in the past", "at+jwt", { exp: 1 }],
    ["no expiry", "at+jwt", { exp: undefined }],
    ["a text as expiry", "at+jwt", { exp: "4102444800" }],
  ])("403 for %s, though the service's own key signed it (R57, R68)", async (_, typ, changes) => {
    const session = await signIn();
    const token = signJws(await ownSigner(), typ, { ...decodeJwt(session.token), ...changes });
    expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 for a later expiry than its row has", async () => {
    const session = await signIn();
    const claims = { ...decodeJwt(session.token), exp: 4_102_444_800 };
    const token = signJws(await ownSigner(), "at+jwt", claims);
    f.latchkey.clock.advance(86_400_000);
    expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
  });

  test("403 for the right claims signed with a foreign key, under any key id (R64, A41)", async () => {
    const session = await signIn();
    const { kid } = decodeProtectedHeader(session.token) as { kid: string };
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    for (const of of [kid, "another", "../../etc/passwd", "' or 1=1--"]) {
      const token = signJws({ kid: of, alg: "ES256", privateKey }, "at+jwt", decodeJwt(session.token));
      expect(outcome(await list({ ...session, token }))).toEqual([403, "customer_token_invalid"]);
    }
  });

  test("403 for one changed character in any part", async () => {
    const session = await signIn();
    const parts = session.token.split(".");
    for (const index of [0, 1, 2]) {
      const changed = parts.map((part, at) =>
        at === index ? part.replace(/[A-Za-z]/, (letter) => (letter === "A" ? "B" : "A")) : part,
      );
      const answer = await list({ ...session, token: changed.join(".") });
      expect(outcome(answer)).toEqual([403, "customer_token_invalid"]);
    }
  });
});
