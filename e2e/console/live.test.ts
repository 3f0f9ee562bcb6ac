import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  button,
  consolePlace,
  go,
  heading,
  inDialog,
  keyWithRole,
  newPage,
  onChange,
  signInWithKey,
} from "./place.ts";

/** Screens follow what happens elsewhere: the log of events, deliveries, live figures, and what another administrator changes. */

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace({ shoppers: [/Ada/] });

  describe("Events", () => {
    test("shows new events without a reload, with the values before and after", async () => {
      const { page } = c;
      await go(page, "/events", "Events");
      await page
        .getByText(/created/)
        .first()
        .waitFor();
      await c.admin.store.update({ name: "Alder & Pine" });
      const row = page.getByRole("rowgroup").filter({ hasText: "Store Alder & Pine updated" }).first();
      await row.click();
      await row.getByText("Practice store").waitFor();
      await c.admin.store.update({ name: "Practice store" });
      await page.getByText("Store Practice store updated").first().waitFor();
    });

    test("names the event type of the address, also one that its menu does not offer", async () => {
      const { page } = c;
      await go(page, "/events?types=customer.created", "Events");
      await page.getByText("Customer Ada created").waitFor();
      const show = page.getByRole("combobox", { name: "Show" });
      expect(await show.locator("option:checked").innerText()).toBe("customer.created");
      await show.selectOption("Everything");
      await page
        .getByText(/Key .* created/)
        .first()
        .waitFor();
    });

    test("shows events that happened while its stream was interrupted", async () => {
      const page = await newPage(c);
      const broken = { status: 200, contentType: "text/event-stream", body: "" };
      const isBroken = page.waitForResponse(/\/v2\/events\/stream/);
      await page.route(/\/v2\/events\/stream/, (route) => route.fulfill(broken), { times: 1 });
      await signInWithKey(c, page, "/events");
      await page
        .getByText(/created/)
        .first()
        .waitFor();
      await isBroken;
      await c.admin.store.update({ name: "Birch" });
      await page.getByText("Store Birch updated").first().waitFor();
      await c.admin.store.update({ name: "Practice store" });
      await page.context().close();
    });

    test("shows events that happened before its stream was open", async () => {
      const page = await newPage(c);
      let isIn = false;
      page.on("response", (response) => {
        isIn ||= response.url().endsWith("/v2/me");
      });
      const renamed = Promise.withResolvers<void>();
      await page.route(/\/v2\/events\/(head|stream)/, async (route) => {
        if (isIn) await renamed.promise;
        await route.continue();
      });
      await signInWithKey(c, page, "/events");
      await page
        .getByText(/created/)
        .first()
        .waitFor();
      const { sequence } = await c.admin.events.head();
      await c.admin.store.update({ name: "Willow" });
      await until(async () => (await c.admin.events.head()).sequence !== sequence);
      renamed.resolve();
      await page.getByText("Store Willow updated").waitFor();
      await c.admin.store.update({ name: "Practice store" });
      await page.context().close();
    });

    test("sends at most twelve requests for three hundred events that arrive together", async () => {
      const page = await newPage(c);
      const crowd = Array.from({ length: 300 }, () => ({ type: "customer.created", sequence: "1" }));
      const body = crowd.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
      const isStream = /\/v2\/events\/stream/;
      const told = { status: 200, contentType: "text/event-stream", body };
      const { promise: held, resolve: release } = Promise.withResolvers<void>();
      await page.route(isStream, (route) => held.then(() => route.fulfill(told)), { times: 1 });
      await signInWithKey(c, page, "/events");
      await page
        .getByText(/created/)
        .first()
        .waitFor();
      let asked = 0;
      page.on("request", (request) => {
        if (/\/v2\/events\?/.test(request.url())) asked++;
      });
      release();
      // The page requests the stream again five seconds after it has read all the events.
      await page.waitForRequest(isStream);
      expect(asked).toBeLessThanOrEqual(12);
      await page.context().close();
    });

    test("shows the rest of a log whose first events were deleted", async () => {
      const { data, lastSequence } = await c.admin.events.list({ limit: 1 });
      const first = Number(data[0]?.sequence) + 2;
      expect(first).toBeLessThan(Number(lastSequence));
      // Retention does this after 90 days.
      const database = new DatabaseSync(c.database, { timeout: 5000 });
      database.exec(`delete from events where sequence < ${first}`);
      database.exec(`update event_heads set first_sequence = ${first}`);
      database.close();
      const page = await newPage(c);
      await signInWithKey(c, page, "/events");
      await page.getByRole("cell", { name: lastSequence, exact: true }).waitFor();
      await page.getByRole("cell", { name: String(first), exact: true }).waitFor();
      expect(await page.getByRole("alert").count()).toBe(0);
      await page.context().close();
    });
  });

  describe("an integration", () => {
    test("shows its secret once, sends a test message, and sends a failed delivery again", async () => {
      const { page } = c;
      await go(page, "/integrations", "Integrations");
      await button(page, "Add an integration").click();
      await page.getByRole("textbox", { name: "Name" }).fill("Newsletter");
      await page.getByRole("textbox", { name: "Address" }).fill(`${c.receiver.url}/events`);
      await page.getByRole("checkbox", { name: /store\.\*/ }).check();
      await button(page, "Add the integration").click();
      await page.getByText(/^whsec_/).waitFor();
      await button(page, "I have copied it").click();
      await page.getByRole("link", { name: /Newsletter/ }).click();
      await button(page, "Send a test message").click();
      const acts = page.getByRole("region", { name: "What can be done" });
      await acts.getByText(/Answered 200/).waitFor();
      Object.assign(c.receiver.answer, { status: 500, text: "out of paper" });
      await c.admin.store.update({ name: "Alder" });
      const row = page.getByRole("rowgroup").filter({ hasText: "store.updated" }).first();
      await row.click();
      await row.getByText("Answered 500").first().waitFor();
      await row.getByText("out of paper").first().waitFor();
      await row.getByText(/^Next attempt/).waitFor();
      await button(page, "Disable").click();
      await inDialog(page, "Disable integration").click();
      await row.getByText("Waits until the integration is enabled.").waitFor();
      expect(await row.getByText(/^Next attempt/).count()).toBe(0);
      await button(page, "Enable").click();
      await button(page, "Disable").waitFor();
      Object.assign(c.receiver.answer, { status: 200, text: "heard" });
      await row.getByRole("button", { name: "Send again" }).click();
      await page.getByText("It is sent again.").waitFor();
      await row.getByText("heard").first().waitFor();
      await row.getByText("Delivered").waitFor();
      await c.admin.store.update({ name: "Practice store" });
      await button(page, "Delete").click();
      await page.getByRole("dialog").getByRole("textbox").fill("Newsletter");
      await inDialog(page, "Delete integration").click();
      await page.getByText("Newsletter is deleted.").waitFor();
      await heading(page, "Integrations");
    });
  });

  describe("the planner", () => {
    test("replays the last hour for a reservation, and applies the reservation", async () => {
      const { page } = c;
      await go(page, "/planner", "Planner");
      await page.getByRole("slider").focus();
      for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
      await page
        .getByText(/would have been|No request was refused|No requests in the last hour/)
        .first()
        .waitFor();
      await button(page, "Apply").click();
      await page.getByText(/^3 a second are reserved for /).waitFor();
      expect((await c.admin.applicationKeys.list()).meta.total_reserved_rate_limit).toBe(3);
    });

    test("and the dialog of roles show what another administrator has saved, where nothing else was chosen", async () => {
      const { page } = c;
      const { data: key } = await c.admin.applicationKeys.create({ name: "Two hands", role: "viewer" });
      await go(page, `/planner?key=${key.id}`, "Planner");
      const slider = page.getByRole("slider", { name: /Two hands/ });
      await slider.waitFor();
      const reserve = (reserved_rate_limit: number) =>
        c.admin.applicationKeys.update(key.id, { name: key.name, reserved_rate_limit });
      await reserve(4);
      await until(async () => (await slider.inputValue()) === "4");
      expect(await button(page, "Apply").isDisabled()).toBe(true);
      // The other administrator saves between this administrator's PUT and its answer.
      await onChange(page, new RegExp(`${key.id}$`), async (route) => {
        const response = await route.fetch();
        await reserve(2);
        await route.fulfill({ response });
      });
      await slider.press("ArrowRight");
      await button(page, "Apply").click();
      await page.getByText("5 a second are reserved for Two hands.").waitFor();
      await until(async () => (await slider.inputValue()) === "2");
      await slider.press("ArrowRight");
      await reserve(7);
      await button(page, "Back to 7").waitFor();
      expect(await slider.inputValue()).toBe("3");
      await go(page, `/keys/${key.id}`, "Two hands");
      await button(page, "Change role of Two hands").click();
      await c.admin.applicationKeys.update(key.id, { name: key.name, role: "support" });
      await until(() => page.getByRole("radio", { name: /^Support/ }).isChecked());
      expect(await inDialog(page, "Change role").isDisabled()).toBe(true);
      await page.keyboard.press("Escape");
      await c.admin.applicationKeys.delete(key.id);
    });
  });

  describe("a screen", () => {
    test("shows a new name of the store and a new role of the signed-in key without a reload", async () => {
      const page = await newPage(c);
      const key = await keyWithRole(c, "viewer");
      await signInWithKey(c, page, "/keys", key);
      await heading(page, "Keys");
      await page.getByText("Read-only: only administrators can change this.").first().waitFor();
      await c.admin.store.update({ name: "Alder & Pine" });
      await page.getByRole("banner").getByText("Alder & Pine").waitFor();
      await c.admin.store.update({ name: "Practice store" });
      const keys = (await c.admin.applicationKeys.list({ limit: 100 })).data;
      const own = keys.find(({ client_id }) => client_id === key.clientId);
      await c.admin.applicationKeys.update(own?.id ?? "", { name: own?.name ?? "", role: "administrator" });
      await button(page, "Create a key").waitFor();
      await page.context().close();
    });

    test("requests live figures at most once a second, and not at all while its tab is hidden", async () => {
      const page = await newPage(c);
      await page.clock.install();
      await signInWithKey(c, page);
      await heading(page, "Shoppers can sign in.");
      let asked = 0;
      // The log is no figure. The providers of a realm are requested to the end once the realms were.
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
});
