import { mkdirSync } from "node:fs";
import { createAdmin } from "@latchkey/sdk/admin";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { pageWords } from "../../packages/server/src/http/pages/words/all.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/** What a shopper does, in a real browser, with everything that `npm start` starts. */

let place: Place;
let running: Running;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let shop: string;
let knobs: string;

/** With a patience that a busy machine does not use up. */
async function newContext(of = browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const made = await of.newContext(options);
  made.setDefaultTimeout(60_000);
  return made;
}

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

describe.skipIf(!hasChromium)("in Chromium", () => {
  beforeAll(async () => {
    place = await newPlace();
    running = await serve(place, ["dev"]);
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    shop = banner.match(/shop\s+(http\S+)/)?.[1] ?? "";
    knobs = banner.match(/practice IdP\s+(http\S+)/)?.[1] ?? "";
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    running?.child.kill("SIGINT");
    expect(await running?.exited).toBe(0);
    place?.leave();
  });
  beforeEach(async () => {
    context = await newContext();
    page = await context.newPage();
    watch(page);
  });
  afterEach(async () => {
    await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  const complaints: string[] = [];
  /** No page of ours may break a rule of its own policy, or fail in silence. */
  function watch(of: Page): void {
    of.on("pageerror", (error) => complaints.push(String(error)));
    of.on("console", (message) => {
      if (message.type() === "error" && message.text().includes("Content Security Policy"))
        complaints.push(message.text());
    });
  }

  const picture = async (name: string, of: Page = page) => {
    if (PICTURES) await of.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
  };
  const continueWith = (of: Page = page) =>
    of.getByRole("button", { name: "Continue with Practice sign-in" });
  const person = (name: RegExp, of: Page = page) => of.getByRole("button", { name });
  const heading = (name: string | RegExp, of: Page = page) =>
    of.getByRole("heading", { name }).first().waitFor();

  /** From the sign-in page to the account. */
  async function signIn(who = /^A? ?Ada/, of: Page = page): Promise<void> {
    await of.goto(`${shop}/sign-in`);
    await continueWith(of).click();
    await person(who, of).click();
    await of.waitForURL(`${shop}/account`);
  }

  /** Presses a button of the knobs' page, as a person would, and waits until the provider has heard of it. */
  async function turn(find: (of: Page) => Locator): Promise<void> {
    const own = await context.newPage();
    await own.goto(knobs);
    const taken = own.waitForResponse((answer) => answer.request().method() === "POST");
    await find(own).click();
    await taken;
  }

  test("a shopper clicks Sign in, chooses who to be, and is signed in", async () => {
    await page.goto(shop);
    await picture("shop");
    await page.getByRole("link", { name: "Sign in", exact: true }).click();
    await continueWith().waitFor();
    await picture("sign-in");
    await continueWith().click();
    await heading("Who would you like to be?");
    await picture("practice-idp");
    await person(/Ada/).click();
    await page.waitForURL(`${shop}/account`);
    await page.getByText("ada@shop.example").waitFor();
    await page.getByText("Proven to be yours").waitFor();
    await picture("account");
    await page.getByRole("button", { name: "On the wire" }).click();
    await picture("on-the-wire");
    const steps = await page.locator("#wire-steps").innerText();
    expect(steps).toContain("Leg 1");
    for (const secret of await page.evaluate(() => Object.values(localStorage)))
      for (const part of String(secret).match(/[\w.-]{40,}/g) ?? []) expect(steps).not.toContain(part);
  });

  test("in a popup, while the shop stays where it is", async () => {
    await page.goto(`${shop}/sign-in`);
    await page.getByRole("radio", { name: "In a popup" }).check();
    const opened = page.waitForEvent("popup");
    await continueWith().click();
    const popup = await opened;
    await person(/Ada/, popup).click();
    await page.waitForURL(`${shop}/account`);
    await until(() => popup.isClosed());
  });

  test("three tabs at once, finished in another order than begun", async () => {
    const tabs = [page, await context.newPage(), await context.newPage()];
    for (const tab of tabs) {
      await tab.goto(`${shop}/sign-in`);
      await continueWith(tab).click();
      await heading("Who would you like to be?", tab);
    }
    for (const tab of tabs.toReversed()) {
      await person(/Ada/, tab).click();
      await tab.waitForURL(`${shop}/account`);
    }
    const sessions = page.getByRole("list", { name: "Where you are signed in" }).getByRole("listitem");
    await sessions.nth(2).waitFor();
  });

  test("Back after the callback does not lead into a used answer", async () => {
    await signIn();
    await page.goBack();
    await page.waitForLoadState();
    expect(new URL(page.url()).pathname).not.toBe("/signed-in");
  });

  test("a callback that is visited again is met kindly: signed in already, or please sign in again", async () => {
    const callbacks: string[] = [];
    page.on("request", (request) => {
      if (/\/callback\?/.test(request.url())) callbacks.push(request.url());
    });
    await signIn();
    expect(callbacks).toHaveLength(1);
    await page.goto(callbacks[0] ?? "");
    await page.waitForURL(`${shop}/account`);
    await page.getByText("You are signed in already.").waitFor();
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.waitForURL(`${shop}/`);
    await page.goto(callbacks[0] ?? "");
    await heading("That page was already used");
    await picture("callback-replay");
  });

  test("a reload on the callback page ends well", async () => {
    const answers: string[] = [];
    page.on("request", (request) => {
      if (request.url().startsWith(`${shop}/signed-in?`)) answers.push(request.url());
    });
    await signIn();
    await page.goto(answers[0] ?? "");
    await page.waitForURL(`${shop}/account`);
  });

  test("on a machine whose clock is two days ahead", async () => {
    await context.addInitScript(() => {
      const now = Date.now;
      Date.now = () => now() + 2 * 86_400_000;
    });
    await signIn();
    await page.getByText("ada@shop.example").waitFor();
  });

  test("with third-party cookies blocked", async () => {
    const strict = await launchChromium("--test-third-party-cookie-phaseout");
    try {
      const own = await (await newContext(strict)).newPage();
      await signIn(/Ada/, own);
      await own.getByText("ada@shop.example").waitFor();
    } finally {
      await strict.close();
    }
  });

  test("a browser that forbids the shop to keep anything is told so, and the shop stays open", async () => {
    await page.addInitScript(() => {
      for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException("The document is not allowed to use it.", "SecurityError");
          },
        });
    });
    for (const path of ["/", "/sign-in"]) {
      await page.goto(shop + path);
      await page.getByText("Allow cookies and site data for it").waitFor();
    }
    await continueWith().waitFor();
    await picture("forbidden");
  });

  test("with the keyboard alone", async () => {
    await page.goto(`${shop}/sign-in`);
    await continueWith().focus();
    await page.keyboard.press("Enter");
    await heading("Who would you like to be?");
    for (let i = 0; i < 10; i++) {
      await page.keyboard.press("Tab");
      if ((await page.evaluate(() => document.activeElement?.textContent ?? "")).includes("Ada")) break;
    }
    await page.keyboard.press("Enter");
    await page.waitForURL(`${shop}/account`);
    await page.getByRole("button", { name: "Sign out", exact: true }).focus();
    await page.keyboard.press("Space");
    await page.waitForURL(`${shop}/`);
    await page.getByText("You are signed out.").waitFor();
  });

  test("with the keyboard alone: what was pressed in vain has the focus again", async () => {
    const inFocus = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    let isDown = true;
    await page.route(/\/v2\//, (route) => (isDown ? route.abort() : route.continue()));
    await page.goto(`${shop}/sign-in`);
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    const asked = page.waitForEvent("requestfailed", (request) => request.url().includes("/v2/"));
    await again.press("Enter");
    await asked;
    await page.locator("#providers[aria-busy=false]").waitFor({ state: "attached" });
    await until(async () => (await inFocus()) === "Try again");
    isDown = false;
    await again.press("Enter");
    await until(async () => (await inFocus()).startsWith("With an account you have elsewhere"));
    const form = page.getByRole("form", { name: "Sign in with your e-mail" });
    await form.getByLabel("E-mail").fill("dora@shop.example");
    await form.getByLabel("Password").fill("not hers");
    await form.getByRole("button").press("Enter");
    await form.getByRole("alert").waitFor();
    await until(async () => (await inFocus()) === "Sign in with e-mail");
    await page.getByLabel("In a popup").check();
    const opened = page.waitForEvent("popup");
    await continueWith().press("Enter");
    await (await opened).close();
    await page.getByText("The window was closed before you were signed in.").waitFor();
    await until(async () => (await inFocus()).includes("Continue with Practice sign-in"));
  });

  test("what the page could not be told at first it asks for again when Try again is pressed", async () => {
    let isDown = true;
    await page.route(/\/config\.json$/, (route) => (isDown ? route.abort() : route.continue()));
    await page.goto(`${shop}/sign-in`);
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    isDown = false;
    await again.click();
    await continueWith().waitFor();
  });

  test("Try again tries again also after a try that found no service", async () => {
    await page.goto(`${shop}/sign-in`);
    await continueWith().click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await heading("You were not signed in");
    await page.route(/\/v2\//, (route) => route.abort());
    const again = page.getByRole("button", { name: "Try again" });
    await again.click();
    await heading("The line went dead");
    await page.unrouteAll();
    await again.click();
    await heading("Who would you like to be?");
  });

  test("who stops the page on its way to the provider can press again", async () => {
    const AUTHORIZE = /[?&]response_type=code&/;
    const pressAndStop = async (button: Locator) => {
      // As the browser does it: the page stays, and is told nothing.
      await page.route(AUTHORIZE, (route) => route.abort("aborted"));
      const stopped = page.waitForEvent("requestfailed", (request) => AUTHORIZE.test(request.url()));
      await button.click();
      await stopped;
      await page.unrouteAll();
      await until(() => button.isEnabled());
    };
    await page.goto(`${shop}/sign-in`);
    await continueWith().waitFor();
    await pressAndStop(continueWith());
    await continueWith().click();
    await page.getByRole("button", { name: "Cancel" }).click();
    const again = page.getByRole("button", { name: "Try again" });
    await again.waitFor();
    await pressAndStop(again);
    await again.click();
    await heading("Who would you like to be?");
  });

  test("e-mail and password stand beside it, and give the same account page", async () => {
    await page.goto(`${shop}/sign-in`);
    const form = page.getByRole("form", { name: "Sign in with your e-mail" });
    await form.getByLabel("E-mail").fill("dora@shop.example");
    await form.getByLabel("Password").fill("not hers");
    await form.getByRole("button", { name: "Sign in with e-mail" }).click();
    await form.getByRole("alert").waitFor();
    await picture("wrong-password");
    await form.getByLabel("Password").fill("practice-password");
    await form.getByRole("button", { name: "Sign in with e-mail" }).click();
    await page.waitForURL(`${shop}/account`);
    await heading("Dora Brook");
  });

  test("a form cannot be sent before the page can read it", async () => {
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route(/\/pages\/sign-in\.js$/, async (route) => {
      await held;
      await route.continue();
    });
    await page.goto(`${shop}/sign-in`, { waitUntil: "commit" });
    const form = page.getByRole("form", { name: "Sign in with your e-mail" });
    await form.getByLabel("E-mail").fill("dora@shop.example");
    await form.getByLabel("Password").fill("practice-password");
    expect(await form.getByRole("button").isDisabled()).toBe(true);
    release();
    await form.getByRole("button").click();
    await page.waitForURL(`${shop}/account`);
    await heading("Dora Brook");
  });

  test("Dora, who was a customer before, is that customer when she comes through the provider", async () => {
    await signIn(/^D? ?Dora(?!’s)/);
    await heading("Dora Brook");
  });

  test("signing out everywhere ends the session in another browser", async () => {
    await signIn();
    const other = await newContext();
    const elsewhere = await other.newPage();
    await signIn(/Ada/, elsewhere);
    // Else its first look may be the one that finds the session ended, and the second a stranger's.
    await elsewhere.getByText("ada@shop.example").waitFor();
    await page.getByRole("button", { name: "Sign out everywhere" }).click();
    await page.waitForURL(`${shop}/`);
    await elsewhere.reload();
    await heading("You were signed out", elsewhere);
    await other.close();
  });

  describe("each knob ends in a message that a shopper understands, with a reference for support", () => {
    afterEach(() => turn((own) => own.getByRole("button", { name: "Reset all" })));

    const failed = async (who = /Ada/) => {
      await page.goto(`${shop}/sign-in`);
      await continueWith().click();
      await person(who).click();
      const failure = page.locator("#failure");
      await failure.waitFor();
      return failure.innerText();
    };
    const turnOn = (title: string) =>
      turn((own) => own.locator("section.knob").filter({ hasText: title }).getByRole("button").last());

    test.each([
      ["Broken token endpoint", /answer|moment|try again/i],
      ["Wrong issuer", /./],
      ["Two audiences", /./],
      ["Drop the e-mail", /./],
      ["Refuse consent", /./],
      ["Clock skew", /./],
    ])("%s", async (knob, sentence) => {
      await turnOn(knob);
      const text = await failed();
      await picture(`knob-${knob.toLowerCase().replaceAll(/\W+/g, "-")}`);
      expect(text).toMatch(sentence);
      expect(text).toMatch(/Reference\s+[0-9A-Z]{4}-[0-9A-Z]{4}/);
      expect(text).not.toMatch(/undefined|Error:|\{|id_token/);
    });

    test("Rotate keys: nobody notices", async () => {
      await signIn();
      await turn((own) => own.getByRole("button", { name: "Rotate now" }));
      await context.clearCookies();
      await signIn();
    });

    test("Cleo, who has no e-mail, is refused and told why", async () => {
      const text = await failed(/Cleo/);
      await picture("cleo");
      expect(text).toMatch(/Reference/);
    });
  });

  test("no page is wider than a phone, in light and dark", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      const phone = await newContext(browser, { viewport: { width: 390, height: 844 }, colorScheme });
      const small = await phone.newPage();
      const visit = async (path: string) => {
        await small.goto(shop + path);
        const overflow = () =>
          small.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(await overflow(), path).toBe(0);
        await picture(`phone-${colorScheme}${path.replaceAll("/", "-")}`, small);
      };
      // As a stranger: who is signed in is sent on from there.
      for (const path of ["/signed-in", "/account", "/sign-in", "/nowhere"]) await visit(path);
      await signIn(/Ada/, small);
      for (const path of ["/", "/account", "/sign-in"]) await visit(path);
      await phone.close();
    }
  });

  test("a name that is one long word makes no page of the shop wider than a phone", async () => {
    const name = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk".repeat(4);
    const phone = await newContext(browser, { viewport: { width: 390, height: 844 } });
    const small = await phone.newPage();
    await small.goto(`${shop}/sign-in`);
    await small.getByText("New here? Create an account").click();
    const form = small.getByRole("form", { name: "Create an account" });
    await form.getByLabel("Your name").fill(name);
    await form.getByLabel("Your e-mail").fill("long@home.example");
    await form.getByLabel("New password").fill("practice-password");
    await form.getByRole("button", { name: "Create account" }).click();
    const check = async (words: string) => {
      await small.getByText(words).first().waitFor();
      const overflow = () =>
        small.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
      expect(await overflow(), words).toBe(0);
    };
    await check(`Welcome, ${name}. Your account is ready.`);
    await small.goto(shop);
    await check(`Welcome, ${name}. Your 10 %`);
    await small.goto(`${shop}/sign-in`);
    await check(`You are signed in as ${name}`);
    await small.goto(`${shop}/webhooks`);
    await check(`About ${name}, by`);
    await phone.close();
  });

  const SCREENS = [
    { name: "desk-light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
    { name: "desk-dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
    { name: "phone-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
    { name: "phone-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
  ] as const;

  /** The page as it stands has no barrier, is no wider than the screen, and has its picture taken. */
  async function look(of: Page, name: string): Promise<void> {
    await picture(name, of);
    expect(await barriersOf(of), name).toEqual([]);
    const overflow = await of.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect(overflow, name).toBe(0);
  }

  const administer = () => {
    const banner = running.logLines().join("\n");
    const [clientId = ""] = banner.match(/lkid_\w+/) ?? [];
    const [clientSecret = ""] = banner.match(/lksk_\w+/) ?? [];
    return createAdmin({ baseUrl: place.url, clientId, clientSecret });
  };

  test.each(SCREENS)(
    "our own pages have no barrier, and lead back to the shop ($name)",
    async ({ name, ...screen }) => {
      const admin = administer();
      const { data: settings } = await admin.settings.get();
      const [practice] = (await admin.profiles(settings.realm_id).list()).data;
      const realm = (practice?.links["client-discovery-url"] ?? "").replace(
        "/.well-known/openid-configuration",
        "",
      );
      const query = new URLSearchParams({
        client_id: settings.client_id,
        redirect_uri: `${shop}/signed-in`,
        response_type: "code",
        scope: "openid email",
        state: "s",
        code_challenge_method: "S256",
        code_challenge: "x".repeat(43),
      });
      const { data: second } = await admin.profiles(settings.realm_id).create({
        name: "Ειρήνη & Söhne 合同会社",
        discovery_url: practice?.discovery_url ?? "",
        client_id: "other",
        client_secret: "practice",
      });
      const own = await newContext(browser, screen);
      const page = await own.newPage();
      watch(page);
      try {
        for (const [what, path] of [
          ["front", place.url],
          ["unknown-client", `${realm}/authorize`],
          ["choice", `${realm}/authorize?${query}`],
          ["attempt-invalid", `${realm}/profiles/${practice?.id}/callback`],
          ["not-signed-out", `${realm}/end-session?id_token_hint=forged`],
          ["sign-out", `${realm}/end-session`],
          ["signed-out", `${realm}/profiles/${practice?.id}/signed-out`],
        ] as const) {
          await page.goto(path);
          await look(page, `own-${what}-${name}`);
          if (what !== "front") await page.getByRole("banner").getByText("Alder & Pine").waitFor();
        }
        // Each language on one screen: that words fit is a matter of width, and not of colours.
        if (name === "phone-light")
          for (const [language, words] of Object.entries(pageWords)) {
            await page.goto(`${realm}/authorize?ui_locales=${language}`);
            await heading(words.shop.heading, page);
            await look(page, `own-${language}-${name}`);
          }
        await page.getByRole("link", { name: /Alder & Pine/ }).click();
        await page.waitForURL(`${shop}/`);
      } finally {
        await admin.profiles(settings.realm_id).delete(second.id);
        await own.close();
      }
    },
  );

  test.each([SCREENS[0], SCREENS[3]])(
    "the shop and the practice provider have no barrier, and lead back ($name)",
    async ({ name, ...screen }) => {
      const own = await newContext(browser, screen);
      const page = await own.newPage();
      watch(page);
      const visit = async (what: string, url: string) => {
        await page.goto(url);
        await until(async () => (await page.locator("[aria-busy=true]:visible").count()) === 0);
        await look(page, `${what}-${name}`);
      };
      for (const path of ["", "/sign-in", "/signed-in", "/account", "/nowhere", "/webhooks"])
        await visit(`shop${path.replace("/", "-")}`, shop + path);
      await visit("knobs", knobs);
      await page.getByRole("link", { name: "Back to the shop" }).click();
      await page.waitForURL(`${shop}/`);
      await visit("practice-problem", new URL("/interaction/none", knobs).href);
      await page.goto(`${shop}/sign-in`);
      await continueWith(page).click();
      await heading("Who would you like to be?", page);
      await look(page, `practice-sign-in-${name}`);
      await person(/Cleo/, page).click();
      await heading("We need an e-mail address", page);
      await look(page, `refused-${name}`);
      // The reference is the way to the record.
      await page.getByRole("button", { name: "On the wire" }).click();
      await look(page, `wire-${name}`);
      const record = page.getByRole("link", { name: "Open the record in the console" }).last();
      expect(await record.getAttribute("href")).toMatch(/\/console\/find\?q=[0-9A-Z]{4}-[0-9A-Z]{4}$/);
      await signIn(/Ada/, page);
      await page.getByText("ada@shop.example").waitFor();
      await look(page, `account-${name}`);
      await own.close();
    },
  );

  test("who signs out is asked at the provider who they are; who does not is known there", async () => {
    await signIn();
    await page.goto(`${shop}/sign-in`);
    await continueWith().click();
    await page.waitForURL(`${shop}/account`);
    await page.getByRole("button", { name: "Sign out", exact: true }).click();
    await page.waitForURL(`${shop}/`);
    await page.goto(`${shop}/sign-in`);
    await continueWith().click();
    await heading("Who would you like to be?");
    await person(/Ben/).click();
    await page.waitForURL(`${shop}/account`);
    await page.getByText("ben@shop.example").waitFor();
  });

  test("who was refused only when the code was redeemed is asked at the provider who they are, too", async () => {
    await page.route(/\/v2\/customers\/tokens$/, (route) =>
      route.request().method() === "POST"
        ? route.fulfill({
            status: 400,
            headers: { "Access-Control-Allow-Origin": "*" },
            json: { errors: [{ status: "400", code: "sign_on_refused", detail: "No." }] },
          })
        : route.continue(),
    );
    await page.goto(`${shop}/sign-in`);
    await continueWith().click();
    await person(/Ada/).click();
    await page.getByText("You could not be signed in this way.").waitFor();
    await page.unrouteAll();
    await page.getByRole("link", { name: "Sign in another way" }).click();
    await continueWith().click();
    await heading("Who would you like to be?");
  });

  test("sessions can be told apart: by browser, machine and place", async () => {
    await signIn(/^M? ?Mona/);
    const other = await newContext(browser, {
      userAgent:
        "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    });
    await signIn(/^M? ?Mona/, await other.newPage());
    await page.reload();
    const sessions = page.getByRole("list", { name: "Where you are signed in" }).getByRole("listitem");
    await sessions.nth(1).waitFor();
    expect(await sessions.first().innerText()).toContain("Safari 17 on iOS 17");
    expect(await sessions.nth(1).innerText()).toMatch(/Chrome \d+ on Linux\s+This session/);
    expect(await sessions.first().innerText()).toContain("on this machine");
    await other.close();
  });

  test("a session that another tab has ended meanwhile is signed out, not an error", async () => {
    const other = await newContext();
    await signIn(/^S? ?Sam/, await other.newPage());
    await other.close();
    await signIn(/^S? ?Sam/);
    const end = (of: Page) => of.getByRole("button", { name: /^Sign out the session with/ });
    // Before there is another tab: that one would be loaded anew when this one has learnt the name.
    await end(page).waitFor();
    const second = await context.newPage();
    await second.goto(`${shop}/account`);
    await end(second).waitFor();
    for (const tab of [second, page]) {
      await end(tab).click();
      await tab.getByText("That session is signed out.").waitFor();
      expect(await end(tab).count()).toBe(0);
    }
  });

  test("what the shop hears shows as it comes; what nobody has signed is refused and not shown", async () => {
    const listening = await context.newPage();
    watch(listening);
    await listening.goto(`${shop}/webhooks`);
    await listening.getByText("Listening").waitFor();
    await signIn();
    const list = listening.getByRole("list", { name: "Messages, the latest first" });
    const latest = list.getByRole("listitem").filter({ hasText: "customer_token.created" }).first();
    // By its number: what is the latest changes while more comes. One that has come twice is above itself.
    const [number] = /Number \d+ of the log/.exec(await latest.innerText()) ?? [];
    const heard = list
      .getByRole("listitem")
      .filter({ hasText: number ?? "a number" })
      .last();
    await heard.getByText("verified", { exact: true }).waitFor();
    await heard.getByText("The message").click();
    await heard.locator("pre").waitFor();
    // A token has two parts that begin so; a salt may have these letters by chance.
    expect(await heard.locator("pre").innerText()).not.toMatch(/eyJ[\w-]*\.eyJ/);
    await look(listening, "webhooks-heard");
    const forged = await fetch(`${shop}/webhooks/receive`, { method: "POST", body: '{"type":"FORGED"}' });
    expect(forged.ok).toBe(false);
    await list.getByText("Refused").first().waitFor();
    expect(await list.innerText()).not.toContain("FORGED");
    await look(listening, "webhooks-refused");
  });

  test("what the shop hears shows also after the shop was started anew, and each once", async () => {
    const sent = [
      { number: 7, at: "2026-11-17T10:00:00.000Z", refused: "the seventh of before" },
      { number: 1, at: "2026-11-17T10:00:05.000Z", refused: "the first of now" },
    ].map((one) => `data: ${JSON.stringify({ id: "", again: false, ...one })}\n\n`);
    const parts = [sent[0], sent[0], sent[1], sent[1]];
    // Each answer ends at once, and the page connects again.
    await page.route(/\/webhooks\/live/, (route) =>
      parts.length > 0
        ? route.fulfill({ contentType: "text/event-stream", body: `retry: 50\n\n${parts.shift()}` })
        : route.abort(),
    );
    await page.goto(`${shop}/webhooks`);
    await page.getByText("the first of now").waitFor();
    await until(() => parts.length === 0);
    expect(
      await page
        .getByRole("list", { name: /Messages/ })
        .getByRole("listitem")
        .count(),
    ).toBe(2);
    await page.unrouteAll();
  });

  test("the bar on a phone covers nothing: it stands below everything, until it is opened", async () => {
    const phone = await newContext(browser, { viewport: { width: 390, height: 844 } });
    const small = await phone.newPage();
    for (const path of ["/", "/sign-in", "/webhooks"]) {
      await small.goto(shop + path);
      const bar = small.getByRole("button", { name: "On the wire" });
      await bar.waitFor();
      const [top, end] = await small.evaluate(() => [
        document.getElementById("wire-toggle")?.getBoundingClientRect().top ?? 0,
        document.querySelector("footer")?.getBoundingClientRect().bottom ?? 0,
      ]);
      expect(top, path).toBeGreaterThanOrEqual(end ?? 0);
    }
    await phone.close();
  });
});
