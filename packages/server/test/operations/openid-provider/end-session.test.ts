import { decodeJwt } from "jose";
import { describe, expect, test } from "vitest";
import { updateProfile } from "../../../src/contract/oidc-profiles.ts";
import { createRealm } from "../../../src/contract/realms.ts";
import { endSession, endSessionByForm, signedOut } from "../../../src/contract/sign-out.ts";
import { signJws } from "../../../src/lib/jws.ts";
import { readKeys } from "../../../src/signing-keys/key-rows.ts";
import { type Call, call } from "../../support/call.ts";
import { SHOP } from "../../support/federation.ts";
import { algOf, f, ids, isAlive, realmAsProvider, signIn, UNKNOWN } from "./realm.ts";

/** RP-initiated logout at the realm. */

realmAsProvider();

describe("end_session_endpoint", () => {
  const end = (parameters: Record<string, string>, request: Call = {}) =>
    call(f.latchkey.app, endSession, {
      ids: ids(),
      query: new URLSearchParams(parameters).toString(),
      ...request,
    });

  test("303 to the registered address with its state; the customer token of that sign-on ends, and no other", async () => {
    const [ended, kept] = [await signIn(), await signIn()];
    const answer = await end({
      id_token_hint: ended.id_token,
      post_logout_redirect_uri: `${SHOP}?shop=1`,
      state: "a b&c",
      client_id: "customers",
    });
    expect(answer.headers.get("location")).toBe(`${SHOP}?shop=1&state=a%20b%26c`);
    expect([await isAlive(ended.access_token), await isAlive(kept.access_token)]).toEqual([false, true]);
    const plain = await end({ id_token_hint: kept.id_token, post_logout_redirect_uri: SHOP });
    expect(plain.headers.get("location")).toBe(SHOP);
    expect(await isAlive(kept.access_token)).toBe(false);
  });

  test("the same by POST, also a second time; a page when no address is given", async () => {
    const { id_token, access_token } = await signIn();
    const form = { id_token_hint: id_token, post_logout_redirect_uri: SHOP };
    for (let visit = 0; visit < 2; visit++) {
      const answer = await call(f.latchkey.app, endSessionByForm, { ids: ids(), form });
      expect(answer.headers.get("location")).toBe(SHOP);
    }
    expect(await isAlive(access_token)).toBe(false);
    const onlyHint = { id_token_hint: id_token };
    const byForm = await call(f.latchkey.app, endSessionByForm, { ids: ids(), form: onlyHint });
    for (const page of [await end(onlyHint), byForm])
      expect([page.status, page.body.includes("You are signed out")]).toEqual([200, true]);
  });

  test("a form is checked as a query is: address, state, size", async () => {
    const { id_token } = await signIn();
    const post = (form: Record<string, string>) =>
      call(f.latchkey.app, endSessionByForm, { ids: ids(), form: { id_token_hint: id_token, ...form } });
    expect((await post({ post_logout_redirect_uri: "https://evil.example/" })).code).toBe(
      "logout_uri_unregistered",
    );
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const raw = `id_token_hint=${id_token}&state=a&state=b`;
    const twice = await call(f.latchkey.app, endSessionByForm, { ids: ids(), raw, headers });
    expect(twice.code).toBe("parameter_invalid");
    expect((await post({ junk: "x".repeat(17_000) })).code).toBe("body_too_large");
  });

  test("an expired ID token is accepted (R176)", async () => {
    const { id_token, access_token } = await signIn();
    f.latchkey.clock.advance(2 * 3_600_000);
    expect((await end({ id_token_hint: id_token })).status).toBe(200);
    expect(await isAlive(access_token)).toBe(false);
  });

  test.each([
    "https://evil.example/",
    `${SHOP}/`,
    `${SHOP}?shop=2`,
    `${SHOP}#x`,
    "https://shop.example@evil.example/signed-in",
    "javascript:alert(1)",
    "//evil.example",
    "https://SHOP.example/signed-in",
  ])("400 as a page for the address %s; the token ends anyway (R175)", async (uri) => {
    const { id_token, access_token } = await signIn();
    const answer = await end({ id_token_hint: id_token, post_logout_redirect_uri: uri, state: "s" });
    expect([answer.status, answer.code]).toEqual([400, "logout_uri_unregistered"]);
    expect(answer.body).not.toContain("evil");
    expect(await isAlive(access_token)).toBe(false);
  });

  test("400 for an address in the database that could not be registered today (A28)", async () => {
    const { id_token } = await signIn();
    const uris = ["http://shop.example/out", "javascript:alert(1)", "https://shop.example/out#f"];
    await f.latchkey.storage.db
      .updateTable("authentication_realms")
      .set({ redirect_uris: JSON.stringify(uris) })
      .where("id", "=", f.realmId)
      .execute();
    for (const uri of uris)
      expect((await end({ id_token_hint: id_token, post_logout_redirect_uri: uri })).code).toBe(
        "logout_uri_unregistered",
      );
  });

  test("a state of 2048 characters comes back; 2049 are refused", async () => {
    const { id_token } = await signIn();
    const ask = (length: number) =>
      end({ id_token_hint: id_token, post_logout_redirect_uri: SHOP, state: "x".repeat(length) });
    expect((await ask(2048)).headers.get("location")).toBe(`${SHOP}?state=${"x".repeat(2048)}`);
    expect((await ask(2049)).code).toBe("logout_uri_unregistered");
  });

  test("400 for a hint that is cut, forged or of another kind, realm or client; the token stays", async () => {
    const { id_token, access_token } = await signIn();
    const { storage, keyring } = f.latchkey;
    const { keys } = await readKeys({ storage, keyring });
    const [signer] = keys.filter(({ alg }) => alg === algOf(id_token));
    if (!signer) throw new Error("no key");
    const claims = decodeJwt(id_token);
    const elsewhere = claims.iss?.replace(/realms\/.*/, `realms/${UNKNOWN}`);
    const [head, body, signature] = id_token.split(".");
    const hints = [
      "nonsense",
      id_token.slice(0, -4),
      `${head}.${body}.`,
      `${Buffer.from('{"alg":"none","typ":"JWT"}').toString("base64url")}.${body}.`,
      `${head}.${Buffer.from(JSON.stringify({ ...claims, sid: "x" })).toString("base64url")}.${signature}`,
      access_token,
      signJws(signer, "JWT", { ...claims, iss: elsewhere }),
      signJws(signer, "JWT", { ...claims, iss: "https://evil.example" }),
      signJws(signer, "JWT", { ...claims, sid: "../../x" }),
      signJws(signer, "logout+jwt", claims),
    ];
    for (const id_token_hint of hints) {
      const answer = await end({ id_token_hint, post_logout_redirect_uri: SHOP, state: "s" });
      expect([answer.status, answer.code]).toEqual([400, "logout_hint_invalid"]);
    }
    const withClient = await end({
      id_token_hint: id_token,
      client_id: "another",
      post_logout_redirect_uri: SHOP,
    });
    expect(withClient.code).toBe("logout_hint_invalid");
    const { body: realm } = await f.store.call(createRealm, {
      json: { data: { type: "authentication-realm", name: "B", redirect_uris: [SHOP] } },
    });
    const there = { ids: { ...ids(), realm: realm.data.id } };
    expect((await end({ id_token_hint: id_token }, there)).code).toBe("logout_hint_invalid");
    const twice = `id_token_hint=${id_token}&post_logout_redirect_uri=${SHOP}&post_logout_redirect_uri=${SHOP}`;
    expect((await call(f.latchkey.app, endSession, { ids: ids(), query: twice })).code).toBe(
      "parameter_invalid",
    );
    expect(await isAlive(access_token)).toBe(true);
  });

  describe("propagate_logout", () => {
    const allow = () =>
      f.store.call(updateProfile, {
        ids: { realm: f.realmId, id: f.profileId },
        json: { data: { type: "oidc-profile", propagate_logout: true } },
      });
    /** A second profile, of a provider with an end_session_endpoint. */
    const withEndSession = (endpoint: string) => {
      f.idp.hooks.discovery = (document) => ({ ...(document as object), end_session_endpoint: endpoint });
      return f.addProfile({ name: "Ends sessions", propagate_logout: true });
    };

    test("redirects to the provider's end_session_endpoint, and from there to the storefront with its state", async () => {
      const own = await withEndSession(`${f.idp.origin}/end?tenant=1`);
      const { id_token, access_token } = await signIn({ profile: own });
      const answer = await end({
        id_token_hint: id_token,
        post_logout_redirect_uri: SHOP,
        state: "its-own-state",
      });
      const away = new URL(answer.headers.get("location") ?? "");
      expect(away.href.startsWith(`${f.idp.origin}/end?tenant=1&`)).toBe(true);
      expect(away.searchParams.get("client_id")).toBe(f.idp.clientId);
      const back = new URL(away.searchParams.get("post_logout_redirect_uri") ?? "");
      expect(back.href).toBe(`${f.issuer}/profiles/${own}/signed-out`);
      expect(await isAlive(access_token)).toBe(false);
      const state = away.searchParams.get("state") ?? "";
      expect(state).not.toContain("its-own-state");
      const return_ = (value: string, profile = own) =>
        call(f.latchkey.app, signedOut, {
          ids: { ...ids(), profile },
          query: new URLSearchParams({ state: value }).toString(),
        });
      expect((await return_(state)).headers.get("location")).toBe(`${SHOP}?state=its-own-state`);
      for (const bad of ["", "x", `${state}x`, "https://evil.example/"])
        expect((await return_(bad)).status).toBe(200);
      expect((await return_(state, UNKNOWN)).code).toBe("profile_not_found");
      await f.changeRealm({ redirect_uris: [`${SHOP}?shop=1`] });
      expect((await return_(state)).status).toBe(200);
    });

    test("ends at the storefront without it, without an endpoint, or with one of another host or malformed", async () => {
      const straight = async (profile = f.profileId) => {
        const { id_token } = await signIn({ profile });
        const answer = await end({ id_token_hint: id_token, post_logout_redirect_uri: SHOP });
        return answer.headers.get("location");
      };
      await allow();
      expect(await straight()).toBe(SHOP);
      expect(await straight(await withEndSession("https://evil.example/end"))).toBe(SHOP);
      for (const odd of ["/end\r\nSet-Cookie: x=y", "/end\n", "/abmelden-\u20ac", "/end#here"])
        expect(await straight(await withEndSession(`${f.idp.origin}${odd}`)), odd).toBe(SHOP);
      const quiet = await withEndSession(`${f.idp.origin}/end`);
      const change = { ids: { realm: f.realmId, id: quiet } };
      await f.store.call(updateProfile, {
        ...change,
        json: { data: { type: "oidc-profile", propagate_logout: false } },
      });
      expect(await straight(quiet)).toBe(SHOP);
    });
  });
});
