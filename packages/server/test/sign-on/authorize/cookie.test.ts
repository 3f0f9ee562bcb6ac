import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { authorizeByForm, callback } from "../../../src/contract/sign-on.ts";
import { type Answer, call } from "../../support/call.ts";
import { COOKIE, createFederation, SHOP } from "../../support/federation.ts";
import { locationOf, newBrowser, redirectOf } from "../../support/redirects.ts";
import { ask, authorizeRequests, f, idp, idsOfRealm, queryOf } from "./requests.ts";

/** The cookie that binds a sign-on to its browser. */

authorizeRequests();

describe("the cookie of a browser", () => {
  /** The cookie of the preferred name; the second cookie has the same value. */
  const given = (answer: Answer) => answer.headers.getSetCookie()[0] ?? null;

  test("has HttpOnly, Secure, SameSite=Lax and the __Host- prefix (A22)", async () => {
    const cookies = (await f.begin(newBrowser())).headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies) {
      const [pair = "", ...attributes] = cookie.split("; ");
      expect(pair).toMatch(/^__Host-latchkey(\.[A-Za-z0-9_-])?=[A-Za-z0-9_-]{43}$/);
      expect(attributes.sort()).toEqual(["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
    }
  });

  /** The cookies as a browser keeps them: a later one replaces an earlier one of the same name. */
  const jarOf = (...answers: Answer[]) =>
    new Map(
      answers
        .flatMap(({ headers }) => headers.getSetCookie())
        .map((cookie) => cookie.slice(0, cookie.indexOf(";")).split("=") as [string, string]),
    );
  const comeBackWith = (jar: ReadonlyMap<string, string>, begun: Answer) => {
    const back = idp.signIn(locationOf(begun));
    const ids = { ...idsOfRealm(), profile: f.profileId };
    const cookie = [...jar].map((pair) => pair.join("=")).join("; ");
    return call(f.latchkey.app, callback, {
      ids,
      query: back.slice(back.indexOf("?") + 1),
      headers: { cookie },
    });
  };
  /** Two sign-ons whose second cookies have different names; by chance, one pair in 64 has the same name. */
  const beginTwo = async (second = () => f.begin(newBrowser())): Promise<[Answer, Answer]> => {
    for (;;) {
      const two: [Answer, Answer] = [await f.begin(newBrowser()), await second()];
      if (jarOf(...two).size !== 2) return two;
    }
  };

  test.each([
    ["was answered first", (two: Answer[]) => two],
    ["was answered last", (two: Answer[]) => two.toReversed()],
  ])(
    "lets two tabs finish that began at once without a cookie, also the tab that %s",
    async (_, answered) => {
      const two = await beginTwo();
      const jar = jarOf(...answered(two));
      for (const begun of two) expect(redirectOf(await comeBackWith(jar, begun)).code).toMatch(/^lkac_/);
    },
  );

  test("still counts for an open tab after a form of another site began a sign-on without cookies", async () => {
    const byForm = () => call(f.latchkey.app, authorizeByForm, { ids: idsOfRealm(), form: f.parameters() });
    const [open, posted] = await beginTwo(byForm);
    const jar = jarOf(open, posted);
    for (const begun of [open, posted])
      expect(redirectOf(await comeBackWith(jar, begun)).code).toMatch(/^lkac_/);
  });

  test("400 for another browser's cookie under either name (A22, N96)", async () => {
    const [mine, stranger] = await beginTwo();
    expect((await comeBackWith(jarOf(stranger), mine)).code).toBe("browser_changed");
    const [, [own = "", value = ""] = []] = [...jarOf(stranger)];
    const [, [nameOfMine = ""] = []] = [...jarOf(mine)];
    expect((await comeBackWith(new Map([[nameOfMine, value]]), mine)).code).toBe("browser_changed");
    expect((await comeBackWith(new Map([[own, value]]), mine)).code).toBe("browser_changed");
  });

  test("is set once: a second tab keeps the first one's cookie", async () => {
    const browser = newBrowser();
    const first = await f.begin(browser);
    const second = await f.begin(browser);
    expect(given(first)).not.toBeNull();
    expect(given(second)).toBeNull();
    for (const begun of [second, first])
      expect(redirectOf(await f.comeBack(browser, idp.signIn(locationOf(begun)))).code).toMatch(/^lkac_/);
  });

  test("differs between browsers", async () => {
    const cookies = [];
    for (let index = 0; index < 20; index++) cookies.push(given(await f.begin(newBrowser())));
    expect(new Set(cookies).size).toBe(20);
  });

  test.each([
    ["too short", `${COOKIE}=abc`],
    ["too long", `${COOKIE}=${"x".repeat(44)}`],
    ["of other characters", `${COOKIE}=${"x".repeat(42)}!`],
    ["in quotes", `${COOKIE}="${"x".repeat(41)}"`],
    ["empty", `${COOKIE}=`],
    ["there twice", `${COOKIE}=${"x".repeat(43)}; ${COOKIE}=${"y".repeat(43)}`],
    ["under the plain name", `latchkey=${"x".repeat(43)}`],
    ["under a name in capitals", `__HOST-latchkey=${"x".repeat(43)}`],
  ])("is replaced when it is %s", async (_, cookie) => {
    const begun = await ask(queryOf(), { headers: { cookie } });
    const made = given(begun) ?? "";
    expect(made).toMatch(/^__Host-latchkey=[A-Za-z0-9_-]{43};/);
    const browser = { cookie: /=([^;]+)/.exec(made)?.[1] };
    expect(redirectOf(await f.comeBack(browser, idp.signIn(locationOf(begun)))).code).toMatch(/^lkac_/);
  });

  test("is found among other cookies", async () => {
    const cookie = `a=1; ${COOKIE}=${"x".repeat(43)}; b=2`;
    expect(given(await ask(queryOf(), { headers: { cookie } }))).toBeNull();
  });

  test("is not in the provider's URL, nor is its SHA-256", async () => {
    const browser = newBrowser();
    const location = locationOf(await f.begin(browser));
    expect(location).not.toContain(browser.cookie);
    const digest = createHash("sha256")
      .update(browser.cookie ?? "")
      .digest("base64url");
    expect(location).not.toContain(digest);
  });

  test("is named latchkey, without Secure, on localhost without TLS", async () => {
    const publicUrl = "http://localhost:4000";
    const local = await createFederation({ idp, publicUrl });
    const begun = await local.begin(newBrowser());
    const cookie = given(begun) ?? "";
    expect(cookie).toMatch(/^latchkey=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const back = idp.signIn(locationOf(begun));
    expect(back.startsWith(`${publicUrl}/sign-on/`)).toBe(true);
    const answer = await call(local.latchkey.app, callback, {
      ids: { store: local.store.store.id, realm: local.realmId, profile: local.profileId },
      query: back.slice(back.indexOf("?") + 1),
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    expect(redirectOf(answer)).toMatchObject({ target: SHOP, code: expect.stringMatching(/^lkac_/) });
    await local.close();
  });
});
