import { type ChildProcess, execFile, spawn } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { startPracticeIdp } from "@latchkey/demo";
import { createAdmin } from "@latchkey/sdk/admin";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { freePort } from "../../packages/server/test/support/postgres-server.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import { newPlace, type Place, type Running, serve } from "../support/running.ts";

/** The storefronts of the guides: built as the guides say, and used in a real browser against one service with the practice provider. */

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
const installed = NAMES.filter((name) => !missing.includes(name));

const PICTURES = process.env.LATCHKEY_PICTURES;
if (PICTURES) mkdirSync(PICTURES, { recursive: true });

describe.skipIf(!hasChromium || installed.length === 0)("the examples, in Chromium", () => {
  let place: Place;
  let running: Running;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let knobs: string;
  let members: string;
  let copy: string;
  let otherPort: number;
  let credentials: { clientId: string; clientSecret: string };
  const shops = new Map<Name, { url: string; child: ChildProcess; said: string }>();
  const complaints: string[] = [];

  beforeAll(async () => {
    copy = mkdtempSync(join(tmpdir(), "latchkey-example-"));
    // The SDK as it is now, wherever the packages were installed.
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

  /** Plain files have no environment, so theirs is written into them. */
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

  async function newContext(options = {}): Promise<BrowserContext> {
    const made = await browser.newContext(options);
    made.setDefaultTimeout(60_000);
    return made;
  }

  const urlOf = (name: Name) => shops.get(name)?.url as string;
  const callbackOf = (name: Name) => `${urlOf(name)}${name === "html" ? "/" : "/signed-in"}`;
  const signInOf = (name: Name) => `${urlOf(name)}${name === "html" ? "/" : "/sign-in"}`;
  const accountOf = (name: Name) => `${urlOf(name)}${name === "html" ? "/" : "/account"}`;
  const continueWith = (of = page) => of.getByRole("button", { name: "Continue with Practice sign-in" });
  const hello = (of = page) => of.getByRole("heading", { name: "Hello, Ada" });
  const be = (who: RegExp, of = page) => of.getByRole("button", { name: who }).click();

  async function signIn(name: Name, of = page): Promise<void> {
    await of.goto(signInOf(name));
    await continueWith(of).click();
    await be(/Ada/, of);
  }

  /** A sign-on up to the moment at which the browser is sent back to the shop, and no further. */
  async function catchAnswer(name: Name): Promise<string> {
    const { promise, resolve } = Promise.withResolvers<string>();
    // Playwright's own routes do not see where a redirect leads.
    const devtools = await context.newCDPSession(page);
    devtools.on("Fetch.requestPaused", async ({ requestId, request }) => {
      await devtools.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
      resolve(request.url);
    });
    // A bare question mark would stand for any character.
    await devtools.send("Fetch.enable", { patterns: [{ urlPattern: `${callbackOf(name)}\\?*` }] });
    await signIn(name);
    const answer = await promise;
    await devtools.send("Fetch.disable");
    return answer;
  }

  async function turn(knob: string): Promise<void> {
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

  async function expectGood(name: string): Promise<void> {
    expect(await barriersOf(page)).toEqual([]);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(
      await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth),
    ).toBe(0);
    await picture(name);
  }

  describe.each(installed)("%s", (name) => {
    test("listens on this machine's own address alone", async () => {
      // Also this machine's, but what only listens on localhost is not there.
      const elsewhere = urlOf(name).replace("localhost", "127.0.0.2");
      await expect(fetch(elsewhere)).rejects.toThrow();
    });

    test("signs a shopper in, shows the name, keeps the code out of the address, and signs out", async () => {
      await page.goto(urlOf(name));
      await page.getByRole("heading", { name: "A stool of ash, for the kitchen" }).waitFor();
      expect(await page.evaluate(() => document.characterSet)).toBe("UTF-8");
      await page.goto(signInOf(name));
      await continueWith().waitFor();
      await expectGood(`${name}-sign-in`);
      await signIn(name);
      await hello().waitFor();
      expect(page.url()).toBe(accountOf(name));
      await page.getByText("ada@shop.example").waitFor();
      await expectGood(`${name}-account`);
      await page.reload();
      await hello().waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "A stool of ash, for the kitchen" }).waitFor();
      await page.goto(accountOf(name));
      await page.getByText(/Continue with Practice sign-in|You are not signed in/).waitFor();
    });

    test("an address that stands for a name makes no page wider than a phone", async () => {
      const address = `${"very-long-".repeat(5)}name@home.example`.replaceAll("-", "");
      await page.setViewportSize({ width: 390, height: 844 });
      await page.goto(signInOf(name));
      await continueWith().click();
      await page.getByText("Somebody else").click();
      await page.getByLabel("Name").fill(address);
      await page.getByLabel("E-mail").fill(address);
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("heading", { name: `Hello, ${address}` }).waitFor();
      await expectGood(`${name}-long-name`);
    });

    test("signs out here also when the service cannot be told, and when the button is pressed twice", async () => {
      await signIn(name);
      await hello().waitFor();
      // The page of html asks the service itself; the others have a server that does.
      await page.route(`${place.url}/v2/customers/*/tokens/*`, (route) => route.abort());
      await page.getByRole("button", { name: "Sign out" }).dblclick();
      await page.getByRole("heading", { name: "A stool of ash, for the kitchen" }).waitFor();
      await page.goto(accountOf(name));
      await page.getByText(/Continue with Practice sign-in|You are not signed in/).waitFor();
      expect(await page.getByRole("alert").filter({ visible: true, hasText: /\w/ }).count()).toBe(0);
    });

    test("who was signed out elsewhere is a stranger from their next look at the account on", async () => {
      await signIn(name);
      await hello().waitFor();
      const admin = createAdmin({ baseUrl: place.url, ...credentials });
      const { data } = await admin.customers.list({ filter: "eq(email,ada@shop.example)" });
      for (const { id } of data) await admin.customerTokens(id).revokeAll();
      await page.goto(accountOf(name));
      await page.getByText(/Continue with Practice sign-in|You are not signed in/).waitFor();
      await page.goto(urlOf(name));
      await page.getByText("€ 120").waitFor();
      expect(
        await page
          .getByText(/Your account|€ 108/)
          .filter({ visible: true })
          .count(),
      ).toBe(0);
    });

    test("Back to the used answer ends at the account, not in an error", async () => {
      const answers: string[] = [];
      page.on("request", (request) => {
        if (request.url().startsWith(`${callbackOf(name)}?`)) answers.push(request.url());
      });
      await signIn(name);
      await hello().waitFor();
      await page.goto(answers[0] as string);
      await hello().waitFor();
      expect(page.url()).toBe(accountOf(name));
      expect(await page.getByRole("alert").filter({ visible: true, hasText: /\w/ }).count()).toBe(0);
    });

    test("an answer that was begun in another browser signs nobody in, and is left to its own browser", async () => {
      const answer = await catchAnswer(name);
      const victim = await newContext();
      const other = await victim.newPage();
      await other.goto(answer);
      await other
        .getByText("This sign-in is not open in this browser any more. Please start again.")
        .waitFor();
      expect(other.url()).not.toContain("code=");
      await continueWith(other).waitFor();
      expect(other.url()).toBe(signInOf(name));
      await other.reload();
      await continueWith(other).waitFor();
      expect(await other.getByText("Allow cookies for it").count()).toBe(0);
      await other.goto(accountOf(name));
      await other.getByText(/Continue with Practice sign-in|You are not signed in/).waitFor();
      await victim.close();

      await page.goto(answer);
      await hello().waitFor();
    });

    if (name !== "html") {
      test("the token is in a cookie that no script reads", async () => {
        await signIn(name);
        await hello().waitFor();
        // Cookies are shared by all ports of a host, so those of the service and the provider are here, too.
        const cookies = await context.cookies(urlOf(name));
        const cookie = cookies.find((one) => one.name === "customer");
        expect(cookie).toMatchObject({ httpOnly: true, sameSite: "Lax", path: "/" });
        expect(cookies.filter((one) => one.name.startsWith("latchkey-"))).toEqual([]);
        const seen = await page.evaluate(() => [
          document.cookie,
          JSON.stringify(localStorage),
          JSON.stringify(sessionStorage),
          document.documentElement.outerHTML,
        ]);
        for (const text of seen) expect(text).not.toContain(cookie?.value);
      });

      test("a browser that keeps no cookie of the shop is told so when it comes back", async () => {
        // Nothing is kept here: neither the cookie of the sign-on nor that of a notice.
        const answer = await fetch(`${callbackOf(name)}?code=x&state=y`, { redirect: "manual" });
        expect(answer.status).toBe(303);
        await page.goto(new URL(answer.headers.get("location") ?? "", urlOf(name)).href);
        await page.getByRole("alert").filter({ hasText: "Allow cookies for it" }).waitFor();
        await continueWith().waitFor();
        await expectGood(`${name}-no-cookies`);
      });

      test("a cookie of the same name that another program of this machine has set breaks no page", async () => {
        for (const value of ["seen", "{", "5", '{"message":{}}', 'j:{"message":{}}']) {
          await context.addCookies([{ name: "notice", value: encodeURIComponent(value), url: urlOf(name) }]);
          await page.goto(signInOf(name));
          await continueWith().waitFor();
          expect(await page.getByRole("alert").filter({ visible: true, hasText: /\w/ }).count()).toBe(0);
        }
      });

      test("a form of another site is refused", async () => {
        await signIn(name);
        await hello().waitFor();
        const evil = "http://localhost:1/";
        await page.route(evil, (route) =>
          route.fulfill({
            contentType: "text/html",
            body: `<form method="post" action="${urlOf(name)}/sign-out"><button>Win</button></form>`,
          }),
        );
        await page.goto(evil);
        // Another port is the same site: the browser sends the cookie along.
        const [refused] = await Promise.all([
          page.waitForResponse(`${urlOf(name)}/sign-out`),
          page.getByRole("button", { name: "Win" }).click(),
        ]);
        expect(refused.status()).toBe(403);
        await page.goto(accountOf(name));
        await hello().waitFor();
      });
    }

    test("after a refusal the provider asks again, so that somebody else can be chosen; once signed in, it need not", async () => {
      await page.goto(signInOf(name));
      await continueWith().click();
      await page.getByText("Somebody else").click();
      await page.getByRole("button", { name: "Sign in", exact: true }).click();
      await page.getByRole("alert").filter({ hasText: "You were not signed in." }).waitFor();
      await continueWith().click();
      await be(/Ada/);
      await hello().waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await page.getByRole("heading", { name: "A stool of ash, for the kitchen" }).waitFor();
      await page.goto(signInOf(name));
      await continueWith().click();
      await hello().waitFor();
    });

    test("a sign-on that fails is told with its reference", async () => {
      await turn("Wrong issuer");
      try {
        await signIn(name);
        const alert = page.getByRole("alert").filter({ hasText: "Reference" });
        await alert.waitFor();
        const told = await alert.innerText();
        expect(told).toMatch(/Please try again\.\s+Reference\s+[0-9A-Z]{4}-[0-9A-Z]{4}/);
        // The record is written within the next second.
        await until(async () => {
          const found = await latchkey(["sign-on", "show", told.slice(-9)], place.env);
          return /reason +id_token\.iss/.test(found.stdout);
        });
        expect(page.url()).toBe(signInOf(name));
        await expectGood(`${name}-failed`);
      } finally {
        await turn("Reset all");
      }
    });
  });

  test.skipIf(!installed.includes("html"))(
    "html: a browser that forbids the shop to keep anything is told so, and the shop stays open",
    async () => {
      await page.addInitScript(() => {
        for (const name of ["localStorage", "sessionStorage"])
          Object.defineProperty(window, name, {
            get() {
              throw new DOMException("The document is not allowed to use it.", "SecurityError");
            },
          });
      });
      await page.goto(urlOf("html"));
      const told = page.getByRole("alert").filter({ hasText: "Allow cookies and site data" });
      await told.waitFor();
      await page.getByText("€ 120").waitFor();
      await expectGood("html-forbidden");
    },
  );

  test.skipIf(!installed.includes("html"))(
    "html: the id of a request, which stands where there is no reference, makes no page wider than a phone",
    async () => {
      await page.route(`${place.url}/v2/**/oidc-profiles*`, (route) =>
        route.fulfill({
          status: 500,
          headers: { "Access-Control-Allow-Origin": "*" },
          json: { errors: [{ id: crypto.randomUUID(), status: "500", code: "internal_error" }] },
        }),
      );
      await page.goto(signInOf("html"));
      await page.getByText(/^Reference [\w-]{36}$/).waitFor();
      await expectGood("html-request-id");
    },
  );

  test.skipIf(!installed.includes("html"))(
    "the tutorial: one browser breaks a sign-in, mends it, and finds the record in the console as Sam",
    async () => {
      await signIn("html");
      await hello().waitFor();
      await page.getByRole("button", { name: "Sign out" }).click();
      await turn("Wrong issuer");
      await page.goto(signInOf("html"));
      await continueWith().click();
      const alert = page.getByRole("alert").filter({ hasText: "Reference" });
      await alert.waitFor();
      const reference = (await alert.innerText()).slice(-9);

      await turn("Reset all");
      await continueWith().click();
      await hello().waitFor();

      await turn("Sign out here");
      await page.goto(members);
      await page.getByRole("button", { name: "Sign in as a member" }).click();
      await be(/Sam/);
      await page.getByRole("link", { name: "Find" }).click();
      await page.getByRole("searchbox").fill(reference);
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: new RegExp(reference) }).click();
      await page.getByText("id_token.iss").first().waitFor();
    },
  );

  test("where there is no provider, or none that is enabled, the page says so", async () => {
    const admin = createAdmin({ baseUrl: place.url, ...credentials });
    const profiles = admin.profiles((await admin.settings.get()).data.realm_id);
    const [practice] = (await profiles.list()).data;
    const id = practice?.id ?? "";
    await profiles.update(id, { enabled: false });
    try {
      for (const name of installed) {
        await page.goto(signInOf(name));
        await page.getByText("There is no way to sign in yet.").waitFor();
        await expectGood(`${name}-no-provider`);
      }
    } finally {
      await profiles.update(id, { enabled: true });
    }
  });

  test("a provider that is down cannot be chosen, and the page says so", async () => {
    const other = await startPracticeIdp({ port: otherPort, quiet: true });
    const admin = createAdmin({ baseUrl: place.url, ...credentials });
    const profiles = admin.profiles((await admin.settings.get()).data.realm_id);
    const { data: profile } = await profiles.create({
      name: "Other sign-in",
      discovery_url: other.discoveryUrl,
      client_id: "latchkey",
      client_secret: "practice",
    });
    await other.close();
    for (let time = 0; time < 5; time++) await profiles.check(profile.id);
    for (const name of installed) {
      await page.goto(signInOf(name));
      await page.getByText("Other sign-in does not answer right now. Please try again soon.").waitFor();
      const button = page.getByRole("button", { name: "Continue with Other sign-in" });
      expect(await button.isDisabled()).toBe(true);
      expect(await continueWith().isEnabled()).toBe(true);
      await expectGood(`${name}-down`);
    }
  });

  test("without the service the shop stays open, and says that signing in does not work", async () => {
    running.child.kill("SIGINT");
    await running.exited;
    for (const name of installed) {
      await page.goto(urlOf(name));
      await page.getByRole("heading", { name: "A stool of ash, for the kitchen" }).waitFor();
      await page.goto(signInOf(name));
      await page
        .getByRole("alert")
        .filter({ hasText: /Please try again/ })
        .waitFor();
      await expectGood(`${name}-alone`);
    }
    if (installed.includes("express")) {
      await page.request.get(`${callbackOf("express")}?code=x&state=y`, { maxRedirects: 0 });
      await page.goto(signInOf("express"));
      await page.getByRole("heading", { name: "This does not work right now" }).waitFor();
      const kept = await context.cookies(urlOf("express"));
      // What it has to say was not said yet.
      expect(kept.map((cookie) => cookie.name)).toContain("notice");
    }
    complaints.length = 0;
  });
});

describe("the folders of the examples", () => {
  const read = (path: string) => readFileSync(join(root, "examples", path), "utf8");

  test("have lock files that are whole, without a digest of the SDK, which changes with the repository", () => {
    for (const name of NAMES) {
      const { packages } = JSON.parse(read(`${name}/package-lock.json`));
      // Of a package that a registry did not have for some platform, npm notes no version, and `npm ci` refuses the lock file.
      for (const [path, { version }] of Object.entries<{ version?: string }>(packages))
        if (path !== "") expect(version, `${name}: ${path}`).toBeDefined();
      expect(packages["node_modules/@latchkey/sdk"], name).toEqual(
        expect.not.objectContaining({ integrity: expect.anything() }),
      );
    }
  });

  test("are installed, registered and started as their guides say", () => {
    const guides = { html: "plain-html", express: "express", react: "react", next: "nextjs" };
    for (const name of NAMES) {
      const guide = readFileSync(join(root, `docs/guides/${guides[name]}.md`), "utf8");
      const shop =
        name === "html" ? "http://localhost:5500" : /SHOP_URL=(\S+)/.exec(read(`${name}/.env.example`))?.[1];
      expect(guide).toContain(`npm run examples -- ${name}\n`);
      expect(guide).toContain(`\nnpx latchkey realm allow ${shop}${name === "html" ? "/" : "/signed-in"}\n`);
      expect(guide).toContain(`Open ${shop}`);
      const { scripts } = JSON.parse(read(`${name}/package.json`));
      const started = guide.match(/cd examples\/\w+\nnpm (?:run )?(\w+)/)?.[1] ?? "";
      expect(Object.keys(scripts), name).toContain(started);
    }
    expect(read("html/serve.js")).toContain("?? 5500");
  });

  test("the tutorial leads through what is done here, in this order, in the words that are on the screens", () => {
    let rest = readFileSync(join(root, "docs/tutorial.md"), "utf8");
    for (const step of [
      "npm run examples -- html\n",
      "\nnpx latchkey realm allow http://localhost:5500/\n",
      "cd examples/html\nnpm start\n",
      "**Continue with Practice sign-in**",
      "*Hello, Ada*",
      "**Wrong issuer**",
      "\nnpx latchkey sign-on show ",
      "`id_token.iss`",
      "**Reset all**",
      "**Sign out here**",
      "sign in as Sam",
      "**Find**",
    ]) {
      expect(rest).toContain(step);
      rest = rest.slice(rest.indexOf(step) + step.length);
    }
  });

  test("share what they say they share", () => {
    expect(read("react/sign-on.js")).toBe(read("express/sign-on.js"));
    for (const path of ["html/style.css", "react/public/style.css", "next/app/style.css"])
      expect(read(path), path).toBe(read("express/public/style.css"));
  });
});
