import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Admin, createAdmin } from "@latchkey/sdk/admin";
import type { Browser, Page, Route } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { launchChromium } from "../support/chromium.ts";
import { newPlace, serve } from "../support/running.ts";

/**
 * Everything that `npm start` starts, a browser, and a page in which an administrator is signed in with a key. A file
 * of tests shares them: a test opens its screen by a link of the page, because a reload ends the sign-in with a key.
 */
type ConsolePlace = {
  url: string;
  shop: string;
  idp: string;
  /** The sign-in address of members that names the store and its realm, as `member add` prints it. */
  members: string;
  key: Key;
  admin: Admin;
  browser: Browser;
  /** The file of the service's database. */
  database: string;
  /** A receiver of webhooks. Its answer can be changed. */
  receiver: { url: string; answer: { status: number; text: string } };
  /** The administrator's page. */
  page: Page;
  /** Errors of scripts, and violations of the Content Security Policy. */
  complaints: string[];
};

type Key = { clientId: string; clientSecret: string };

/** `allow` gives further origins for `LATCHKEY_EGRESS_ALLOW`. */
type Options = { allow?: () => Promise<string[]>; shoppers?: RegExp[] };

/** Opens the place before the first test and closes it after the last one. */
export function consolePlace({ allow, shoppers = [] }: Options = {}): ConsolePlace {
  const c = { complaints: [] as string[] } as ConsolePlace;
  let close = async () => {};
  beforeAll(async () => {
    const place = await newPlace();
    const answer = { status: 200, text: "heard" };
    const receiver = createServer((_, response) => {
      response.statusCode = answer.status;
      response.end(answer.text);
    }).listen(0, "127.0.0.1");
    await once(receiver, "listening");
    const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`;
    place.env.LATCHKEY_EGRESS_ALLOW = [url, ...((await allow?.()) ?? [])].join(",");
    const [running, browser] = await Promise.all([serve(place, ["dev"]), launchChromium()]);
    close = async () => {
      await browser.close();
      running.child.kill("SIGINT");
      const code = await running.exited;
      receiver.closeAllConnections();
      receiver.close();
      place.leave();
      expect(code).toBe(0);
    };
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    const found = (pattern: RegExp) => pattern.exec(banner)?.[1] ?? "";
    const key = { clientId: found(/(lkid_\w+)/), clientSecret: found(/(lksk_\w+)/) };
    Object.assign(c, {
      url: place.url,
      shop: found(/shop\s+(http\S+)/),
      idp: new URL(found(/practice IdP\s+(http\S+)/)).origin,
      key,
      admin: createAdmin({ baseUrl: place.url, ...key }),
      browser,
      database: place.env.LATCHKEY_DATABASE_URL?.slice("sqlite:".length),
      receiver: { url, answer },
    });
    c.members = await membersAddress(c);
    for (const who of shoppers) await shopAs(c, who);
    c.page = await newPage(c, { permissions: ["clipboard-read", "clipboard-write"] });
    await signInWithKey(c, c.page);
  });
  beforeEach(() => c.page.bringToFront());
  afterEach(() => expect(c.complaints.splice(0)).toEqual([]));
  afterAll(() => close());
  return c;
}

async function membersAddress({ url, admin }: ConsolePlace): Promise<string> {
  const [{ data: me }, { data: realms }] = await Promise.all([admin.me(), admin.realms.list()]);
  const realm = realms.find(({ purpose }) => purpose === "members")?.id ?? "";
  return `${url}/console/sign-in?${new URLSearchParams({ store: me.store.id, realm })}`;
}

export async function newPage(
  c: ConsolePlace,
  options: Parameters<Browser["newContext"]>[0] = {},
): Promise<Page> {
  const context = await c.browser.newContext(options);
  context.setDefaultTimeout(60_000);
  const page = await context.newPage();
  page.on("pageerror", (error) => c.complaints.push(String(error)));
  page.on("console", (message) => {
    if (/Content Security Policy|Warning:|unique "key"/.test(message.text()))
      c.complaints.push(message.text());
  });
  return page;
}

export const button = (page: Page, name: string | RegExp) => page.getByRole("button", { name });

/** A button of the open dialog: the screen below may have a button whose text begins the same. */
export const inDialog = (page: Page, name: string) =>
  page.getByRole("dialog").getByRole("button", { name, exact: true });

export const heading = (page: Page, name: string | RegExp) =>
  page.getByRole("heading", { name }).first().waitFor();

export async function signInWithKey(c: ConsolePlace, page: Page, path = "/", key = c.key): Promise<void> {
  await page.goto(`${c.url}/console${path}`);
  await page.getByLabel("Client id").fill(key.clientId);
  await page.getByLabel("Client secret").fill(key.clientSecret);
  await button(page, "Sign in with the key").click();
  await page.getByRole("navigation", { name: "Console", includeHidden: true }).waitFor({ state: "attached" });
}

export async function signInAsMember(c: ConsolePlace, page: Page, who: RegExp): Promise<void> {
  await page.goto(c.members);
  await button(page, "Sign in as a member").click();
  await button(page, who).first().click();
  await page.getByRole("navigation", { name: "Console", includeHidden: true }).waitFor({ state: "attached" });
}

/** Opens a screen as a link does, without a reload, and waits for its heading. */
export async function go(page: Page, path: string, title?: string | RegExp): Promise<void> {
  await page.evaluate((to) => history.pushState(null, "", to), `/console${path}`);
  if (title) await heading(page, title);
}

/**
 * Waits until the clipboard matches: a page writes to the clipboard after the press, and the earlier text stays until
 * then.
 */
export async function copied(page: Page, what: RegExp): Promise<string> {
  let text = "";
  await until(async () => {
    text = await page.evaluate(() => navigator.clipboard.readText());
    return what.test(text);
  });
  return text;
}

/** Intercepts the next request that is not a GET. GETs pass, because an event may cause them at any moment. */
export async function onChange(
  page: Page,
  address: RegExp,
  act: (route: Route) => Promise<void>,
): Promise<void> {
  let isOver = false;
  await page.route(address, (route) => {
    if (isOver || route.request().method() === "GET") return route.continue();
    isOver = true;
    return act(route);
  });
}

/** A sign-on at the shop as this person, up to the page with the result. */
export async function shopAs(c: ConsolePlace, who: RegExp): Promise<void> {
  const page = await newPage(c);
  await page.goto(`${c.shop}/sign-in`);
  await button(page, "Continue with Practice sign-in").click();
  await button(page, who).first().click();
  await page.waitForURL(`${c.shop}/**`);
  await page
    .getByText(/@shop\.example|Reference/)
    .first()
    .waitFor();
  await page.context().close();
}

/** The provider that shoppers sign in through. */
export async function practiceProvider({ admin }: ConsolePlace) {
  const { data: settings } = await admin.settings.get();
  const [profile] = (await admin.profiles(settings.realm_id).list()).data;
  if (!profile) throw new Error("the practice provider is gone");
  return {
    realmId: settings.realm_id,
    profile,
    path: `/realms/${settings.realm_id}/providers/${profile.id}`,
  };
}

/** Loads the page anew: a change that is based on a remembered, older state of the provider is refused. */
export async function openProvider(c: ConsolePlace): Promise<void> {
  await signInWithKey(c, c.page, (await practiceProvider(c)).path);
  await heading(c.page, "The nine requirements");
}

/** A new key with this role. */
export async function keyWithRole(
  { admin }: ConsolePlace,
  role: "viewer" | "support" | "administrator",
): Promise<Key> {
  const { data } = await admin.applicationKeys.create({ name: `For ${role}`, role });
  return { clientId: data.client_id, clientSecret: data.client_secret };
}
