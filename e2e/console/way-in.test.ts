import { createAdmin } from "@latchkey/sdk/admin";
import type { BrowserContext, Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { createStore } from "../support/running.ts";
import {
  button,
  consolePlace,
  go,
  heading,
  newPage,
  practiceProvider,
  signInAsMember,
  signInWithKey,
} from "./place.ts";

/** Every way into the console: reload, Back, new tabs, old addresses, remembered stores, sign-outs in other tabs. */

const GONE = "019a0000-0000-7000-8000-000000000000";

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace();
  const at = (path: string) => `${c.url}/console${path}`;
  const isAsked = (page: Page) => heading(page, "Sign in to your store");
  const link = (page: Page, name: string) =>
    page.getByRole("navigation").getByRole("link", { name, exact: true });

  /** A browser in which a member is signed in. */
  async function memberPage(): Promise<Page> {
    const page = await newPage(c);
    await signInAsMember(c, page, /Mona/);
    await heading(page, "Shoppers can sign in.");
    return page;
  }

  /** Counts how often a page of this browser leaves for a sign-on. */
  function countSignOns(context: BrowserContext): () => number {
    let count = 0;
    context.on("request", (request) => {
      if (/\/sign-on\/stores\/[^?]*\/authorize\?/.test(request.url())) count++;
    });
    return () => count;
  }

  describe("the history", () => {
    test("after two renewals, Back goes to the screen before", async () => {
      const page = await newPage(c);
      await page.context().clock.install();
      await signInAsMember(c, page, /Mona/);
      await heading(page, "Shoppers can sign in.");
      await link(page, "Keys").click();
      await heading(page, "Keys");
      await go(page, "/events?types=member", "Events");
      const entries = await page.evaluate(() => history.length);
      const signOns = countSignOns(page.context());
      for (const count of [1, 2]) {
        const isBack = page.waitForURL(/\/signed-in\?/);
        await page.context().clock.fastForward(3_400_000);
        await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
        await isBack;
        await heading(page, "Events");
        expect([signOns(), page.url()]).toEqual([count, at("/events?types=member")]);
      }
      expect(await page.evaluate(() => history.length)).toBe(entries);
      await page.goBack();
      await heading(page, "Keys");
      await page.goBack();
      await heading(page, "Shoppers can sign in.");
      await page.goForward();
      await heading(page, "Keys");
      await page.context().close();
    });

    test("Back from the provider's page returns to the sign-in page; a page of the provider that is opened again does no harm", async () => {
      const page = await newPage(c);
      await page.goto(c.members);
      await button(page, "Sign in as a member").click();
      await button(page, /Mona/).first().waitFor();
      await page.goBack();
      await button(page, "Sign in as a member").click();
      await button(page, /Mona/).first().click();
      await heading(page, "Shoppers can sign in.");
      const [answer] = await Promise.all([page.waitForRequest(/\/signed-in\?/), page.goto(at("/keys"))]);
      await heading(page, "Keys");
      await page.goto(answer.url());
      await heading(page, "Shoppers can sign in.");
      await page.context().close();
    });
  });

  describe("a new tab", () => {
    test("ten at once open their addresses, with queries, without a click", async () => {
      const page = await memberPage();
      const paths = [
        ...["/find?q=Ada", "/failures", "/keys", "/customers?q=ada%40shop.example", "/settings"],
        ...["/events?types=member", "/members", "/planner", "/integrations", "/providers/add"],
      ];
      // Tabs in the background are hidden. Headless Chromium shows all, and each shown tab keeps a connection open.
      await page
        .context()
        .addInitScript(() => Object.defineProperty(document, "hidden", { get: () => true }));
      const tabs = await Promise.all(paths.map(() => page.context().newPage()));
      await Promise.all(tabs.map((tab, index) => tab.goto(at(paths[index] ?? ""))));
      await Promise.all(tabs.map((tab) => tab.getByText(/Mona.*administrator/).waitFor()));
      expect(tabs.map((tab) => tab.url())).toEqual(paths.map(at));
      await page.context().close();
    });

    test("that the browser opens with a copy of the tab's storage works, and so does the first tab", async () => {
      const page = await memberPage();
      const opened = async (open: () => Promise<unknown>, title: string) => {
        const [tab] = await Promise.all([page.context().waitForEvent("page"), open()]);
        await heading(tab, title);
        await tab.getByText(/Mona.*administrator/).waitFor();
        return tab;
      };
      await opened(() => link(page, "Keys").click({ modifiers: ["Control"] }), "Keys");
      // Copied in the middle of a sign-on: the tab has the state and the path of another one.
      await page.evaluate(() => {
        const left = { state: "another", store: "x", back: "/failures", isSilent: true };
        sessionStorage.setItem("latchkey:console:leaving", JSON.stringify(left));
      });
      const [copy] = await Promise.all([
        page.context().waitForEvent("page"),
        page.evaluate((url) => void window.open(url), at("/events")),
      ]);
      await button(copy, "Sign in as a member").click();
      await heading(copy, "Events");
      await page.reload();
      await isAsked(page);
      await page.reload();
      await heading(page, "Shoppers can sign in.");
      await page.context().close();
    });

    test("asks for a click where the provider's session is over", async () => {
      const page = await memberPage();
      const { hostname } = new URL(c.idp);
      const cookies = await page.context().cookies();
      await page.context().clearCookies({ domain: hostname });
      expect(cookies.length).toBeGreaterThan(0);
      await page.goto(at("/keys"));
      await isAsked(page);
      expect([page.url(), await page.getByRole("alert").count()]).toEqual([at("/keys"), 0]);
      await button(page, "Sign in as a member").click();
      await button(page, /Mona/).first().click();
      await heading(page, "Keys");
      await page.context().close();
    });

    test("of a person with a key does not become a member's by a reload", async () => {
      const page = await memberPage();
      const tab = await page.context().newPage();
      await page.context().clearCookies();
      await signInWithKey(c, tab, "/keys");
      await tab.reload();
      await isAsked(tab);
      const signOns = countSignOns(page.context());
      await tab.reload();
      await isAsked(tab);
      expect(signOns()).toBe(0);
      await page.context().close();
    });
  });

  describe("a remembered store", () => {
    test("with the realm of shoppers, as earlier releases stored it, still leads to the asked screen", async () => {
      const page = await memberPage();
      const { realmId } = await practiceProvider(c);
      await page.evaluate((realm) => {
        for (const storage of [sessionStorage, localStorage]) {
          const { store } = JSON.parse(storage.getItem("latchkey:console:place") ?? "");
          storage.setItem("latchkey:console:place", JSON.stringify({ store, realm }));
        }
      }, realmId);
      await page.goto(at("/keys"));
      await heading(page, "Keys");
      await page.context().close();
    });

    test("that is gone is forgotten: the page says so, and takes the right store", async () => {
      const page = await memberPage();
      await page.evaluate((store) => {
        for (const storage of [sessionStorage, localStorage])
          storage.setItem("latchkey:console:place", JSON.stringify({ store }));
        localStorage.setItem(`latchkey:console:signed-in:${store}`, String(Date.now()));
      }, GONE);
      await page.goto(at("/keys"));
      await page.getByRole("alert").getByText("no sign-in for members of that store").waitFor();
      expect(
        await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }])),
      ).not.toContain(GONE);
      await page.getByLabel("Store id").fill("my store");
      await button(page, "Continue").click();
      await page.getByText("neither a store ID nor an address").waitFor();
      await page.getByLabel("Store id").fill(c.members);
      await button(page, "Continue").click();
      await heading(page, "Keys");
      await page.context().close();
    });

    test("whose sign-on does not come back leaves the tab with the sign-in page, and the next try works", async () => {
      const page = await memberPage();
      const authorize = /\/sign-on\/stores\/[^?]*\/authorize\?/;
      await page.route(authorize, (route) => route.fulfill({ status: 404, body: "We cannot continue" }));
      await page.goto(at("/keys"));
      await page.getByText("We cannot continue").waitFor();
      await page.goto(at("/keys"));
      await button(page, "Sign in as a member").waitFor();
      await page.unrouteAll();
      await button(page, "Sign in as a member").click();
      await heading(page, "Keys");
      await page.context().close();
    });
  });

  describe("an unknown address", () => {
    test("shows a page of the console with status 404, signed in or not, with the way home", async () => {
      const page = await newPage(c);
      for (const path of ["/nothing", "/planner/more", "/keys/a%20b"]) {
        expect((await page.goto(at(path)))?.status()).toBe(404);
        await heading(page, "This page doesn’t exist");
      }
      await page.getByRole("link", { name: "Go to Home" }).click();
      await isAsked(page);
      await page.context().close();
      const member = await memberPage();
      await go(member, "/nothing", "This page doesn’t exist");
      await member.getByRole("main").getByRole("link", { name: "look up" }).click();
      await heading(member, "Latest sign-ons");
      await member.goto(at("/nothing"));
      await member.getByRole("main").getByRole("link", { name: "look up" }).click();
      await heading(member, "Latest sign-ons");
      await member.context().close();
    });
  });

  describe("a sign-out", () => {
    test("reaches the other tab, which says so and offers the sign-in; no tab signs in by itself until then", async () => {
      const first = await memberPage();
      const second = await first.context().newPage();
      const bearer = second.waitForRequest((request) => request.headers().authorization !== undefined);
      await second.goto(at("/members"));
      await second.getByText("mona@shop.example").waitFor();
      const { authorization = "" } = (await bearer).headers();
      await button(first, "Sign out").click();
      await isAsked(first);
      await second.getByText("You signed out in another tab").waitFor();
      expect(await second.getByText("mona@shop.example").count()).toBe(0);
      await until(async () => (await fetch(`${c.url}/v2/me`, { headers: { authorization } })).status === 401);
      const signOns = countSignOns(first.context());
      const third = await first.context().newPage();
      for (const tab of [first, second, third]) {
        await tab.goto(at("/keys"));
        await isAsked(tab);
      }
      expect(signOns()).toBe(0);
      await button(third, "Sign in as a member").click();
      await heading(third, "Keys");
      for (const tab of [first, second]) {
        await tab.reload();
        await heading(tab, "Keys");
      }
      await first.context().close();
    });
  });

  describe("the address /console/", () => {
    test("offers the sign-in at once where one store has members; otherwise it asks for the store's id, once", async () => {
      const enter = async () => {
        const page = await newPage(c);
        await page.goto(at("/"));
        return page;
      };
      const only = await enter();
      await button(only, "Sign in as a member").click();
      await button(only, /Mona/).first().click();
      await heading(only, "Shoppers can sign in.");
      await only.context().close();

      const env = { LATCHKEY_DATABASE_URL: `sqlite:${c.database}` };
      const { application_key: key } = await createStore({ env });
      const other = createAdmin({ baseUrl: c.url, clientId: key.client_id, clientSecret: key.client_secret });
      const { data: realm } = await other.realms.create({ name: "Team", purpose: "members" });
      const page = await enter();
      await page.getByLabel("Store id").fill(GONE);
      await button(page, "Continue").click();
      await page.getByRole("alert").getByText("no sign-in for members of that store").waitFor();
      await page.getByLabel("Store id").fill(new URL(c.members).searchParams.get("store") ?? "");
      await button(page, "Continue").click();
      await button(page, /Mona/).first().click();
      await heading(page, "Shoppers can sign in.");
      const tab = await page.context().newPage();
      await tab.goto(at("/"));
      await heading(tab, "Shoppers can sign in.");
      await other.realms.update(realm.id, { redirect_uris: ["https://elsewhere.example/signed-in"] });
      const { data: me } = await other.me();
      await tab.goto(at(`/sign-in?store=${me.store.id}`));
      await button(tab, "Sign in as a member").click();
      await tab.getByRole("alert").getByText("cannot return to").waitFor();
      await other.realms.delete(realm.id);
      await page.context().close();
    });
  });
});
