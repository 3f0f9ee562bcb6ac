import { mkdirSync } from "node:fs";
import { createAdmin } from "@latchkey/sdk/admin";
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { launchChromium } from "../support/chromium.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/**
 * Everything that `npm start` starts, and a browser. A file of tests starts both once; each test gets a fresh `context`
 * and `page`. The hooks of `practiceShop` set these variables.
 */

let place: Place;
let running: Running;
export let browser: Browser;
export let context: BrowserContext;
export let page: Page;
export let shop: string;
export let knobs: string;
const complaints: string[] = [];

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

export const serviceUrl = (): string => place.url;

/** Starts the service and the browser before the first test, and stops both after the last one. */
export function practiceShop(): void {
  beforeAll(async () => {
    place = await newPlace();
    running = await serve(place, ["dev"]);
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    shop = banner.match(/shop\s+(http\S+)/)?.[1] ?? "";
    knobs = banner.match(/practice IdP\s+(http\S+)/)?.[1] ?? "";
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    running?.child.kill("SIGINT");
    expect(await running?.exited).toBe(0);
    place?.leave();
  });
  beforeEach(async () => {
    context = await newContext();
    page = await context.newPage();
    watch(page);
  });
  afterEach(async () => {
    await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
}

/** With a time limit that a busy machine does not reach. */
export async function newContext(of = browser, options: BrowserContextOptions = {}): Promise<BrowserContext> {
  const made = await of.newContext(options);
  made.setDefaultTimeout(60_000);
  return made;
}

/** Collects errors of scripts and violations of the Content Security Policy: every test checks that there are none. */
export function watch(of: Page): void {
  of.on("pageerror", (error) => complaints.push(String(error)));
  of.on("console", (message) => {
    if (message.type() === "error" && message.text().includes("Content Security Policy"))
      complaints.push(message.text());
  });
}

export const picture = async (name: string, of: Page = page) => {
  if (PICTURES) await of.screenshot({ path: `${PICTURES}/${name}.png`, fullPage: true });
};

export const continueWith = (of: Page = page) =>
  of.getByRole("button", { name: "Continue with Practice sign-in" });

export const person = (name: RegExp, of: Page = page) => of.getByRole("button", { name });

export const heading = (name: string | RegExp, of: Page = page) =>
  of.getByRole("heading", { name }).first().waitFor();

/** From the sign-in page to the account. */
export async function signIn(who = /^A? ?Ada/, of: Page = page): Promise<void> {
  await of.goto(`${shop}/sign-in`);
  await continueWith(of).click();
  await person(who, of).click();
  await of.waitForURL(`${shop}/account`);
}

/** Presses a button on the page of the practice provider's knobs, and waits for the provider's answer. */
export async function turn(find: (of: Page) => Locator): Promise<void> {
  const own = await context.newPage();
  await own.goto(knobs);
  const taken = own.waitForResponse((answer) => answer.request().method() === "POST");
  await find(own).click();
  await taken;
}

/** Checks that the page has no barrier and is no wider than the screen, and takes its picture. */
export async function look(of: Page, name: string): Promise<void> {
  await picture(name, of);
  expect(await barriersOf(of), name).toEqual([]);
  const overflow = await of.evaluate(
    () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
  );
  expect(overflow, name).toBe(0);
}

export const administer = () => {
  const banner = running.logLines().join("\n");
  const [clientId = ""] = banner.match(/lkid_\w+/) ?? [];
  const [clientSecret = ""] = banner.match(/lksk_\w+/) ?? [];
  return createAdmin({ baseUrl: place.url, clientId, clientSecret });
};
