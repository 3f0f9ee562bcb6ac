import { mkdirSync } from "node:fs";
import { type Admin, createAdmin } from "@latchkey/sdk/admin";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/** The administrator of an identity provider opens a set-up link, in a real browser without JavaScript. */

let place: Place;
let running: Running;
let browser: Browser;
let admin: Admin;
let realm: string;
let practice: { id: string; discovery_url: string };

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

const LOOKS = [
  { name: "desktop-light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { name: "desktop-dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  { name: "phone-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "phone-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;

describe.skipIf(!hasChromium)("the page of a set-up link", () => {
  beforeAll(async () => {
    place = await newPlace();
    running = await serve(place, ["dev"]);
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    const [clientId = ""] = banner.match(/lkid_\w+/) ?? [];
    const [clientSecret = ""] = banner.match(/lksk_\w+/) ?? [];
    admin = createAdmin({ baseUrl: place.url, clientId, clientSecret });
    realm = (await admin.settings.get()).data.realm_id;
    const [first] = (await admin.profiles(realm).list()).data;
    if (!first) throw new Error("there is no practice provider");
    practice = first;
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    running?.child.kill("SIGINT");
    expect(await running?.exited).toBe(0);
    place?.leave();
  });

  /** A new profile for each page, because a profile has five links at most. */
  async function newLink(discoveryUrl = practice.discovery_url): Promise<string> {
    const profiles = admin.profiles(realm);
    const { data: profile } = await profiles.create({
      // A long word, which must fit the page as well.
      name: "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk".repeat(2),
      discovery_url: discoveryUrl,
      client_id: "latchkey",
      enabled: false,
    });
    return (await profiles.setupLinks(profile.id).create({ expires_in_days: 7 })).data.url;
  }

  /** The page must follow its own policy, be no wider than the screen, and load nothing but itself. */
  async function open(look: (typeof LOOKS)[number], work: (page: Page) => Promise<void>, locale = "en") {
    const { viewport, colorScheme } = look;
    const options = { viewport, colorScheme, locale, javaScriptEnabled: false };
    const context = await browser.newContext(options);
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    const faults: string[] = [];
    page.on("console", (message) => {
      if (message.text().includes("Content Security Policy")) faults.push(message.text());
    });
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== place.url) faults.push(request.url());
    });
    await work(page);
    // The search for barriers needs a browser that runs scripts.
    const scripted = await browser.newContext({ viewport, colorScheme, locale });
    const again = await scripted.newPage();
    await again.goto(page.url());
    const overflow = await again.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect([overflow, faults, await barriersOf(again)]).toEqual([0, [], []]);
    await scripted.close();
    await context.close();
  }

  const take = async (page: Page, name: string) => {
    if (PICTURES) await page.screenshot({ path: `${PICTURES}/setup-${name}.png`, fullPage: true });
  };

  test.each(LOOKS)("shows what to register, and checks the provider ($name)", async (look) => {
    const url = await newLink();
    await open(look, async (page) => {
      await page.goto(url);
      await page.getByRole("heading", { name: "What to register" }).waitFor();
      await take(page, `met-${look.name}`);
      await page.getByRole("button", { name: /Check/ }).click();
      await page.getByText("The next check is possible from").waitFor();
      expect(page.url()).toBe(`${url}#checks`);
      expect(await page.getByText("✓").count()).toBeGreaterThanOrEqual(4);
    });
  });

  test.each(LOOKS)("shows what a provider that cannot be read must do ($name)", async (look) => {
    const url = await newLink(new URL("/nowhere", practice.discovery_url).href);
    await open(
      look,
      async (page) => {
        await page.goto(url);
        await page.getByRole("button", { name: "Jetzt prüfen" }).click();
        await page.getByText("nicht erfüllt").first().waitFor();
        await take(page, `missed-${look.name}`);
      },
      "de-DE",
    );
  });

  test("a link that does not work says what to do", async () => {
    await open(LOOKS[0], async (page) => {
      expect((await page.goto(`${place.url}/setup/lksl_unknown`))?.status()).toBe(404);
      await page.getByRole("heading", { name: "This link does not work" }).waitFor();
      await take(page, "over");
    });
  });
});
