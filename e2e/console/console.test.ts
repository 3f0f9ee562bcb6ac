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
  newPage,
  shopAs,
  signInAsMember,
  signInWithKey,
} from "./place.ts";

/** Who uses the console, and what happened to a caller: sign-in, Home, Find, records, failures. */

describe.skipIf(!hasChromium)("in Chromium", () => {
  const c = consolePlace({ shoppers: [/Ada/, /Cleo/] });
  let failed: { id: string; reference: string };
  let ada: string;
  beforeAll(async () => {
    const found = async () => (await c.admin.signOns.list({ filter: "eq(outcome,failed)" })).data;
    await until(async () => (await found()).length > 0);
    [failed = failed] = await found();
    ada = (await c.admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data[0]?.id ?? "";
  });

  test("a wrong secret is told with its code, what to do, and the request; the right one leads to where one wanted; nothing is kept", async () => {
    const page = await newPage(c);
    await page.goto(`${c.url}/console/keys`);
    await page.getByLabel("Client id").fill(c.key.clientId);
    await page.getByLabel("Client secret").fill("lksk_nonsense");
    await button(page, "Sign in with the key").click();
    const problem = page.getByRole("alert");
    await problem.getByText("client_secret_mistyped").waitFor();
    expect(await problem.innerText()).toMatch(/secret[\s\S]*Request [0-9a-f-]{36}/);
    await page.getByLabel("Client secret").fill(c.key.clientSecret);
    await button(page, "Sign in with the key").click();
    await heading(page, "Keys");
    expect(page.url()).toBe(`${c.url}/console/keys`);
    const kept = await page.evaluate(() =>
      JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]),
    );
    expect(kept).toBe('[{},{},""]');
    await page.reload();
    await heading(page, "Sign in to your store");
    await signInWithKey(c, page);
    await until(async () => (await page.title()) === "Home · Latchkey");
    await button(page, "Sign out").click();
    await heading(page, "Sign in to your store");
    await until(async () => (await page.title()) === "Sign in · Latchkey");
    await page.context().close();
  });

  test("where the browser forbids to keep anything, a key signs in all the same, and members are told what to allow", async () => {
    const page = await newPage(c);
    await page.addInitScript(() => {
      for (const name of ["localStorage", "sessionStorage"])
        Object.defineProperty(window, name, {
          get() {
            throw new DOMException("The document is not allowed to use it.", "SecurityError");
          },
        });
    });
    await page.goto(c.members);
    await page.getByText("Allow cookies and site data for it").waitFor();
    expect(await button(page, "Sign in as a member").count()).toBe(0);
    await signInWithKey(c, page);
    await heading(page, /sign in/);
    await button(page, "Sign out").click();
    await heading(page, "Sign in to your store");
    await page.context().close();
  });

  test("Home says whether shoppers can sign in, and opens what failed", async () => {
    await go(c.page, "/", "Shoppers can sign in.");
    await c.page.getByRole("img", { name: /requests a second now, limit \d+/ }).waitFor();
    await c.page.getByRole("img", { name: /^1 signed in, 0 not finished, 1 failed$/ }).waitFor();
    await c.page.getByRole("link", { name: new RegExp(failed.reference) }).click();
    await heading(c.page, `Sign-on ${failed.reference}`);
  });

  test.each([3, 50, -50])(
    "Home and Failures show their figures also where this machine's clock is %d hours off",
    async (hours) => {
      const page = await newPage(c);
      await page.context().clock.install({ time: Date.now() + hours * 3_600_000 });
      await signInWithKey(c, page, "/?range=hour");
      await page.getByRole("img", { name: /^\d signed in, 0 not finished, 1 failed$/ }).waitFor();
      await go(page, "/failures?range=hour");
      await page.getByRole("link", { name: /claims\.email_missing/ }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.context().close();
    },
  );

  const find = async (asked: string) => {
    await c.page.getByRole("searchbox").fill(asked);
    await c.page.keyboard.press("Enter");
    await c.page.waitForURL((url) => url.searchParams.get("q") === asked.trim());
  };

  test("Home says that it does not know when it can no longer find out, whatever it knew before", async () => {
    const page = await newPage(c);
    await page.context().clock.install();
    await signInWithKey(c, page);
    await heading(page, "Shoppers can sign in.");
    await page.route(/\/oidc-profiles\?/, (route) => route.abort());
    await page.context().clock.runFor(16_000);
    await heading(page, "Can shoppers sign in?");
    await page.getByText("That could not be found out.").waitFor();
    await page.context().close();
  });

  test("Find: a reference in any spelling opens the record, with both sides of each check, where it came from, and a letter to copy", async () => {
    const { page } = c;
    await go(page, "/find", "Find");
    await find(` ${failed.reference.toLowerCase().replace("-", " ")}`);
    await page.getByRole("link", { name: new RegExp(failed.reference) }).click();
    await page.getByText("Who must act").waitFor();
    const failing = page.getByRole("row", { name: /E-mail address/ });
    expect(await failing.innerText()).toMatch(/one plain address[\s\S]*Failed/);
    expect(await page.getByRole("listitem").filter({ hasText: "Leg 2" }).count()).toBe(4);
    const caller = page.getByRole("region", { name: "Where it came from" });
    expect(await caller.innerText()).toMatch(/Chrome \d+ on Linux[\s\S]*127\.0\.0\.0\/24[\s\S]*\/signed-in/);
    await button(page, /^Copy for the provider/).click();
    await button(page, /^Copied/).waitFor();
    const letter = await copied(page, new RegExp(`Reference: ${failed.reference}`));
    expect(letter).toContain("What to do:");
    expect(letter).not.toMatch(/cleo/i);
  });

  test("Find: who comes by the menu can type at once", async () => {
    const { page } = c;
    await go(page, "/keys", "Keys");
    await page.getByRole("navigation").getByRole("link", { name: "Find" }).click();
    await heading(page, "Latest sign-ons");
    await page.keyboard.type("Ada");
    expect(await page.getByRole("searchbox").inputValue()).toBe("Ada");
  });

  test("Find: an e-mail address finds the customer and their sign-ons; so do a name and an id", async () => {
    const { page } = c;
    await go(page, "/find", "Find");
    for (const asked of ["ada@shop.example", ada]) {
      await find(asked);
      await page.getByRole("region", { name: "Customers" }).getByText("ada@shop.example").waitFor();
      await page.getByRole("region", { name: "Sign-ons" }).getByText("Signed in").waitFor();
    }
    await find("ada");
    await page.getByRole("link", { name: /ada@shop\.example/ }).waitFor();
  });

  test("Find: a name, or a customer's number, that could be a reference finds its customer all the same", async () => {
    const { page } = c;
    const { data: customer } = await c.admin.customers.create({
      name: "Michelle Hill",
      email: "michelle@shop.example",
      external_ref: "10482217",
    });
    await go(page, "/find", "Find");
    for (const asked of ["Michelle", "10482217"]) {
      await find(asked);
      await page.getByRole("region", { name: "Customers" }).getByText("michelle@shop.example").waitFor();
    }
    await c.admin.customers.delete(customer.id);
  });

  test("Customers: the field says what is looked for, also when that has changed by Back or by the menu", async () => {
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

  test("Find: an address that was refused is found although nobody became a customer", async () => {
    const { realm_id } = (await c.admin.settings.get()).data;
    const [profile] = (await c.admin.profiles(realm_id).list()).data;
    await c.admin.profiles(realm_id).update(profile?.id ?? "", { provisioning: "existing" });
    await shopAs(c, /Ben/);
    await c.admin.profiles(realm_id).update(profile?.id ?? "", { provisioning: "create" });
    const { page } = c;
    await go(page, "/find", "Find");
    await until(async () => (await c.admin.signOns.list({ filter: "eq(email,ben@shop.example)" })).total > 0);
    await find("ben@shop.example");
    await page.getByRole("region", { name: "Sign-ons" }).getByText("Failed").waitFor();
    expect(await page.getByRole("region", { name: "Customers" }).count()).toBe(0);
  });

  test("Find: a request's id finds what failed in it and what it changed; what is nowhere says where else to look", async () => {
    const { page } = c;
    const { data } = await c.admin.signOns.get(failed.id);
    await go(page, "/find", "Find");
    await find(data.request_id ?? "none");
    await page.getByRole("region", { name: "Sign-ons" }).getByText(failed.reference).waitFor();
    await c.admin.store.update({ name: "Alder & Pine" });
    await go(page, "/events", "Events");
    const row = page.getByRole("group").filter({ hasText: "Store Alder & Pine updated" });
    await row.click();
    await row
      .getByRole("link", { name: /^[0-9a-f-]{36}$/ })
      .last()
      .click();
    await heading(page, "Find");
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

  test("Find: a client id, and a key's own id, lead to the key itself, which can be deleted there", async () => {
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
    await button(page, "Delete the key").click();
    await heading(page, "Keys");
    await page.getByText("Till in Leeds is deleted.").waitFor();
    expect(await page.getByRole("link", { name: "Till in Leeds" }).count()).toBe(0);
  });

  test("where one thing is looked at, the exact time stands behind the one in words, for who has no mouse to find it with", async () => {
    const { page } = c;
    const [customer] = (await c.admin.customers.list()).data;
    const exact = page.getByText(/ago|just now/).filter({ hasText: /\(\w{3} \d+, \d{4}, .*\)/ });
    await go(page, `/customers/${customer?.id}`);
    await exact.first().waitFor();
    await c.admin.applicationKeys.create({ name: "Till in York" });
    await go(page, "/events", "Events");
    // One row by its name: newer ones come in above it while the test looks.
    const row = page.getByRole("group").filter({ hasText: "Key Till in York created" });
    await row.waitFor();
    expect(await row.locator(exact).isVisible()).toBe(false);
    await row.click();
    await row.locator(exact).waitFor();
  });

  test("Find shows what happens while one looks", async () => {
    const page = await newPage(c);
    const { data: key } = await c.admin.applicationKeys.create({ name: "Till" });
    await signInWithKey(c, page, `/find?q=${key.id}`);
    await page.getByText("Key Till created").waitFor();
    await c.admin.applicationKeys.update(key.id, { name: "Counter" });
    await page.getByText("Key Counter updated").waitFor();
    await c.admin.applicationKeys.delete(key.id);
    await page.context().close();
  });

  test("Failures are grouped by reason, and a group opens its records", async () => {
    await go(c.page, "/failures", "Failures");
    await c.page.getByRole("link", { name: /claims\.email_missing/ }).click();
    await heading(c.page, "claims.email_missing");
    await c.page.getByRole("link", { name: new RegExp(failed.reference) }).waitFor();
  });

  /** A sign-on up to the moment at which the browser is sent back to the shop with its code, and no further. */
  async function leaveCodeUnused() {
    const page = await newPage(c);
    await page.goto(`${c.shop}/sign-in`);
    const { promise, resolve } = Promise.withResolvers<void>();
    // Playwright's own routes do not see where a redirect leads.
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

  test("Failures: a code that was never used has words, and its group opens its records", async () => {
    await leaveCodeUnused();
    const filter = "eq(outcome,code_issued)";
    const issued = async () => (await c.admin.signOns.list({ filter })).data;
    await until(async () => (await issued()).length === 1);
    const [{ reference, profile_id } = { reference: "", profile_id: "" }] = await issued();
    // The service does this within a minute and a half, and then counts it; nobody waits for it here.
    const database = new DatabaseSync(c.database, { timeout: 5000 });
    database.exec(
      "update sign_ons set outcome = 'expired', reason = 'code_expired' where outcome = 'code_issued'",
    );
    database.close();
    const from = new Date().toISOString();
    const counted = { from, profile_id, outcomes: { expired: 1 }, reasons: { code_expired: 1 }, idp_ms: {} };
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
    // The figures may be asked for at this moment: what is fetched for a page that closes fails.
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await page.context().close();
  });

  test("a shopper who pressed Cancel must act, and what the provider said is told without a word of no answer", async () => {
    const shopper = await newPage(c);
    await shopper.goto(`${c.shop}/sign-in`);
    await button(shopper, "Continue with Practice sign-in").click();
    await button(shopper, "Cancel, and go back to the shop").click();
    await shopper.waitForURL(`${c.shop}/**`);
    await shopper.context().close();
    const cancelled = async () => (await c.admin.signOns.list({ filter: "eq(reason,idp_error)" })).data;
    await until(async () => (await cancelled()).length > 0);
    await go(c.page, `/sign-ons/${(await cancelled())[0]?.id}`);
    const why = c.page.getByRole("region", { name: "Why, and who must act" });
    await why.getByText("The shopper, by signing in again").waitFor();
    await why.getByText("At the sign-in itself: access_denied: “The shopper cancelled.”").waitFor();
  });

  test("a member signs in through the provider in the same window; a reload asks nobody; nothing secret is kept", async () => {
    const page = await newPage(c);
    await signInAsMember(c, page, /Mona/);
    await heading(page, "Shoppers can sign in.");
    await page.getByText(/Mona.*administrator/).waitFor();
    expect(page.url()).toBe(`${c.url}/console/`);
    const kept = () => page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect(await kept()).not.toMatch(/eyJ|verifier|token/i);
    await page.getByRole("navigation").getByRole("link", { name: "Members" }).click();
    await page.getByText("mona@shop.example").waitFor();
    await page.reload();
    await heading(page, "Members");
    expect(page.url()).toBe(`${c.url}/console/members`);
    const bearer = page.waitForRequest((request) => request.headers().authorization !== undefined);
    await page.getByRole("navigation").getByRole("link", { name: "Failures" }).click();
    const { authorization = "" } = (await bearer).headers();
    const me = async () => (await fetch(`${c.url}/v2/me`, { headers: { authorization } })).status;
    expect(await me()).toBe(200);
    await button(page, "Sign out").click();
    await heading(page, "Sign in to your store");
    expect(await kept()).not.toMatch(/eyJ|verifier|signed-in/);
    await until(async () => (await me()) === 401);
    await page.context().close();
  });

  test("who signs in at the address of a screen comes back to it with what it shows", async () => {
    const page = await newPage(c);
    await signInAsMember(c, page, /Mona/);
    const next = await page.context().newPage();
    await next.goto(`${c.url}/console/find?q=${failed.reference}`);
    await button(next, "Sign in as a member").click();
    await next.getByRole("link", { name: new RegExp(failed.reference) }).waitFor();
    expect(next.url()).toBe(`${c.url}/console/find?q=${failed.reference}`);
    await page.context().close();
  });

  test("an address alone neither begins a sign-on nor changes which store is remembered", async () => {
    const page = await newPage(c);
    await signInAsMember(c, page, /Mona/);
    await heading(page, "Shoppers can sign in.");
    const remembered = () => page.evaluate(() => JSON.stringify({ ...localStorage }));
    const mine = await remembered();
    expect(mine).toContain(new URL(c.members).searchParams.get("store"));
    const theirs = "019a0000-0000-7000-8000-000000000000";
    let asked = 0;
    page.on("request", (request) => {
      if (request.url().includes(`/sign-on/stores/${theirs}/`)) asked++;
    });
    for (const query of ["", "continue=x&"]) {
      await page.goto(`${c.url}/console/sign-in?${query}store=${theirs}&realm=${theirs}`);
      await page.getByText("another store than the one that you signed in to last").waitFor();
    }
    expect(asked).toBe(0);
    // Who presses it has not been let in there yet.
    await Promise.all([page.waitForResponse(/\/authorize\?/), button(page, "Sign in as a member").click()]);
    expect(asked).toBe(1);
    const next = await page.context().newPage();
    await next.goto(`${c.url}/console/`);
    await button(next, "Sign in as a member").click();
    await heading(next, "Shoppers can sign in.");
    expect(await next.evaluate(() => JSON.stringify({ ...localStorage }))).toBe(mine);
    await page.context().close();
  });

  test("who finds something else where the store is remembered can sign in all the same", async () => {
    const page = await newPage(c);
    await page.addInitScript(() => {
      for (const storage of [sessionStorage, localStorage]) storage.setItem("latchkey:console:place", "{");
    });
    await page.goto(`${c.url}/console`);
    await heading(page, "Sign in to your store");
    await page.context().close();
  });

  test.each(["/keys/a%2Fb", "/customers/%20", "/realms/a%2Fb/providers/c", "/sign-ons/x%27"])(
    "%s, where no id can be, is no screen",
    async (path) => {
      await go(c.page, "/keys", "Keys");
      await go(c.page, path, "There is no such screen");
    },
  );

  test("who is no member of the store is told so, with the reference that finds the record, and can be somebody else", async () => {
    const page = await newPage(c);
    await page.goto(c.members);
    await button(page, "Sign in as a member").click();
    await button(page, /Ada/).first().click();
    const problem = page.getByRole("alert").filter({ hasText: "Reference" });
    await problem.waitFor();
    const [reference = ""] = /[0-9A-Z]{4}-[0-9A-Z]{4}/.exec(await problem.innerText()) ?? [];
    const named = { filter: `eq(reference,${reference})` };
    const found = async () => (await c.admin.signOns.list(named)).data[0];
    await until(async () => (await found())?.reason === "member_unknown");
    await go(c.page, `/sign-ons/${(await found())?.id}`, `Sign-on ${reference}`);
    await c.page.getByText("The console sent the member here").waitFor();
    expect(await c.page.getByRole("main").innerText()).not.toMatch(/storefront|shopper/);
    // The provider would send Ada again, who is signed in there.
    await button(page, "Sign in again").click();
    await button(page, /Mona/).first().click();
    await heading(page, "Shoppers can sign in.");
    await page.context().close();
  });

  test("what was refused is forgotten when somebody has signed in", async () => {
    const page = await newPage(c);
    await page.goto(c.members);
    await button(page, "Sign in as a member").click();
    await button(page, /Ada/).first().click();
    await page.getByRole("alert").filter({ hasText: "Reference" }).waitFor();
    await page.getByLabel("Client id").fill(c.key.clientId);
    await page.getByLabel("Client secret").fill(c.key.clientSecret);
    await button(page, "Sign in with the key").click();
    await button(page, "Sign out").click();
    await heading(page, "Sign in to your store");
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.context().close();
  });

  test("when a member's token runs out, they go on in a second window, and what was typed is still there", async () => {
    const page = await newPage(c);
    await page.context().clock.install();
    await signInAsMember(c, page, /Mona/);
    // With what it and Home ask for: nothing of it is left to be asked later.
    await heading(page, "Shoppers can sign in.");
    await go(page, "/find", "Latest sign-ons");
    await page.getByRole("searchbox").fill("half a na");
    await page.context().clock.fastForward(3_601_000);
    const dialog = page.getByRole("dialog", { name: "Your session has ended" });
    await dialog.waitFor();
    await page.keyboard.press("Escape");
    let asked = 0;
    page.on("request", () => asked++);
    await page.context().clock.runFor(20_000);
    expect([await dialog.count(), asked]).toEqual([1, 0]);
    const opened = page.waitForEvent("popup");
    await dialog.getByRole("button", { name: "Continue" }).click();
    const second = await opened;
    // The provider still knows her, so nobody is asked, and the window closes itself.
    if (!second.isClosed()) await second.waitForEvent("close");
    await dialog.waitFor({ state: "detached" });
    expect(await page.getByRole("searchbox").inputValue()).toBe("half a na");
    await page.getByRole("navigation").getByRole("link", { name: "Members" }).click();
    await page.getByText("mona@shop.example").waitFor();
    await page.context().close();
  });

  test("who is signed out from outside is told so also on a screen that asks nothing by itself", async () => {
    const page = await newPage(c);
    await signInAsMember(c, page, /Mona/);
    const bearer = page.waitForRequest((request) => request.headers().authorization !== undefined);
    await go(page, "/settings", "The store");
    const { authorization = "" } = (await bearer).headers();
    const body = new URLSearchParams({ token: authorization.slice("Bearer ".length), client_id: "members" });
    await fetch(`${c.url}/oauth/revoke`, { method: "POST", body });
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    await page.context().close();
  });

  test("what is half typed is not lost to the renewal of a token, wherever the focus is", async () => {
    const page = await newPage(c);
    await page.context().clock.install();
    await signInAsMember(c, page, /Mona/);
    await go(page, "/settings", "Settings");
    await page.getByLabel("Way back to the shop").first().fill("https://half.typed.example/");
    await button(page, "Add a redirect URI").first().click();
    await page.context().clock.fastForward(3_400_000);
    let left = 0;
    page.on("framenavigated", () => left++);
    await page.evaluate(() => document.dispatchEvent(new Event("visibilitychange")));
    await page.context().clock.runFor(2000);
    expect([await page.getByLabel("Way back to the shop").first().inputValue(), left]).toEqual([
      "https://half.typed.example/",
      0,
    ]);
    // Whoever leaves the screen has given up what they typed on it.
    // The address is there for a moment only.
    const isBack = page.waitForURL(/\/signed-in\?/);
    await page.getByRole("navigation").getByRole("link", { name: "Failures" }).click();
    await isBack;
    await heading(page, "Failures");
    await page.context().close();
  });

  test("a second window whose first one was closed meanwhile is where its member goes on", async () => {
    const page = await newPage(c);
    await signInAsMember(c, page, /Mona/);
    const second = await page.context().newPage();
    await page.close();
    await second.goto(`${c.url}/console/sign-in?continue=${crypto.randomUUID()}`);
    await heading(second, "Shoppers can sign in.");
    await second.getByText(/Mona.*administrator/).waitFor();
    await second.context().close();
  });

  test("with the keyboard alone: past the menu, into a dialog, which keeps the focus and gives it back", async () => {
    const page = await newPage(c);
    await signInWithKey(c, page, "/keys");
    await heading(page, "Keys");
    // The button that has signed in is gone, and has handed the focus on. Whoever loads a page begins before everything.
    await until(() => page.evaluate(() => document.activeElement?.textContent === "Keys"));
    await page.evaluate(() => {
      document.body.tabIndex = -1;
      document.body.focus();
      document.body.removeAttribute("tabindex");
    });
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Skip to the screen");
    await page.keyboard.press("Enter");
    await until(() => page.evaluate(() => document.activeElement?.id === "main"));
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Create a key");
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Create a key" });
    // It is drawn before it takes the focus.
    await until(() => dialog.evaluate((one: Element) => one.contains(document.activeElement)));
    for (let i = 0; i < 12; i++) {
      await page.keyboard.press("Tab");
      // Once around, the browser's own controls have their turn: the page then shows no focus, and the rest of it cannot be reached.
      const isHeld = (one: { contains(other: unknown): boolean }) =>
        one.contains(document.activeElement) || document.activeElement === document.body;
      expect(await dialog.evaluate(isHeld)).toBe(true);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await until(() => page.evaluate(() => document.activeElement?.textContent === "Create a key"));
    await page.context().close();
  });

  test("a button has the focus again also where it was disabled for less than a frame", async () => {
    await go(c.page, "/keys", "Keys");
    const create = button(c.page, "Create a key");
    await create.evaluate(async (one: HTMLButtonElement) => {
      one.focus();
      const frame = window.requestAnimationFrame;
      await new Promise(frame);
      const waiting: FrameRequestCallback[] = [];
      window.requestAnimationFrame = (act) => waiting.push(act);
      one.disabled = true;
      // Chromium takes the focus away in a task of its own, which waits for no frame.
      while (document.activeElement === one) await new Promise((resolve) => setTimeout(resolve));
      one.disabled = false;
      window.requestAnimationFrame = frame;
      for (const act of waiting) frame(act);
    });
    await until(() => create.evaluate((one) => one === document.activeElement));
  });

  test("a screen has the focus, and keeps what is typed, from the moment on at which it is there", async () => {
    const page = await newPage(c);
    await signInWithKey(c, page, "/keys");
    await heading(page, "Keys");
    const inFocus = page.evaluate(
      () =>
        new Promise((resolve) => {
          new MutationObserver((_, observer) => {
            const field = document.querySelector<HTMLInputElement>("[type=search]");
            if (!field) return;
            observer.disconnect();
            resolve(document.activeElement?.textContent);
            // As a key would: past what React remembers of the field.
            Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(field, "Ada");
            field.dispatchEvent(new Event("input", { bubbles: true }));
          }).observe(document, { subtree: true, childList: true });
        }),
    );
    await go(page, "/customers", "Customers");
    expect(await inFocus).toBe("Customers");
    await page.getByRole("searchbox").press("Enter");
    await page.waitForURL((url) => url.searchParams.get("q") === "Ada");
    await page.context().close();
  });

  test("a screen that was seen before begins at its top, and on the way back one is where one was", async () => {
    const page = await newPage(c, { viewport: { width: 1280, height: 400 } });
    await signInWithKey(c, page, "/events");
    await page
      .getByText(/created/)
      .first()
      .waitFor();
    await go(page, "/settings", "The store");
    // Its realms are above the store: before they are there, it is too short to be scrolled so far.
    await page.getByLabel("Way back to the shop").first().waitFor();
    const scrolled = () => page.evaluate(() => scrollY);
    await page.evaluate(() => scrollTo(0, 300));
    expect(await scrolled()).toBe(300);
    await page.getByRole("navigation").getByRole("link", { name: "Events" }).click();
    await heading(page, "Events");
    expect(await scrolled()).toBe(0);
    await page.goBack();
    await heading(page, "The store");
    await until(async () => (await scrolled()) === 300);
    await page.context().close();
  });

  test("a screen whose file is gone, as after an upgrade, says so; the others stay, and the page can be loaded again", async () => {
    const page = await newPage(c);
    await signInWithKey(c, page, "/settings");
    await heading(page, "Settings");
    await page.route(/\/assets\/planner-/, (route) => route.fulfill({ status: 404 }));
    await go(page, "/planner", "This screen could not be loaded");
    await page.getByRole("navigation").getByRole("link", { name: "Settings" }).click();
    await heading(page, "Settings");
    await go(page, "/planner", "This screen could not be loaded");
    await button(page, "Load the page again").click();
    await heading(page, "Sign in to your store");
    expect(page.url()).toBe(`${c.url}/console/planner`);
    await page.context().close();
  });

  test("a screen whose file was lost on its way is loaded when it is asked for again", async () => {
    const page = await newPage(c);
    await signInWithKey(c, page, "/settings");
    await heading(page, "Settings");
    let asked = 0;
    await page.route(/\/assets\/(planner|members)-/, (route) => {
      asked++;
      return route.abort();
    });
    await go(page, "/planner", "This screen could not be loaded");
    await go(page, "/members", "This screen could not be loaded");
    expect(asked).toBe(2);
    await page.unrouteAll();
    await button(page, "Try again").click();
    await heading(page, "Members");
    await go(page, "/planner", "Planner");
    await page.context().close();
  });

  test("a session that ends while the way to go on cannot be loaded is gone on with when it is tried again", async () => {
    const page = await newPage(c);
    await page.context().clock.install();
    await page.setViewportSize({ width: 1280, height: 800 });
    await signInAsMember(c, page, /Mona/);
    await go(page, "/settings", "The store");
    await page.getByLabel("Way back to the shop").first().fill("https://half.typed.example/");
    await page.route(/\/assets\/continue-/, (route) => route.abort());
    await page.context().clock.fastForward(3_601_000);
    const again = button(page, "Try again");
    await again.waitFor();
    const { y = 0 } = (await again.boundingBox()) ?? {};
    expect(y).toBeLessThan(800);
    await page.unrouteAll();
    await again.click();
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    const typed = page.getByLabel("Way back to the shop").first();
    expect(await typed.inputValue()).toBe("https://half.typed.example/");
    await page.context().close();
  });

  test("the way to go on is tried again also above a window that is open, which keeps what was typed in it", async () => {
    const page = await newPage(c);
    await page.context().clock.install();
    await signInAsMember(c, page, /Mona/);
    await go(page, "/keys", "Keys");
    await button(page, "Create a key").click();
    await page.getByLabel("Name of the program").fill("half a na");
    await page.route(/\/assets\/continue-/, (route) => route.abort());
    await page.context().clock.fastForward(3_601_000);
    await button(page, "Try again").waitFor();
    await page.unrouteAll();
    await button(page, "Try again").click();
    await page.getByRole("dialog", { name: "Your session has ended" }).waitFor();
    expect(await page.getByLabel("Name of the program").inputValue()).toBe("half a na");
    await page.context().close();
  });

  test("without a network screens say so instead of loading for good, and go on when it is back", async () => {
    const page = await newPage(c);
    await signInWithKey(c, page, "/customers");
    await heading(page, "Customers");
    await page.context().setOffline(true);
    await go(page, "/customers?q=nobody");
    await page.getByRole("alert").getByText("network_failed").waitFor();
    await page.context().setOffline(false);
    await heading(page, "Nobody found");
    expect(await page.getByRole("alert").count()).toBe(0);
    await page.context().close();
  });

  test("live figures are asked for at most once a second, and nothing at all while nobody can see them", async () => {
    const page = await newPage(c);
    await page.clock.install();
    await signInWithKey(c, page);
    await heading(page, "Shoppers can sign in.");
    let asked = 0;
    // Not the log, which is no figure; nor the providers of a realm, which are asked for to the end once the realms were.
    page.on("request", (request) => {
      if (/^\/v2\/(?!events\/|.*\/oidc-profiles$)/.test(new URL(request.url()).pathname)) asked++;
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
    await page.context().close();
  });
});
