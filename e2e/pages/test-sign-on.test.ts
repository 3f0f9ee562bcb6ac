import { mkdirSync } from "node:fs";
import { type Admin, createAdmin } from "@latchkey/sdk/admin";
import type { Browser, Locator, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { LANGUAGES, type Language } from "../../packages/server/src/http/pages/language.ts";
import { testWords } from "../../packages/server/src/http/pages/test-words/all.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/** An administrator tests the practice provider, in a real browser, with everything that `npm start` starts. */

let place: Place;
let running: Running;
let browser: Browser;
let admin: Admin;
let knobs: string;

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

const SCREENS = [
  { name: "desktop-light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { name: "phone-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;

describe.skipIf(!hasChromium)("a test sign-on", () => {
  beforeAll(async () => {
    place = await newPlace();
    running = await serve(place, ["dev"]);
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    const [clientId = ""] = banner.match(/lkid_\w+/) ?? [];
    const [clientSecret = ""] = banner.match(/lksk_\w+/) ?? [];
    knobs = banner.match(/practice IdP\s+(http\S+)/)?.[1] ?? "";
    admin = createAdmin({ baseUrl: place.url, clientId, clientSecret });
    const { data: settings } = await admin.settings.get();
    const [profile] = (await admin.profiles(settings.realm_id).list()).data;
    // A long word, which must fit the page as well.
    const name = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk".repeat(2);
    await admin.profiles(settings.realm_id).update(profile?.id ?? "", { name });
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    running?.child.kill("SIGINT");
    expect(await running?.exited).toBe(0);
    place?.leave();
  });

  /** From the test's address to its result page, which must follow its own policy and be no wider than the screen. */
  async function run(
    screen: (typeof SCREENS)[number],
    name: string,
    before: (page: Page) => Promise<void>,
    locale: Language = "en",
  ): Promise<string> {
    const { data: settings } = await admin.settings.get();
    const [profile] = (await admin.profiles(settings.realm_id).list()).data;
    const { viewport, colorScheme } = screen;
    const context = await browser.newContext({ viewport, colorScheme, locale });
    context.setDefaultTimeout(60_000);
    const page = await context.newPage();
    await before(page);
    const complaints: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error" && message.text().includes("Content Security Policy"))
        complaints.push(`${page.url()} ${message.text()}`);
    });
    const { data } = await admin.profiles(settings.realm_id).testSignOn(profile?.id ?? "");
    await page.goto(data.url);
    await page.getByRole("button", { name: /Ada/ }).click();
    const { passed, failed } = testWords[locale];
    const verdict = new RegExp(`${passed.heading}|${failed.heading}`);
    await page.getByRole("heading", { name: verdict }).waitFor();
    if (PICTURES)
      await page.screenshot({
        path: `${PICTURES}/test-${name}-${locale}-${screen.name}.png`,
        fullPage: true,
      });
    const overflow = await page.evaluate(
      () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
    );
    expect([overflow, complaints, await barriersOf(page)]).toEqual([0, [], []]);
    const text = await page.locator("main").innerText();
    await context.close();
    return text;
  }

  /** The provider's page reloads when a knob is changed. */
  const press = (page: Page, knob: Locator) => Promise.all([page.waitForEvent("load"), knob.click()]);
  const reset = async (page: Page) => {
    await page.goto(knobs);
    await press(page, page.getByRole("button", { name: "Reset all" }).first());
  };
  const turn = (title: string) => async (page: Page) => {
    await reset(page);
    const card = page.locator("section.knob").filter({ hasText: title });
    await press(page, card.getByRole("button").last());
  };

  test.each(SCREENS)("succeeds, and no session begins ($name)", async (screen) => {
    const text = await run(screen, "passed", reset);
    expect(text).toContain("Test passed");
    expect(text).toMatch(/R7 met/);
    expect(text).toMatch(/id_token\.nonce/);
    expect((await admin.customers.list()).data.some(({ email }) => email === "ada@shop.example")).toBe(false);
  });

  test.each(LANGUAGES.filter((language) => language !== "en"))(
    "fails with a page in %s that fits a phone",
    async (language) => {
      const text = await run(SCREENS[1], "failed", turn("Two audiences"), language);
      const { failed, checks } = testWords[language];
      for (const shown of [failed.heading, checks.heading, checks.expected, checks.found])
        expect(text).toContain(shown);
    },
  );

  test.each(SCREENS)("fails with both sides of the failed check ($name)", async (screen) => {
    const text = await run(screen, "failed", turn("Two audiences"));
    expect(text).toContain("Test failed");
    expect(text).toMatch(/R7 not met/);
    const records = async () => (await admin.signOns.list({ filter: "eq(reason,id_token.aud)" })).data;
    // Records are written within a second.
    await until(async () => (await records()).length > 0);
    expect((await records())[0]).toMatchObject({ test: true, browser: expect.stringMatching(/^Chrome \d+/) });
  });
});
