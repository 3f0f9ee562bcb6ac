import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { deleteProfile } from "../src/contract/oidc-profiles.ts";
import { createRealm } from "../src/contract/realms.ts";
import { authorize, authorizeByForm, beginTest, callback } from "../src/contract/sign-on.ts";
import { endSession, signedOut } from "../src/contract/sign-out.ts";
import { LANGUAGES, type Language } from "../src/http/pages/language.ts";
import { pageWords } from "../src/http/pages/words/all.ts";
import { createTestApp, PUBLIC_URL } from "./support/app.ts";
import { type Answer, type Call, call } from "./support/call.ts";
import { createFederation, type Federation } from "./support/federation.ts";
import { CONSOLE, createMembersSide, type MembersSide } from "./support/members.ts";

/** The service's own pages: for whom they are, their language, and that the texts of a shop are harmless in them. */

let f: Federation;
beforeAll(async () => {
  f = await createFederation();
});
afterAll(() => f.close());
const PLAIN = { name: "Wren & Sons", home_url: null, logo_url: null, accent_color: null };
beforeEach(async () => {
  f.latchkey.clock.advance(10_000);
  await f.changeRealm(PLAIN);
});

const ids = () => ({ store: f.store.store.id, realm: f.realmId });
const idsOfProfile = () => ({ ...ids(), profile: f.profileId });
const ask = (query: Record<string, string> = {}, request: Call = {}) =>
  call(f.latchkey.app, authorize, { ids: ids(), query: new URLSearchParams(query).toString(), ...request });
const speaking = (language: string): Call => ({ headers: { "accept-language": language } });
const languageOn = ({ body }: Answer) => /<html lang="([^"]*)">/.exec(body)?.[1];
const policyOf = ({ headers }: Answer) => headers.get("content-security-policy") ?? "";
const stylesOf = ({ body }: Answer) =>
  [...body.matchAll(/<style>([\s\S]*?)<\/style>/g)].map(([, style = ""]) => style);

/** Every error page, and a request that leads to it. */
const REFUSALS: [
  code: string,
  words: (of: (typeof pageWords)["en"]) => string,
  visit: (request: Call) => Promise<Answer>,
][] = [
  ["sign_on_client_unknown", ({ shop }) => shop.remedy, (request) => ask({}, request)],
  [
    "redirect_uri_unregistered",
    ({ shop }) => shop.remedy,
    (request) => ask({ client_id: "customers" }, request),
  ],
  [
    "attempt_invalid",
    ({ again }) => again.foreign.remedy,
    (request) => call(f.latchkey.app, callback, { ids: idsOfProfile(), ...request }),
  ],
  [
    "attempt_expired",
    ({ again }) => again.late.remedy,
    async (request) => {
      const url = await comingBack();
      f.latchkey.clock.advance(600_000);
      return returnTo(url, request);
    },
  ],
  [
    "browser_changed",
    ({ again }) => again.otherBrowser.remedy,
    async (request) => returnTo(await comingBack(), request),
  ],
  [
    "test_sign_on_over",
    ({ testOver }) => testOver.remedy,
    (request) => call(f.latchkey.app, beginTest, { ids: idsOfProfile(), ...request }),
  ],
  [
    "logout_hint_invalid",
    ({ notSignedOut }) => notSignedOut.remedy,
    (request) => call(f.latchkey.app, endSession, { ids: ids(), query: "id_token_hint=forged", ...request }),
  ],
];

async function comingBack(parameters: Record<string, string> = {}): Promise<string> {
  const begun = await f.begin({ cookie: undefined }, parameters);
  return f.idp.signIn(begun.headers.get("location") ?? "");
}
const returnTo = (url: string, request: Call) =>
  call(f.latchkey.app, callback, { ids: idsOfProfile(), query: url.slice(url.indexOf("?") + 1), ...request });

describe.each(LANGUAGES)("in %s", (language: Language) => {
  const words = pageWords[language];

  test.each(REFUSALS)(
    "%s shows the remedy, whether to try again, and the reference for the shop",
    async (code, remedyOf, visit) => {
      await f.changeRealm({ home_url: "https://shop.example/" });
      const answer = await visit(speaking(language));
      expect([answer.code, languageOn(answer)]).toEqual([code, language]);
      expect(answer.body).toContain(`<p>${remedyOf(words)}</p>`);
      const [before, after] = words.backTo.split("{shop}");
      // Members of the store begin tests, not shoppers.
      const isForShoppers = code !== "test_sign_on_over";
      expect(
        answer.body.includes(
          `<a href="https://shop.example/">${before}<bdi>Wren &amp; Sons</bdi>${after}</a>`,
        ),
      ).toBe(isForShoppers);
      expect(answer.body).toMatch(
        new RegExp(`(${words.reference}|${words.request}) <strong>[0-9A-Za-z-]+</strong>`),
      );
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        "content-language": language,
        vary: "Accept-Language",
        "cache-control": "no-store",
      });
    },
  );

  test("the page to choose from, and the one after signing out", async () => {
    const second = await f.addProfile({ name: "Second" });
    const form = { ...f.parameters({ profile: undefined }), ui_locales: language };
    const query = new URLSearchParams(form).toString();
    for (const choice of [
      await call(f.latchkey.app, authorize, { ids: ids(), query }),
      await call(f.latchkey.app, authorizeByForm, { ids: ids(), form }),
    ])
      expect([choice.status, choice.body.includes(`<h1>${words.choice.heading}</h1>`)]).toEqual([200, true]);
    await f.store.call(deleteProfile, { ids: { realm: f.realmId, id: second } });
    const out = await call(f.latchkey.app, signedOut, { ids: idsOfProfile(), ...speaking(language) });
    expect([languageOn(out), out.body.includes(`<h1>${words.signedOut.heading}</h1>`)]).toEqual([
      language,
      true,
    ]);
  });
});

describe("the language", () => {
  test("is the storefront's, in query or form, before the browser's", async () => {
    expect(languageOn(await ask({ ui_locales: "it ja-JP" }, speaking("de")))).toBe("ja");
    const form = { ui_locales: "fr" };
    expect(
      languageOn(await call(f.latchkey.app, authorizeByForm, { ids: ids(), form, ...speaking("de") })),
    ).toBe("fr");
    expect(languageOn(await ask({ ui_locales: "it" }, speaking("de")))).toBe("de");
    expect(languageOn(await ask())).toBe("en");
  });

  test("at the callback is the language of the request that began the sign-on", async () => {
    expect(languageOn(await returnTo(await comingBack({ ui_locales: "es" }), speaking("de")))).toBe("es");
    expect(languageOn(await returnTo(await comingBack(), speaking("de")))).toBe("de");
    expect(
      languageOn(await returnTo(await comingBack({ ui_locales: `es ${"x ".repeat(40)}` }), speaking("de"))),
    ).toBe("de");
  });

  test("applies without a known shop: an unknown realm, a method that is not supported", async () => {
    const unknown = await call(f.latchkey.app, authorize, {
      ids: { ...ids(), realm: "none" },
      ...speaking("fr"),
    });
    expect([unknown.code, languageOn(unknown)]).toEqual(["realm_not_found", "fr"]);
    const url = `${PUBLIC_URL}/sign-on/stores/${ids().store}/realms/${ids().realm}/authorize?ui_locales=es`;
    const refused = await f.latchkey.app.fetch(new Request(url, { method: "DELETE" }));
    expect([refused.status, (await refused.text()).includes('lang="es"')]).toEqual([405, true]);
  });
});

describe("the shop", () => {
  test("is shown with its name, its logo from its one origin, and its colour in a style that the policy permits", async () => {
    await f.changeRealm({
      logo_url: "https://cdn.shop.example:8443/logo.svg?a=1&b=2",
      accent_color: "#ffd400",
    });
    const answer = await ask();
    expect(answer.body).toContain(
      '<header><img src="https://cdn.shop.example:8443/logo.svg?a=1&amp;b=2" alt=""><bdi>Wren &amp; Sons</bdi></header>',
    );
    expect(policyOf(answer)).toContain("; img-src data: https://cdn.shop.example:8443; ");
    expect(stylesOf(answer)).toHaveLength(2);
    for (const style of stylesOf(answer))
      expect(policyOf(answer)).toContain(`'sha256-${createHash("sha256").update(style).digest("base64")}'`);
    expect(stylesOf(answer)[1]).toMatch(
      /^:root \{ --accent: #[0-9a-f]{6}; \} @media screen and \(prefers-color-scheme: dark\) \{ :root \{ --accent: #ffd400; \} \}$/,
    );
    expect(policyOf(answer)).not.toContain("unsafe");
  });

  test("without settings is shown without a link back, a picture, or the name that only administrators see", async () => {
    await f.changeRealm({ name: "Customers" });
    const answer = await ask();
    expect(answer.body).not.toMatch(/<header|class="way"|<img|Customers/);
    expect(policyOf(answer)).toContain("; img-src data:; ");
    expect(stylesOf(answer)).toHaveLength(1);
  });

  describe("for members of the store", () => {
    let own: Federation;
    let side: MembersSide;
    beforeAll(async () => {
      own = await createFederation();
      side = await createMembersSide(own);
    });
    afterAll(() => own.close());
    const members = () => ({ store: own.store.store.id, realm: side.realmId, profile: side.profileId });

    test("is the console", async () => {
      const answer = await call(own.latchkey.app, authorize, { ids: members() });
      expect(answer.body).toContain(`<a href="${PUBLIC_URL}/console/">Back to <bdi>Members</bdi></a>`);
    });

    test.each(LANGUAGES)("is called the console in every refusal too, in %s", async (language) => {
      const words = pageWords[language];
      const begin = async () => {
        const query = { profile: side.profileId, client_id: "members", redirect_uri: CONSOLE };
        const begun = await call(own.latchkey.app, authorize, {
          ids: members(),
          query: new URLSearchParams(own.parameters(query)).toString(),
        });
        return own.idp.signIn(begun.headers.get("location") ?? "");
      };
      const come = (url: string) =>
        call(own.latchkey.app, callback, {
          ids: members(),
          query: url.slice(url.indexOf("?") + 1),
          ...speaking(language),
        });
      const refused = await call(own.latchkey.app, authorize, { ids: members(), ...speaking(language) });
      const [invalid, changed] = [await come("?"), await come(await begin())];
      const url = await begin();
      own.latchkey.clock.advance(600_000);
      const expired = await come(url);
      const pages = [
        [refused, "sign_on_client_unknown", words.members.refused.remedy],
        [invalid, "attempt_invalid", words.members.again],
        [changed, "browser_changed", words.members.otherBrowser],
        [expired, "attempt_expired", words.members.again],
      ] as const;
      for (const [answer, code, remedy] of pages) {
        expect(answer.code).toBe(code);
        expect(answer.body).toContain(`<p>${remedy}</p>`);
        expect(answer.body).not.toContain(words.forDevelopers);
      }
      expect(refused.body).toContain(words.members.forOperators);
    });
  });

  test.each([
    ["<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"],
    ['"><img src=x onerror=alert(1)>', "&quot;&gt;&lt;img src=x onerror=alert(1)&gt;"],
    ["</title><style>*{}</style>", "&lt;/title&gt;&lt;style&gt;*{}&lt;/style&gt;"],
    ["{shop} $& &amp;", "{shop} $&amp; &amp;amp;"],
    ["Evil \u202egnp.exe\u202c\u2066", "Evil gnp.exe"],
    ["متجر", "متجر"],
  ])("whose name is %j is shown as text, and the name reverses no other text", async (name, shown) => {
    await f.changeRealm({ name, home_url: "https://shop.example/" });
    const answer = await ask();
    expect(answer.body).toContain(`<header><bdi>${shown}</bdi></header>`);
    expect(answer.body).toContain(`>Back to <bdi>${shown}</bdi></a>`);
    expect(answer.body).toContain(` – ${shown}</title>`);
    expect(stylesOf(answer)).toHaveLength(1);
    expect(answer.body).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });

  test.each([
    ["home_url", "javascript:alert(1)"],
    ["home_url", "http://shop.example/"],
    ["logo_url", "https://cdn.example;script-src/*"],
    ["logo_url", "data:image/svg+xml,<svg/>"],
    ["accent_color", "#fff}</style><script>alert(1)</script>"],
    ["accent_color", "red"],
  ])("whose %s is %j in the database is shown without it", async (column, value) => {
    const { db } = f.latchkey.storage;
    await db
      .updateTable("authentication_realms")
      .set({ [column]: value })
      .where("id", "=", f.realmId)
      .execute();
    const answer = await ask();
    expect(answer.body).not.toMatch(/javascript:|<img|class="way"|alert/);
    expect(policyOf(answer)).toContain("; img-src data:; ");
    expect(stylesOf(answer)).toHaveLength(1);
  });
});

describe("the root address", () => {
  const visit = async (headers: Record<string, string>, path = "/") => {
    const answer = await f.latchkey.app.fetch(new Request(`http://internal${path}`, { headers }));
    return { status: answer.status, headers: answer.headers, body: await answer.text() } as Answer;
  };
  const CHROMIUM = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";

  test.each(LANGUAGES)(
    "explains the service to a person in %s, with links to console, reference and health",
    async (language) => {
      const answer = await visit({ accept: CHROMIUM, "accept-language": language });
      expect([answer.status, languageOn(answer), answer.headers.get("content-type")]).toEqual([
        200,
        language,
        "text/html; charset=utf-8",
      ]);
      expect(answer.headers.get("vary")).toBe("Accept, Accept-Language");
      expect(answer.body).toContain(pageWords[language].front.text);
      for (const path of ["/console/", "/docs", "/openapi.json", "/health/ready"])
        expect(answer.body).toContain(`href="${PUBLIC_URL}${path}"`);
    },
  );

  test.each([
    [{}],
    [{ accept: "*/*" }],
    [{ accept: "application/json" }],
    [{ accept: "application/json, text/html;q=0.9" }],
    [{ accept: "text/html;q=0" }],
  ])("gives a program the same as JSON: %j", async (headers) => {
    const answer = await visit(headers);
    expect([answer.status, answer.headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(JSON.parse(answer.body as string)).toEqual({
      data: { type: "service", name: "Latchkey" },
      links: {
        console: `${PUBLIC_URL}/console/`,
        reference: `${PUBLIC_URL}/docs`,
        openapi: `${PUBLIC_URL}/openapi.json`,
        health: `${PUBLIC_URL}/health/ready`,
      },
    });
  });

  test("is one page: there is nothing below it, and it accepts no POST", async () => {
    expect((await visit({ accept: CHROMIUM }, "/nowhere")).status).toBe(404);
    expect((await f.latchkey.app.fetch(new Request("http://internal/", { method: "POST" }))).status).toBe(
      405,
    );
  });

  test("below a path there is no console and no link to it; the reference sends its requests below the path too", async () => {
    const below = await createTestApp({ publicUrl: "https://shop.example/keys" });
    const at = (path: string) => below.app.fetch(new Request(`http://internal${path}`));
    const { links } = (await (await at("/")).json()) as { links: Record<string, string> };
    expect(Object.keys(links)).toEqual(["reference", "openapi", "health"]);
    const refused = await at("/console/sign-in");
    expect([refused.status, await refused.text()]).toEqual([
      404,
      expect.stringContaining("LATCHKEY_PUBLIC_URL"),
    ]);
    const { store, call: ask } = await below.createStore();
    const json = { data: { type: "authentication-realm", name: "Team", purpose: "members" } };
    const realm = (await ask(createRealm, { json })).body.data.id;
    const page = await call(below.app, authorize, { ids: { store: store.id, realm } });
    expect(page.body).toContain("Team");
    expect(page.body).not.toContain("/console/");
    const reference = await (await at("/docs")).text();
    expect(reference).toContain('href="/keys/docs/page.css"');
    expect(reference).toContain('src="/keys/docs/page.js"');
    expect(reference).toContain('href="/keys/openapi.json"');
    expect(reference).toContain('data-below="/keys"');
    await below.close();
  });
});
