import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  button,
  consolePlace,
  go,
  heading,
  newPage,
  practiceProvider,
  shopAs,
  signInAsMember,
  signInWithKey,
} from "./place.ts";

/** The figures of Home: those of shoppers alone, as a chart, as a table, by provider and by key. */

describe.skipIf(!hasChromium)("the figures of Home", () => {
  const c = consolePlace({ shoppers: [/Ada/, /Cleo/] });
  const dayAt = (daysFromNow: number) =>
    new Date(Date.now() + daysFromNow * 86_400_000).toISOString().slice(0, 10);
  /**
   * So many days that a bar has seven. The last bar begins three days ago and does not end before tomorrow, so it has
   * all sign-ons of this file, also if midnight passes.
   */
  const inWeeks = () => `/?from=${dayAt(-66)}&to=${dayAt(1)}`;

  /** Two sign-ons, a failure, and one that leaves at the provider; beside these a member and a test. */
  beforeAll(async () => {
    await shopAs(c, /Ada/);
    const leaving = await newPage(c);
    await leaving.goto(`${c.shop}/sign-in`);
    await button(leaving, "Continue with Practice sign-in").click();
    await button(leaving, /Ada/).first().waitFor();
    await leaving.context().close();
    const member = await newPage(c);
    await signInAsMember(c, member, /Mona/);
    await member.context().close();
    await signInWithKey(c, c.page, (await practiceProvider(c)).path);
    const opened = c.page.waitForEvent("popup");
    await button(c.page, "Test sign-on").click();
    const second = await opened;
    await button(second, /Ada/).first().click();
    await second.getByRole("heading", { name: /Test (passed|failed)/ }).waitFor();
    await second.close();
    const all = async () => (await c.admin.signOns.list({ limit: 100 })).data;
    await until(async () => (await all()).length === 5);
  });

  test("count shoppers, and neither members nor tests; each count leads to its sign-ons", async () => {
    const { page } = c;
    const { profile } = await practiceProvider(c);
    await signInWithKey(c, page);
    await page.getByRole("img", { name: /: 2 signed in, 0 not finished, 1 failed$/ }).waitFor();
    await page.getByText("sign-ons of shoppers in the last 24 hours").waitFor();
    const card = page.getByRole("region", { name: "Sign-ons" });
    const signedIn = await card.getByRole("link", { name: "2 signed in", exact: true }).getAttribute("href");
    const search = new URL(signedIn ?? "", c.url).searchParams;
    expect(search.get("outcome")).toBe("signed_in");
    expect(Date.parse(search.get("to") ?? "") - Date.parse(search.get("from") ?? "")).toBe(24 * 3_600_000);
    const row = page.getByRole("row", { name: new RegExp(profile.name) });
    const failed = await row.getByRole("link", { name: "1 failed" }).getAttribute("href");
    expect(failed).toContain(`/sign-ons?outcome=failed&provider=${profile.id}&from=`);
    await row.getByText(/^[\d.]+ m?s, [\d.]+ m?s$/).waitFor();
  });

  test("have the sign-on that never came back, as soon as the redirects are counted", async () => {
    const { page } = c;
    await go(page, "/", "Shoppers can sign in.");
    const { profile } = await practiceProvider(c);
    const cells = page.getByRole("row", { name: new RegExp(profile.name) }).getByRole("cell");
    // Redirects are written once a minute.
    const shown = async () => (await cells.allInnerTexts()).map((text) => Number.parseInt(text, 10));
    await until(async () => (await shown())[0] === 4, 90_000);
    expect((await shown()).slice(0, 6)).toEqual([4, 3, 2, 0, 1, 1]);
  });

  test("as a table have the same counts, and the address says so", async () => {
    const { page } = c;
    await go(page, "/", "Shoppers can sign in.");
    const card = page.getByRole("region", { name: "Sign-ons" });
    await card.getByRole("button", { name: "Show as table" }).click();
    const table = page.getByRole("table", { name: "Sign-ons of shoppers in the last 24 hours" });
    await table.waitFor();
    expect(new URL(page.url()).searchParams.get("view")).toBe("table");
    const sums = await table.getByRole("row").evaluateAll((rows) =>
      rows
        .map((row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.textContent)))
        .filter((cells) => cells.length > 0)
        .reduce((one, other) => one.map((value, at) => value + (other[at] ?? 0))),
    );
    expect(sums.slice(0, 3)).toEqual([2, 0, 1]);
    await card.getByRole("button", { name: "Show as chart" }).click();
    await page.getByRole("img", { name: /^Sign-ons of shoppers/ }).waitFor();
  });

  test("by key and of one provider alone are in the address", async () => {
    const { page } = c;
    const { profile } = await practiceProvider(c);
    await go(page, "/", "Shoppers can sign in.");
    await page
      .getByRole("row", { name: new RegExp(profile.name) })
      .getByRole("link")
      .first()
      .click();
    await page.getByText(`${profile.name} alone.`).waitFor();
    expect(new URL(page.url()).searchParams.get("provider")).toBe(profile.id);
    await button(page, "Show all").click();
    await button(page, "By key").click();
    await page.getByRole("columnheader", { name: "Key" }).waitFor();
    expect(new URL(page.url()).searchParams.get("by")).toBe("key");
    expect(await button(page, "By key").getAttribute("aria-pressed")).toBe("true");
    const signedIn = page.getByRole("link", { name: /^\d+ signed in$/ }).last();
    const count = await signedIn.innerText();
    await signedIn.click();
    await page.getByRole("heading", { name: "Sign-ons", exact: true, level: 1 }).waitFor();
    expect(new URL(page.url()).searchParams.get("key")).toMatch(/^[0-9a-f-]{36}$/);
    await page.getByText(`${count} in all`).waitFor();
  });

  test("from day to day: a wrong order is explained, and a right one is in the address", async () => {
    const { page } = c;
    await go(page, "/", "Shoppers can sign in.");
    await page.getByRole("combobox", { name: "How far back" }).selectOption("dates");
    const [from, to] = [page.getByLabel("From"), page.getByLabel("to", { exact: true })];
    const last = await to.inputValue();
    await from.fill("2020-01-01");
    await page.getByText(/Choose at most 400/).waitFor();
    // Two days, because midnight may have passed since the sign-ons.
    const first = new Date(Date.parse(last) - 86_400_000).toISOString().slice(0, 10);
    await from.fill(first);
    await until(() => new URL(page.url()).searchParams.get("from") === first);
    await page.getByRole("img", { name: /: 2 signed in, 0 not finished, 1 failed$/ }).waitFor();
    await page.getByRole("combobox", { name: "How far back" }).selectOption("hour");
    await until(() => !page.url().includes("from="));
  });

  describe("with the keyboard and the pointer", () => {
    test("the chart is one stop of Tab; arrow keys tell the values, and Enter opens the sign-ons", async () => {
      const { page } = c;
      await go(page, inWeeks(), "Shoppers can sign in.");
      const bars = page.getByRole("list", { name: "Sign-ons by time" });
      await bars.waitFor();
      expect(await bars.locator("a[tabindex='0']").count()).toBe(1);
      await bars.locator("a[tabindex='0']").focus();
      const name = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
      const box = page.locator(".plot-box");
      await box.waitFor();
      expect(await name()).toMatch(
        /, so far: 2 signed in, 0 not finished, 1 failed\. In the 68 days before: 0$/,
      );
      await page.keyboard.press("ArrowLeft");
      expect(await name()).toMatch(/: 0 signed in, 0 not finished, 0 failed/);
      await page.keyboard.press("End");
      await page.keyboard.press("ArrowUp");
      expect(await name()).toMatch(/: 2 signed in$/);
      await page.keyboard.press("ArrowUp");
      expect(await name()).toMatch(/: 1 failed$/);
      await page.keyboard.press("Escape");
      await box.waitFor({ state: "detached" });
      await page.keyboard.press("Enter");
      await page.waitForURL((url) => url.pathname.endsWith("/sign-ons"));
      expect(new URL(page.url()).searchParams.get("outcome")).toBe("failed");
    });

    test("a bar shows its values under the pointer; on a touch screen the second touch opens it", async () => {
      const page = await newPage(c, { hasTouch: true, viewport: { width: 390, height: 844 } });
      await signInWithKey(c, page, inWeeks());
      const bar = page.getByRole("link", { name: /: 2 signed in, 0 not finished, 1 failed/ }).first();
      await bar.waitFor();
      const { x = 0, y = 0, width = 0 } = (await bar.boundingBox()) ?? {};
      await page.touchscreen.tap(x + width / 2, y + 5);
      await page.locator(".plot-box").getByText("signed in").waitFor();
      expect(new URL(page.url()).pathname).toMatch(/\/console\/$/);
      await page.touchscreen.tap(x + width / 2, y + 5);
      await page.waitForURL((url) => url.pathname.endsWith("/sign-ons"));
      await page.context().close();
    });
  });

  describe("of live requests", () => {
    test("show the values of a second on pointing and by keyboard, and a refresh leaves the focus", async () => {
      const { page } = c;
      await go(page, "/", "Shoppers can sign in.");
      const bars = page.getByRole("list", { name: "Requests by second" });
      const stop = bars.locator("[tabindex='0']");
      await stop.waitFor();
      expect(await stop.count()).toBe(1);
      await stop.focus();
      await page.keyboard.press("ArrowLeft");
      const name = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? "");
      expect(await name()).toMatch(/^2 seconds ago: \d+ served, \d+ refused$/);
      const focused = await page.evaluateHandle(() => document.activeElement);
      for (let read = 0; read < 3; read++)
        await page.waitForResponse((response) => response.url().includes("/v2/store/usage"));
      expect(await page.evaluate((was) => was === document.activeElement, focused)).toBe(true);
      expect(await name()).toMatch(/^2 seconds ago: /);
      const box = page.locator(".plot-box");
      await box.getByText("2 seconds ago").waitFor();
      await page.keyboard.press("Escape");
      await box.waitFor({ state: "detached" });
      await bars.getByRole("listitem").first().hover();
      await box.getByText("90 seconds ago").waitFor();
    });

    test("are a table too: a row for each second, the latest first", async () => {
      const { page } = c;
      await go(page, "/", "Shoppers can sign in.");
      const card = page.getByRole("region", { name: "Requests, live" });
      await card.getByRole("button", { name: "Show as table" }).click();
      const table = card.getByRole("table", { name: "Requests in the last 90 seconds" });
      await table.waitFor();
      expect(await table.getByRole("columnheader").allInnerTexts()).toEqual(["Time", "Served", "Refused"]);
      expect(await table.getByRole("rowheader").count()).toBe(90);
      expect(await table.getByRole("rowheader").first().innerText()).toBe("1 second ago");
      expect(new URL(page.url()).searchParams.get("requests")).toBe("table");
      await page.setViewportSize({ width: 390, height: 844 });
      const part = card.getByRole("region", { name: "Requests in the last 90 seconds" });
      await until(() => part.evaluate((box) => box.scrollWidth === box.clientWidth));
      await page.setViewportSize({ width: 1280, height: 720 });
      expect(await barriersOf(page)).toEqual([]);
      await card.getByRole("button", { name: "Show as chart" }).click();
      await card.getByRole("list", { name: "Requests by second" }).waitFor();
    });
  });

  test("have the mark of each provider beside its name", async () => {
    const { page } = c;
    const { profile } = await practiceProvider(c);
    await go(page, "/", "Shoppers can sign in.");
    for (const place of [
      page.getByRole("row", { name: new RegExp(profile.name) }),
      page.getByRole("region", { name: "Providers" }).getByRole("link", { name: new RegExp(profile.name) }),
    ])
      await place.first().locator("svg.mark").waitFor();
  });

  test("of a store without sign-ons teach, and compare nothing", async () => {
    const page = await newPage(c);
    await page.route(/\/v2\/sign-ons\/statistics/, async (route) => {
      const { meta } = await (await route.fetch()).json();
      await route.fulfill({ json: { data: [], meta } });
    });
    await signInWithKey(c, page);
    await heading(page, "No sign-ons in the last 24 hours");
    expect(await barriersOf(page)).toEqual([]);
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().close();
  });

  test("say how much more or less than in the time before", async () => {
    const page = await newPage(c);
    const { profile } = await practiceProvider(c);
    await page.route(/\/v2\/sign-ons\/statistics/, async (route) => {
      const { meta } = await (await route.fetch()).json();
      const hours = (Date.parse(meta.to) - Date.parse(meta.from)) / 3_600_000;
      const data = Array.from({ length: hours }, (_, at) => ({
        from: new Date(Date.parse(meta.from) + at * 3_600_000).toISOString(),
        profile_id: profile.id,
        outcomes: { exchanged: at < hours / 2 ? 4000 : 4480, failed: 12, started: 5000 },
        reasons: {},
        idp_ms: { p50: 120, p95: 480 },
      }));
      await route.fulfill({ json: { data, meta: { ...meta, kept_from: "2020-01-01T00:00:00.000Z" } } });
    });
    await signInWithKey(c, page);
    await page.getByText(/^12 % more than in the 24 hours before, which had 96,288\./).waitFor();
    await page.getByText("107,808", { exact: true }).waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().close();
  });
});
