import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { createServer } from "node:net";
import type { Page } from "playwright-core";
import { afterAll, afterEach, describe, expect, test } from "vitest";
import { type HostileIdp, startHostileIdp } from "../../packages/server/test/support/hostile-idp.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { type HonestIdp, startHonestIdp } from "../support/honest-idp.ts";
import {
  button,
  consolePlace,
  copied,
  go,
  heading,
  inDialog,
  keyWithRole,
  newPage,
  practiceProvider,
  signInAsMember,
  signInWithKey,
} from "./place.ts";

/** "Add a provider": the check before anything is saved, the steps as addresses, and links for the other administrator. */

/** The origin of a port on which no program listens. */
async function closedOrigin(): Promise<string> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
}

describe.skipIf(!hasChromium)("Add a provider", () => {
  let honest: HonestIdp;
  let hostile: HostileIdp;
  let closed: string;
  const c = consolePlace({
    allow: async () => {
      honest = await startHonestIdp();
      hostile = await startHostileIdp();
      closed = await closedOrigin();
      return [honest.origin, hostile.origin, closed];
    },
  });
  afterAll(() => Promise.all([honest?.close(), hostile?.close()]));
  afterEach(() => {
    hostile.issuer = hostile.origin;
    hostile.hooks = {};
  });

  const realm = async () => (await practiceProvider(c)).realmId;
  const all = async () => (await c.admin.profiles(await realm()).list()).data;
  const found = (page: Page) => page.getByRole("region", { name: "What was found" });

  async function check(page: Page, address: string): Promise<void> {
    await page.getByLabel("Address").fill(address);
    await button(page, /^Check (the provider|again)$/).click();
  }

  /** A provider whose client is not registered yet. */
  async function begun(name: string) {
    const realmId = await realm();
    const { data } = await c.admin.profiles(realmId).create({
      name,
      discovery_url: c.idp,
      enabled: false,
      client_id: "not-registered-yet",
    });
    const at = (step: string) => `/providers/add?realm=${realmId}&profile=${data.id}&step=${step}`;
    return { id: data.id, at, remove: () => c.admin.profiles(realmId).delete(data.id) };
  }

  test("reads the provider before anything is saved; shoppers see it after the last step; its name confirms its removal", async () => {
    const { page } = c;
    await go(page, "/providers/add", "Add a provider");
    await check(page, "http://idp.example");
    await page.getByText("must begin with https").waitFor();
    await check(page, `${c.idp}/.well-known/openid-configuration`);
    await found(page).getByText("Fits").waitFor();
    await found(page)
      .getByText("5 of 9 requirements are met, and 4 are checked at the first sign-on.")
      .waitFor();
    await found(page).getByText(c.idp, { exact: true }).waitFor();
    await found(page)
      .getByText(/have this issuer already: .*Practice sign-in/)
      .waitFor();
    expect(await page.getByLabel("Address").inputValue()).toBe(c.idp);
    expect(await all()).toHaveLength(1);
    await page.getByLabel(/^Name/).fill("Second door");
    await button(page, "Continue").click();
    await heading(page, "Register Latchkey at the provider");
    await button(page, "Copy redirect URI").click();
    await copied(page, /\/profiles\/[^/]+\/callback$/);
    await go(page, "/", /sign in/);
    await page.getByRole("link", { name: /Second door/ }).click();
    await heading(page, "Register Latchkey at the provider");
    await button(page, "I’ve registered it").press("Enter");
    const inFocus = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await until(async () => (await inFocus()) === "Client ID and secret");
    await page.getByLabel("Client ID", { exact: true }).fill("latchkey");
    await page.getByLabel("Client secret").fill("practice");
    await button(page, "Continue").click();
    await heading(page, "Does it meet the nine requirements?");
    expect((await all()).filter(({ enabled }) => enabled)).toHaveLength(1);
    await button(page, "Run checks").click();
    await page.getByText("R9", { exact: true }).waitFor();
    expect(await button(page, "Test sign-on").count()).toBe(1);
    await button(page, "Enable Second door").click();
    await heading(page, "Second door");
    await until(async () => (await all()).filter(({ enabled }) => enabled).length === 2);
    await button(page, "Remove").click();
    const dialog = page.getByRole("dialog", { name: "Remove Second door?" });
    expect(await dialog.getByRole("button", { name: "Remove provider" }).isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("Second door");
    await dialog.getByRole("button", { name: "Remove provider" }).click();
    await heading(page, "Providers");
    await until(async () => (await all()).length === 1);
  });

  test("a chosen product shows the form of its address, and the one address of a product that has no other", async () => {
    const { page } = c;
    await go(page, "/providers/add", "Add a provider");
    await page.getByRole("radio", { name: "Keycloak" }).check({ force: true });
    await page.getByText("https://<host>/realms/<realm>").waitFor();
    expect(await page.getByLabel("Address").inputValue()).toBe("");
    await page.getByRole("radio", { name: "Google" }).check({ force: true });
    expect(await page.getByLabel("Address").inputValue()).toBe("https://accounts.google.com");
    await page.getByRole("radio", { name: "Another provider" }).check({ force: true });
    expect(await page.getByLabel("Address").inputValue()).toBe("");
  });

  describe("a fault", () => {
    test("of an address that another issuer's document answers: offers to check that issuer instead", async () => {
      const { page } = c;
      hostile.issuer = honest.origin;
      await go(page, "/providers/add", "Add a provider");
      await check(page, hostile.origin);
      await found(page).getByText("Another issuer").waitFor();
      await button(page, `Check ${honest.origin} instead`).click();
      await found(page).getByText("Fits").waitFor();
      expect(await page.getByLabel("Address").inputValue()).toBe(honest.origin);
      await page.goBack();
      await found(page).getByText("Another issuer").waitFor();
      expect(await page.getByLabel("Address").inputValue()).toBe(hostile.origin);
    });

    test("of a provider that misses a requirement: says what its administrator must change", async () => {
      const { page } = c;
      hostile.hooks.discovery = (document) => ({
        ...document,
        token_endpoint_auth_methods_supported: ["private_key_jwt"],
      });
      await go(page, "/providers/add", "Add a provider");
      await check(page, `${hostile.origin}/`);
      await found(page).getByText("Not ready").waitFor();
      await found(page).getByText("Allow client_secret_basic for this client.").first().waitFor();
      hostile.hooks = {};
      await button(page, "Check again").click();
      await found(page).getByText("Fits").waitFor();
    });

    test("of a provider that cannot be reached: says so, and lets the person continue with a link", async () => {
      const { page } = c;
      await go(page, "/providers/add", "Add a provider");
      await check(page, closed);
      await found(page).getByText("No provider was found").waitFor();
      await found(page)
        .getByText(/no connection could be made/)
        .waitFor();
      await button(page, "Continue anyway").click();
      await heading(page, "Does another person run the provider?");
      await button(page, "Remove it").click();
      await page.getByRole("dialog").getByRole("textbox").fill("127.0.0.1");
      await inDialog(page, "Remove provider").click();
      await heading(page, "Providers");
    });

    test("of an address that the service does not call: the advice is for a person, not for a program", async () => {
      const { page } = c;
      await go(page, "/providers/add", "Add a provider");
      await check(page, "https://10.0.0.1");
      await found(page)
        .getByText(/its address is not allowed/)
        .waitFor();
      await button(page, "Continue anyway").click();
      const problem = page.getByRole("alert");
      await problem.getByText("idp_unreachable").waitFor();
      await problem.getByText(/the operator of this service must allow its address/).waitFor();
      expect(await problem.innerText()).not.toMatch(/enabled|meta\.|POST|PUT/);
    });
  });

  describe("the addresses of the steps", () => {
    async function memberPage(): Promise<Page> {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      await heading(page, "Shoppers can sign in.");
      return page;
    }

    test("reload, Back and Forward keep each step", async () => {
      const page = await memberPage();
      await page.goto(`${c.url}/console/providers/add`);
      await page.getByRole("radio", { name: "Keycloak" }).check({ force: true });
      await check(page, c.idp);
      await found(page).waitFor();
      await page.reload();
      await found(page).getByText("Fits").waitFor();
      expect(await page.getByRole("radio", { name: "Keycloak" }).isChecked()).toBe(true);
      await page.getByLabel(/^Name/).fill("Side door");
      await button(page, "Continue").click();
      const reload = async (step: string, title: string) => {
        await page.waitForURL((url) => url.searchParams.get("step") === step);
        const { href } = new URL(page.url());
        await page.reload();
        await heading(page, title);
        expect(page.url()).toBe(href);
      };
      await reload("callback", "Register Latchkey at the provider");
      await heading(page, "The steps in Keycloak");
      await button(page, "I’ve registered it").click();
      await reload("secret", "What did the provider give you?");
      await page.getByLabel("Client ID", { exact: true }).fill("latchkey");
      await page.getByLabel("Client secret").fill("practice");
      await button(page, "Continue").click();
      await heading(page, "Does it meet the nine requirements?");
      await reload("test", "Does it meet the nine requirements?");
      await page.goBack();
      await heading(page, "What did the provider give you?");
      expect(await page.getByLabel("Client ID", { exact: true }).inputValue()).toBe("latchkey");
      await page.goBack();
      await heading(page, "Register Latchkey at the provider");
      await page.goBack();
      await found(page).getByText("Fits").waitFor();
      await page.goForward();
      await heading(page, "Register Latchkey at the provider");
      await page.getByRole("list", { name: "Steps" }).getByRole("link", { name: "Client ID" }).click();
      await button(page, "Keep them, and test").click();
      await heading(page, "Does it meet the nine requirements?");
      const { profile } = Object.fromEntries(new URL(page.url()).searchParams);
      await c.admin.profiles(await realm()).delete(profile ?? "");
      await page.context().close();
    });

    test("a second tab: a client that was saved there is not overwritten, and a removed provider is reported", async () => {
      const one = await begun("Two tabs");
      const page = await memberPage();
      await page.goto(`${c.url}/console${one.at("secret")}`);
      await heading(page, "What did the provider give you?");
      const second = await page.context().newPage();
      await second.goto(`${c.url}/console${one.at("secret")}`);
      const enter = async (tab: Page, id: string) => {
        await tab.getByLabel("Client ID", { exact: true }).fill(id);
        await tab.getByLabel("Client secret").fill("practice");
        await button(tab, "Continue").click();
      };
      await enter(second, "second");
      await heading(second, "Does it meet the nine requirements?");
      await enter(page, "first");
      const problem = page.getByRole("alert");
      await problem.getByText("profile_changed").waitFor();
      await problem.getByText(/Load this page again/).waitFor();
      expect((await all()).find(({ id }) => id === one.id)?.client_id).toBe("second");
      await page.reload();
      await heading(page, "What did the provider give you?");
      expect(await page.getByLabel("Client ID", { exact: true }).inputValue()).toBe("second");
      await one.remove();
      await page.reload();
      await page.getByText(/The provider was removed/).waitFor();
      await page.context().close();
    });

    test("an address that names a step too far leads to the step before it", async () => {
      const one = await begun("Too far");
      const page = await memberPage();
      await page.goto(`${c.url}/console${one.at("test")}`);
      await heading(page, "What did the provider give you?");
      expect(new URL(page.url()).searchParams.get("step")).toBe("secret");
      await one.remove();
      await page.context().close();
    });
  });

  test("a half-made provider says “Continue setup” to administrators, and its state to others", async () => {
    const one = await begun("Half a door");
    const { page } = c;
    await go(page, "/providers", "Providers");
    const item = (of: Page) => of.getByRole("main").getByRole("link", { name: /Half a door/ });
    await item(page).getByText("Continue setup").waitFor();
    await item(page).click();
    await heading(page, "Register Latchkey at the provider");
    await go(page, "/providers/add", "Add a provider");
    await page
      .getByRole("list", { name: "Not finished" })
      .getByRole("link", { name: /Half a door/ })
      .click();
    await heading(page, "Register Latchkey at the provider");
    const viewer = await newPage(c);
    await signInWithKey(c, viewer, "/providers", await keyWithRole(c, "viewer"));
    await item(viewer).getByText("Not finished").waitFor();
    await item(viewer).click();
    await heading(viewer, "Half a door");
    await viewer.context().close();
    await one.remove();
  });

  describe("a set-up link", () => {
    test("is copied once, opens without an account, and ends", async () => {
      const one = await begun("Run by others");
      const { page } = c;
      await go(page, one.at("callback"), "Register Latchkey at the provider");
      const redirectUri = await page
        .getByRole("button", { name: "Copy redirect URI" })
        .locator("xpath=preceding-sibling::code")
        .innerText();
      await page.getByText("No set-up link works now.").waitFor();
      await page.getByLabel("The link works for").selectOption("3 days");
      await button(page, "Create a set-up link").click();
      await button(page, "Copy set-up link").click();
      const url = await copied(page, /\/setup\/lksl_/);
      await page.getByText(/Expires in [23] days/).waitFor();
      const stranger = await newPage(c);
      await stranger.goto(url);
      await stranger.getByRole("heading", { name: "What to register" }).waitFor();
      await stranger.getByText(redirectUri, { exact: true }).waitFor();
      await go(page, "/providers", "Providers");
      await go(page, one.at("callback"), "Register Latchkey at the provider");
      await page.getByText(/Expires in [23] days/).waitFor();
      expect(await page.getByText("/setup/").count()).toBe(0);
      await button(page, /^End the link/).click();
      await inDialog(page, "End link").click();
      await page.getByText("No set-up link works now.").waitFor();
      expect((await stranger.reload())?.status()).toBe(404);
      await stranger.context().close();
      await one.remove();
    });

    test("list › shows loading, failure and emptiness", async () => {
      const one = await begun("Four faces");
      const page = await newPage(c);
      // An event would request the list again before the test presses Try again.
      await page.context().route(/\/v2\/events\/stream/, (route) => route.abort());
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      let isBroken = true;
      const fault = {
        status: "500",
        code: "internal_error",
        title: "",
        detail: "It broke.",
        id: "request-1",
      };
      await page.route(/\/setup-links$/, async (route) => {
        await held;
        await route.fulfill(isBroken ? { status: 500, json: { errors: [fault] } } : { json: { data: [] } });
      });
      await signInWithKey(c, page, `/realms/${await realm()}/providers/${one.id}`);
      const card = page.getByRole("region", { name: "Set-up links" });
      await card.locator("[aria-busy=true]").waitFor();
      release();
      expect(await card.getByRole("alert").innerText()).toMatch(
        /It broke[\s\S]*internal_error[\s\S]*request-1/,
      );
      isBroken = false;
      await card.getByRole("button", { name: "Try again" }).click();
      await card.getByText("No set-up link works now.").waitFor();
      await page.unrouteAll();
      await page.context().close();
      await one.remove();
    });

    test("has at most four others, and is a list without acts for a viewer", async () => {
      const one = await begun("Run by many");
      const links = c.admin.profiles(await realm()).setupLinks(one.id);
      for (let count = 0; count < 5; count++) await links.create({ expires_in_days: 7 });
      const path = `/realms/${await realm()}/providers/${one.id}`;
      const { page } = c;
      await go(page, path, "Run by many");
      const list = (of: Page) => of.getByRole("list", { name: "Set-up links" }).getByRole("listitem");
      await page.getByText("Five links is the most. End one to create another.").waitFor();
      expect([await list(page).count(), await button(page, "Create a set-up link").count()]).toEqual([5, 0]);
      // An event marks the list as stale, also in another window.
      const [first] = (await links.list()).data;
      await links.delete(first?.id ?? "");
      await button(page, "Create a set-up link").waitFor();
      const viewer = await newPage(c);
      await signInWithKey(c, viewer, path, await keyWithRole(c, "viewer"));
      await list(viewer).first().waitFor();
      expect([
        await list(viewer).count(),
        await button(viewer, /^(End|Create)/).count(),
        await viewer.getByText("/setup/").count(),
      ]).toEqual([4, 0, 0]);
      await viewer.context().close();
      await one.remove();
    });
  });
});
