import { readFileSync } from "node:fs";
import type { Download, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go, heading, newPage, practiceProvider, signInWithKey } from "./place.ts";

/** Lists: their four states; order, filters and length in the address; lists and a person's data as files. */

describe.skipIf(!hasChromium)("a list", () => {
  const c = consolePlace({ shoppers: [/Ada/, /Cleo/] });

  beforeAll(async () => {
    for (let at = 10; at < 40; at++)
      await c.admin.customers.create({ name: `Knitter ${at}`, email: `k${90 - at}@home.example` });
    await c.admin.customers.create({ name: "Zoë", email: "zoe@home.example" });
    const kept = async () => (await c.admin.signOns.list()).total;
    await until(async () => (await kept()) >= 2);
  });

  const names = (page: Page) => page.getByRole("rowheader").allInnerTexts();
  const sorted = async (page: Page, column: string) =>
    page.getByRole("columnheader", { name: column }).getAttribute("aria-sort");

  const textOf = async (download: Download) => readFileSync(await download.path(), "utf8");

  /** Presses a button that saves a file. */
  async function saved(page: Page, name: string): Promise<Download> {
    const coming = page.waitForEvent("download");
    await button(page, name).click();
    return coming;
  }

  describe("of customers", () => {
    test("is sorted by its headings with the keyboard, and the address keeps the order", async () => {
      const { page } = c;
      await go(page, "/customers", "Customers");
      expect(await sorted(page, "Created")).toBe("descending");
      await button(page, "E-mail").press("Enter");
      await until(async () => (await names(page))[0] === "Ada");
      expect([await sorted(page, "E-mail"), await sorted(page, "Created")]).toEqual(["ascending", "none"]);
      await button(page, "E-mail").press("Enter");
      await until(async () => (await names(page))[0] === "Zoë");
      expect(new URL(page.url()).search).toBe("?sort=-email");
      const other = await newPage(c);
      await signInWithKey(c, other, "/customers?q=Knitter&sort=-name");
      await until(async () => (await names(other))[0] === "Knitter 39");
      expect(await sorted(other, "Name")).toBe("descending");
      await other.context().close();
    });

    test("has its length in the address, so that a link shows as many rows", async () => {
      const { page } = c;
      await go(page, "/customers?q=Knitter", "Customers");
      await page.getByText("30 in all").waitFor();
      await button(page, "Show more").click();
      await page.waitForURL((url) => url.searchParams.get("rows") === "30");
      const other = await newPage(c);
      await signInWithKey(c, other, `/customers${new URL(page.url()).search}`);
      await until(async () => (await names(other)).length === 30);
      await button(other, "Name").click();
      await until(async () => !new URL(other.url()).searchParams.has("rows"));
      await other.context().close();
    });

    test("is filtered by the time of creation", async () => {
      const { page } = c;
      await go(page, "/customers", "Customers");
      const before = page.getByLabel("Created before");
      await before.fill("2020-01-01T00:00");
      await before.press("Enter");
      await heading(page, "No customer found");
      expect(new URL(page.url()).searchParams.get("to")).toMatch(/^20(19|20)-.*Z$/);
      await button(page, "Clear filters").click();
      await page.getByText("Zoë").waitFor();
    });

    test("shows the exact time of a row that has the focus", async () => {
      const { page } = c;
      await go(page, "/customers?q=Zoë", "Customers");
      await page.getByText("1 in all").waitFor();
      const time = page.getByRole("row", { name: /Zoë/ }).locator("time").first();
      const shown = () => time.evaluate((one: Element) => getComputedStyle(one, "::after").display);
      expect(await shown()).toBe("none");
      await page.getByRole("searchbox").focus();
      // The fields of a time have a stop for each of their parts.
      for (let at = 0; at < 40 && (await shown()) === "none"; at++) await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Zoë");
      expect(await shown()).toBe("block");
    });
  });

  describe("as CSV", () => {
    test("has the whole list with the filter and order of the screen, under the service's name", async () => {
      const { page } = c;
      await go(page, "/customers?q=Knitter&sort=-name", "Customers");
      await page.getByText("30 in all").waitFor();
      const file = await saved(page, "Export CSV");
      expect(file.suggestedFilename()).toMatch(/^customers-\d{4}-\d\d-\d\d\.csv$/);
      const lines = (await textOf(file)).split("\r\n");
      // Spreadsheets recognise UTF-8 by the mark at the beginning.
      expect(lines[0]).toMatch(/^\u{feff}id,type,name,email,/u);
      expect(lines).toHaveLength(32);
      expect(lines[1]).toContain("Knitter 39");
      await page.getByText(`${file.suggestedFilename()} is saved.`).waitFor();
    });

    test.each([
      ["/keys", "Keys", /^application-keys-/],
      ["/members", "Members", /^members-/],
      ["/providers", "Providers", /^oidc-profiles-/],
      ["/events?types=customer.created", "Events", /^events-/],
      ["/sign-ons?outcome=failed", "Sign-ons", /^sign-ons-/],
      ["/failures?reason=claims.email_missing", "claims.email_missing", /^sign-ons-/],
      ["/integrations", "Integrations", /^integrations-/],
    ])("%s has it too", async (path, title, name) => {
      await go(c.page, path, title);
      expect((await saved(c.page, "Export CSV")).suggestedFilename()).toMatch(name);
    });

    test("says when to try again after too many exports, and saves no part of a file", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/customers");
      const meta = { bucket: "hour", exports: 60, retry_after_seconds: 720 };
      const fault = { status: "429", code: "exports_exceeded", title: "", detail: "Too many.", meta };
      const isCsv = (request: { headers(): Record<string, string> }) =>
        request.headers().accept === "text/csv";
      await page.route(/\/v2\/customers\?/, (route) =>
        isCsv(route.request())
          ? route.fulfill({ status: 429, json: { errors: [{ ...fault, id: "request-1" }] } })
          : route.continue(),
      );
      await button(page, "Export CSV").click();
      await page.getByText(/Try again in 12 min\./).waitFor();
      expect(await page.getByRole("alert").last().innerText()).toMatch(/exports_exceeded[\s\S]*request-1/);
      await page.unrouteAll();
      await button(page, "Try again").click();
      await page.getByText(/^customers-.* is saved\.$/).waitFor();
      await page.context().close();
    });

    test("can be cancelled, and the button keeps the focus", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/customers");
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await page.route(/\/v2\/customers\?/, async (route) => {
        if (route.request().headers().accept === "text/csv") await held;
        await route.continue().catch(() => {});
      });
      await button(page, "Export CSV").press("Enter");
      await button(page, "Cancel (0 kB)").press("Enter");
      await button(page, "Export CSV").waitFor();
      expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Export CSV");
      expect(await page.getByRole("alert").count()).toBe(0);
      release();
      await page.context().close();
    });
  });

  describe("of sign-ons", () => {
    const row = (page: Page, name: RegExp) => page.getByRole("row", { name });

    test("shows who, which provider and how it ended; a press on a row opens the record", async () => {
      const { page } = c;
      await go(page, "/sign-ons", "Sign-ons");
      await row(page, /Ada.*Practice sign-in.*Signed in.*Chrome/).waitFor();
      await row(page, /Not identified.*Practice sign-in.*Failed.*claims\.email_missing/).click();
      await heading(page, /^Sign-on /);
      const link = page.getByRole("navigation").getByRole("link", { name: "Sign-ons" });
      expect(await link.getAttribute("aria-current")).toBe("page");
    });

    test("is filtered by outcome, provider, reason and time, and a link shows the same", async () => {
      const { page } = c;
      const { profile } = await practiceProvider(c);
      await go(page, "/sign-ons", "Sign-ons");
      await page.getByLabel("Outcome").selectOption("Failed");
      await page.getByText("1 in all").waitFor();
      await page.getByLabel("Provider").selectOption("Practice sign-in");
      await page.waitForURL((url) => url.searchParams.get("provider") === profile.id);
      await page.getByText("1 in all").waitFor();
      await go(page, "/sign-ons?outcome=not_finished", "Sign-ons");
      await heading(page, "No such sign-on");
      const [from, to] = [-3_600_000, 3_600_000].map((ms) => new Date(Date.now() + ms).toISOString());
      const search = new URLSearchParams({ outcome: "signed_in", from: from ?? "", to: to ?? "" });
      await go(page, `/sign-ons?${search}`, "Sign-ons");
      await row(page, /Ada/).waitFor();
      expect(await page.getByLabel("Outcome").inputValue()).toBe("signed_in");
      await go(page, "/sign-ons?reason=idp_error&outcome=failed", "Sign-ons");
      await heading(page, "No such sign-on");
      await button(page, "Clear filters").click();
      await page.getByText("2 in all").waitFor();
    });

    test("keeps shoppers, members and test sign-ons apart", async () => {
      const { page } = c;
      await go(page, "/sign-ons", "Sign-ons");
      await page.getByLabel("People").selectOption("Test sign-ons");
      await heading(page, "No test sign-on yet");
      expect(new URL(page.url()).search).toBe("?people=tests");
      await page.getByLabel("People").selectOption("Members");
      await heading(page, "No member has signed in yet");
    });

    test("is a list of cards on a phone, with the headings that sort above them", async () => {
      const page = await newPage(c, { viewport: { width: 390, height: 844 } });
      await signInWithKey(c, page, "/sign-ons");
      await row(page, /Ada/).waitFor();
      const card = await row(page, /Ada/).boundingBox();
      expect(card?.height).toBeGreaterThan(100);
      await button(page, "When").click();
      await page.waitForURL((url) => url.searchParams.get("sort") === "started_at");
      expect(await sorted(page, "When")).toBe("ascending");
      await page.context().close();
    });
  });

  test("of events that its filter leaves empty says so, and Clear filters shows all of them", async () => {
    const { page } = c;
    await go(page, "/events?types=store.*&from=2099-01-01T00:00:00.000Z");
    await heading(page, "No event found");
    await button(page, "Clear filters").click();
    await page.waitForURL((url) => url.search === "");
    await page.getByRole("row").filter({ hasText: "Knitter 39" }).first().waitFor();
    await until(async () => (await button(page, "Clear filters").count()) === 0);
  });

  test("a person's data is saved as a file, and the log notes it", async () => {
    const { page } = c;
    const [ada] = (await c.admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data;
    await go(page, `/customers/${ada?.id}`, "Ada");
    const file = await saved(page, "Download data");
    expect(file.suggestedFilename()).toMatch(new RegExp(`${ada?.id}-\\d{4}-\\d\\d-\\d\\d\\.json$`));
    const { data } = JSON.parse(await textOf(file));
    expect([data.type, data.customer.email, data.identities.length]).toEqual([
      "customer-export",
      "ada@shop.example",
      1,
    ]);
    const noted = async () => (await c.admin.events.list({ types: ["customer.exported"] })).data;
    await until(async () => (await noted()).some(({ subject }) => subject === ada?.id));
  });

  const broken = {
    status: 500,
    json: {
      errors: [{ status: "500", code: "internal_error", title: "", detail: "It broke.", id: "request-1" }],
    },
  };

  test("Show more › a failure is shown beside the button", async () => {
    for (let at = 0; at < 30; at++)
      await c.admin.customers.create({ name: `Patron ${at}`, email: `patron-${at}@home.example` });
    const page = await newPage(c, { viewport: { width: 1280, height: 600 } });
    await signInWithKey(c, page, "/customers?q=Patron");
    await page.getByText("30 in all").waitFor();
    // The first page of the list passes: it may be requested again meanwhile.
    await page.route(/\/v2\/customers\?.*(after|offset)/, (route) => route.fulfill(broken));
    const more = button(page, "Show more");
    await more.click();
    const problem = page.getByRole("alert");
    await problem.getByText("It broke.").waitFor();
    const topOf = async (of: typeof problem) => (await of.boundingBox())?.y ?? 0;
    expect(await topOf(problem)).toBeGreaterThan(await topOf(page.getByRole("row").last()));
    await page.unrouteAll();
    await more.click();
    await problem.waitFor({ state: "detached" });
    await until(async () => (await page.getByRole("link", { name: /Patron/ }).count()) === 30);
    await page.context().close();
  });

  test.each([
    ["more comes late", /\/v2\/customers\?.*(after|offset)/],
    ["what changed comes late", /\/v2\/customers\?(?!.*(after|offset))/],
  ])("Show more and a change at the same time: both are shown, where %s", async (which, slow) => {
    const page = await newPage(c);
    const isMoreLate = which.startsWith("more");
    const word = isMoreLate ? "Tailor" : "Weaver";
    let last = "";
    for (let at = 0; at < 30; at++) {
      const person = { name: `${word} ${at}`, email: `${word}-${at}@home.example` };
      last = (await c.admin.customers.create(person)).data.id;
    }
    await signInWithKey(c, page, `/customers?q=${word}`);
    await page.getByText("30 in all").waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(slow, (route) => held.promise.then(() => route.continue()));
    const isAsked = page.waitForRequest(slow);
    const more = () => button(page, "Show more").click();
    const change = () => c.admin.customers.update(last, { name: `${word} renamed` });
    if (isMoreLate) {
      await more();
      await isAsked;
      const isReadAnew = page.waitForResponse(/\/v2\/customers\?/);
      await change();
      await isReadAnew;
    } else {
      await change();
      await isAsked;
      await more();
    }
    held.resolve();
    await page.getByRole("link", { name: `${word} renamed` }).waitFor();
    await page.getByRole("link", { name: `${word} 0` }).waitFor();
    await page.context().close();
  });

  test("a form › data that failed to load is reported, with a button to try again", async () => {
    const page = await newPage(c);
    for (const [path, asked, then] of [
      ["/providers/add", /\/v2\/authentication-realms\?/, "Check the provider"],
      ["/settings", /\/v2\/customer-authentication-settings/, "Copy client id for OpenID Connect libraries"],
    ] as const) {
      await signInWithKey(c, page, "/events");
      await heading(page, "Events");
      await page.route(asked, (route) => route.fulfill(broken));
      await go(page, path);
      await page.getByRole("alert").getByText("It broke.").waitFor();
      await page.unrouteAll();
      await button(page, "Try again").click();
      await page.getByRole("alert").waitFor({ state: "detached" });
      await until(() => button(page, then).isEnabled());
    }
    await page.context().close();
  });

  /** Each list, and its text when it is empty. */
  const LISTS: [path: string, list: RegExp, empty: string][] = [
    ["/", /\/v2\/sign-ons\?/, "No sign-on has failed"],
    ["/find", /\/v2\/sign-ons\?/, "No sign-on yet"],
    ["/sign-ons", /\/v2\/sign-ons\?/, "No sign-on yet"],
    ["/failures", /\/v2\/sign-ons(\?|\/statistics)/, "No sign-on has failed"],
    ["/providers", /\/oidc-profiles\?/, "No provider yet"],
    ["/keys", /\/v2\/application-keys\?/, "No key"],
    ["/planner", /\/v2\/application-keys\?/, "No key"],
    ["/customers", /\/v2\/customers\?/, "No customer yet"],
    ["/events", /\/v2\/events\?/, "No event yet"],
    ["/integrations", /\/v2\/integrations\?/, "No integration yet"],
    ["/members", /\/v2\/members\?/, "No member yet"],
  ];

  const nothing = {
    data: [],
    meta: {
      page: { limit: 25, offset: 0 },
      results: { total: 0 },
      last_sequence: "0",
      total_reserved_rate_limit: 0,
      rate_limit: 9,
    },
    links: { next: null },
  };

  test("shows loading, failure and emptiness; the tests above show it full", async () => {
    const page = await newPage(c);
    // An event would request the list again before the test presses Try again.
    await page.context().route(/\/v2\/events\/stream/, (route) => route.abort());
    for (const [path, list, empty] of LISTS) {
      // A remembered list would be shown at once, so each case begins as a new visit, on a screen without a list.
      await signInWithKey(c, page, "/settings");
      await heading(page, "Settings");
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      let isBroken = true;
      await page.route(list, async (route) => {
        await held;
        await route.fulfill(isBroken ? broken : { json: nothing });
      });
      await go(page, path);
      await page.locator("[aria-busy=true]").first().waitFor();
      release();
      const problem = page.getByRole("alert").first();
      await problem.getByText("It broke.").waitFor();
      expect(await problem.innerText()).toMatch(/internal_error[\s\S]*request-1/);
      isBroken = false;
      await button(page, "Try again").first().click();
      await heading(page, empty);
      await page.unrouteAll();
    }
    await page.context().close();
  });
});
