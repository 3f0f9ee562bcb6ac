import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type Admin, createAdmin } from "@latchkey/sdk/admin";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { until } from "../packages/server/test/support/until.ts";
import { barriersOf } from "./axe.ts";
import { hasChromium, launchChromium } from "./chromium.ts";
import { newPlace, type Place, type Running, serve } from "./running.ts";

/** What people of a store do in the console, in a real browser, with everything that `npm start` starts. */

let place: Place;
let running: Running;
let browser: Browser;
let context: BrowserContext;
let page: Page;
let admin: Admin;
let shop: string;
let idp: string;
let key: { clientId: string; clientSecret: string };
let failed: { id: string; reference: string };
let ada: string;
let receiver: Server;
let hooks: string;
let members: string;

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

const button = (name: string | RegExp, of: Page = page) => of.getByRole("button", { name });
const heading = (name: string | RegExp, of: Page = page) =>
  of.getByRole("heading", { name }).first().waitFor();

async function newPage(options: Parameters<Browser["newContext"]>[0] = {}): Promise<Page> {
  const made = await browser.newContext(options);
  made.setDefaultTimeout(60_000);
  return made.newPage();
}

async function signInWithKey(of: Page = page, path = "/", as = key): Promise<void> {
  await of.goto(`${place.url}/console${path}`);
  await of.getByLabel("Client id").fill(as.clientId);
  await of.getByLabel("Client secret").fill(as.clientSecret);
  await button("Sign in with the key", of).click();
  await of.getByRole("navigation", { name: "Console", includeHidden: true }).waitFor({ state: "attached" });
}

/** Within the page, as a link would: a reload forgets who is signed in. */
const go = (path: string, of: Page = page) =>
  of.evaluate((to) => history.pushState(null, "", to), `/console${path}`);

/** One sign-on at the shop, as this person. */
async function shopAs(who: RegExp): Promise<void> {
  const own = await newPage();
  await own.goto(`${shop}/sign-in`);
  await button("Continue with Practice sign-in", own).click();
  await button(who, own).first().click();
  await own.waitForURL(`${shop}/**`);
  await own
    .getByText(/ada@shop\.example|Reference/)
    .first()
    .waitFor();
  await own.context().close();
}

describe.skipIf(!hasChromium)("in Chromium", () => {
  const complaints: string[] = [];
  beforeAll(async () => {
    place = await newPlace();
    receiver = createServer((_, response) => response.end("heard")).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    hooks = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    place.env.LATCHKEY_EGRESS_ALLOW = hooks;
    running = await serve(place, ["dev"]);
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    shop = banner.match(/shop\s+(http\S+)/)?.[1] ?? "";
    members = banner.match(/console\s+(http\S+)/)?.[1] ?? "";
    idp = new URL(banner.match(/practice IdP\s+(http\S+)/)?.[1] ?? "").origin;
    key = {
      clientId: banner.match(/lkid_\w+/)?.[0] ?? "",
      clientSecret: banner.match(/lksk_\w+/)?.[0] ?? "",
    };
    admin = createAdmin({ baseUrl: place.url, ...key });
    browser = await launchChromium();
    await shopAs(/Ada/);
    await shopAs(/Cleo/);
    await until(async () => (await admin.signOns.list({ filter: "eq(outcome,failed)" })).data.length > 0);
    [failed = failed] = (await admin.signOns.list({ filter: "eq(outcome,failed)" })).data;
    ada = (await admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data[0]?.id ?? "";
  });
  afterAll(async () => {
    await browser?.close();
    running?.child.kill("SIGINT");
    expect(await running?.exited).toBe(0);
    receiver?.closeAllConnections();
    receiver?.close();
    place?.leave();
  });
  beforeEach(async () => {
    page = await newPage({ permissions: ["clipboard-read", "clipboard-write"] });
    context = page.context();
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      if (/Content Security Policy|Warning:|unique "key"/.test(message.text()))
        complaints.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });

  test("a wrong secret is told with its code, what to do, and the request; the right one leads to where one wanted", async () => {
    await page.goto(`${place.url}/console/keys`);
    await page.getByLabel("Client id").fill(key.clientId);
    await page.getByLabel("Client secret").fill("lksk_nonsense");
    await button("Sign in with the key").click();
    const problem = page.getByRole("alert");
    await problem.getByText("client_secret_mistyped").waitFor();
    await problem
      .getByText("Copy the secret again")
      .or(problem.getByText(/secret/i))
      .first()
      .waitFor();
    expect(await problem.innerText()).toMatch(/Request [0-9a-f-]{36}/);
    await page.getByLabel("Client secret").fill(key.clientSecret);
    await button("Sign in with the key").click();
    await heading("Keys");
    expect(page.url()).toBe(`${place.url}/console/keys`);
  });

  test("nothing of the key is kept: not in the address, not on the device; a reload asks again, and signing out too", async () => {
    await signInWithKey();
    await heading("Shoppers can sign in.");
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(kept).toBe('[{},{},""]');
    expect(page.url()).not.toContain("lk");
    await button("Sign out").click();
    await heading("Sign in to your store");
    await signInWithKey();
    await page.reload();
    await heading("Sign in to your store");
  });

  test("Home says whether shoppers can sign in, and opens what failed", async () => {
    await signInWithKey();
    await heading("Shoppers can sign in.");
    await page.getByRole("img", { name: /requests a second now, limit \d+/ }).waitFor();
    await page.getByRole("img", { name: /^1 signed in, 0 not finished, 1 failed$/ }).waitFor();
    await page.getByRole("link", { name: new RegExp(failed.reference) }).click();
    await heading(`Sign-on ${failed.reference}`);
  });

  test("Find: a reference in any spelling opens the record, with both sides of each check and a letter to copy", async () => {
    await signInWithKey(page, "/find");
    await page.getByRole("searchbox").fill(` ${failed.reference.toLowerCase().replace("-", " ")}`);
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: new RegExp(failed.reference) }).click();
    await page.getByText("Who must act").waitFor();
    const failing = page.getByRole("row", { name: /E-mail address/ });
    expect(await failing.innerText()).toMatch(/one plain address[\s\S]*Failed/);
    expect(await page.getByRole("listitem").filter({ hasText: "Leg 2" }).count()).toBe(4);
    await button(/^Copy for the provider/).click();
    await button(/^Copied/).waitFor();
    const letter = await page.evaluate(() => navigator.clipboard.readText());
    expect(letter).toContain(`Reference: ${failed.reference}`);
    expect(letter).toContain("What to do:");
    expect(letter).not.toMatch(/cleo/i);
  });

  test("Find: an e-mail address, a name and an id lead to the customer; what nobody has says where else to look", async () => {
    await signInWithKey(page, "/find");
    for (const asked of ["ada@shop.example", "ada", ada]) {
      await page.getByRole("searchbox").fill(asked);
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: /ada@shop\.example/ }).waitFor();
    }
    await page.getByRole("searchbox").fill("0000-0000");
    await page.keyboard.press("Enter");
    await heading("Nothing found");
  });

  test("Failures are grouped by reason, and a group opens its records", async () => {
    await signInWithKey(page, "/failures");
    await page.getByRole("link", { name: /claims\.email_missing/ }).click();
    await heading("claims.email_missing");
    await page.getByRole("link", { name: new RegExp(failed.reference) }).waitFor();
  });

  test("a provider is examined, line by line, disabled, and enabled again", async () => {
    await signInWithKey(page, "/providers");
    await page.getByRole("link", { name: /Practice sign-in.*Customers/ }).click();
    await button("Examine now").click();
    await page.getByText("R9").waitFor();
    expect(await page.getByRole("listitem").filter({ hasText: /^R\d/ }).count()).toBe(9);
    await button("Disable").click();
    await page.getByText("Disabled", { exact: true }).waitFor();
    await button("Enable").click();
    await page.getByText("Up", { exact: true }).waitFor();
  });

  test("a provider is added in four steps; nothing is offered to shoppers before the last, and it is removed by its name", async () => {
    await signInWithKey(page, "/providers/add");
    await page.getByRole("combobox").selectOption("other");
    await page.getByLabel(/^Name/).fill("Second door");
    await page.getByLabel("Address").fill("http://idp.example");
    await button("Go on").click();
    await page.getByText("must begin with https").waitFor();
    await page.getByLabel("Address").fill(idp);
    await button("Go on").click();
    await heading("Register this callback at the provider");
    await button("Copy callback").click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toMatch(/\/profiles\/[^/]+\/callback$/);
    await button("It is registered").click();
    await page.getByLabel("Client id").fill("latchkey");
    await page.getByLabel("Client secret").fill("practice");
    await button("Go on").click();
    await heading("Does it meet the nine requirements?");
    const all = async () => {
      const { data: settings } = await admin.settings.get();
      return (await admin.profiles(settings.realm_id).list()).data;
    };
    expect((await all()).filter(({ enabled }) => enabled)).toHaveLength(1);
    await button("Examine now").click();
    await page.getByText("R9").waitFor();
    await button("Finish: let people sign in").click();
    await heading("Second door");
    await until(async () => (await all()).filter(({ enabled }) => enabled).length === 2);
    await button("Remove").click();
    const dialog = page.getByRole("dialog", { name: "Remove Second door?" });
    expect(await dialog.getByRole("button", { name: "Remove the provider" }).isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("Second door");
    await dialog.getByRole("button", { name: "Remove the provider" }).click();
    await heading("Providers");
    await until(async () => (await all()).length === 1);
  });

  test("a key is created with its secret shown once, rotated with the end of the old one in sight, and deleted by its name", async () => {
    await signInWithKey(page, "/keys");
    await page.getByRole("img", { name: /Requests a second: .*Shared by all/ }).waitFor();
    await button("Create a key").click();
    await page.getByLabel("Name of the program").fill("Warehouse");
    await page.getByLabel("Reserved requests a second").fill("7");
    await button("Create the key").click();
    const made = page.getByRole("dialog", { name: "The key of Warehouse" });
    await made.getByRole("button", { name: "Copy client secret" }).click();
    const secret = await page.evaluate(() => navigator.clipboard.readText());
    expect(secret).toMatch(/^lksk_/);
    await made.getByRole("button", { name: "I have copied it" }).click();
    expect(await page.content()).not.toContain(secret);
    await page.getByText("7 a second reserved").waitFor();
    await button("Rotate secret of Warehouse").click();
    await button("Make a new secret").click();
    await button("I have copied it").click();
    await page.getByText(/An older secret works until (tomorrow|in 2\d hours)/).waitFor();
    await button("Delete Warehouse").click();
    await page.getByRole("dialog").getByRole("textbox").fill("Warehouse");
    await button("Delete the key").click();
    await page.getByText("Warehouse is deleted.").waitFor();
    await until(async () =>
      (await admin.applicationKeys.list()).data.every(({ name }) => name !== "Warehouse"),
    );
  });

  test("the planner plays the last hour again for a reservation, and applies it", async () => {
    await signInWithKey(page, "/planner");
    const slider = page.getByRole("slider");
    await slider.focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    await page
      .getByText(/would have been|Nobody was refused|Nothing was asked for/)
      .first()
      .waitFor();
    await button("Apply").click();
    await page.getByText(/has 3 requests a second reserved/).waitFor();
    expect((await admin.applicationKeys.list()).meta.total_reserved_rate_limit).toBe(3);
  });

  test("a customer's sessions are ended; erasing asks for the address", async () => {
    await signInWithKey(page, "/customers");
    await page.getByRole("searchbox").fill("Ada");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /ada@shop\.example/ }).click();
    await page.getByText("through Practice sign-in").first().waitFor();
    await button("End all sessions").click();
    await heading("Nowhere");
    const { data: gone } = await admin.customers.create({ name: "Grace Gone", email: "grace@shop.example" });
    await go(`/customers/${gone.id}`);
    await button("Erase this customer").click();
    await page.getByRole("dialog").getByRole("textbox").fill("grace@shop.example");
    await button("Erase for good").click();
    await heading("Customers");
    await page.getByText("Grace Gone is erased.").waitFor();
  });

  test("Events shows what happens while one looks, with before and after", async () => {
    await signInWithKey(page, "/events");
    await page
      .getByText(/^Store/)
      .or(page.getByText(/created/))
      .first()
      .waitFor();
    await admin.store.update({ name: "Alder & Pine" });
    const row = page.getByRole("group").filter({ hasText: "Store Alder & Pine updated" }).first();
    await row.click();
    await row.getByText("Practice store").waitFor();
    await admin.store.update({ name: "Practice store" });
    await page.getByText("Store Practice store updated").first().waitFor();
  });

  test("an integration is added with its secret shown once, tried, and what it was sent is sent again", async () => {
    await signInWithKey(page, "/integrations");
    await button("Add an integration").click();
    await page.getByLabel("Name").fill("Newsletter");
    await page.getByLabel("Address").fill(`${hooks}/events`);
    await page.getByRole("checkbox", { name: /Keys and limit/ }).check();
    await button("Add the integration").click();
    await page.getByText(/^whsec_/).waitFor();
    await button("I have copied it").click();
    await page.getByRole("link", { name: /Newsletter/ }).click();
    await button("Send a test message").click();
    await page.getByText(/Answered 200/).waitFor();
    await admin.store.update({ name: "Practice store" });
    await admin.store.update({ name: "Alder" });
    await admin.store.update({ name: "Practice store" });
    const row = page.getByRole("group").filter({ hasText: "store.updated" }).first();
    await row.getByText("Delivered").waitFor();
    await row.click();
    await row.getByText("heard").first().waitFor();
    await row.getByRole("button", { name: "Send again" }).click();
    await page.getByText("It is sent again.").waitFor();
    await button("Delete").click();
    await page.getByRole("dialog").getByRole("textbox").fill("Newsletter");
    await button("Delete the integration").click();
    await page.getByText("Newsletter is deleted.").waitFor();
    await heading("Integrations");
  });

  test("Settings judges a redirect URI while it is typed, and saves what is good", async () => {
    await signInWithKey(page, "/settings");
    const realmCard = page.getByRole("region", { name: "Realm “Customers”" });
    await realmCard.getByRole("button", { name: "Add a redirect URI" }).click();
    const added = realmCard.getByRole("textbox", { name: /^Redirect URI/ }).last();
    await added.fill("http://shop.example/back");
    await page.getByText("Only https, except on localhost and 127.0.0.1.").waitFor();
    const save = realmCard.getByRole("button", { name: "Save the redirect URIs" });
    expect(await save.isDisabled()).toBe(true);
    await added.fill("https://shop.example/back");
    await save.click();
    await page.getByText("The redirect URIs are saved.").waitFor();
    await page.getByText("The second one is refused").click();
    await button("Save the policy").click();
    await page.getByText("The policy is saved.").waitFor();
    await page.getByLabel("Limit, requests a second").fill("0");
    await page.getByText("A whole number, 1 or more.").waitFor();
    const { data: settings } = await admin.settings.get();
    const { data: realm } = await admin.realms.get(settings.realm_id);
    expect(realm).toMatchObject({ duplicate_email_policy: "disallowed" });
    expect(realm.redirect_uris).toContain("https://shop.example/back");
    await admin.realms.update(realm.id, { duplicate_email_policy: "api_only" });
  });

  test.each([
    ["viewer", ["Examine now", "End all sessions"], false],
    ["support", ["Examine now", "End all sessions"], true],
  ] as const)(
    "a key with the role %s is offered what it may do, and told why not the rest",
    async (role, acts, may) => {
      await shopAs(/Ada/);
      const { data } = await admin.applicationKeys.create({ name: `For ${role}`, role });
      await signInWithKey(page, "/customers", { clientId: data.client_id, clientSecret: data.client_secret });
      await go(`/customers/${ada}`);
      await page.getByText("through Practice sign-in").first().waitFor();
      expect(await button(acts[1]).count()).toBe(may ? 1 : 0);
      await page.getByText(`You are signed in as ${role}. This is for administrators.`).waitFor();
      expect(await button("Erase this customer").count()).toBe(0);
      await go("/providers");
      await page.getByRole("link", { name: /Practice sign-in.*Customers/ }).click();
      await heading("The nine requirements");
      expect(await button(acts[0]).count()).toBe(may ? 1 : 0);
      expect(await button("Remove").count()).toBe(0);
      for (const [path, title, act] of [
        ["/keys", "Keys", "Create a key"],
        ["/integrations", "Integrations", "Add an integration"],
        ["/settings", "Settings", "Save the policy"],
      ] as const) {
        await go(path);
        await heading(title);
        await page.getByText("This is for administrators.").first().waitFor();
        expect(await button(act).count()).toBe(0);
      }
      await admin.applicationKeys.delete(data.id);
    },
  );

  test("a member signs in through the provider in the same window; a reload asks nobody; nothing secret is kept", async () => {
    await page.goto(members);
    await button("Sign in as a member").click();
    await button(/Mona/).first().click();
    await heading("Shoppers can sign in.");
    await page.getByText(/Mona.*administrator/).waitFor();
    expect(page.url()).toBe(`${place.url}/console/`);
    const kept = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(await kept()).not.toMatch(/eyJ|verifier|token/i);
    await page.getByRole("link", { name: "Members" }).click();
    await page.getByText("mona@shop.example").waitFor();
    await page.reload();
    await heading("Members");
    expect(page.url()).toBe(`${place.url}/console/members`);
    await button("Sign out").click();
    await heading("Sign in to your store");
    expect(await kept()).not.toMatch(/eyJ|verifier|signed-in/);
  });

  test("with the keyboard alone: past the menu, into a dialog, which keeps the focus and gives it back", async () => {
    await signInWithKey(page, "/keys");
    await heading("Keys");
    await page.evaluate(() => (document.activeElement as { blur(): void } | null)?.blur());
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the screen");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Create a key");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Create a key" });
    await dialog.waitFor();
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      // Once around, the browser's own controls have their turn: the page then shows no focus, and the rest of it cannot be reached.
      const isHeld = (one: { contains(other: unknown): boolean }) =>
        one.contains(document.activeElement) || document.activeElement === document.body;
      expect(await dialog.evaluate(isHeld)).toBe(true);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Create a key");
  });

  test("live figures are asked for at most once a second, and not at all while nobody can see them", async () => {
    await page.clock.install();
    await signInWithKey();
    await heading("Shoppers can sign in.");
    let asked = 0;
    page.on("request", (request) => {
      if (new URL(request.url()).pathname.startsWith("/v2/")) asked++;
    });
    const usage = page.waitForRequest(/\/v2\/store\/usage/);
    await page.clock.runFor(10_000);
    await usage;
    expect(asked).toBeLessThanOrEqual(10);
    await page.evaluate(() => {
      Object.defineProperty(document, "hidden", { value: true, configurable: true });
      Object.defineProperty(document, "visibilityState", { value: "hidden", configurable: true });
      document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
    });
    await page.clock.runFor(2000);
    asked = 0;
    await page.clock.runFor(60_000);
    expect(asked).toBe(0);
  });

  const screens = (): Record<string, string> => ({
    home: "/",
    find: "/find",
    "find-nothing": "/find?q=0000-0000",
    "sign-on": `/sign-ons/${failed.id}`,
    failures: "/failures",
    providers: "/providers",
    "add-provider": "/providers/add",
    keys: "/keys",
    planner: "/planner",
    customers: "/customers",
    customer: `/customers/${ada}`,
    events: "/events",
    integrations: "/integrations",
    settings: "/settings",
    members: "/members",
  });

  const settle = async (of: Page) => {
    await of.getByRole("heading", { level: 1 }).waitFor();
    await of.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
  };

  // The other two ways of looking are for the eye: they are opened when pictures are taken.
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
      const own = await newPage({ viewport: { width, height: width > 1000 ? 900 : 844 }, colorScheme });
      const check = async (name: string) => {
        expect([name, await barriersOf(own)]).toEqual([name, []]);
        const wider = await own.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect([name, wider]).toEqual([name, 0]);
        if (PICTURES)
          await own.screenshot({
            path: `${PICTURES}/console-${name}-${width}-${colorScheme}.png`,
            fullPage: true,
          });
      };
      await own.goto(`${place.url}/console/`);
      await heading("Sign in to your store", own);
      await check("sign-in");
      await signInWithKey(own);
      for (const [name, path] of Object.entries(screens())) {
        await go(path, own);
        await settle(own);
        await check(name);
      }
      await go("/providers", own);
      await own.getByRole("link", { name: /Practice sign-in.*Customers/ }).click();
      await button("Examine now", own).click();
      await own.getByText("R9").waitFor();
      await check("provider");
      await go("/keys", own);
      await button("Create a key", own).click();
      await own.getByRole("dialog").waitFor();
      await check("create-key");
      await own.context().close();
    },
  );

  /** Each list, and what it says when there is nothing in it. */
  const LISTS: [path: string, list: RegExp, empty: string][] = [
    ["/", /\/v2\/sign-ons\?/, "No sign-on has failed"],
    ["/find", /\/v2\/sign-ons\?/, "No sign-on yet"],
    ["/failures", /\/v2\/sign-ons(\?|\/statistics)/, "No sign-on has failed"],
    ["/providers", /\/oidc-profiles\?/, "No provider yet"],
    ["/keys", /\/v2\/application-keys\?/, "No key"],
    ["/planner", /\/v2\/application-keys\?/, "No key"],
    ["/customers", /\/v2\/customers\?/, "No customer yet"],
    ["/events", /\/v2\/events\?/, "Nothing of this kind yet"],
    ["/integrations", /\/v2\/integrations\?/, "No integration yet"],
  ];

  test.each(LISTS)(
    "%s shows that it loads, what failed, and what an empty list is for; the tests above see it full",
    async (path, list, empty) => {
      await signInWithKey(page, "/settings");
      await heading("Settings");
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      await page.route(list, async (route) => {
        await held;
        const errors = [
          { status: "500", code: "internal_error", title: "", detail: "It broke.", id: "request-1" },
        ];
        await route.fulfill({ status: 500, json: { errors } });
      });
      await go(path);
      await page.locator("[aria-busy=true]").first().waitFor();
      release();
      const problem = page.getByRole("alert").first();
      await problem.getByText("It broke.").waitFor();
      expect(await problem.innerText()).toMatch(/internal_error[\s\S]*request-1/);
      await page.unroute(list);
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
      await page.route(/\/v2\/events\/head/, (route) => route.fulfill({ json: { data: { sequence: "0" } } }));
      await page.route(list, (route) => route.fulfill({ json: nothing }));
      await button("Try again").first().click();
      await heading(empty);
    },
  );
});
