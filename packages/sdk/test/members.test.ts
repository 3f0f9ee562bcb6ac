import { expect, test } from "vitest";
import { PUBLIC_URL } from "../../server/test/support/app.ts";
import { CONSOLE, createMembersSide } from "../../server/test/support/members.ts";
import { createAdmin, redeemMemberCode, revokeMemberToken } from "../src/admin/index.ts";
import { errorOf, openAdmin, openShop } from "./support/shop.ts";

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

test("a member redeems their code, and administers with that token; one that is refused is asked for anew, once", async () => {
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

test("a member who leaves ends the token, and an error of the service is thrown", async () => {
  const shop = await openShop();
  const accessToken = await (await createMembersSide(shop.f)).token("sue@shop.example", "support");
  const admin = createAdmin({ baseUrl: PUBLIC_URL, fetch: shop.fetch, accessToken: () => accessToken });
  await admin.me();
  await revokeMemberToken({ baseUrl: PUBLIC_URL, fetch: shop.fetch }, accessToken);
  expect((await errorOf(admin.me())).status).toBe(401);
  const away = { baseUrl: PUBLIC_URL, fetch: () => Promise.reject(new Error("offline")) };
  await expect(revokeMemberToken(away, accessToken)).rejects.toThrow();
});

test("a code that is no member's is refused in the service's words", async () => {
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
