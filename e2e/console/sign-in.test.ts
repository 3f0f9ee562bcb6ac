import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go, heading, newPage, signInAsMember, signInWithKey } from "./place.ts";

/** Signing in with a key and as a member, the length of a session, and the dialog to continue an ended session. */

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace({ shoppers: [/Ada/, /Cleo/] });
  let failed: { id: string; reference: string };
  beforeAll(async () => {
    const found = async () => (await c.admin.signOns.list({ filter: "eq(outcome,failed)" })).data;
    await until(async () => (await found()).length > 0);
    [failed = failed] = await found();
  });

  describe("a sign-in with a key", () => {
    test("explains a wrong secret with code, remedy and request id; the right one opens the screen and is not stored", async () => {
      const page = await newPage(c);
      await page.goto(`${c.url}/console/keys`);
      await page.getByLabel("Client id").fill(c.key.clientId);
      await page.getByLabel("Client secret").fill("lksk_nonsense");
      await button(page, "Sign in with the key").click();
      const problem = page.getByRole("alert");
      await problem.getByText("client_secret_mistyped").waitFor();
      expect(await problem.innerText()).toMatch(/secret[\s\S]*Request [0-9a-f-]{36}/);
      await page.getByLabel("Client secret").fill(c.key.clientSecret);
      await button(page, "Sign in with the key").click();
      await heading(page, "Keys");
      expect(page.url()).toBe(`${c.url}/console/keys`);
      const kept = await page.evaluate(() =>
        JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
      );
      expect(kept).toBe('[{},{},""]');
      await page.reload();
      await heading(page, "Sign in to your store");
      await signInWithKey(c, page);
      await until(async () => (await page.title()) === "Home · Latchkey");
      await button(page, "Sign out").click();
      await heading(page, "Sign in to your store");
      await until(async () => (await page.title()) === "Sign in · Latchkey");
      await page.context().close();
    });

    test("works where the browser forbids storage; the sign-in of members then asks to allow site data", async () => {
      const page = await newPage(c);
      await page.addInitScript(() => {
        for (const name of ["localStorage", "sessionStorage"])
          Object.defineProperty(window, name, {
            get() {
              throw new DOMException("The document is not allowed to use it.", "SecurityError");
            },
          });
      });
      await page.goto(c.members);
      await page.getByText("Allow cookies and site data for this page").waitFor();
      expect(await button(page, "Sign in as a member").count()).toBe(0);
      await signInWithKey(c, page);
      await heading(page, /sign in/);
      await button(page, "Sign out").click();
      await heading(page, "Sign in to your store");
      await page.context().close();
    });
  });

  describe("a sign-in as a member", () => {
    test("goes through the provider in the same window; a reload needs no sign-in; the browser stores no secret", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      await heading(page, "Shoppers can sign in.");
      await page.getByText(/Mona.*administrator/).waitFor();
      expect(page.url()).toBe(`${c.url}/console/`);
      const kept = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
      expect(await kept()).not.toMatch(/eyJ|verifier|token/i);
      await page.getByRole("navigation").getByRole("link", { name: "Members" }).click();
      await page.getByText("mona@shop.example").waitFor();
      await page.reload();
      await heading(page, "Members");
      expect(page.url()).toBe(`${c.url}/console/members`);
      const bearer = page.waitForRequest((request) => request.headers().authorization !== undefined);
      await page.getByRole("navigation").getByRole("link", { name: "Failures" }).click();
      const { authorization = "" } = (await bearer).headers();
      const me = async () => (await fetch(`${c.url}/v2/me`, { headers: { authorization } })).status;
      expect(await me()).toBe(200);
      await button(page, "Sign out").click();
      await heading(page, "Sign in to your store");
      expect(await kept()).not.toMatch(/eyJ|verifier|signed-in/);
      await until(async () => (await me()) === 401);
      await page.context().close();
    });

    test("opens the screen of the address where it began, with its query", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      const next = await page.context().newPage();
      await next.goto(`${c.url}/console/find?q=${failed.reference}`);
      await next.getByRole("link", { name: new RegExp(failed.reference) }).waitFor();
      expect(next.url()).toBe(`${c.url}/console/find?q=${failed.reference}`);
      await page.context().close();
    });

    test("a link neither begins a sign-on nor changes the remembered store", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      await heading(page, "Shoppers can sign in.");
      const remembered = (at = page) => at.evaluate(() => localStorage.getItem("latchkey:console:place"));
      const mine = await remembered();
      expect(mine).toContain(new URL(c.members).searchParams.get("store"));
      const theirs = "019a0000-0000-7000-8000-000000000000";
      let asked = 0;
      page.on("request", (request) => {
        if (/\/sign-on\//.test(request.url()) && request.url().includes(theirs)) asked++;
      });
      for (const query of ["", "continue=x&"]) {
        await page.goto(`${c.url}/console/sign-in?${query}store=${theirs}&realm=${theirs}`);
        await page.getByText("another store than the one that you signed in to last").waitFor();
      }
      expect(asked).toBe(0);
      await button(page, "Sign in as a member").click();
      await page.getByText("no sign-in for members of that store").waitFor();
      expect(asked).toBe(1);
      const next = await page.context().newPage();
      await next.goto(`${c.url}/console/`);
      await heading(next, "Shoppers can sign in.");
      expect(await remembered(next)).toBe(mine);
      await page.context().close();
    });

    test("works where the stored text of the remembered store is not JSON", async () => {
      const page = await newPage(c);
      await page.addInitScript(() => {
        for (const storage of [sessionStorage, localStorage]) storage.setItem("latchkey:console:place", "{");
      });
      await page.goto(`${c.url}/console`);
      await heading(page, "Sign in to your store");
      await page.context().close();
    });

    test("a person who is no member sees the reference of the record, and can choose another account", async () => {
      const page = await newPage(c);
      await page.goto(c.members);
      await button(page, "Sign in as a member").click();
      await button(page, /Ada/).first().click();
      const problem = page.getByRole("alert").filter({ hasText: "Reference" });
      await problem.waitFor();
      const [reference = ""] = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(await problem.innerText()) ?? [];
      const named = { filter: `eq(reference,${reference})` };
      const found = async () => (await c.admin.signOns.list(named)).data[0];
      await until(async () => (await found())?.reason === "member_unknown");
      await go(c.page, `/sign-ons/${(await found())?.id}`, `Sign-on ${reference}`);
      await c.page.getByText("The console sent the member here").waitFor();
      expect(await c.page.getByRole("main").innerText()).not.toMatch(/storefront|shopper/);
      // The provider still has Ada's session, and would sign her in again.
      await button(page, "Sign in again").click();
      await button(page, /Mona/).first().click();
      await heading(page, "Shoppers can sign in.");
      await page.context().close();
    });

    test("the refusal is gone after the next successful sign-in", async () => {
      const page = await newPage(c);
      await page.goto(c.members);
      await button(page, "Sign in as a member").click();
      await button(page, /Ada/).first().click();
      await page.getByRole("alert").filter({ hasText: "Reference" }).waitFor();
      await page.getByLabel("Client id").fill(c.key.clientId);
      await page.getByLabel("Client secret").fill(c.key.clientSecret);
      await button(page, "Sign in with the key").click();
      await button(page, "Sign out").click();
      await heading(page, "Sign in to your store");
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.context().close();
    });
  });

  describe("a member's session", () => {
    test("an expired token is renewed in a second window, and typed text stays", async () => {
      const page = await newPage(c);
      await page.context().clock.install();
      await signInAsMember(c, page, /Mona/);
      // Its requests and those of Home have ended, so none is left for later.
      await heading(page, "Shoppers can sign in.");
      await go(page, "/find", "Latest sign-ons");
      await page.getByRole("searchbox").fill("half a na");
      await page.context().clock.fastForward(3_601_000);
      const dialog = page.getByRole("dialog", { name: "Your session has ended" });
      await dialog.waitFor();
      await page.keyboard.press("Escape");
      let asked = 0;
      page.on("request", () => asked++);
      await page.context().clock.runFor(20_000);
      expect([await dialog.count(), asked]).toEqual([1, 0]);
      const opened = page.waitForEvent("popup");
      await dialog.getByRole("button", { name: "Continue" }).click();
      const second = await opened;
      // The provider still has her session, so it shows no page, and the window closes itself.
      if (!second.isClosed()) await second.waitForEvent("close");
      await dialog.waitFor({ state: "detached" });
      expect(await page.getByRole("searchbox").inputValue()).toBe("half a na");
      await page.getByRole("navigation").getByRole("link", { name: "Members" }).click();
      await page.getByText("mona@shop.example").waitFor();
      await page.context().close();
    });

    test("a revoked token shows the end of the session also on a screen that sends no request", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      const bearer = page.waitForRequest((request) => request.headers().authorization !== undefined);
      await go(page, "/settings", "The store");
      const { authorization = "" } = (await bearer).headers();
      const body = new URLSearchParams({
        token: authorization.slice("Bearer ".length),
        client_id: "members",
      });
      await fetch(`${c.url}/oauth/revoke`, { method: "POST", body });
      await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      await page.context().close();
    });

    test("the renewal of a token keeps typed text, whatever has the focus", async () => {
      const page = await newPage(c);
      await page.context().clock.install();
      await signInAsMember(c, page, /Mona/);
      await go(page, "/settings", "Settings");
      await page.getByLabel("Link back to the shop").first().fill("https://half.typed.example/");
      await button(page, "Add a redirect URI").first().click();
      await page.context().clock.fastForward(3_400_000);
      let left = 0;
      page.on("framenavigated", () => left++);
      await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
      await page.context().clock.runFor(2000);
      expect([await page.getByLabel("Link back to the shop").first().inputValue(), left]).toEqual([
        "https://half.typed.example/",
        0,
      ]);
      // Leaving the screen discards what was typed on it. The address /signed-in is there for a moment only.
      const isBack = page.waitForURL(/\/signed-in\?/);
      await page.getByRole("navigation").getByRole("link", { name: "Failures" }).click();
      await isBack;
      await heading(page, "Failures");
      await page.context().close();
    });

    test("a second window goes on by itself when the first window was closed", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      const second = await page.context().newPage();
      await page.close();
      await second.goto(`${c.url}/console/sign-in?continue=${crypto.randomUUID()}`);
      await heading(second, "Shoppers can sign in.");
      await second.getByText(/Mona.*administrator/).waitFor();
      await second.context().close();
    });

    test("the dialog to continue loads again when its file failed and Try again is pressed", async () => {
      const page = await newPage(c);
      await page.context().clock.install();
      await page.setViewportSize({ width: 1280, height: 800 });
      await signInAsMember(c, page, /Mona/);
      await go(page, "/settings", "The store");
      await page.getByLabel("Link back to the shop").first().fill("https://half.typed.example/");
      await page.route(/\/assets\/continue-/, (route) => route.abort());
      await page.context().clock.fastForward(3_601_000);
      const again = button(page, "Try again");
      await again.waitFor();
      const { y = 0 } = (await again.boundingBox()) ?? {};
      expect(y).toBeLessThan(800);
      await page.unrouteAll();
      await again.click();
      await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      const typed = page.getByLabel("Link back to the shop").first();
      expect(await typed.inputValue()).toBe("https://half.typed.example/");
      await page.context().close();
    });

    test("Try again also works above an open window, which keeps its typed text", async () => {
      const page = await newPage(c);
      await page.context().clock.install();
      await signInAsMember(c, page, /Mona/);
      await go(page, "/keys", "Keys");
      await button(page, "Create a key").click();
      await page.getByLabel("Name of the program").fill("half a na");
      await page.route(/\/assets\/continue-/, (route) => route.abort());
      await page.context().clock.fastForward(3_601_000);
      await button(page, "Try again").waitFor();
      await page.unrouteAll();
      await button(page, "Try again").click();
      await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
      expect(await page.getByLabel("Name of the program").inputValue()).toBe("half a na");
      await page.context().close();
    });
  });
});
