import { DatabaseSync } from "node:sqlite";
import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  button,
  consolePlace,
  copied,
  go,
  heading,
  inDialog,
  newPage,
  shopAs,
  signInWithKey,
} from "./place.ts";

/** Looking up a caller: Home, Look up, records of sign-ons, Failures, and the customer. */

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace({ shoppers: [/Ada/, /Cleo/] });
  let failed: { id: string; reference: string };
  let ada: string;
  beforeAll(async () => {
    const found = async () => (await c.admin.signOns.list({ filter: "eq(outcome,failed)" })).data;
    await until(async () => (await found()).length > 0);
    [failed = failed] = await found();
    ada = (await c.admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data[0]?.id ?? "";
  });

  const find = async (asked: string) => {
    await c.page.getByRole("searchbox").fill(asked);
    await c.page.keyboard.press("Enter");
    await c.page.waitForURL((url) => url.searchParams.get("q") === asked.trim());
  };

  describe("Home", () => {
    test("shows whether shoppers can sign in, and links to the failed sign-on", async () => {
      await go(c.page, "/", "Shoppers can sign in.");
      await c.page.getByRole("img", { name: /requests a second now, limit \d+/ }).waitFor();
      await c.page.getByRole("img", { name: /: 1 signed in, 0 not finished, 1 failed$/ }).waitFor();
      await c.page.getByRole("link", { name: new RegExp(failed.reference) }).click();
      await heading(c.page, `Sign-on ${failed.reference}`);
    });

    test.each([3, 50, -50])(
      "and Failures show their figures when this machine's clock is %d hours off",
      async (hours) => {
        const page = await newPage(c);
        await page.context().clock.install({ time: Date.now() + hours * 3_600_000 });
        await signInWithKey(c, page, "/?range=hour");
        await page.getByRole("img", { name: /: \d signed in, 0 not finished, 1 failed$/ }).waitFor();
        await go(page, "/failures?range=hour");
        await page.getByRole("link", { name: /claims\.email_missing/ }).waitFor();
        expect(await page.getByRole("alert").count()).toBe(0);
        await page.context().close();
      },
    );

    test("shows that the state is unknown when the request fails, even when it was known before", async () => {
      const page = await newPage(c);
      await page.context().clock.install();
      await signInWithKey(c, page);
      await heading(page, "Shoppers can sign in.");
      await page.route(/\/oidc-profiles\?/, (route) => route.abort());
      await page.context().clock.runFor(16_000);
      await heading(page, "Can shoppers sign in?");
      await page.getByText("The state of the providers could not be read.").waitFor();
      await page.context().close();
    });
  });

  describe("Look up", () => {
    test("a reference in any spelling opens the record: both sides of each check, the caller, and a letter to copy", async () => {
      const { page } = c;
      await go(page, "/find", "Look up");
      await find(` ${failed.reference.toLowerCase().replace("-", " ")}`);
      await page.getByRole("link", { name: new RegExp(failed.reference) }).click();
      await page.getByText("Who can fix it").waitFor();
      await button(page, "Copy what to tell the caller").click();
      await copied(page, /^The sign-in service sent no e-mail address for you\./);
      const failing = page.getByRole("row", { name: /E-mail address/ });
      expect(await failing.innerText()).toMatch(/one plain address[\s\S]*Failed/);
      await page.getByText("Leg 1 is between the storefront and Latchkey.").waitFor();
      expect(await page.getByRole("listitem").filter({ hasText: "Leg 2" }).count()).toBe(4);
      const caller = page.getByRole("region", { name: "Browser and network" });
      expect(await caller.innerText()).toMatch(
        /Chrome \d+ on Linux[\s\S]*127\.0\.0\.0\/24[\s\S]*\/signed-in/,
      );
      await button(page, /^Copy for the provider/).click();
      await button(page, /^Copied: text for the provider/).waitFor();
      const letter = await copied(page, new RegExp(`Reference: ${failed.reference}`));
      expect(letter).toContain("How to fix it:");
      expect(letter).toContain(
        "What callers are told until then: The sign-in service sent no e-mail address",
      );
      expect(letter).not.toMatch(/cleo/i);
    });

    test("the menu puts the focus into the search field", async () => {
      const { page } = c;
      await go(page, "/keys", "Keys");
      await page.getByRole("navigation").getByRole("link", { name: "Look up" }).click();
      await heading(page, "Latest sign-ons");
      await page.keyboard.type("Ada");
      expect(await page.getByRole("searchbox").inputValue()).toBe("Ada");
    });

    test("an e-mail address, a name and an id find the customer and the sign-ons", async () => {
      const { page } = c;
      await go(page, "/find", "Look up");
      for (const asked of ["ada@shop.example", ada]) {
        await find(asked);
        await page.getByRole("region", { name: "Customers" }).getByText("ada@shop.example").waitFor();
        await page.getByRole("region", { name: "Sign-ons" }).getByText("Signed in").waitFor();
      }
      await find("ada");
      await page.getByRole("link", { name: /ada@shop\.example/ }).waitFor();
    });

    test("a name or an external reference that has the form of a reference finds its customer", async () => {
      const { page } = c;
      const { data: customer } = await c.admin.customers.create({
        name: "Michelle Hill",
        email: "michelle@shop.example",
        external_ref: "10482217",
      });
      await go(page, "/find", "Look up");
      for (const asked of ["Michelle", "10482217"]) {
        await find(asked);
        await page.getByRole("region", { name: "Customers" }).getByText("michelle@shop.example").waitFor();
      }
      await c.admin.customers.delete(customer.id);
    });

    test("the address of a refused sign-on is found, although there is no customer", async () => {
      const { realm_id } = (await c.admin.settings.get()).data;
      const [profile] = (await c.admin.profiles(realm_id).list()).data;
      await c.admin.profiles(realm_id).update(profile?.id ?? "", { provisioning: "existing" });
      await shopAs(c, /Ben/);
      await c.admin.profiles(realm_id).update(profile?.id ?? "", { provisioning: "create" });
      const { page } = c;
      await go(page, "/find", "Look up");
      await until(
        async () => (await c.admin.signOns.list({ filter: "eq(email,ben@shop.example)" })).total > 0,
      );
      await find("ben@shop.example");
      await page.getByRole("region", { name: "Sign-ons" }).getByText("Failed").waitFor();
      expect(await page.getByRole("region", { name: "Customers" }).count()).toBe(0);
    });

    test("a request id finds the failed sign-on and the event; an unknown text shows where else to look", async () => {
      const { page } = c;
      const { data } = await c.admin.signOns.get(failed.id);
      await go(page, "/find", "Look up");
      await find(data.request_id ?? "none");
      await page.getByRole("region", { name: "Sign-ons" }).getByText(failed.reference).waitFor();
      await c.admin.store.update({ name: "Alder & Pine" });
      await go(page, "/events", "Events");
      const row = page.getByRole("rowgroup").filter({ hasText: "Store Alder & Pine updated" });
      await row.click();
      await row
        .getByRole("link", { name: /^[0-9a-f-]{36}$/ })
        .last()
        .click();
      await heading(page, "Look up");
      await page
        .getByRole("region", { name: "What happened" })
        .getByText("Store Alder & Pine updated")
        .waitFor();
      await c.admin.store.update({ name: "Practice store" });
      await find(c.key.clientId);
      await page.getByRole("region", { name: "Application keys" }).getByRole("link").waitFor();
      await find("0000-0000");
      await heading(page, "Nothing found");
    });

    test("a client id and a key id lead to the key, which can be deleted there", async () => {
      const { page } = c;
      const { data: key } = await c.admin.applicationKeys.create({ name: "Till in Leeds", role: "support" });
      for (const asked of [key.client_id, key.id]) {
        await go(page, `/find?q=${asked}`, "Application keys");
        await page.getByRole("link", { name: /Till in Leeds/ }).click();
        await heading(page, "Till in Leeds");
        expect(new URL(page.url()).pathname).toBe(`/console/keys/${key.id}`);
        await page.getByText(key.client_id).waitFor();
      }
      await button(page, "Delete Till in Leeds").click();
      await page.getByRole("dialog").getByRole("textbox").fill("Till in Leeds");
      await inDialog(page, "Delete key").click();
      await heading(page, "Keys");
      await page.getByText("Till in Leeds is deleted.").waitFor();
      expect(await page.getByRole("link", { name: "Till in Leeds" }).count()).toBe(0);
    });

    test("shows new events without a reload", async () => {
      const page = await newPage(c);
      const { data: key } = await c.admin.applicationKeys.create({ name: "Till" });
      await signInWithKey(c, page, `/find?q=${key.id}`);
      await page.getByText("Key Till created").waitFor();
      await c.admin.applicationKeys.update(key.id, { name: "Counter" });
      await page.getByText("Key Counter updated").waitFor();
      await c.admin.applicationKeys.delete(key.id);
      await page.context().close();
    });
  });

  describe("a screen of one thing", () => {
    test("shows the exact time beside the relative time, without a mouse", async () => {
      const { page } = c;
      const [customer] = (await c.admin.customers.list()).data;
      const exact = page.getByText(/ago|just now/).filter({ hasText: /\(\w{3} \d+, \d{4}, .*\)/ });
      await go(page, `/customers/${customer?.id}`);
      await exact.first().waitFor();
      await c.admin.applicationKeys.create({ name: "Till in York" });
      await go(page, "/events", "Events");
      // The row is found by its name, because newer rows appear above it meanwhile.
      const row = page.getByRole("rowgroup").filter({ hasText: "Key Till in York created" });
      await row.waitFor();
      expect(await row.locator(exact).isVisible()).toBe(false);
      await row.click();
      await row.locator(exact).waitFor();
    });

    test.each(["/keys/a%2Fb", "/customers/%20", "/realms/a%2Fb/providers/c", "/sign-ons/x%27"])(
      "%s, which cannot hold an id, opens no screen",
      async (path) => {
        await go(c.page, "/keys", "Keys");
        await go(c.page, path, "This page doesn’t exist");
      },
    );
  });

  describe("Failures", () => {
    test("are grouped by reason, and a group links to its records", async () => {
      await go(c.page, "/failures", "Failures");
      await c.page.getByRole("link", { name: /claims\.email_missing/ }).click();
      await heading(c.page, "claims.email_missing");
      await c.page.getByRole("link", { name: new RegExp(failed.reference) }).waitFor();
    });

    /** A sign-on up to the redirect back to the shop with its code; the shop does not get the code. */
    async function leaveCodeUnused() {
      const page = await newPage(c);
      await page.goto(`${c.shop}/sign-in`);
      const { promise, resolve } = Promise.withResolvers<void>();
      // Playwright's own routes do not see the target of a redirect.
      const devtools = await page.context().newCDPSession(page);
      devtools.on("Fetch.requestPaused", async ({ requestId }) => {
        await devtools.send("Fetch.failRequest", { requestId, errorReason: "Aborted" });
        resolve();
      });
      await devtools.send("Fetch.enable", { patterns: [{ urlPattern: `${c.shop}/signed-in*` }] });
      await button(page, "Continue with Practice sign-in").click();
      await button(page, /Ada/).first().click();
      await promise;
      await page.context().close();
    }

    test("a code that was never redeemed has an explanation, and its group links to its records", async () => {
      await leaveCodeUnused();
      const filter = "eq(outcome,code_issued)";
      const issued = async () => (await c.admin.signOns.list({ filter })).data;
      await until(async () => (await issued()).length === 1);
      const [{ reference, profile_id } = { reference: "", profile_id: "" }] = await issued();
      // The service expires and counts the code within 90 seconds; the test does not wait for that.
      const database = new DatabaseSync(c.database, { timeout: 5000 });
      database.exec(
        "update sign_ons set outcome = 'expired', reason = 'code_expired' where outcome = 'code_issued'",
      );
      database.close();
      const from = new Date().toISOString();
      const counted = {
        from,
        profile_id,
        outcomes: { expired: 1 },
        reasons: { code_expired: 1 },
        idp_ms: {},
      };
      const page = await newPage(c);
      await page.route(/\/v2\/sign-ons\/statistics/, async (route) => {
        const answer = await route.fetch();
        const { data, meta } = await answer.json();
        await route.fulfill({ response: answer, json: { data: [...data, counted], meta } });
      });
      await signInWithKey(c, page, "/failures");
      const group = page.getByRole("link", { name: /code_expired/ });
      await group.filter({ hasText: "The code was not redeemed in time." }).click();
      await heading(page, "code_expired");
      await page.getByRole("link", { name: new RegExp(reference) }).waitFor();
      // A request for the figures may be under way: its fetch fails when the page closes.
      await page.unrouteAll({ behavior: "ignoreErrors" });
      await page.context().close();
    });

    test("a cancelled sign-on names the shopper as the one who can fix it, and quotes the provider", async () => {
      const shopper = await newPage(c);
      await shopper.goto(`${c.shop}/sign-in`);
      await button(shopper, "Continue with Practice sign-in").click();
      await button(shopper, "Cancel, and go back to the shop").click();
      await shopper.waitForURL(`${c.shop}/**`);
      await shopper.context().close();
      const cancelled = async () => (await c.admin.signOns.list({ filter: "eq(reason,idp_error)" })).data;
      await until(async () => (await cancelled()).length > 0);
      await go(c.page, `/sign-ons/${(await cancelled())[0]?.id}`);
      const why = c.page.getByRole("region", { name: "Why, and who can fix it" });
      await why.getByText("The shopper, by signing in again").waitFor();
      await why.getByText("Authorization endpoint: access_denied: “The shopper cancelled.”").waitFor();
    });
  });

  describe("Customers", () => {
    test("the search field shows the current search, also after Back and after the menu", async () => {
      const { page } = c;
      await go(page, "/customers", "Customers");
      await find("Ada");
      await page.getByText("1 in all").waitFor();
      await page.getByRole("navigation").getByRole("link", { name: "Customers" }).click();
      const field = page.getByRole("searchbox");
      await until(async () => (await field.inputValue()) === "");
      await page.goBack();
      await until(async () => (await field.inputValue()) === "Ada");
    });

    test("an administrator ends all sessions of a customer, and types the address to erase the customer", async () => {
      const { page } = c;
      await go(page, "/customers", "Customers");
      await page.getByRole("searchbox").fill("Ada");
      await page.keyboard.press("Enter");
      await page
        .getByRole("row", { name: /ada@shop\.example/ })
        .getByRole("link")
        .click();
      await page.getByText("through Practice sign-in").first().waitFor();
      await page
        .getByText(/Chrome \d+ on Linux, from 127\.0\.0\.0\/24/)
        .first()
        .waitFor();
      const known = page.getByRole("region", { name: "Known to providers as" });
      expect(await known.getByRole("listitem").innerText()).toMatch(/Practice sign-in[\s\S]*ada at http/);
      await button(page, "End all sessions").click();
      await page.getByRole("dialog").getByText("1 session of this customer now.").waitFor();
      await inDialog(page, "End all sessions").click();
      await heading(page, "Nowhere");
      const { data: gone } = await c.admin.customers.create({
        name: "Grace Gone",
        email: "grace@shop.example",
      });
      await go(page, `/customers/${gone.id}`, "Grace Gone");
      // A program created her without a password, and no provider knows her, so the page must not suggest that she can
      // sign in.
      await page.getByText("none: cannot sign in with e-mail").waitFor();
      await page.getByText("This person has never come through a provider.").waitFor();
      await button(page, "Erase this customer").click();
      await page.getByRole("dialog").getByRole("textbox").fill("grace@shop.example");
      await button(page, "Erase for good").click();
      await heading(page, "Customers");
      await page.getByText("Grace Gone is erased.").waitFor();
    });
  });
});
