import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { type Admin, createAdmin } from "@latchkey/sdk/admin";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { launchChromium } from "../support/chromium.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/**
 * The storefronts of the guides, built and started as the guides describe, one service with the practice provider, and a browser.
 * Everything starts once; each test gets a fresh `context` and `page`. The hooks of `exampleShops` set these variables.
 */

const root = fileURLToPath(new URL("../..", import.meta.url));
const folderOf = (name: string) => join(root, "examples", name);
const run = promisify(execFile);

const NAMES = ["html", "express", "react", "next"] as const;
type Name = (typeof NAMES)[number];
const REMEDY = "run `npm run examples`";
const missing = NAMES.filter((name) => !existsSync(join(folderOf(name), "node_modules/@latchkey/sdk")));
if (missing.length > 0 && process.env.CI)
  throw new Error(
    `Packages of examples are not here (${missing.join(", ")}), and CI must not skip their tests: ${REMEDY}`,
  );
if (missing.length > 0)
  console.warn(
    `Skipped: the examples ${missing.join(", ")}, because their packages are not installed. To run them, ${REMEDY}.`,
  );
export const installed = NAMES.filter((name) => !missing.includes(name));

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

export let place: Place;
export let running: Running;
export let context: BrowserContext;
export let page: Page;
/** The address at which members of the store sign in to the console. */
export let members: string;
/** A port at which the service may request an identity provider. */
export let otherPort: number;
export const complaints: string[] = [];
let browser: Browser;
let knobs: string;
let copy: string;
let credentials: { clientId: string; clientSecret: string };
const shops = new Map<Name, { url: string; child: ChildProcess; said: string }>();

/** Builds and starts everything before the first test, and stops everything after the last one. */
export function exampleShops(): void {
  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), "latchkey-example-"));
    // The current SDK, in whichever folder the packages were installed.
    const sdk = join(copy, "sdk");
    await run(process.execPath, [join(root, "packages/sdk/build.ts"), sdk]);
    for (const name of installed) {
      const target = join(folderOf(name), "node_modules/@latchkey/sdk");
      rmSync(target, { recursive: true });
      cpSync(sdk, target, { recursive: true });
    }
    place = await newPlace();
    otherPort = await freePort();
    place.env.LATCHKEY_EGRESS_ALLOW = `http://localhost:${otherPort}`;
    const builds = [build("react"), build("next")];
    running = await serve(place, ["dev"]);
    await until(() => running.logLines().some((line) => line.includes("Ctrl-C")));
    const banner = running.logLines().join("\n");
    knobs = banner.match(/practice IdP\s+(http\S+)/)?.[1] ?? "";
    members = banner.match(/console\s+(http\S+)/)?.[1] ?? "";
    const [clientId = ""] = banner.match(/lkid_\w+/) ?? [];
    const [clientSecret = ""] = banner.match(/lksk_\w+/) ?? [];
    credentials = { clientId, clientSecret };
    browser = await launchChromium();
    await Promise.all(builds);
    await Promise.all(installed.map((name) => open(name, clientId)));
  }, 600_000);
  afterAll(async () => {
    await browser?.close();
    for (const { child } of shops.values()) {
      child.kill();
      await until(() => child.exitCode !== null || child.signalCode !== null);
    }
    running?.child.kill("SIGINT");
    expect(await running?.exited).toBe(0);
    place?.leave();
    rmSync(copy, { recursive: true, force: true });
  });
  beforeEach(async () => {
    context = await newContext();
    page = await context.newPage();
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => {
      if (message.type() === "error" && message.text().includes("Content Security Policy"))
        complaints.push(message.text());
    });
  });
  afterEach(async () => {
    await context.close();
    expect(complaints.splice(0)).toEqual([]);
  });
}

async function build(name: Name): Promise<void> {
  if (!installed.includes(name)) return;
  const env = { PATH: process.env.PATH, HOME: copy, NEXT_TELEMETRY_DISABLED: "1" };
  await run("npm", ["run", "build"], { cwd: folderOf(name), env });
}

const STARTS: Record<Name, (port: number, clientId: string) => [string, string[]]> = {
  html: (_, clientId) => [staticCopy(clientId), ["serve.js"]],
  express: () => [folderOf("express"), ["server.js"]],
  react: () => [folderOf("react"), ["server.js"]],
  next: (port) => [folderOf("next"), [...startOfNext(), "--port", String(port)]],
};

function startOfNext(): string[] {
  const { scripts } = JSON.parse(readFileSync(join(folderOf("next"), "package.json"), "utf8"));
  return scripts.start.replace(/^next/, "node_modules/next/dist/bin/next").split(" ");
}

/** Plain files have no environment, so the values are written into the files. */
function staticCopy(clientId: string): string {
  const folder = join(copy, "html");
  cpSync(folderOf("html"), folder, { recursive: true, filter: (path) => !path.includes("node_modules") });
  for (const file of ["config.js", "index.html"]) {
    const text = readFileSync(join(folder, file), "utf8");
    const changed = text.replace("http://localhost:4000", place.url).replace('"lkid_"', `"${clientId}"`);
    expect(changed).not.toBe(text);
    writeFileSync(join(folder, file), changed);
  }
  cpSync(join(copy, "sdk/browser.js"), join(folder, "latchkey.js"));
  return folder;
}

async function open(name: Name, clientId: string): Promise<void> {
  const port = await freePort();
  const url = `http://localhost:${port}`;
  const [cwd, args] = STARTS[name](port, clientId);
  const child = spawn(process.execPath, args, {
    cwd,
    env: {
      PATH: process.env.PATH,
      NODE_ENV: "production",
      NEXT_TELEMETRY_DISABLED: "1",
      PORT: String(port),
      LATCHKEY_URL: place.url,
      LATCHKEY_CLIENT_ID: clientId,
      SHOP_URL: url,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const shop = { url, child, said: "" };
  shops.set(name, shop);
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk) => {
      shop.said += chunk;
    });
  const allowed = await latchkey(["realm", "allow", callbackOf(name)], place.env);
  expect(allowed.code, allowed.stderr).toBe(0);
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`${name} did not start:\n${shop.said}`);
    return fetch(url).then(
      ({ ok }) => ok,
      () => false,
    );
  });
}

export async function newContext(options = {}): Promise<BrowserContext> {
  const made = await browser.newContext(options);
  made.setDefaultTimeout(60_000);
  return made;
}

export const urlOf = (name: Name) => shops.get(name)?.url as string;

export const callbackOf = (name: Name) => `${urlOf(name)}${name === "html" ? "/" : "/signed-in"}`;

export const signInOf = (name: Name) => `${urlOf(name)}${name === "html" ? "/" : "/sign-in"}`;

export const accountOf = (name: Name) => `${urlOf(name)}${name === "html" ? "/" : "/account"}`;

export const continueWith = (of = page) => of.getByRole("button", { name: "Continue with Practice sign-in" });

export const hello = (of = page) => of.getByRole("heading", { name: "Hello, Ada" });

export const be = (who: RegExp, of = page) => of.getByRole("button", { name: who }).click();

export async function signIn(name: Name, of = page): Promise<void> {
  await of.goto(signInOf(name));
  await continueWith(of).click();
  await be(/Ada/, of);
}

/** A sign-on up to the redirect back to the shop; returns the redirect's address. */
export async function catchAnswer(name: Name): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  // Playwright's own routes do not see the target of a redirect.
  const devtools = await context.newCDPSession(page);
  devtools.on("Fetch.requestPaused", async ({ requestId, request }) => {
    await devtools.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
    resolve(request.url);
  });
  // A question mark without the backslash matches any character.
  await devtools.send("Fetch.enable", { patterns: [{ urlPattern: `${callbackOf(name)}\\?*` }] });
  await signIn(name);
  const answer = await promise;
  await devtools.send("Fetch.disable");
  return answer;
}

export async function turn(knob: string): Promise<void> {
  const own = await context.newPage();
  await own.goto(knobs);
  const card = own.locator("section.knob").filter({ hasText: knob });
  const button = (await card.count())
    ? card.getByRole("button").last()
    : own.getByRole("button", { name: knob }).first();
  await button.click();
  await own.waitForLoadState();
  await own.close();
}

async function picture(name: string): Promise<void> {
  if (!PICTURES) return;
  for (const colorScheme of ["light", "dark"] as const)
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await page.screenshot({ path: `${PICTURES}/${name}-${width}-${colorScheme}.png`, fullPage: true });
    }
}

export async function expectGood(name: string): Promise<void> {
  expect(await barriersOf(page)).toEqual([]);
  await page.setViewportSize({ width: 390, height: 844 });
  expect(
    await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
  ).toBe(0);
  await picture(name);
}

export const administer = (): Admin => createAdmin({ baseUrl: place.url, ...credentials });
