import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  button,
  consolePlace,
  go,
  heading,
  keyWithRole,
  newPage,
  practiceProvider,
  signInWithKey,
} from "./place.ts";

/** The search of all screens, by the keyboard alone, and Escape. */

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace({ shoppers: [/Ada/, /Cleo/] });
  let failed: { id: string; reference: string };
  let ada: string;
  let warehouse: { id: string; client_id: string };
  beforeAll(async () => {
    const found = async () => (await c.admin.signOns.list({ filter: "eq(outcome,failed)" })).data;
    await until(async () => (await found()).length > 0);
    [failed = failed] = await found();
    ada = (await c.admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data[0]?.id ?? "";
    warehouse = (await c.admin.applicationKeys.create({ name: "Warehouse", role: "viewer" })).data;
  });

  const dialog = (page: Page) => page.getByRole("dialog", { name: "Search" });
  const field = (page: Page) => dialog(page).getByRole("combobox");
  const option = (page: Page, name: string | RegExp) => dialog(page).getByRole("option", { name });
  const pathOf = (page: Page) => {
    const { pathname, search } = new URL(page.url());
    return `${pathname}${search}`.replace(/^\/console/, "");
  };
  const inFocus = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? "");

  async function open(page: Page): Promise<void> {
    await page.keyboard.press("Control+k");
    await until(() => field(page).evaluate((one) => one === document.activeElement));
  }

  async function paste(page: Page, text: string): Promise<void> {
    await page.evaluate((copied) => navigator.clipboard.writeText(copied), text);
    await page.keyboard.press("Control+v");
  }

  describe("Ctrl-K", () => {
    test("lists the screens; the arrow keys and Enter open one, and its heading has the focus", async () => {
      const { page } = c;
      await go(page, "/keys", "Keys");
      await open(page);
      const chosen = (): Promise<string> => dialog(page).locator("[data-active-item]").innerText();
      await until(async () => (await chosen()) === "Home");
      while ((await chosen()) !== "Failures") await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      await heading(page, "Failures");
      expect(pathOf(page)).toBe("/failures");
      await dialog(page).waitFor({ state: "detached" });
      await until(async () => (await inFocus(page)) === "Failures");
    });

    test.each([
      ["plan", "Screens", /^Planner$/, (): string => "/planner"],
      ["webhooks", "Screens", /^Integrations$/, (): string => "/integrations"],
      ["wareh", "Keys", /^Warehouse/, (): string => `/keys/${warehouse.id}`],
      [
        "practice",
        "Providers",
        /^Practice sign-in/,
        async (): Promise<string> => (await practiceProvider(c)).path,
      ],
      ["ada", "Customers", /ada@shop\.example/, (): string => `/customers/${ada}`],
      ["ada@sh", "Customers", /ada@shop\.example/, (): string => `/customers/${ada}`],
    ] as const)("finds %s among %s", async (typed, group, name, path) => {
      const { page } = c;
      await go(page, "/settings", "Settings");
      await open(page);
      await page.keyboard.type(typed);
      const found = dialog(page).getByRole("group", { name: group }).getByRole("option", { name }).first();
      await found.waitFor();
      while ((await found.getAttribute("data-active-item")) === null) await page.keyboard.press("ArrowDown");
      await page.keyboard.press("Enter");
      const expected = await path();
      await page.waitForURL((url) => url.pathname === `/console${expected}`);
    });

    test.each(["upper case", "lower case with a space", "no dash"])(
      "opens the sign-on of a pasted reference at once, in %s",
      async (spelling) => {
        const { page } = c;
        const { reference, id } = failed;
        await go(page, "/settings", "Settings");
        await open(page);
        await paste(
          page,
          {
            "upper case": reference,
            "lower case with a space": ` ${reference.toLowerCase().replace("-", " ")} `,
          }[spelling] ?? reference.replace("-", ""),
        );
        await heading(page, `Sign-on ${reference}`);
        expect(pathOf(page)).toBe(`/sign-ons/${id}`);
        await dialog(page).waitFor({ state: "detached" });
      },
    );

    test("opens at once for a pasted e-mail address, customer id, client id and request id", async () => {
      const { page } = c;
      const { data: record } = await c.admin.signOns.get(failed.id);
      for (const [text, path] of [
        ["ada@shop.example", `/customers/${ada}`],
        [ada, `/customers/${ada}`],
        [warehouse.client_id, `/keys/${warehouse.id}`],
        [record.request_id ?? "", `/sign-ons/${failed.id}`],
      ] as const) {
        await go(page, "/settings", "Settings");
        await open(page);
        await paste(page, text);
        await page.waitForURL((url) => url.pathname === `/console${path}`);
        await dialog(page).waitFor({ state: "detached" });
      }
    });

    test("a typed reference is the first result; a reference without a record opens nothing", async () => {
      const { page } = c;
      await go(page, "/settings", "Settings");
      await open(page);
      await page.keyboard.type(failed.reference.toLowerCase());
      await option(page, new RegExp(failed.reference)).waitFor();
      const first = dialog(page).getByRole("option").first();
      await until(async () => (await first.getAttribute("data-active-item")) !== null);
      expect(await first.innerText()).toContain(failed.reference);
      await page.keyboard.press("Control+a");
      await paste(page, "0000-0000");
      await dialog(page).getByText("Nothing begins with these words.").first().waitFor();
      expect(await dialog(page).getByRole("option").count()).toBe(1);
      await page.keyboard.press("Enter");
      await heading(page, "Nothing found");
      expect(pathOf(page)).toBe("/find?q=0000-0000");
    });

    test("closes by Ctrl-K and by Escape, and gives the focus back", async () => {
      const { page } = c;
      await go(page, "/keys", "Keys");
      const create = button(page, "Create a key");
      for (const key of ["Control+k", "Escape"]) {
        await create.focus();
        await open(page);
        await page.keyboard.type("ware");
        await option(page, /^Warehouse/).waitFor();
        await page.keyboard.press(key);
        await dialog(page).waitFor({ state: "detached" });
        await until(() => create.evaluate((one) => one === document.activeElement));
      }
    });

    test("does nothing above another dialog, whose text would be lost", async () => {
      const { page } = c;
      await go(page, "/keys", "Keys");
      await button(page, "Create a key").click();
      const name = page.getByLabel("Name of the program");
      await name.fill("Half");
      await page.keyboard.press("Control+k");
      await page.keyboard.press("/");
      expect(await dialog(page).count()).toBe(0);
      expect(await name.inputValue()).toBe("Half/");
      await page.keyboard.press("Escape");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    });

    test("a failure shows code and request id, and Try again repeats the search", async () => {
      const { page } = c;
      await go(page, "/keys", "Keys");
      const errors = [
        { status: "500", code: "internal_error", title: "", detail: "It broke.", id: "request-1" },
      ];
      await page.route(/\/v2\/customers\?/, (route) => route.fulfill({ status: 500, json: { errors } }));
      await open(page);
      await page.keyboard.type("ada");
      const problem = dialog(page).getByRole("alert");
      await problem.getByText("request-1").waitFor();
      expect(await problem.innerText()).toContain("internal_error");
      await page.unrouteAll();
      await button(page, "Try again").press("Enter");
      await option(page, /ada@shop\.example/).waitFor();
      await page.keyboard.press("Escape");
      await dialog(page).waitFor({ state: "detached" });
    });

    test("whose file cannot be loaded says so, and Escape closes that", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/keys");
      await heading(page, "Keys");
      await page.route(/\/assets\/palette-/, (route) => route.fulfill({ status: 404 }));
      await page.keyboard.press("Control+k");
      await heading(page, "The search could not be loaded");
      await button(page, "Close").press("Escape");
      await page.getByText("The search could not be loaded").waitFor({ state: "detached" });
      await page.unrouteAll();
      await open(page);
      await page.context().close();
    });

    test("a viewer does not find a screen that only administrators use", async () => {
      const page = await newPage(c);
      await signInWithKey(c, page, "/keys", await keyWithRole(c, "viewer"));
      await heading(page, "Keys");
      await open(page);
      await page.keyboard.type("prov");
      await option(page, /^Providers$/).waitFor();
      expect(await option(page, "Add a provider").count()).toBe(0);
      await page.context().close();
    });
  });

  test("the button opens the search; Tab goes to Close and stays inside, and each shows its focus", async () => {
    const { page } = c;
    await go(page, "/keys", "Keys");
    await button(page, /^Search/).press("Enter");
    await until(() => field(page).evaluate((one) => one === document.activeElement));
    const outline = (): Promise<string> =>
      page.evaluate(() => getComputedStyle(document.activeElement as Element).outlineStyle);
    expect(await outline()).toBe("solid");
    await page.keyboard.press("Tab");
    await until(async () => (await inFocus(page)) === "Close");
    expect(await outline()).toBe("solid");
    await page.keyboard.press("Enter");
    await dialog(page).waitFor({ state: "detached" });
    await until(async () => /^Search/.test(await inFocus(page)));
  });

  test("/ goes to the search field of a screen, and is a letter in a field", async () => {
    const { page } = c;
    await go(page, "/customers", "Customers");
    const search = page.getByRole("searchbox");
    await page.keyboard.press("/");
    await until(() => search.evaluate((one) => one === document.activeElement));
    await page.keyboard.press("/");
    expect(await search.inputValue()).toBe("/");
    await go(page, "/members", "Members");
    await page.keyboard.press("/");
    expect(await page.getByRole("dialog").count()).toBe(0);
  });

  test("Tab goes from the link to the screen over the brand and the search to the menu", async () => {
    const { page } = c;
    await go(page, "/keys", "Keys");
    await page.evaluate(() => {
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
    });
    for (const name of [/^Skip to the screen$/, /^Latchkey$/, /^Search/, /^Home$/, /^Look up$/]) {
      await page.keyboard.press("Tab");
      expect(await inFocus(page)).toMatch(name);
    }
  });

  test("Escape closes each dialog, and the button that opened it has the focus again", async () => {
    const { page } = c;
    const { data: hook } = await c.admin.integrations.create({
      name: "Till",
      integration_type: "webhook",
      observes: ["store.*"],
      configuration: { url: `${c.receiver.url}/till` },
    });
    await c.admin.members.create({ name: "Tilda", email: "tilda@shop.example", role: "viewer" });
    const provider = (await practiceProvider(c)).path;
    for (const [path, names] of [
      [
        "/keys",
        [/^Create a key/, /^Change role of Warehouse/, /^Rotate secret of Warehouse/, /^Delete Warehouse/],
      ],
      [`/customers/${ada}`, [/^End this session/, /^End all sessions/, /^Erase/]],
      [provider, [/^Change address and client/, /^Disable/, /^Remove/]],
      ["/integrations", [/^Add an integration/]],
      [`/integrations/${hook.id}`, [/^Edit/, /^Rotate/, /^Disable/, /^Delete/]],
      ["/members", [/^Invite/, /^Change role of Tilda/, /^Remove Tilda/]],
    ] as const) {
      await go(page, path);
      for (const name of names) {
        const opener = button(page, name).first();
        await opener.press("Enter");
        const opened = page.getByRole("dialog");
        await until(() => opened.evaluate((one) => one.contains(document.activeElement)));
        await page.keyboard.press("Escape");
        await opened.waitFor({ state: "detached" });
        await until(() => opener.evaluate((one) => one === document.activeElement));
      }
    }
  });

  test("Escape closes the menu of a phone, and gives the focus back to its button", async () => {
    const page = await newPage(c, { viewport: { width: 390, height: 844 } });
    await signInWithKey(c, page, "/keys");
    await heading(page, "Keys");
    const menu = button(page, "Menu");
    await menu.press("Enter");
    const link = page.getByRole("navigation").getByRole("link", { name: "Planner" });
    await link.focus();
    await button(page, /^Search/).press("Enter");
    await until(() => field(page).evaluate((one) => one === document.activeElement));
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });
    expect(await link.isVisible()).toBe(true);
    await link.press("Escape");
    await link.waitFor({ state: "hidden" });
    await until(() => menu.evaluate((one) => one === document.activeElement));
    await page.context().close();
  });

  test.each([
    ["light", 1440],
    ["dark", 1440],
    ["light", 390],
    ["dark", 390],
  ] as const)("the open search, %s and %d wide: axe finds nothing", async (colorScheme, width) => {
    const page = await newPage(c, { viewport: { width, height: 844 }, colorScheme });
    await signInWithKey(c, page, "/keys");
    await heading(page, "Keys");
    await open(page);
    const check = async (name: string) => {
      expect([name, await barriersOf(page)]).toEqual([name, []]);
      const folder = process.env.LATCHKEY_PICTURES;
      if (folder)
        await page.screenshot({ path: `${folder}/console-search-${name}-${width}-${colorScheme}.png` });
    };
    await option(page, "Home").waitFor();
    await check("empty");
    await page.keyboard.type("ada");
    await option(page, /ada@shop\.example/).waitFor();
    await check("found");
    await field(page).fill(failed.reference);
    await option(page, new RegExp(`^${failed.reference}`)).waitFor();
    await check("reference");
    await field(page).fill("zzzz");
    await dialog(page).getByText("Nothing begins with these words.").first().waitFor();
    await check("nothing");
    await page.context().close();
  });
});
