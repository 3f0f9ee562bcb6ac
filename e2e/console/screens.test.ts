import { createStorefront } from "@latchkey/sdk";
import { describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  button,
  consolePlace,
  go,
  heading,
  inDialog,
  newPage,
  openProvider,
  signInWithKey,
} from "./place.ts";

/** How screens open: where the focus is, how far the page is scrolled, and what happens when a file or the network fails. */

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace({ shoppers: [/Ada/] });

  describe("with the keyboard alone", () => {
    test("a link skips the menu, and a dialog keeps the focus and gives it back", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/keys");
      await heading(page, "Keys");
      // The button that has signed in is gone, and has handed the focus on. A loaded page begins with the focus before
      // everything.
      await until(() => page.evaluate(() => document.activeElement?.textContent === "Keys"));
      await page.evaluate(() => {
        document.body.tabIndex = -1;
        document.body.focus();
        document.body.removeAttribute("tabindex");
      });
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the screen");
      await page.keyboard.press("Enter");
      await until(() => page.evaluate(() => document.activeElement?.id === "main"));
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Create a key");
      await page.keyboard.press("Enter");
      const dialog = page.getByRole("dialog", { name: "Create a key" });
      // The dialog is drawn before it takes the focus.
      await until(() => dialog.evaluate((one: Element) => one.contains(document.activeElement)));
      for (let i = 0; i < 12; i++) {
        await page.keyboard.press("Tab");
        // After the last control the browser's own controls have the focus: the page then shows no focus, and nothing
        // else in it can be reached.
        const isHeld = (one: { contains(other: unknown): boolean }) =>
          one.contains(document.activeElement) || document.activeElement === document.body;
        expect(await dialog.evaluate(isHeld)).toBe(true);
      }
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      await until(() => page.evaluate(() => document.activeElement?.textContent === "Create a key"));
      await page.context().close();
    });

    test("a button that was disabled for less than a frame keeps the focus", async () => {
      await go(c.page, "/keys", "Keys");
      const create = button(c.page, "Create a key");
      await create.evaluate(async (one: HTMLButtonElement) => {
        one.focus();
        const frame = window.requestAnimationFrame;
        await new Promise(frame);
        const waiting: FrameRequestCallback[] = [];
        window.requestAnimationFrame = (act) => waiting.push(act);
        one.disabled = true;
        // Chromium removes the focus in a separate task, which does not wait for a frame.
        while (document.activeElement === one) await new Promise((resolve) => setTimeout(resolve));
        one.disabled = false;
        window.requestAnimationFrame = frame;
        for (const act of waiting) frame(act);
      });
      await until(() => create.evaluate((one) => one === document.activeElement));
    });

    test("a pressed button has the focus again afterwards; when the button is gone, the next control has it", async () => {
      const { page } = c;
      const inFocus = () => page.evaluate(() => document.activeElement?.textContent ?? "");
      const press = async (name: string | RegExp, next: string | RegExp) => {
        await button(page, name).first().press("Enter");
        await until(async () => (await inFocus()).match(next) !== null);
      };
      await openProvider(c);
      await button(page, "Disable").press("Enter");
      await inDialog(page, "Disable provider").waitFor();
      const pressInDialog = async (name: string, next: RegExp) => {
        await inDialog(page, name).press("Enter");
        await until(async () => (await inFocus()).match(next) !== null);
      };
      await pressInDialog("Disable provider", /^Enable$/);
      await press("Enable", /^Disable$/);
      await press("Run checks", /^Run checks again$/);
      await go(page, "/settings", "Settings");
      await button(page, "Add a redirect URI").first().press("Enter");
      await press("Remove redirect URI 2", /^Redirect URIs$/);
      const { data: erin } = await c.admin.customers.create({
        name: "Erin",
        email: "erin@shop.example",
        password: "a long enough secret",
      });
      const { email } = erin;
      const shop = createStorefront({ baseUrl: c.url, clientId: c.key.clientId });
      await shop.signIn({ email, password: "a long enough secret" });
      await go(page, `/customers/${erin.id}`, "Erin");
      await button(page, "End this session").press("Enter");
      await pressInDialog("End session", /^Signed in now$/);
      for (let at = 0; at < 60; at++) await c.admin.applicationKeys.create({ name: `Many ${at}` });
      await go(page, "/keys", "Keys");
      await button(page, "Show more").waitFor();
      const shown = await page.getByRole("link", { name: /^Many/ }).count();
      await press("Show more", new RegExp(`^Many ${shown}lkid_`));
      await go(page, "/planner", "Planner");
      const slider = page.getByRole("slider");
      for (const name of [/^Back to/, "Apply"]) {
        await slider.press("ArrowRight");
        await button(page, name).press("Enter");
        await until(() => slider.evaluate((one) => one === document.activeElement));
      }
    });

    test("a screen has the focus, and keeps typed text, as soon as it is there", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/keys");
      await heading(page, "Keys");
      const inFocus = page.evaluate(
        () =>
          new Promise((resolve) => {
            new MutationObserver((_, observer) => {
              const field = document.querySelector<HTMLInputElement>("[type=search]");
              if (!field) return;
              observer.disconnect();
              resolve(document.activeElement?.textContent);
              // Sets the value as a key press would, past React's copy of the value.
              Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, "Ada");
              field.dispatchEvent(new Event("input", { bubbles: true }));
            }).observe(document, { subtree: true, childList: true });
          }),
      );
      await go(page, "/customers", "Customers");
      expect(await inFocus).toBe("Customers");
      await page.getByRole("searchbox").press("Enter");
      await page.waitForURL((url) => url.searchParams.get("q") === "Ada");
      await page.context().close();
    });
  });

  describe("a screen", () => {
    test("opens at its top; Back restores the scroll position", async () => {
      const page = await newPage(c, { viewport: { width: 1280, height: 400 } });
      await signInWithKey(c, page, "/events");
      await page
        .getByText(/created/)
        .first()
        .waitFor();
      await go(page, "/settings", "The store");
      // The realms are above the store. Before they are there, the page is too short to scroll so far.
      await page.getByLabel("Link back to the shop").first().waitFor();
      const scrolled = () => page.evaluate(() => scrollY);
      await page.evaluate(() => scrollTo(0, 300));
      expect(await scrolled()).toBe(300);
      await page.getByRole("navigation").getByRole("link", { name: "Events" }).click();
      await heading(page, "Events");
      expect(await scrolled()).toBe(0);
      await page.goBack();
      await heading(page, "The store");
      await until(async () => (await scrolled()) === 300);
      await page.context().close();
    });

    test("whose file is missing after an upgrade offers to load the page again; other screens still work", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/settings");
      await heading(page, "Settings");
      await page.route(/\/assets\/planner-/, (route) => route.fulfill({ status: 404 }));
      await go(page, "/planner", "This screen could not be loaded");
      await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
      await heading(page, "Settings");
      await go(page, "/planner", "This screen could not be loaded");
      await button(page, "Load the page again").click();
      await heading(page, "Sign in to your store");
      expect(page.url()).toBe(`${c.url}/console/planner`);
      await page.context().close();
    });

    test("whose file failed to load is loaded by Try again", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/settings");
      await heading(page, "Settings");
      let asked = 0;
      await page.route(/\/assets\/(planner|members)-/, (route) => {
        asked++;
        return route.abort();
      });
      await go(page, "/planner", "This screen could not be loaded");
      await go(page, "/members", "This screen could not be loaded");
      expect(asked).toBe(2);
      await page.unrouteAll();
      await button(page, "Try again").click();
      await heading(page, "Members");
      await go(page, "/planner", "Planner");
      await page.context().close();
    });

    test("shows a failed network instead of loading for ever, and goes on when the network is back", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/customers");
      await heading(page, "Customers");
      await page.context().setOffline(true);
      await go(page, "/customers?q=nobody");
      await page.getByRole("alert").getByText("network_failed").waitFor();
      await page.context().setOffline(false);
      await heading(page, "No customer found");
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.context().close();
    });
  });
});
