import { mkdirSync } from "node:fs";
import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go, newPage, practiceProvider, signInWithKey } from "./place.ts";

/** The looks of "Add a provider" and of set-up links, step by step, for eyes and for screen readers. */

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

describe.skipIf(!hasChromium)("Add a provider", () => {
  const c = consolePlace();
  let screens: Record<string, string>;

  beforeAll(async () => {
    const { realmId } = await practiceProvider(c);
    const profiles = c.admin.profiles(realmId);
    const about = { discovery_url: c.idp, enabled: false };
    const { data: begun } = await profiles.create({
      ...about,
      name: "Keycloak in Leeds",
      client_id: "not-registered-yet",
    });
    const { data: ready } = await profiles.create({
      ...about,
      name: "Okta in York",
      client_id: "latchkey",
      client_secret: "practice",
    });
    await profiles.setupLinks(begun.id).create({ expires_in_days: 7 });
    const stepOf = (id: string, step: string) =>
      `/providers/add?realm=${realmId}&profile=${id}&recipe=keycloak&step=${step}`;
    const checkOf = (address: string) => `/providers/add?address=${encodeURIComponent(address)}`;
    screens = {
      providers: "/providers",
      begun: `/realms/${realmId}/providers/${begun.id}`,
      found: checkOf(c.idp),
      unread: checkOf("https://10.0.0.1"),
      secret: stepOf(begun.id, "secret"),
      test: stepOf(ready.id, "test"),
      register: stepOf(begun.id, "callback"),
    };
  });

  const settle = async (page: Page) => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  };

  // The other two combinations differ for the eye alone: they run when pictures are taken.
  const looks = [
    ["light", 1440],
    ["dark", 390],
    ...(PICTURES
      ? [
          ["dark", 1440],
          ["light", 390],
        ]
      : []),
  ] as ["light" | "dark", number][];
  test.each(looks)(
    "each step, %s and %d wide: axe finds nothing, and nothing is wider than the window",
    async (colorScheme, width) => {
      const page = await newPage(c, { viewport: { width, height: 900 }, colorScheme });
      const check = async (name: string) => {
        expect([name, await barriersOf(page)]).toEqual([name, []]);
        const wider = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect([name, wider]).toEqual([name, 0]);
        if (PICTURES)
          await page.screenshot({
            path: `${PICTURES}/add-provider-${name}-${width}-${colorScheme}.png`,
            fullPage: true,
          });
      };
      await signInWithKey(c, page);
      for (const [name, path] of Object.entries(screens)) {
        await go(page, path);
        await settle(page);
        await check(name);
      }
      // The last screen is the step with the links.
      await button(page, "Create a set-up link").click();
      await button(page, "Copy set-up link").waitFor();
      await check("link");
      await button(page, /^End the link/)
        .first()
        .click();
      await page.getByRole("dialog").waitFor();
      await check("end-link");
      await page.context().close();
    },
    120_000,
  );
});
