import { afterAll, describe, expect, test } from "vitest";
import { type HostileIdp, startHostileIdp } from "../../packages/server/test/support/hostile-idp.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { type HonestIdp, startHonestIdp } from "../support/honest-idp.ts";
import {
  button,
  consolePlace,
  go,
  inDialog,
  newPage,
  openProvider,
  practiceProvider,
  signInAsMember,
  signInWithKey,
} from "./place.ts";

/** Identity providers: checked, tried by a test sign-on, moved to another address, and their changes approved. */

describe.skipIf(!hasChromium)("the console", () => {
  let other: HonestIdp;
  let hostile: HostileIdp;
  const c = consolePlace({
    shoppers: [/Ada/],
    allow: async () => {
      other = await startHonestIdp();
      hostile = await startHostileIdp();
      return [other.origin, hostile.origin];
    },
  });
  afterAll(() => Promise.all([other?.close(), hostile?.close()]));

  describe("a provider", () => {
    test("is checked line by line, disabled, and enabled again", async () => {
      const { page } = c;
      await go(page, "/providers", "Providers");
      await page
        .getByRole("link", { name: /Practice sign-in/ })
        .first()
        .click();
      await button(page, "Run checks").click();
      await page.getByText("R9", { exact: true }).waitFor();
      expect(await page.getByRole("listitem").filter({ hasText: /^R\d/ }).count()).toBe(9);
      await button(page, "Disable").click();
      await inDialog(page, "Disable provider").click();
      await page.getByText("Disabled", { exact: true }).waitFor();
      await button(page, "Enable").click();
      await page.getByText("Up", { exact: true }).waitFor();
    });

    test("that was saved without a secret gets one, and can then be enabled", async () => {
      const { page } = c;
      const { realmId } = await practiceProvider(c);
      const profiles = c.admin.profiles(realmId);
      const { data: saved } = await profiles.create({
        name: "Third door",
        discovery_url: c.idp,
        client_id: "latchkey",
        enabled: false,
      });
      await go(page, `/realms/${realmId}/providers/${saved.id}`, "Third door");
      await button(page, "Enter the client secret").click();
      await page.getByLabel("Client secret", { exact: true }).fill("practice");
      await inDialog(page, "Save secret").click();
      await button(page, "Change the client secret").waitFor();
      await button(page, "Enable").click();
      await button(page, "Disable").waitFor();
      expect((await profiles.get(saved.id)).data.enabled).toBe(true);
      await profiles.delete(saved.id);
    });
  });

  describe("a test sign-on", () => {
    /** Signs in in the second window, and closes it. */
    async function tryOut(act: string, who: RegExp) {
      const opened = c.page.waitForEvent("popup");
      await button(c.page, act).click();
      const second = await opened;
      await button(second, who).first().click();
      await second.getByRole("heading", { name: /Test (passed|failed)/ }).waitFor();
      expect(await second.evaluate(() => window.opener)).toBeNull();
      await second.close();
    }

    test("opens a second window and shows every check, also of a sign-on that fails", async () => {
      const { page } = c;
      const customers = (await c.admin.customers.list()).total;
      await openProvider(c);
      await tryOut("Test sign-on", /Ben/);
      const tested = page.getByRole("region", { name: "Test sign-on" });
      await tested.getByText("Test passed").waitFor();
      expect(await tested.getByRole("row", { name: /Nonce|nonce/ }).innerText()).toMatch(/Passed/);
      expect(await tested.getByText("This person could sign in").count()).toBe(1);
      // Otherwise the provider remembers Ben.
      await page.context().clearCookies();
      await tryOut("Test again", /Cleo/);
      await tested.getByText("Failed", { exact: true }).first().waitFor();
      expect(await tested.getByRole("row", { name: /E-mail address/ }).innerText()).toMatch(/Failed/);
      await tested.getByRole("link", { name: /^[0-9A-Z]{4}-[0-9A-Z]{4}$/ }).click();
      await page.getByText("a test sign-on: no one was signed in").waitFor();
      expect((await c.admin.customers.list()).total).toBe(customers);
    });

    test("is waited for until its address expires, whatever this machine's clock shows", async () => {
      const page = await newPage(c);
      await page.context().clock.install({ time: Date.now() + 2 * 86_400_000 });
      await signInWithKey(c, page, (await practiceProvider(c)).path);
      const opened = page.waitForEvent("popup");
      await button(page, "Test sign-on").click();
      const second = await opened;
      await button(second, /Ben/).first().waitFor();
      const waits = page.getByText("Sign in in the other window");
      await waits.waitFor();
      // The test was opened late, and a sign-on has ten minutes from then on.
      await page.context().clock.fastForward(15 * 60_000);
      await waits.waitFor();
      await button(second, /Ben/).first().click();
      await page.getByText("Test passed").waitFor();
      await page.context().close();
    });

    test("offers a link where the browser blocks the window", async () => {
      await openProvider(c);
      await c.page.evaluate(() => {
        window.open = () => null;
      });
      await button(c.page, "Test sign-on").click();
      expect(await c.page.getByRole("link", { name: "Open it here" }).getAttribute("href")).toContain(
        "/test?",
      );
    });
  });

  describe("a move", () => {
    /** Moves the practice provider to this address, and chooses what becomes of its people. */
    async function move(to: string, chosen: string, act: string) {
      const { page } = c;
      await openProvider(c);
      await button(page, "Change address and client").click();
      const form = page.getByRole("dialog", { name: /^Change address and client of/ });
      await form.getByLabel("Address").fill(to);
      await form.getByLabel("Client secret").fill("practice");
      await form.getByRole("button", { name: "Move provider" }).click();
      const asked = page.getByRole("dialog", { name: "What becomes of the people who signed in before?" });
      await asked.getByText("One person").waitFor();
      await asked.getByText(to).first().waitFor();
      await asked.getByRole("radio", { name: chosen }).check();
      expect(await asked.getByRole("button", { name: act }).isDisabled()).toBe(true);
      await asked.getByRole("textbox").fill("Practice sign-in");
      await asked.getByRole("button", { name: act }).click();
      await page.getByText("Practice sign-in has a new address or client.").waitFor();
      await until(async () => (await practiceProvider(c)).profile.meta.issuer === to);
      return (await practiceProvider(c)).profile.meta.former_issuers;
    }

    test("to another issuer asks what becomes of the people, and the provider's name confirms to carry them over", async () => {
      expect(await move(other.origin, "Carry them over", "Change it and carry them over")).toEqual([c.idp]);
      await move(c.idp, "Carry them over", "Change it and carry them over");
    });

    test("and a removal of a provider of members warn about members, not about shoppers", async () => {
      const { page } = c;
      const realms = (await c.admin.realms.list()).data;
      const realm = realms.find(({ purpose }) => purpose === "members");
      const [profile] = (await c.admin.profiles(realm?.id ?? "").list()).data;
      const mona = await newPage(c);
      await signInAsMember(c, mona, /Mona/);
      await mona.context().close();
      await go(page, `/realms/${realm?.id}/providers/${profile?.id}`, profile?.name);
      await page.getByText("are refused, unless they were invited under Members").waitFor();
      await button(page, "Remove").click();
      const remove = page.getByRole("dialog");
      await remove.getByText(/Members who came through it must be removed and invited again/).waitFor();
      await remove.getByRole("button", { name: "Cancel" }).click();
      await button(page, "Change address and client").click();
      const form = page.getByRole("dialog", { name: /^Change address and client of/ });
      await form.getByLabel("Address").fill(hostile.origin);
      await form.getByLabel("Client secret").fill("practice");
      await form.getByRole("button", { name: "Move provider" }).click();
      const moved = page.getByRole("dialog", { name: "What becomes of the people who signed in before?" });
      await moved.getByText("One person").waitFor();
      await moved.getByText(/Everyone stays the member they are/).waitFor();
      await moved.getByText(/until they are removed and invited again/).waitFor();
      await moved.getByRole("button", { name: "Cancel" }).click();
      await inDialog(page, "Cancel").click();
    });

    test("is refused when another administrator has changed the provider meanwhile; so is a new secret", async () => {
      const { page } = c;
      const { realmId } = await practiceProvider(c);
      const profiles = c.admin.profiles(realmId);
      const { data: made } = await profiles.create({
        name: "Of two minds",
        discovery_url: other.origin,
        client_id: "first",
        client_secret: "practice",
        enabled: false,
      });
      await go(page, `/realms/${realmId}/providers/${made.id}`, "Of two minds");
      await button(page, "Change address and client").click();
      await profiles.update(made.id, { client_id: "second", client_secret: "practice" });
      // The screen below the window follows.
      await page.getByText("second", { exact: true }).waitFor({ state: "attached" });
      const form = page.getByRole("dialog", { name: /^Change address and client of/ });
      await form.getByLabel("Client secret").fill("practice");
      await form.getByRole("button", { name: "Move provider" }).click();
      await form.getByText("profile_changed").waitFor();
      expect((await profiles.get(made.id)).data.client_id).toBe("second");
      await page.keyboard.press("Escape");
      // A secret that was typed for one client is not kept for another.
      await button(page, "Change the client secret").click();
      await profiles.update(made.id, { client_id: "third", client_secret: "practice" });
      await page.getByText("third", { exact: true }).waitFor({ state: "attached" });
      await page.getByLabel("New client secret").fill("for the second");
      await inDialog(page, "Replace secret").click();
      await page.getByRole("dialog").getByText("profile_changed").waitFor();
      await page.keyboard.press("Escape");
      await profiles.delete(made.id);
    });
  });

  describe("a changed provider document", () => {
    /** Enabling the provider fetches its document; a changed document waits for approval. */
    async function readAnew() {
      const { realmId, profile } = await practiceProvider(c);
      const profiles = c.admin.profiles(realmId);
      await profiles.update(profile.id, { enabled: false });
      await profiles.update(profile.id, { enabled: true });
    }

    test("is shown as differences to approve, with the question about the people; only what was shown is approved", async () => {
      const { page } = c;
      const { realmId, profile } = await practiceProvider(c);
      const profiles = c.admin.profiles(realmId);
      const at = { discovery_url: hostile.origin, client_secret: "practice" };
      const carried = { adopt_identities_of: profile.id, confirm: profile.name };
      await profiles.update(profile.id, { ...at, ...carried });
      hostile.issuer = `${hostile.origin}/`;
      await readAnew();
      await openProvider(c);
      const drift = page.getByRole("region", { name: "The provider has changed" });
      const differences = async () => (await drift.innerText()).replaceAll(/\s+/g, " ");
      expect(await differences()).toContain(`issuer before ${hostile.origin} now ${hostile.issuer} `);
      const asked = page.getByRole("dialog", { name: "What becomes of the people who signed in before?" });
      const approve = async () => {
        await button(page, "Approve this change").click();
        await inDialog(page, "Approve change").click();
        await asked.getByText("One person").waitFor();
        await asked.getByRole("radio", { name: "Leave them behind" }).check();
        await asked.getByRole("textbox").fill("Practice sign-in");
      };
      const leave = () => asked.getByRole("button", { name: "Change it and leave them behind" }).click();
      await approve();
      hostile.hooks.discovery = (document) => ({ ...document, token_endpoint: `${other.origin}/token` });
      await readAnew();
      // The screen below the window follows.
      await page.getByText(`${other.origin}/token`).waitFor({ state: "attached" });
      await leave();
      await asked.getByText("drift_changed").waitFor();
      await asked.getByRole("button", { name: "Cancel" }).click();
      await inDialog(page, "Cancel").click();
      expect(await differences()).toContain(`now ${other.origin}/token`);
      await approve();
      await leave();
      await page.getByText("The change is approved.").waitFor();
      await drift.waitFor({ state: "detached" });
      const { meta } = (await practiceProvider(c)).profile;
      expect([meta.issuer, meta.former_issuers]).toEqual([hostile.issuer, []]);
      await profiles.update(profile.id, { ...at, discovery_url: c.idp });
    });
  });
});
