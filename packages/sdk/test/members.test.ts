import { describe, expect, test } from "vitest";
import { PUBLIC_URL } from "../../server/test/support/app.ts";
import { CONSOLE, createMembersSide } from "../../server/test/support/members.ts";
import {
  beginMemberSignOn,
  completeMemberSignOn,
  createAdmin,
  findMemberSignIn,
  redeemMemberCode,
  revokeMemberToken,
} from "../src/admin/index.ts";
import { errorOf, newStorage, openAdmin, openBrowser, openShop, withParameter } from "./support/shop.ts";

test("members are invited, read, changed and removed", async () => {
  const admin = openAdmin(await openShop());
  const { data: made } = await admin.members.create({ email: "ada@shop.example", role: "viewer" });
  expect((await admin.members.get(made.id)).data).toEqual(made);
  expect((await admin.members.update(made.id, { role: "support" })).data.role).toBe("support");
  expect((await admin.members.list()).data.map(({ email }) => email)).toEqual(["ada@shop.example"]);
  await admin.members.delete(made.id);
  expect((await admin.members.list()).total).toBe(0);
  expect((await admin.me()).data).toMatchObject({ kind: "application_key", role: "administrator" });
});

test("a member redeems their code and administers with the token; a refused token is replaced once", async () => {
  const shop = await openShop();
  const side = await createMembersSide(shop.f);
  const signIn = async () => {
    const { code, pkce } = await side.signOn({ sub: "s", email: "sue@shop.example" });
    return redeemMemberCode({
      baseUrl: PUBLIC_URL,
      code,
      redirectUri: CONSOLE,
      codeVerifier: pkce.verifier,
      fetch: shop.fetch,
    });
  };
  const id = await side.invite("sue@shop.example", "support");
  const first = await signIn();
  expect(first.expiresInSeconds).toBe(3600);
  const asked: (string | undefined)[] = [];
  const admin = createAdmin({
    baseUrl: PUBLIC_URL,
    fetch: shop.fetch,
    accessToken: async (refused) => {
      asked.push(refused);
      return refused === undefined ? first.accessToken : (await signIn()).accessToken;
    },
  });
  expect((await admin.me()).data).toMatchObject({ id, kind: "member", role: "support" });
  expect((await errorOf(admin.store.update({ name: "n" }))).code).toBe("role_insufficient");
  shop.f.latchkey.clock.advance(3_600_000);
  expect((await admin.me()).data.id).toBe(id);
  expect(asked).toEqual([undefined, undefined, undefined, first.accessToken]);
});

test("findMemberSignIn finds the realm for members, of a store or of the only one, and throws an error of the service", async () => {
  const shop = await openShop();
  const { realmId } = await createMembersSide(shop.f);
  const options = { baseUrl: PUBLIC_URL, fetch: shop.fetch };
  const storeId = shop.f.store.store.id;
  const found = { storeId, realmId, isRedirectUriRegistered: true };
  expect(await findMemberSignIn(options, { storeId, redirectUri: CONSOLE })).toEqual(found);
  expect(await findMemberSignIn(options, {})).toEqual({ ...found, isRedirectUriRegistered: false });
  expect(await findMemberSignIn(options, { storeId: realmId })).toBeUndefined();
  expect((await errorOf(findMemberSignIn(options, { storeId: "shop" }))).code).toBe("parameter_invalid");
});

test("revokeMemberToken revokes the token, and throws an error of the service", async () => {
  const shop = await openShop();
  const accessToken = await (await createMembersSide(shop.f)).token("sue@shop.example", "support");
  const admin = createAdmin({ baseUrl: PUBLIC_URL, fetch: shop.fetch, accessToken: () => accessToken });
  await admin.me();
  await revokeMemberToken({ baseUrl: PUBLIC_URL, fetch: shop.fetch }, accessToken);
  expect((await errorOf(admin.me())).status).toBe(401);
  const away = { baseUrl: PUBLIC_URL, fetch: () => Promise.reject(new Error("offline")) };
  await expect(revokeMemberToken(away, accessToken)).rejects.toThrow();
});

test("a code that belongs to no member is refused with the service's message", async () => {
  const shop = await openShop();
  const { code, pkce } = await shop.f.signOn();
  const redeeming = redeemMemberCode({
    baseUrl: PUBLIC_URL,
    code,
    redirectUri: CONSOLE,
    codeVerifier: pkce.verifier,
    fetch: shop.fetch,
  });
  expect(await errorOf(redeeming)).toMatchObject({ status: 400, code: "code_invalid" });
});

describe("a member's sign-on in a browser", () => {
  /** Invites a member, signs them in at the provider, and returns the console URL that they come back to. */
  async function comeBack() {
    const shop = await openShop();
    const { f, fetch } = shop;
    const side = await createMembersSide(f);
    const id = await side.invite("sue@shop.example", "support");
    const options = { baseUrl: PUBLIC_URL, storage: newStorage(), fetch, now: f.latchkey.clock.now };
    const at = { storeId: f.store.store.id, realmId: side.realmId, redirectUri: CONSOLE };
    const { url } = await beginMemberSignOn(options, at);
    f.idp.person = { ...f.idp.person, sub: "s", email: "sue@shop.example", email_verified: true };
    const browser = openBrowser(shop);
    const back = await browser.visit(await browser.toCallback(url));
    const complete = (answer: string) => completeMemberSignOn(options, answer);
    return { shop, id, back, complete, entries: options.storage.entries };
  }

  test("gives a token for an hour, works once, and leaves nothing in storage", async () => {
    const { shop, id, back, complete, entries } = await comeBack();
    expect(JSON.stringify([...entries])).toContain("verifier");
    const { accessToken, expiresAt } = await complete(back);
    expect(expiresAt).toBe(shop.f.latchkey.clock.now() + 3_600_000);
    const admin = createAdmin({ baseUrl: PUBLIC_URL, fetch: shop.fetch, accessToken: () => accessToken });
    expect((await admin.me()).data.id).toBe(id);
    expect([...entries]).toEqual([]);
    expect((await errorOf(complete(back))).code).toBe("state_unknown");
  });

  test("the error has the answer's reference, unless it lacks the form of a reference", async () => {
    const { back, complete } = await comeBack();
    for (const [reference, shown] of [
      ["K7P2-9QXM", "K7P2-9QXM"],
      ["Call 555 0100", undefined],
    ]) {
      const url = new URL(back);
      url.search = new URLSearchParams({ state: "x", reference: `${reference}` }).toString();
      expect((await errorOf(complete(url.href))).reference).toBe(shown);
    }
  });

  test.each([
    ["a state of nobody here", "state_unknown", "state", "x"],
    ["no state", "state_unknown", "state", undefined],
    ["another issuer", "issuer_mismatch", "iss", "https://evil.example"],
    ["no issuer", "issuer_mismatch", "iss", undefined],
    ["an error", "access_denied", "error", "access_denied"],
  ])("sends no request for an answer with %s: %s", async (_, code, name, value) => {
    const { shop, back, complete } = await comeBack();
    expect((await errorOf(complete(withParameter(back, name, value)))).code).toBe(code);
    expect(shop.countOf("/oauth/access_token")).toBe(0);
  });
});
