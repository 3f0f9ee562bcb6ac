import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { authorizeByForm, callback } from "../../../src/contract/sign-on.ts";
import { type Answer, call } from "../../support/call.ts";
import { COOKIE, createFederation, SHOP } from "../../support/federation.ts";
import { ask, authorizeRequests, f, idp, idsOfRealm, locationOf, nobody, queryOf, told } from "./requests.ts";

/** The cookie that binds a sign-on to its browser. */

authorizeRequests();

describe("the browser's cookie", () => {
  /** The one that it is looked for first; the second has the same value. */
  const given = (answer: Answer) => answer.headers.getSetCookie()[0] ?? null;

  test("is for this host alone, over TLS alone, out of reach of scripts and of other sites' requests (A22)", async () => {
    const cookies = (await f.begin(nobody())).headers.getSetCookie();
    expect(cookies).toHaveLength(2);
    for (const cookie of cookies) {
      const [pair = "", ...attributes] = cookie.split("; ");
      expect(pair).toMatch(/^__Host-latchkey(\.[A-Za-z0-9_-])?=[A-Za-z0-9_-]{43}$/);
      expect(attributes.sort()).toEqual(["HttpOnly", "Path=/", "SameSite=Lax", "Secure"]);
    }
  });

  /** As a browser keeps them: a later one takes the place of an earlier one with its name. */
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
  /** Two that differ also in the name that each has of its own: one in 64 times they do not. */
  const beginTwo = async (second = () => f.begin(nobody())): Promise<[Answer, Answer]> => {
    for (;;) {
      const two: [Answer, Answer] = [await f.begin(nobody()), await second()];
      if (jarOf(...two).size !== 2) return two;
    }
  };

  test.each([
    ["was answered first", (two: Answer[]) => two],
    ["was answered last", (two: Answer[]) => two.toReversed()],
  ])(
    "lets two tabs finish where neither brought one, as when a browser opens both at once, also the one that %s",
    async (_, answered) => {
      const two = await beginTwo();
      const jar = jarOf(...answered(two));
      for (const begun of two) expect(told(await comeBackWith(jar, begun)).code).toMatch(/^lkac_/);
    },
  );

  test("of a tab that is open goes on to count when a form of another site begins a sign-on, which brings none", async () => {
    const byForm = () => call(f.latchkey.app, authorizeByForm, { ids: idsOfRealm(), form: f.parameters() });
    const [open, posted] = await beginTwo(byForm);
    const jar = jarOf(open, posted);
    for (const begun of [open, posted]) expect(told(await comeBackWith(jar, begun)).code).toMatch(/^lkac_/);
  });

  test("of another browser opens nothing under either name (A22, N96)", async () => {
    const [mine, stranger] = await beginTwo();
    expect((await comeBackWith(jarOf(stranger), mine)).code).toBe("browser_changed");
    const [, [own = "", value = ""] = []] = [...jarOf(stranger)];
    const [, [nameOfMine = ""] = []] = [...jarOf(mine)];
    expect((await comeBackWith(new Map([[nameOfMine, value]]), mine)).code).toBe("browser_changed");
    expect((await comeBackWith(new Map([[own, value]]), mine)).code).toBe("browser_changed");
  });

  test("is made once and kept: a second tab does not push out the first", async () => {
    const browser = nobody();
    const first = await f.begin(browser);
    const second = await f.begin(browser);
    expect(given(first)).not.toBeNull();
    expect(given(second)).toBeNull();
    for (const begun of [second, first])
      expect(told(await f.comeBack(browser, idp.signIn(locationOf(begun)))).code).toMatch(/^lkac_/);
  });

  test("differs from browser to browser", async () => {
    const cookies = [];
    for (let index = 0; index < 20; index++) cookies.push(given(await f.begin(nobody())));
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
    expect(told(await f.comeBack(browser, idp.signIn(locationOf(begun)))).code).toMatch(/^lkac_/);
  });

  test("is found among others", async () => {
    const cookie = `a=1; ${COOKIE}=${"x".repeat(43)}; b=2`;
    expect(given(await ask(queryOf(), { headers: { cookie } }))).toBeNull();
  });

  test("does not go to the provider, nor does anything it could be found from", async () => {
    const browser = nobody();
    const location = locationOf(await f.begin(browser));
    expect(location).not.toContain(browser.cookie);
    const digest = createHash("sha256")
      .update(browser.cookie ?? "")
      .digest("base64url");
    expect(location).not.toContain(digest);
  });

  test("has a plain name and no Secure on this machine without TLS, and works there", async () => {
    const publicUrl = "http://localhost:4000";
    const local = await createFederation({ idp, publicUrl });
    const begun = await local.begin(nobody());
    const cookie = given(begun) ?? "";
    expect(cookie).toMatch(/^latchkey=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax$/);
    const back = idp.signIn(locationOf(begun));
    expect(back.startsWith(`${publicUrl}/sign-on/`)).toBe(true);
    const answer = await call(local.latchkey.app, callback, {
      ids: { store: local.store.store.id, realm: local.realmId, profile: local.profileId },
      query: back.slice(back.indexOf("?") + 1),
      headers: { cookie: cookie.split(";")[0] ?? "" },
    });
    expect(told(answer)).toMatchObject({ target: SHOP, code: expect.stringMatching(/^lkac_/) });
    await local.close();
  });
});
