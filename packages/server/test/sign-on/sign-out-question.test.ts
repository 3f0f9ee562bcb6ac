import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { endSession, endSessionByForm } from "../../src/contract/sign-out.ts";
import { LANGUAGES } from "../../src/http/pages/language.ts";
import { pageWords } from "../../src/http/pages/words/all.ts";
import { type Answer, call } from "../support/call.ts";
import { type Browser, COOKIE, createFederation, type Federation, SHOP } from "../support/federation.ts";
import { askUserinfo, makeKey, redeemAtRealm } from "../support/standard-client.ts";

/** RP-initiated logout without an ID token: a page asks the shopper, and only a Yes of the same browser counts. */

let f: Federation;
beforeEach(async () => {
  f = await createFederation();
});
afterEach(() => f.close());

const ids = () => ({ store: f.store.store.id, realm: f.realmId });
const headersOf = ({ cookie }: Browser) => (cookie === undefined ? {} : { cookie: `${COOKIE}=${cookie}` });
const decode = (html: string) =>
  html.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

/** The page's form, as a browser reads it. */
type Page = { answer: Answer; action: string; confirmation: string };

function read(answer: Answer, browser: Browser): Page {
  browser.cookie ??= /=([^;]+)/.exec(answer.headers.get("set-cookie") ?? "")?.[1];
  const [, action = ""] = /<form method="post" action="([^"]*)">/.exec(answer.body) ?? [];
  const [, confirmation = ""] = /<button name="confirmation" value="([^"]*)">/.exec(answer.body) ?? [];
  return { answer, action: decode(action), confirmation };
}
async function visit(
  browser: Browser,
  parameters: Record<string, string> = {},
  isForm = false,
): Promise<Page> {
  const sent = isForm ? { form: parameters } : { query: new URLSearchParams(parameters).toString() };
  const operation = isForm ? endSessionByForm : endSession;
  return read(
    await call(f.latchkey.app, operation, { ids: ids(), ...sent, headers: headersOf(browser) }),
    browser,
  );
}
/** Presses the page's button. */
const sayYes = (browser: Browser, { action, confirmation }: Pick<Page, "action" | "confirmation">) => {
  const query = action.includes("?") ? action.slice(action.indexOf("?") + 1) : "";
  return call(f.latchkey.app, endSessionByForm, {
    ids: ids(),
    query,
    form: { confirmation },
    headers: headersOf(browser),
  });
};
const isAsked = ({ answer, confirmation }: Page) => answer.status === 200 && confirmation !== "";

test("the page that asks to sign out › 200 with the page, by GET and POST; no session ends", async () => {
  const signedOn = await f.signOn();
  const proof = { client_id: "customers", code_verifier: signedOn.pkce.verifier };
  const { access_token } = (await redeemAtRealm(f, signedOn, proof)).body;
  for (const isForm of [false, true]) {
    const page = await visit({ cookie: undefined }, { post_logout_redirect_uri: SHOP, state: "s" }, isForm);
    expect(isAsked(page)).toBe(true);
    expect(page.answer.body).toContain(pageWords.en.signOut.text);
  }
  expect((await askUserinfo(f, access_token)).status).toBe(200);
});

test.each([false, true])(
  "Yes leads to the registered address with its state unchanged (asked by POST: %s)",
  async (isForm) => {
    const state = `a b&c'"\r\n\n<x>`;
    const browser = { cookie: undefined };
    const page = await visit(
      browser,
      { post_logout_redirect_uri: `${SHOP}?shop=1`, state, client_id: "customers", ui_locales: "de" },
      isForm,
    );
    expect(page.answer.body).toContain('lang="de"');
    const answer = await sayYes(browser, page);
    expect(answer.status).toBe(303);
    const location = answer.headers.get("location") ?? "";
    expect(location.startsWith(`${SHOP}?shop=1&state=`)).toBe(true);
    expect(new URL(location).searchParams.get("state")).toBe(state);
  },
);

test("Yes without an address ends on a page that says that the shop's session goes on", async () => {
  const signedOn = await f.signOn();
  const proof = { client_id: "customers", code_verifier: signedOn.pkce.verifier };
  const { access_token } = (await redeemAtRealm(f, signedOn, proof)).body;
  for (const parameters of [{}, { state: "only" }]) {
    const answer = await sayYes(signedOn.browser, await visit(signedOn.browser, parameters));
    expect([answer.status, answer.headers.has("location")]).toEqual([200, false]);
    expect(answer.body).toContain(pageWords.en.signInsEnded.text);
  }
  expect((await askUserinfo(f, access_token)).status).toBe(200);
});

test("Yes ends the sign-ons that this browser has begun, and no other browser's", async () => {
  const [browser, other] = [{ cookie: undefined }, { cookie: undefined }];
  const begun = [await f.begin(browser), await f.begin(browser)];
  const elsewhere = await f.begin(other);
  const { cookie } = browser as Browser;
  const tabbed = `${COOKIE}=${cookie}; ${COOKIE}.a=${cookie}; unrelated=1`;
  const page = await visit(browser);
  const answer = await call(f.latchkey.app, endSessionByForm, {
    ids: ids(),
    form: { confirmation: page.confirmation },
    headers: { cookie: tabbed },
  });
  const cleared = answer.headers.getSetCookie();
  expect(cleared.map((line) => line.split("=")[0])).toEqual([COOKIE, `${COOKIE}.a`]);
  for (const line of cleared) expect(line).toMatch(/=; Path=\/; HttpOnly; SameSite=Lax; Max-Age=0; Secure$/);
  for (const { headers } of begun) {
    const back = await f.comeBack({ cookie: undefined }, f.idp.signIn(headers.get("location") ?? ""));
    expect([back.status, back.code]).toEqual([400, "browser_changed"]);
  }
  const back = await f.comeBack(other, f.idp.signIn(elsewhere.headers.get("location") ?? ""));
  expect(back.headers.get("location")).toContain("code=lkac_");
});

describe("a forged Yes › the page asks again", () => {
  const forged: [string, (page: Page, browser: Browser) => Promise<Answer>][] = [
    ["without the browser's cookie (SameSite)", (page) => sayYes({ cookie: undefined }, page)],
    [
      "with a confirmation of another browser",
      async (_, browser) => sayYes(browser, await visit({ cookie: undefined })),
    ],
    [
      "with a confirmation that was changed",
      (page, browser) => sayYes(browser, { ...page, confirmation: `${page.confirmation}x` }),
    ],
    ["without a confirmation", (page, browser) => sayYes(browser, { ...page, confirmation: "" })],
    [
      "by GET, with the right confirmation",
      ({ confirmation }, browser) =>
        call(f.latchkey.app, endSession, {
          ids: ids(),
          query: new URLSearchParams({ confirmation, post_logout_redirect_uri: SHOP }).toString(),
          headers: headersOf(browser),
        }),
    ],
    [
      "after ten minutes",
      (page, browser) => {
        f.latchkey.clock.advance(600_000);
        return sayYes(browser, page);
      },
    ],
  ];
  test.each(forged)("%s", async (_, send) => {
    const browser = { cookie: undefined };
    await f.begin(browser);
    const page = await visit(browser, { post_logout_redirect_uri: SHOP });
    const answer = await send(page, browser);
    expect(answer.headers.getSetCookie().some((line) => line.includes("Max-Age=0"))).toBe(false);
    expect(isAsked(read(answer, browser))).toBe(true);
  });
});

test("the page that asks to sign out › 400 for an unregistered address before the page asks (R175)", async () => {
  for (const uri of ["https://evil.example/", `${SHOP}/`, `${SHOP}?x=1`, "javascript:alert(1)"]) {
    const { answer } = await visit({ cookie: undefined }, { post_logout_redirect_uri: uri });
    expect([answer.status, answer.code]).toEqual([400, "logout_uri_unregistered"]);
    expect(answer.body).not.toContain("evil");
    expect(answer.body).not.toContain(pageWords.en.signedOutHere.heading);
    expect(answer.body).toContain(pageWords.en.shop.heading);
  }
});

test("the page that asks to sign out › 400 for an unknown client, a repeated parameter or a changed hint", async () => {
  const browser = { cookie: undefined };
  expect((await visit(browser, { client_id: "unknown" })).answer.code).toBe("sign_on_client_unknown");
  const stranger = await f.latchkey.createStore();
  expect((await visit(browser, { client_id: stranger.key.clientId })).answer.code).toBe(
    "sign_on_client_unknown",
  );
  const key = await makeKey(f, "standard");
  expect(isAsked(await visit(browser, { client_id: key.clientId }))).toBe(true);
  const query = "state=a&state=b";
  expect((await call(f.latchkey.app, endSession, { ids: ids(), query })).code).toBe("parameter_invalid");
  const modified = await visit(browser, { id_token_hint: "a.b.c", post_logout_redirect_uri: SHOP });
  expect([modified.answer.status, modified.answer.code]).toEqual([400, "logout_hint_invalid"]);
  const byForm = (form: Record<string, string>) =>
    call(f.latchkey.app, endSessionByForm, { ids: ids(), form });
  expect((await byForm({ client_id: "unknown" })).code).toBe("sign_on_client_unknown");
  expect((await byForm({ id_token_hint: "a.b.c" })).code).toBe("logout_hint_invalid");
});

test.each(LANGUAGES)(
  "the page that asks to sign out › %s: the page has the shop's name as text",
  async (language) => {
    const { signOut } = pageWords[language];
    const unnamed = await visit({ cookie: undefined }, { ui_locales: language });
    expect(unnamed.answer.body).toContain(`<h1>${signOut.headingWithoutName}</h1>`);
    await f.changeRealm({ name: "Wren <b> & Sons" });
    const [before, after] = signOut.heading.split("{shop}");
    const { answer } = await visit({ cookie: undefined }, { ui_locales: language });
    expect(answer.body).toContain(`<h1>${before}<bdi>Wren &lt;b&gt; &amp; Sons</bdi>${after}</h1>`);
    expect(answer.body).toContain(signOut.yes);
  },
);
