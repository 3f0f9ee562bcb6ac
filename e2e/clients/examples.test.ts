import { startPracticeIdp } from "@latchkey/demo";
import { describe, expect, test } from "vitest";
import { latchkey } from "../../packages/server/test/support/command.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  accountOf,
  administer,
  be,
  callbackOf,
  catchAnswer,
  complaints,
  context,
  continueWith,
  exampleShops,
  expectGood,
  hello,
  installed,
  members,
  newContext,
  otherPort,
  page,
  place,
  running,
  signIn,
  signInOf,
  turn,
  urlOf,
} from "./example-shops.ts";

/** The storefronts of the guides, in a real browser: each example follows the same rules. */

describe.skipIf(!hasChromium || installed.length === 0)("the examples", () => {
  exampleShops();

  describe.each(installed)("%s", (name) => {
    test("listens on localhost alone", async () => {
      // 127.0.0.2 is this machine too, but a server on localhost alone does not listen there.
      const elsewhere = urlOf(name).replace("localhost", "127.0.0.2");
      await expect(fetch(elsewhere)).rejects.toThrow();
    });

    test("signs a shopper in and out, shows the name, and leaves no code in the address", async () => {
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

    test("an e-mail address in place of a name makes no page wider than a phone", async () => {
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

    test("signs out also when the service is away, and when the button is pressed twice", async () => {
      await signIn(name);
      await hello().waitFor();
      // The html page calls the service itself; the other examples have a server that does.
      await page.route(`${place.url}/v2/customers/*/tokens/*`, (route) => route.abort());
      await page.getByRole("button", { name: "Sign out" }).dblclick();
      await page.getByRole("heading", { name: "A stool of ash, for the kitchen" }).waitFor();
      await page.goto(accountOf(name));
      await page.getByText(/Continue with Practice sign-in|You are not signed in/).waitFor();
      expect(await page.getByRole("alert").filter({ visible: true, hasText: /\w/ }).count()).toBe(0);
    });

    test("a shopper whose session was ended elsewhere is signed out at the next request of the account", async () => {
      await signIn(name);
      await hello().waitFor();
      const admin = administer();
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

    test("Back to the used callback shows the account, not an error", async () => {
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

    test("a callback in another browser signs nobody in, and still works in its own browser", async () => {
      const answer = await catchAnswer(name);
      const victim = await newContext();
      const other = await victim.newPage();
      await other.goto(answer);
      await other
        .getByText("This sign-in has ended or was started in another browser. Please start again.")
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
      test("the token is in a cookie that scripts cannot read", async () => {
        await signIn(name);
        await hello().waitFor();
        // All ports of a host share their cookies, so those of the service and the provider are here too.
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

      test("a browser that stores no cookie gets a hint when it comes back", async () => {
        // This client stores no cookie: neither that of the sign-on nor that of a notice.
        const answer = await fetch(`${callbackOf(name)}?code=x&state=y`, { redirect: "manual" });
        expect(answer.status).toBe(303);
        await page.goto(new URL(answer.headers.get("location") ?? "", urlOf(name)).href);
        await page.getByRole("alert").filter({ hasText: "Allow cookies for it" }).waitFor();
        await continueWith().waitFor();
        await expectGood(`${name}-no-cookies`);
      });

      test("a cookie of the same name from another program of this machine breaks no page", async () => {
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

    test("after a refusal the provider asks again for the person; after a sign-on it does not", async () => {
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

    test("a failed sign-on shows its reference", async () => {
      await turn("Wrong issuer");
      try {
        await signIn(name);
        const alert = page.getByRole("alert").filter({ hasText: "Reference" });
        await alert.waitFor();
        const told = await alert.innerText();
        expect(told).toMatch(/Trying again won.t help\..*contact us\.\s+Reference\s+[0-9A-Z]{4}-[0-9A-Z]{4}/);
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
    "html › a browser that forbids storage shows a hint, and the shop stays open",
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
    "html › a request id in place of a reference makes no page wider than a phone",
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
    "the tutorial › one browser breaks a sign-on, repairs it, and finds the record in the console as Sam",
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
      await page.getByRole("link", { name: "Look up" }).click();
      await page.getByRole("searchbox").fill(reference);
      await page.keyboard.press("Enter");
      await page.getByRole("link", { name: new RegExp(reference) }).click();
      await page.getByText("id_token.iss").first().waitFor();
    },
  );

  test("all › the page shows that no provider is enabled", async () => {
    const admin = administer();
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

  test("all › a provider that is down cannot be chosen, and the page explains why", async () => {
    const other = await startPracticeIdp({ port: otherPort, quiet: true });
    const admin = administer();
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

  test("all › without the service the shop stays open, and shows that nobody can sign in", async () => {
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
      // The notice was not shown yet.
      expect(kept.map((cookie) => cookie.name)).toContain("notice");
    }
    complaints.length = 0;
  });
});
