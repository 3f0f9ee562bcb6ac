import { describe, expect, test } from "vitest";
import { pageWords } from "../../packages/server/src/http/pages/words/all.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  administer,
  browser,
  context,
  continueWith,
  heading,
  knobs,
  look,
  newContext,
  page,
  person,
  picture,
  practiceShop,
  serviceUrl,
  shop,
  signIn,
  watch,
} from "./practice-shop.ts";

/**
 * Every page of a shopper, on desks and phones, in light and dark: no barrier for screen readers, nothing wider than
 * the screen.
 */

const SCREENS = [
  { name: "desk-light", viewport: { width: 1440, height: 900 }, colorScheme: "light" },
  { name: "desk-dark", viewport: { width: 1440, height: 900 }, colorScheme: "dark" },
  { name: "phone-light", viewport: { width: 390, height: 844 }, colorScheme: "light" },
  { name: "phone-dark", viewport: { width: 390, height: 844 }, colorScheme: "dark" },
] as const;

describe.skipIf(!hasChromium)("a page", () => {
  practiceShop();

  describe("on a phone", () => {
    test("is no wider than the screen, in light and dark", async () => {
      for (const colorScheme of ["light", "dark"] as const) {
        const phone = await newContext(browser, { viewport: { width: 390, height: 844 }, colorScheme });
        const small = await phone.newPage();
        const visit = async (path: string) => {
          await small.goto(shop + path);
          const overflow = () =>
            small.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          expect(await overflow(), path).toBe(0);
          await picture(`phone-${colorScheme}${path.replaceAll("/", "-")}`, small);
        };
        // Signed out: these pages send a signed-in shopper on.
        for (const path of ["/signed-in", "/account", "/sign-in", "/nowhere"]) await visit(path);
        await signIn(/Ada/, small);
        for (const path of ["/", "/account", "/sign-in"]) await visit(path);
        await phone.close();
      }
    });

    test("is no wider than the screen with a name of one long word", async () => {
      const name = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerk".repeat(4);
      const phone = await newContext(browser, { viewport: { width: 390, height: 844 } });
      const small = await phone.newPage();
      await small.goto(`${shop}/sign-in`);
      await small.getByText("New here? Create an account").click();
      const form = small.getByRole("form", { name: "Create an account" });
      await form.getByLabel("Your name").fill(name);
      await form.getByLabel("Your e-mail").fill("long@home.example");
      await form.getByLabel("New password").fill("practice-password");
      await form.getByRole("button", { name: "Create account" }).click();
      const check = async (words: string) => {
        await small.getByText(words).first().waitFor();
        const overflow = () =>
          small.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(await overflow(), words).toBe(0);
      };
      await check(`Welcome, ${name}. Your account is ready.`);
      await small.goto(shop);
      await check(`Welcome, ${name}. Your 10 %`);
      await small.goto(`${shop}/sign-in`);
      await check(`You are signed in as ${name}`);
      await small.goto(`${shop}/webhooks`);
      await check(`About ${name}, by`);
      await phone.close();
    });

    test("has the bar of the protocol view below its content until the bar is opened", async () => {
      const phone = await newContext(browser, { viewport: { width: 390, height: 844 } });
      const small = await phone.newPage();
      for (const path of ["/", "/sign-in", "/webhooks"]) {
        await small.goto(shop + path);
        const bar = small.getByRole("button", { name: "On the wire" });
        await bar.waitFor();
        const [top, end] = await small.evaluate(() => [
          document.getElementById("wire-toggle")?.getBoundingClientRect().top ?? 0,
          document.querySelector("footer")?.getBoundingClientRect().bottom ?? 0,
        ]);
        expect(top, path).toBeGreaterThanOrEqual(end ?? 0);
      }
      await phone.close();
    });
  });

  describe("for screen readers", () => {
    test.each(SCREENS)(
      "of the service has no barrier, and links back to the shop ($name)",
      async ({ name, ...screen }) => {
        const admin = administer();
        const { data: settings } = await admin.settings.get();
        const [practice] = (await admin.profiles(settings.realm_id).list()).data;
        const realm = (practice?.links["client-discovery-url"] ?? "").replace(
          "/.well-known/openid-configuration",
          "",
        );
        const query = new URLSearchParams({
          client_id: settings.client_id,
          redirect_uri: `${shop}/signed-in`,
          response_type: "code",
          scope: "openid email",
          state: "s",
          code_challenge_method: "S256",
          code_challenge: "x".repeat(43),
        });
        const { data: second } = await admin.profiles(settings.realm_id).create({
          name: "Ειρήνη & Söhne 合同会社",
          discovery_url: practice?.discovery_url ?? "",
          client_id: "other",
          client_secret: "practice",
        });
        const own = await newContext(browser, screen);
        const page = await own.newPage();
        watch(page);
        try {
          for (const [what, path] of [
            ["front", serviceUrl()],
            ["unknown-client", `${realm}/authorize`],
            ["choice", `${realm}/authorize?${query}`],
            ["attempt-invalid", `${realm}/profiles/${practice?.id}/callback`],
            ["not-signed-out", `${realm}/end-session?id_token_hint=forged`],
            ["sign-out", `${realm}/end-session`],
            ["signed-out", `${realm}/profiles/${practice?.id}/signed-out`],
          ] as const) {
            await page.goto(path);
            await look(page, `own-${what}-${name}`);
            if (what !== "front") await page.getByRole("banner").getByText("Alder & Pine").waitFor();
          }
          // Each language on one screen: a text that is too wide depends on the width, not on the colours.
          if (name === "phone-light")
            for (const [language, words] of Object.entries(pageWords)) {
              await page.goto(`${realm}/authorize?ui_locales=${language}`);
              await heading(words.shop.heading, page);
              await look(page, `own-${language}-${name}`);
            }
          await page.getByRole("link", { name: /Alder & Pine/ }).click();
          await page.waitForURL(`${shop}/`);
        } finally {
          await admin.profiles(settings.realm_id).delete(second.id);
          await own.close();
        }
      },
    );

    test.each([SCREENS[0], SCREENS[3]])(
      "of the shop and of the practice provider has no barrier, and links back ($name)",
      async ({ name, ...screen }) => {
        const own = await newContext(browser, screen);
        const page = await own.newPage();
        watch(page);
        const visit = async (what: string, url: string) => {
          await page.goto(url);
          await until(async () => (await page.locator("[aria-busy=true]:visible").count()) === 0);
          await look(page, `${what}-${name}`);
        };
        for (const path of ["", "/sign-in", "/signed-in", "/account", "/nowhere", "/webhooks"])
          await visit(`shop${path.replace("/", "-")}`, shop + path);
        await visit("knobs", knobs);
        await page.getByRole("link", { name: "Back to the shop" }).click();
        await page.waitForURL(`${shop}/`);
        await visit("practice-problem", new URL("/interaction/none", knobs).href);
        await page.goto(`${shop}/sign-in`);
        await continueWith(page).click();
        await heading("Who would you like to be?", page);
        await look(page, `practice-sign-in-${name}`);
        await person(/Cleo/, page).click();
        await heading("We need an e-mail address", page);
        await look(page, `refused-${name}`);
        // The reference links to the record.
        await page.getByRole("button", { name: "On the wire" }).click();
        await look(page, `wire-${name}`);
        const record = page.getByRole("link", { name: "Open the record in the console" }).last();
        expect(await record.getAttribute("href")).toMatch(/\/console\/find\?q=[0-9A-Z]{4}-[0-9A-Z]{4}$/);
        await signIn(/Ada/, page);
        await page.getByText("ada@shop.example").waitFor();
        await look(page, `account-${name}`);
        await own.close();
      },
    );
  });

  describe("of webhooks", () => {
    test("shows messages as they arrive; an unsigned message is refused and not shown", async () => {
      const listening = await context.newPage();
      watch(listening);
      await listening.goto(`${shop}/webhooks`);
      await listening.getByText("Listening").waitFor();
      await signIn();
      const list = listening.getByRole("list", { name: "Messages, the latest first" });
      const latest = list.getByRole("listitem").filter({ hasText: "customer_token.created" }).first();
      // The message is found by its number, because newer ones come in above it. A repeated message is above itself.
      const [number] = /Event \d+ of the log/.exec(await latest.innerText()) ?? [];
      const delivered = list
        .getByRole("listitem")
        .filter({ hasText: number ?? "a number" })
        .last();
      await delivered.getByText("verified", { exact: true }).waitFor();
      await delivered.getByText("The message").click();
      await delivered.locator("pre").waitFor();
      // A token has two parts with this beginning; a salt may have these letters by chance.
      expect(await delivered.locator("pre").innerText()).not.toMatch(/eyJ[\w-]*\.eyJ/);
      await look(listening, "webhooks-heard");
      const forged = await fetch(`${shop}/webhooks/receive`, { method: "POST", body: '{"type":"FORGED"}' });
      expect(forged.ok).toBe(false);
      await list.getByText("Refused").first().waitFor();
      expect(await list.innerText()).not.toContain("FORGED");
      await look(listening, "webhooks-refused");
    });

    test("shows messages also after the shop was restarted, each once", async () => {
      const sent = [
        { number: 7, at: "2026-11-17T10:00:00.000Z", refused: "the seventh of before" },
        { number: 1, at: "2026-11-17T10:00:05.000Z", refused: "the first of now" },
      ].map((one) => `data: ${JSON.stringify({ id: "", again: false, ...one })}\n\n`);
      const parts = [sent[0], sent[0], sent[1], sent[1]];
      // Each answer ends at once, and the page connects again.
      await page.route(/\/webhooks\/live/, (route) =>
        parts.length > 0
          ? route.fulfill({ contentType: "text/event-stream", body: `retry: 50\n\n${parts.shift()}` })
          : route.abort(),
      );
      await page.goto(`${shop}/webhooks`);
      await page.getByText("the first of now").waitFor();
      await until(() => parts.length === 0);
      expect(
        await page
          .getByRole("list", { name: /Messages/ })
          .getByRole("listitem")
          .count(),
      ).toBe(2);
      await page.unrouteAll();
    });
  });
});
