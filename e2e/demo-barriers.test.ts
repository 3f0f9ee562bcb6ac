import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../packages/server/test/support/until.ts";
import { barriersOf } from "./axe.ts";
import { hasChromium, launchChromium } from "./chromium.ts";
import { newPlace, serve } from "./running.ts";

/** The demo shop, the practice provider and our own pages for shoppers: axe-core finds no barrier on any of them. */

describe.skipIf(!hasChromium)("in Chromium", () => {
  let url: string;
  let shop: string;
  let knobs: string;
  let browser: Awaited<ReturnType<typeof launchChromium>>;
  let close = async () => {};
  beforeAll(async () => {
    const place = await newPlace();
    const [running, launched] = await Promise.all([serve(place, ["dev"]), launchChromium()]);
    browser = launched;
    close = async () => {
      await launched.close();
      running.child.kill("SIGINT");
      await running.exited;
      place.leave();
    };
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    url = place.url;
    shop = /shop\s+(http\S+)/.exec(banner)?.[1] ?? "";
    knobs = /practice IdP\s+(http\S+)/.exec(banner)?.[1] ?? "";
  });
  afterAll(() => close());

  test.each([
    ["light", 1440],
    ["dark", 390],
  ] as const)("%s, %d wide", async (colorScheme, width) => {
    const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
    context.setDefaultTimeout(60_000);
    const page: Page = await context.newPage();
    const barriers: Record<string, string[]> = {};
    const look = async (name: string) => {
      await page.waitForLoadState("networkidle");
      barriers[name] = await barriersOf(page);
    };
    const visit = async (name: string, address: string) => {
      await page.goto(address);
      await look(name);
    };
    const signInAs = async (who: RegExp, looked?: string) => {
      await page.goto(`${shop}/sign-in`);
      await page.getByRole("button", { name: "Continue with Practice sign-in" }).click();
      await page.getByRole("button", { name: who }).first().waitFor();
      if (looked) await look(looked);
      await page.getByRole("button", { name: who }).first().click();
      await page.waitForURL(`${shop}/**`);
    };
    await visit("shop", shop);
    await visit("shop: webhooks", `${shop}/webhooks`);
    await visit("shop: no such page", `${shop}/nothing`);
    await visit("shop: sign in", `${shop}/sign-in`);
    await visit("provider: knobs", knobs);
    await signInAs(/Cleo/, "provider: sign in");
    await page.getByText("Reference").first().waitFor();
    await look("shop: refused");
    await context.clearCookies();
    await signInAs(/Ada/);
    await page.getByText("ada@shop.example").first().waitFor();
    await visit("shop: account", `${shop}/account`);
    await visit("provider: no such interaction", `${new URL(knobs).origin}/interaction/nothing`);
    await visit("ours: cannot go on", `${url}/sign-on/stores/nobody/realms/nothing/authorize`);
    const none = Object.fromEntries(Object.keys(barriers).map((name) => [name, []]));
    expect(barriers).toEqual(none);
    await context.close();
  });
});
