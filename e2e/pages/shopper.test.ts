import type { Locator, Page } from "playwright-core";
import { afterEach, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import {
  browser,
  context,
  continueWith,
  heading,
  newContext,
  page,
  person,
  picture,
  practiceShop,
  shop,
  signIn,
  turn,
} from "./practice-shop.ts";

/** A shopper signs in and out at the practice shop, in a real browser. */

describe.skipIf(!hasChromium)("a shopper", () => {
  practiceShop();

  describe("signs in", () => {
    test("by Sign in and a choice of the person; the protocol view shows no secret", async () => {
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

    test("in a popup, while the shop stays on its page", async () => {
      await page.goto(`${shop}/sign-in`);
      await page.getByRole("radio", { name: "In a popup" }).check();
      const opened = page.waitForEvent("popup");
      await continueWith().click();
      const popup = await opened;
      await person(/Ada/, popup).click();
      await page.waitForURL(`${shop}/account`);
      await until(() => popup.isClosed());
    });

    test("in three tabs at once, finished in another order than begun", async () => {
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

    test("with e-mail and password on the same page, and gets the same account page", async () => {
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

    test("through the provider as the customer who had the e-mail address before", async () => {
      await signIn(/^D? ?Dora(?!’s)/);
      await heading("Dora Brook");
    });

    test("by a form that is disabled until the page's script has loaded", async () => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await page.route(/\/pages\/sign-in\/sign-in\.js$/, async (route) => {
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
  });

  describe("comes back", () => {
    test("by Back after the callback without a used code in the address", async () => {
      await signIn();
      await page.goBack();
      await page.waitForLoadState();
      expect(new URL(page.url()).pathname).not.toBe("/signed-in");
    });

    test("to a used callback: the page shows that the shopper is signed in, or asks to sign in again", async () => {
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

    test("by a reload of the callback page and is signed in", async () => {
      const answers: string[] = [];
      page.on("request", (request) => {
        if (request.url().startsWith(`${shop}/signed-in?`)) answers.push(request.url());
      });
      await signIn();
      await page.goto(answers[0] ?? "");
      await page.waitForURL(`${shop}/account`);
    });
  });

  describe("with the keyboard alone", () => {
    test("signs in and out", async () => {
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

    test("has the focus on the same button after a failed action", async () => {
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
  });

  describe("tries again", () => {
    test("after a hint to allow site data where the browser forbids storage; the shop stays open", async () => {
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

    test("and the page requests what it could not load", async () => {
      let isDown = true;
      await page.route(/\/config\.json$/, (route) => (isDown ? route.abort() : route.continue()));
      await page.goto(`${shop}/sign-in`);
      const again = page.getByRole("button", { name: "Try again" });
      await again.waitFor();
      isDown = false;
      await again.click();
      await continueWith().waitFor();
    });

    test("also after an attempt that did not reach the service", async () => {
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

    test("after stopping the navigation to the provider", async () => {
      const AUTHORIZE = /[?&]response_type=code&/;
      const pressAndStop = async (button: Locator) => {
        // The browser's behaviour: the page stays, and gets no event.
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
  });

  describe("a failure that the practice provider plays shows a plain message and a reference", () => {
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

    test("Rotate keys: the sign-on succeeds", async () => {
      await signIn();
      await turn((own) => own.getByRole("button", { name: "Rotate now" }));
      await context.clearCookies();
      await signIn();
    });

    test("Cleo, who has no e-mail, is refused with a reason", async () => {
      const text = await failed(/Cleo/);
      await picture("cleo");
      expect(text).toMatch(/Reference/);
    });
  });

  describe("signs out", () => {
    test("everywhere, which ends the session in another browser", async () => {
      await signIn();
      const other = await newContext();
      const elsewhere = await other.newPage();
      await signIn(/Ada/, elsewhere);
      // Otherwise the first request of the other browser may come after the end of the session.
      await elsewhere.getByText("ada@shop.example").waitFor();
      await page.getByRole("button", { name: "Sign out everywhere" }).click();
      await page.waitForURL(`${shop}/`);
      await elsewhere.reload();
      await heading("You were signed out", elsewhere);
      await other.close();
    });

    test("and the provider asks for the person at the next sign-on; without a sign-out it does not ask", async () => {
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

    test("and after a refused redemption the provider asks for the person too", async () => {
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
      await page.getByText("We couldn't sign you in with this account.").waitFor();
      await page.unrouteAll();
      await page.getByRole("link", { name: "Sign in another way" }).click();
      await continueWith().click();
      await heading("Who would you like to be?");
    });

    test("of one session in a list that names browser, machine and place", async () => {
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

    test("of a session that another tab has ended, without an error", async () => {
      const other = await newContext();
      await signIn(/^S? ?Sam/, await other.newPage());
      await other.close();
      await signIn(/^S? ?Sam/);
      const end = (of: Page) => of.getByRole("button", { name: /^Sign out the session with/ });
      // The second tab opens after this one has the name; otherwise it would be reloaded.
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
  });
});
