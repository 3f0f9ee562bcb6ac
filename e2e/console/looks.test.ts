import { mkdirSync } from "node:fs";
import type { Locator, Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { SCREENS } from "../../packages/console/src/screens.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go, heading, newPage, practiceProvider, signInWithKey } from "./place.ts";

/** The looks of every screen, for eyes and for screen readers. */

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace({ shoppers: [/Ada/, /Cleo/] });
  let screens: Record<string, string>;

  /**
   * The contents of a store after a while: keys in use, an integration that works and one that fails, members and
   * customers.
   */
  beforeAll(async () => {
    const { admin } = c;
    for (const [name, reserved, role] of [
      ["Storefront", 20, "viewer"],
      ["Warehouse", 10, "support"],
      ["Newsletter", 0, "viewer"],
      ["Donaudampfschifffahrtselektrizitätenhauptbetriebswerk", 5, "viewer"],
    ] as const)
      await admin.applicationKeys.create({ name, reserved_rate_limit: reserved, role });
    const hook = { integration_type: "webhook" as const, observes: ["store.*", "application_key.*"] };
    await admin.integrations.create({
      ...hook,
      name: "Newsletter",
      configuration: { url: `${c.receiver.url}/newsletter` },
    });
    const { data: till } = await admin.integrations.create({
      ...hook,
      name: "Till in Leeds",
      configuration: { url: `${c.receiver.url}/till` },
    });
    Object.assign(c.receiver.answer, { status: 503, text: "The till is closed until Monday." });
    await admin.store.update({ name: "Alder & Pine" });
    for (const [name, role] of [
      ["Tilda", "viewer"],
      ["Priya Raman", "support"],
    ] as const)
      await admin.members.create({ name, email: `${name.split(" ")[0]?.toLowerCase()}@shop.example`, role });
    for (const name of ["Grace Hopper", "Katherine Johnson", "Dorothy Vaughan"])
      await admin.customers.create({ name, email: `${name.split(" ")[1]?.toLowerCase()}@home.example` });
    const failed = async () => (await admin.signOns.list({ filter: "eq(outcome,failed)" })).data;
    await until(async () => (await failed()).length > 0);
    const deliveries = async () => (await admin.integrations.deliveries(till.id)).data;
    await until(async () => (await deliveries()).some(({ attempts }) => attempts.length > 0));
    const [ada] = (await admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data;
    const came = (await admin.signOns.list({ filter: "eq(outcome,exchanged)" })).data[0]?.id;
    screens = {
      home: "/",
      find: "/find",
      "find-nothing": "/find?q=0000-0000",
      "find-address": "/find?q=ada@shop.example",
      "sign-on": `/sign-ons/${(await failed())[0]?.id}`,
      "sign-on-good": `/sign-ons/${came}`,
      "sign-ons": "/sign-ons",
      "sign-ons-failed": "/sign-ons?outcome=failed",
      "sign-ons-of-members": "/sign-ons?people=members",
      failures: "/failures",
      group: "/failures?reason=claims.email_missing",
      providers: "/providers",
      "add-provider": "/providers/add",
      provider: (await practiceProvider(c)).path,
      keys: "/keys",
      key: `/keys/${(await admin.applicationKeys.list()).data[0]?.id}`,
      planner: "/planner",
      customers: "/customers",
      customer: `/customers/${ada?.id}`,
      events: "/events",
      "events-of-store": "/events?types=store.*",
      integrations: "/integrations",
      integration: `/integrations/${till.id}`,
      settings: "/settings",
      members: "/members",
      "not-here": "/nothing",
    };
  });

  test("every screen is among the screens below", () => {
    const paths = Object.values(screens).map((path) => path.replace(/\?.*/, ""));
    const patterns = Object.entries(SCREENS).filter(([name]) => !["signIn", "signedIn"].includes(name));
    for (const [name, pattern] of patterns) {
      const form = new RegExp(`^${pattern.replaceAll(/:\w+/g, "[\\w-]+")}$`);
      expect([name, paths.some((path) => form.test(path))]).toEqual([name, true]);
    }
  });

  const settle = async (page: Page) => {
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  };

  const openRow = (page: Page) =>
    page.getByRole("table").getByRole("button", { expanded: false }).first().click();

  /** An action that opens a dialog or a part of a screen. */
  const OPENED: Record<string, { at: string; open: (page: Page) => Promise<unknown> }> = {
    "create-key": { at: "keys", open: (page) => button(page, "Create a key").click() },
    invite: { at: "members", open: (page) => button(page, "Invite a colleague").click() },
    "remove-member": { at: "members", open: (page) => button(page, "Remove Tilda").click() },
    move: { at: "provider", open: (page) => button(page, "Change address and client").click() },
    disable: { at: "provider", open: (page) => button(page, "Disable").click() },
    "rotate-key": { at: "key", open: (page) => button(page, /^Rotate secret/).click() },
    "edit-integration": { at: "integration", open: (page) => button(page, "Edit").click() },
    "create-integration": {
      at: "integrations",
      open: (page) => button(page, "Add an integration").click(),
    },
    examined: {
      at: "provider",
      async open(page) {
        await button(page, "Run checks").click();
        await page.getByText("R9", { exact: true }).waitFor();
      },
    },
    tested: {
      at: "provider",
      async open(page) {
        const opened = page.waitForEvent("popup");
        await button(page, "Test sign-on").click();
        const second = await opened;
        await button(second, /Ada/).first().click();
        await second.getByRole("heading", { name: /Test (passed|failed)/ }).waitFor();
        await second.close();
        await page.getByText("Test passed").waitFor();
      },
    },
    event: { at: "events-of-store", open: (page) => openRow(page) },
    delivery: { at: "integration", open: (page) => openRow(page) },
    "end-session": { at: "customer", open: (page) => button(page, "End this session").click() },
    erase: { at: "customer", open: (page) => button(page, "Erase this customer").click() },
    "delete-integration": { at: "integration", open: (page) => button(page, "Delete").click() },
    role: { at: "members", open: (page) => button(page, "Change role of Tilda").click() },
    invitation: { at: "members", open: (page) => button(page, "Invitation for Tilda").click() },
    menu: {
      at: "home",
      open: async (page) => {
        const menu = button(page, "Menu");
        if (await menu.isVisible()) await menu.click();
      },
    },
    // The last one: a dialog of the frame stays open on the next screen.
    palette: {
      at: "keys",
      async open(page) {
        await page.keyboard.press("Control+k");
        await page.getByRole("dialog", { name: "Search" }).waitFor();
        await page.getByRole("combobox", { name: /reference/ }).fill("hopper");
        await page.getByRole("option", { name: /Grace Hopper/ }).waitFor();
      },
    },
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
    "every screen, %s and %d wide: axe finds nothing, and nothing is wider than the window",
    async (colorScheme, width) => {
      const page = await newPage(c, { viewport: { width, height: width > 1000 ? 900 : 844 }, colorScheme });
      const check = async (name: string) => {
        expect([name, await barriersOf(page)]).toEqual([name, []]);
        const wider = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect([name, wider]).toEqual([name, 0]);
        if (PICTURES)
          await page.screenshot({
            path: `${PICTURES}/console-${name}-${width}-${colorScheme}.png`,
            fullPage: true,
          });
      };
      await page.goto(c.members);
      await heading(page, "Sign in to your store");
      await check("sign-in");
      await signInWithKey(c, page);
      for (const [name, path] of Object.entries(screens)) {
        await go(page, path);
        await settle(page);
        await check(name);
      }
      for (const [name, { at, open }] of Object.entries(OPENED)) {
        await go(page, "/nothing", "This page doesn’t exist");
        await go(page, screens[at] ?? "");
        await settle(page);
        await open(page);
        await check(name);
      }
      await page.context().close();
    },
    // Some thirty screens in sequence, each checked by axe.
    300_000,
  );

  test("a redirect URI with an error keeps its remove button beside its field", async () => {
    const page = await newPage(c);
    await signInWithKey(c, page, "/settings");
    const field = page.getByRole("textbox", { name: "Redirect URI 1" }).first();
    await field.fill("http://shop.example/");
    await page.getByText("Only https, except on localhost and 127.0.0.1.").waitFor();
    const middleOf = async (of: typeof field) => {
      const { y = 0, height = 0 } = (await of.boundingBox()) ?? {};
      return Math.round(y + height / 2);
    };
    const remove = button(page, "Remove redirect URI 1").first();
    expect(await middleOf(remove)).toBe(await middleOf(field));
    await page.context().close();
  });

  test("a redirect URI has the full width in a narrow window", async () => {
    const page = await newPage(c, { viewport: { width: 360, height: 800 } });
    await signInWithKey(c, page, "/settings");
    const field = page.getByRole("textbox", { name: "Redirect URI 1" }).first();
    const other = page.getByLabel("Link back to the shop").first();
    const widthOf = async (of: typeof field) => (await of.boundingBox())?.width;
    expect(await widthOf(field)).toBe(await widthOf(other));
    await page.context().close();
  });

  test("the counts of Failures share one column, so their labels begin at one line", async () => {
    const { profile } = await practiceProvider(c);
    const page = await newPage(c, { viewport: { width: 390, height: 844 } });
    await page.route(/\/v2\/sign-ons\/statistics/, async (route) => {
      const { meta } = await (await route.fetch()).json();
      const reasons = { "claims.email_missing": 12_587, "id_token.aud": 9 };
      const entry = { from: meta.from, profile_id: profile.id, outcomes: { failed: 12_596 }, reasons };
      await route.fulfill({ json: { data: [{ ...entry, idp_ms: { p50: null, p95: null } }], meta } });
    });
    await signInWithKey(c, page, "/failures");
    await page.getByText("12,587").waitFor();
    const leftOf = async (text: string) => (await page.getByText(text).first().boundingBox())?.x;
    expect(await leftOf("The identity provider gave no e-mail")).toBe(await leftOf("id_token.aud"));
    // A request for the figures may be under way: its fetch fails when the page closes.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().close();
  });

  test("a name written from right to left does not reorder the text after it", async () => {
    const name = "مفتاح المتجر 12";
    await c.admin.applicationKeys.create({ name, reserved_rate_limit: 3 });
    const page = await newPage(c);
    await signInWithKey(c, page, "/keys");
    const share = page.getByRole("listitem").filter({ hasText: /^مفتاح المتجر 12 0 of 3$/ });
    const [called, said] = await placesOf(share, ["مفتاح", "0"]);
    expect(said?.left).toBeGreaterThan(called?.right ?? Number.NaN);
    await page.context().close();
  });

  test("a name with a direction override does not reorder the sentence of an event", async () => {
    await c.admin.applicationKeys.create({ name: "Door \u202eabc" });
    const page = await newPage(c);
    await signInWithKey(c, page, "/events");
    const event = page.getByRole("row").filter({ hasText: "Door" });
    const [called, said] = await placesOf(event, ["abc", "created"]);
    expect(said?.left).toBeGreaterThan(called?.right ?? Number.NaN);
    await page.context().close();
  });

  /** The positions of texts at one moment: figures that change may move their neighbours. */
  const placesOf = (within: Locator, texts: string[]): Promise<{ left: number; right: number }[]> =>
    within.evaluate(
      (item: Element, all: string[]) =>
        all.map((looked) => {
          const walker = document.createTreeWalker(item, NodeFilter.SHOW_TEXT);
          for (let node = walker.nextNode(); node; node = walker.nextNode()) {
            const at = node.nodeValue?.indexOf(looked) ?? -1;
            if (at < 0) continue;
            const range = document.createRange();
            range.setStart(node, at);
            range.setEnd(node, at + looked.length);
            const { left, right } = range.getBoundingClientRect();
            return { left, right };
          }
          throw new Error(`no text ${looked}`);
        }),
      texts,
    );

  test("Home and Settings do not move their first content when the rest arrives", async () => {
    const page = await newPage(c, { viewport: { width: 390, height: 844 } });
    await signInWithKey(c, page, "/keys");
    await heading(page, "Keys");
    const hold = async (path: RegExp) => {
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await page.route(path, async (route) => {
        await held;
        await route.continue();
      });
      return release;
    };
    const topOf = async (name: string) => {
      await heading(page, name);
      return (await page.getByRole("heading", { name }).first().boundingBox())?.y;
    };
    const letProviders = await hold(/\/oidc-profiles\?/);
    await go(page, "/");
    const first = await topOf("Sign-ons");
    letProviders();
    await heading(page, "Shoppers can sign in.");
    expect(await topOf("Sign-ons")).toBe(first);
    // A new visit: Home has read the realms too, and Settings would show them at once.
    await signInWithKey(c, page, "/keys");
    await heading(page, "Keys");
    const letSettings = await hold(/\/v2\/customer-authentication-settings/);
    const realms = page.waitForResponse(/\/v2\/authentication-realms\?/);
    await go(page, "/settings");
    await (await realms).finished();
    await heading(page, "The store");
    // A realm's contents wait for the settings, whose client id is shown above them.
    expect(await page.getByText("Redirect URI 1").count()).toBe(0);
    letSettings();
    await page.getByText("Client id for OpenID Connect libraries").waitFor();
    await page.context().close();
  });

  test("forced colours › a dialog has an edge", async () => {
    const page = await newPage(c, { forcedColors: "active" });
    await signInWithKey(c, page, "/keys");
    await button(page, "Create a key").click();
    const edge = await page.getByRole("dialog").evaluate((dialog: Element) => {
      const { borderTopWidth, borderTopColor } = getComputedStyle(dialog);
      return [borderTopWidth !== "0px", borderTopColor !== "rgba(0, 0, 0, 0)"];
    });
    expect(edge).toEqual([true, true]);
    await page.context().close();
  });

  test("forced colours › a legend has the colours of its chart", async () => {
    const page = await newPage(c, { forcedColors: "active" });
    await signInWithKey(c, page);
    const colorOf = (words: RegExp) =>
      page
        .getByRole("listitem")
        .filter({ hasText: words })
        .evaluate((item: Element) => getComputedStyle(item.firstElementChild as Element).backgroundColor);
    expect(await colorOf(/^\d+ signed in$/)).not.toBe(await colorOf(/^\d+ failed$/));
    await page.context().close();
  });

  test("print › a record has no menu and no buttons, and is light on a dark screen too", async () => {
    const page = await newPage(c, { colorScheme: "dark" });
    await signInWithKey(c, page, screens["sign-on"]);
    await heading(page, "What happened");
    const inkOf = () => page.evaluate(() => getComputedStyle(document.body).color);
    const onScreen = await inkOf();
    await page.emulateMedia({ media: "print" });
    expect(await inkOf()).not.toBe(onScreen);
    expect(await page.getByRole("button").count()).toBe(0);
    expect(await page.getByRole("navigation").count()).toBe(0);
    await heading(page, "What happened");
    await page.context().close();
  });

  test("a narrow window › the menu closes after any choice, and gives the focus to the heading", async () => {
    const page = await newPage(c, { viewport: { width: 390, height: 844 } });
    await signInWithKey(c, page, "/keys");
    // A screen that is still loading has no heading yet.
    await heading(page, "Keys");
    for (const name of ["Keys", "Planner"]) {
      await button(page, "Menu").click();
      const link = page.getByRole("navigation").getByRole("link", { name });
      await link.click();
      await link.waitFor({ state: "hidden" });
      await heading(page, name);
      await until(() => page.evaluate((title) => document.activeElement?.textContent === title, name));
    }
    await page.context().close();
  });
});
