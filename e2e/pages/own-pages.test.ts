import { createAdmin } from "@latchkey/sdk/admin";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/** The service's own pages for shoppers, in a real browser without JavaScript: they are forms and links alone. */

describe.skipIf(!hasChromium)("the service's pages without JavaScript", () => {
  let place: Place;
  let running: Running;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let shop: string;
  let realm: string;
  let authorizeUrl: string;
  const complaints: string[] = [];

  beforeAll(async () => {
    place = await newPlace();
    running = await serve(place, ["dev"]);
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    shop = banner.match(/shop\s+(http\S+)/)?.[1] ?? "";
    const [clientId = ""] = banner.match(/lkid_\w+/) ?? [];
    const [clientSecret = ""] = banner.match(/lksk_\w+/) ?? [];
    const admin = createAdmin({ baseUrl: place.url, clientId, clientSecret });
    const { data: settings } = await admin.settings.get();
    const profiles = admin.profiles(settings.realm_id);
    const [practice] = (await profiles.list()).data;
    if (!practice) throw new Error("there is no practice provider");
    await profiles.create({
      name: "Another provider",
      discovery_url: practice.discovery_url,
      client_id: "other",
      client_secret: "practice",
    });
    realm = (practice.links["client-discovery-url"] ?? "").replace("/.well-known/openid-configuration", "");
    const query = new URLSearchParams({
      client_id: settings.client_id,
      redirect_uri: `${shop}/signed-in`,
      response_type: "code",
      scope: "openid email",
      state: "its-state",
      code_challenge_method: "S256",
      code_challenge: "x".repeat(43),
      prompt: "login",
    });
    authorizeUrl = `${realm}/authorize?${query}`;
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    running?.child.kill("SIGINT");
    await running?.exited;
    place?.leave();
  });
  beforeEach(async () => {
    context = await browser.newContext({ javaScriptEnabled: false });
    context.setDefaultTimeout(60_000);
    page = await context.newPage();
    watch(page);
  });
  afterEach(async () => {
    await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
  /** Violations of the pages' Content Security Policy: every test checks that there are none. */
  function watch(of: Page): void {
    of.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) complaints.push(message.text());
    });
  }

  const choice = (of: Page = page) => of.getByRole("heading", { name: "How would you like to sign in?" });
  const practice = (of: Page = page) => of.getByRole("button", { name: "Practice sign-in" });
  const atProvider = (of: Page = page) =>
    of.getByRole("heading", { name: "Who would you like to be?" }).first().waitFor();

  describe("the page to choose a provider", () => {
    test("leads to the provider and back to the shop, across three origins", async () => {
      await page.goto(authorizeUrl);
      await practice().click();
      await atProvider();
      await page.getByRole("button", { name: /Ada/ }).click();
      await page.waitForURL(`${shop}/signed-in?**`);
      const back = new URL(page.url()).searchParams;
      expect([back.get("state"), back.get("code")?.slice(0, 5)]).toEqual(["its-state", "lkac_"]);
    });

    test("works again after Back and after a reload", async () => {
      await page.goto(authorizeUrl);
      await practice().click();
      await atProvider();
      await page.goBack();
      await choice().waitFor();
      await page.reload();
      await practice().press("Enter");
      await atProvider();
      await page.reload();
      await atProvider();
    });

    test("works in two tabs at once", async () => {
      const tabs = [page, await context.newPage()];
      for (const tab of tabs) await tab.goto(authorizeUrl);
      for (const tab of tabs) await practice(tab).click();
      for (const tab of tabs.toReversed()) {
        await atProvider(tab);
        await tab.getByRole("button", { name: /Ada/ }).click();
        await tab.waitForURL(`${shop}/signed-in?code=**`);
      }
    });
  });

  describe("the page that asks whether to sign out", () => {
    test("Yes ends the sign-on that another tab has begun, and leads back to the shop", async () => {
      const tab = await context.newPage();
      await tab.goto(authorizeUrl);
      await practice(tab).click();
      await atProvider(tab);
      const to = new URLSearchParams({ post_logout_redirect_uri: `${shop}/signed-in`, state: "out" });
      await page.goto(`${realm}/end-session?${to}`);
      await page.getByRole("button", { name: "Yes, sign out" }).click();
      await page.waitForURL(`${shop}/signed-in?state=out`);
      await tab.getByRole("button", { name: /Ada/ }).click();
      await tab.getByText("This sign-in was started in another browser").waitFor();
    });

    test("Yes without an address shows that no session at the shop has ended, also after a reload and Back", async () => {
      await page.goto(`${realm}/end-session`);
      await page.reload();
      const yes = () => page.getByRole("button", { name: "Yes, sign out" });
      for (let time = 0; time < 2; time++) {
        await yes().click();
        await page.getByText("If the shop still shows you as signed in, sign out there.").waitFor();
        await page.goBack();
      }
      await yes().waitFor();
    });
  });
});
