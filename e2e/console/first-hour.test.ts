import { mkdirSync } from "node:fs";
import { startPracticeIdp } from "@latchkey/demo";
import { createAdmin } from "@latchkey/sdk/admin";
import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import { createStore } from "../support/running.ts";
import {
  button,
  consolePlace,
  copied,
  go,
  heading,
  keyWithRole,
  newPage,
  shopAs,
  signInAsMember,
  signInWithKey,
} from "./place.ts";

/** The first hour of a store: its first steps, an invitation, a second store in the same browser, and help. */

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

describe.skipIf(!hasChromium)("the console", () => {
  let idp: Awaited<ReturnType<typeof startPracticeIdp>>;
  const c = consolePlace({
    allow: async () => {
      idp = await startPracticeIdp({ quiet: true });
      return [idp.origin];
    },
  });
  afterAll(() => idp?.close());

  /** A second store of the service, which has nothing but a key. */
  let birch: { id: string; key: typeof c.key; admin: typeof c.admin };
  beforeAll(async () => {
    const env = { LATCHKEY_DATABASE_URL: `sqlite:${c.database}` };
    const { store, application_key } = await createStore({ env });
    const key = { clientId: application_key.client_id, clientSecret: application_key.client_secret };
    birch = { id: store.id, key, admin: createAdmin({ baseUrl: c.url, ...key }) };
    await birch.admin.store.update({ name: "Birch & Sons" });
  });

  const CLIENT = { clientId: "birch", clientSecret: "practice" };

  /** Connects a realm of the second store to its provider. */
  async function connect(realmId: string, clientId: string) {
    const { data, links } = await birch.admin.profiles(realmId).create({
      name: "Birch directory",
      discovery_url: idp.discoveryUrl,
      client_id: clientId,
      client_secret: CLIENT.clientSecret,
    });
    idp.setClient({ ...CLIENT, clientId, redirectUris: [links["callback-endpoint"]] });
    return data;
  }

  const card = (page: Page) => page.getByRole("region", { name: "First steps" });
  const step = (page: Page, title: string) => card(page).getByRole("listitem").filter({ hasText: title });
  /** Axe finds nothing, and nothing is wider than the window. */
  const check = async (page: Page, name: string) => {
    for (const [colorScheme, width] of [
      ["light", 390],
      ["dark", 390],
      ["dark", 1440],
      ["light", 1440],
    ] as const) {
      if (!PICTURES && (colorScheme === "light") === (width === 390)) continue;
      await page.setViewportSize({ width, height: width > 1000 ? 900 : 844 });
      await page.emulateMedia({ colorScheme });
      expect([name, await barriersOf(page)]).toEqual([name, []]);
      const wider = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      expect([name, wider]).toEqual([name, 0]);
      if (!PICTURES) continue;
      const path = `${PICTURES}/console-${name}-${width}-${colorScheme}.png`;
      await page.screenshot({ path, fullPage: true });
    }
  };

  describe("the first steps", () => {
    test("of a new store lead to each place, and tick themselves", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/", birch.key);
      await card(page).getByText("0 of 5 done").waitFor();
      const hrefOf = (title: string) => step(page, title).getByRole("link").getAttribute("href");
      expect(await hrefOf("Add an identity provider")).toBe("/console/providers/add");
      expect(await hrefOf("Add a redirect URI")).toBe("/console/settings");
      expect(await hrefOf("See the first shopper")).toMatch(/\/blob\/v[\d.]+\/docs\/guides\/storefront\.md$/);
      expect(await hrefOf("Invite a colleague")).toBe("/console/members");
      expect(await step(page, "Make a test sign-on").getByRole("link").count()).toBe(0);
      await check(page, "first-steps-new");
      const { data: settings } = await birch.admin.settings.get();
      await birch.admin.realms.update(settings.realm_id, { redirect_uris: ["https://birch.example/back"] });
      await card(page).getByText("1 of 5 done").waitFor();
      await connect(settings.realm_id, "shop");
      await card(page).getByText("2 of 5 done").waitFor();
      await check(page, "first-steps");
      await step(page, "Make a test sign-on").getByRole("link", { name: "Test sign-on" }).click();
      const opened = page.waitForEvent("popup");
      await button(page, "Test sign-on").click();
      const second = await opened;
      await button(second, /Ada/).first().click();
      await page.getByText("Test passed").waitFor();
      await page.getByRole("navigation").getByRole("link", { name: "Home" }).click();
      await card(page).getByText("3 of 5 done").waitFor();
      await step(page, "Make a test sign-on: done").waitFor();
      await page.context().close();
    });

    test("disappear when all are done, also in the next tab; Settings shows them again until they are hidden", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      await card(page).getByText("3 of 5 done").waitFor();
      await shopAs(c, /Ada/);
      await card(page).waitFor({ state: "detached" });
      await go(page, "/settings", "The store");
      await page.getByRole("link", { name: "Show the first steps on Home" }).click();
      await card(page).getByText("5 of 5 done").waitFor();
      await check(page, "first-steps-done");
      await button(page, "Hide").click();
      await card(page).waitFor({ state: "detached" });
      await page.reload();
      await heading(page, "Latest failures");
      expect(await card(page).count()).toBe(0);
      await page.context().close();
    });

    test("are for administrators", async () => {
      const page = await newPage(c);
      const asked: string[] = [];
      page.on("request", (request) => asked.push(request.url()));
      await signInWithKey(c, page, "/", await keyWithRole(c, "support"));
      await heading(page, "Latest failures");
      await go(page, "/settings", "The store");
      expect(await page.getByRole("heading", { name: "First steps" }).count()).toBe(0);
      expect(asked.filter((url) => url.includes("/v2/members"))).toEqual([]);
      await page.context().close();
    });

    test("show a failure with its request id, and load again", async () => {
      const page = await newPage(c);
      await page.context().route(/\/v2\/events\/stream/, (route) => route.abort());
      await signInWithKey(c, page, "/", birch.key);
      await card(page).getByText("3 of 5 done").waitFor();
      await signInWithKey(c, page, "/settings", birch.key);
      await page.route(/\/v2\/members/, (route) =>
        route.fulfill({
          status: 500,
          json: {
            errors: [
              { status: "500", code: "internal_error", title: "", detail: "It broke.", id: "request-1" },
            ],
          },
        }),
      );
      await go(page, "/");
      await card(page).getByText("request-1").waitFor();
      await page.unrouteAll();
      await card(page).getByRole("button", { name: "Try again" }).click();
      await card(page).getByText("3 of 5 done").waitFor();
      await page.context().close();
    });
  });

  describe("an invitation", () => {
    test("is a text to copy or to mail, at once and until the member has signed in", async () => {
      const page = await newPage(c, { permissions: ["clipboard-read", "clipboard-write"] });
      await signInAsMember(c, page, /Mona/);
      await go(page, "/members", "Members");
      await button(page, "Invite a colleague").click();
      await page.getByLabel("Name").fill("Priya");
      await page.getByLabel("E-mail").fill("priya@shop.example");
      await page.getByRole("dialog").getByRole("button", { name: "Invite" }).click();
      const dialog = page.getByRole("dialog", { name: "Send this to Priya" });
      await dialog.getByRole("button", { name: "Copy text invitation" }).click();
      const { data: me } = await c.admin.me();
      const text = await copied(page, /^Hello Priya,/);
      expect(text).toContain(
        `Mona has given you access to the console of ${me.store.name}, in the role support.`,
      );
      expect(text).toContain(`1. Open ${c.url}/console/sign-in?store=${me.store.id}\n`);
      const mail = await dialog.getByRole("link", { name: "mail program" }).getAttribute("href");
      expect(new URL(mail ?? "").pathname).toBe("priya@shop.example");
      expect(new URL(mail ?? "").searchParams.get("body")).toBe(text.replaceAll("\n", "\r\n"));
      await check(page, "invitation");
      await dialog.getByRole("button", { name: "Done" }).click();
      await dialog.waitFor({ state: "detached" });
      await button(page, "Invitation for Priya").click();
      await dialog.getByText("Hello Priya,").waitFor();
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
      expect(await button(page, /^Invitation for Mona/).count()).toBe(0);
      await page.context().close();
    });

    test("says when the invited person cannot sign in yet", async () => {
      const page = await newPage(c);
      const { data: member } = await birch.admin.members.create({
        email: "early@shop.example",
        role: "viewer",
      });
      await signInWithKey(c, page, "/members", birch.key);
      await button(page, "Invitation for early@shop.example").click();
      await page.getByText("the realm for members has no enabled provider").waitFor();
      await birch.admin.members.delete(member.id);
      await page.context().close();
    });
  });

  describe("two stores in one browser", () => {
    test("are switched by name, without a sign-in while the provider knows the person; a removed store is forgotten", async () => {
      const { data: realm } = await birch.admin.realms.create({ name: "Team", purpose: "members" });
      await connect(realm.id, "team");
      await birch.admin.members.create({ name: "Mona", email: "mona@shop.example", role: "administrator" });
      const { name: alder } = (await c.admin.me()).data.store;
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      const nav = page.getByRole("navigation");
      // With one store there is nothing to switch to.
      expect(await button(page, /switch store/).count()).toBe(0);
      await page.goto(`${c.url}/console/sign-in?store=${birch.id}`);
      await page.getByText("another store than the one that you signed in to last").waitFor();
      await button(page, "Sign in as a member").click();
      await button(page, /Mona/).first().click();
      await nav.waitFor();
      await go(page, "/keys", "Keys");
      const open = button(page, "Birch & Sons (switch store)");
      await open.click();
      await check(page, "switch-store");
      await button(page, `Switch to ${alder}`).press("Escape");
      expect(await open.getAttribute("aria-expanded")).toBe("false");
      expect(await open.evaluate((one) => one === document.activeElement)).toBe(true);
      await open.press("Enter");
      await button(page, `Switch to ${alder}`).click();
      await button(page, `${alder} (switch store)`).waitFor();
      expect(page.url()).toBe(`${c.url}/console/`);
      const kept = await page.evaluate(() => localStorage.getItem("latchkey:console:stores"));
      expect(JSON.parse(kept ?? "")).toEqual([
        { id: new URL(c.members).searchParams.get("store"), name: alder },
        { id: birch.id, name: "Birch & Sons" },
      ]);
      await button(page, "Sign out").click();
      await page.getByText(`You sign in to ${alder}`).waitFor();
      await button(page, "Another store").click();
      await check(page, "sign-in-stores");
      await button(page, "Sign in to Birch & Sons").click();
      await button(page, "Birch & Sons (switch store)").click();
      await button(page, `Remove ${alder} from this list`).click();
      await button(page, /switch store/).waitFor({ state: "detached" });
      const notes = await page.evaluate(() => JSON.stringify(localStorage));
      expect(notes).toContain(birch.id);
      expect(notes).not.toContain(new URL(c.members).searchParams.get("store"));
      await page.context().close();
    });
  });

  test("each screen has a link to its page of the documentation", async () => {
    const help = c.page.getByRole("link", { name: /^Help/ });
    for (const [path, title, page] of [
      ["/keys", "Keys", "docs/guides/console.md#a-key"],
      ["/planner", "Planner", "docs/rate-limits.md#planning"],
      ["/members", "Members", "docs/guides/members.md"],
    ] as const) {
      await go(c.page, path, title);
      expect(await help.getAttribute("href")).toMatch(new RegExp(`^https://[^ ]+/blob/v[\\d.]+/${page}$`));
      expect(await help.getAttribute("target")).toBe("_blank");
    }
  });
});
