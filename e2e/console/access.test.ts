import { createStorefront } from "@latchkey/sdk";
import { afterAll, describe, expect, test } from "vitest";
import { type HostileIdp, startHostileIdp } from "../../packages/server/test/support/hostile-idp.ts";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { type HonestIdp, startHonestIdp } from "../support/honest-idp.ts";
import {
  button,
  consolePlace,
  copied,
  go,
  heading,
  newPage,
  onChange,
  practiceProvider,
  signInWithKey,
} from "./place.ts";

/** Who is let in: providers, keys, the planner, customers. */

describe.skipIf(!hasChromium)("in Chromium", () => {
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

  /** In a visit of its own: what is remembered of the provider may be older than the last change, and a change based on it is refused. */
  const openProvider = async () => {
    await signInWithKey(c, c.page, (await practiceProvider(c)).path);
    await heading(c.page, "The nine requirements");
  };

  test("a provider is examined, line by line, disabled, and enabled again", async () => {
    const { page } = c;
    await go(page, "/providers", "Providers");
    await page
      .getByRole("link", { name: /Practice sign-in/ })
      .first()
      .click();
    await button(page, "Examine now").click();
    await page.getByText("R9", { exact: true }).waitFor();
    expect(await page.getByRole("listitem").filter({ hasText: /^R\d/ }).count()).toBe(9);
    await button(page, "Disable").click();
    await page.getByText("Disabled", { exact: true }).waitFor();
    await button(page, "Enable").click();
    await page.getByText("Up", { exact: true }).waitFor();
  });

  /** Signs in in the second window, and leaves it. */
  async function tryOut(act: string, who: RegExp) {
    const opened = c.page.waitForEvent("popup");
    await button(c.page, act).click();
    const second = await opened;
    await button(second, who).first().click();
    await second.getByRole("heading", { name: /The test/ }).waitFor();
    expect(await second.evaluate(() => window.opener)).toBeNull();
    await second.close();
  }

  test("a test sign-on goes through a second window, and every check comes up beside it, also of one that fails", async () => {
    const { page } = c;
    const customers = (await c.admin.customers.list()).total;
    await openProvider();
    await tryOut("Test sign-on", /Ben/);
    const tested = page.getByRole("region", { name: "Test sign-on" });
    await tested.getByText("Test came through").waitFor();
    expect(await tested.getByRole("row", { name: /Nonce|nonce/ }).innerText()).toMatch(/Passed/);
    expect(await tested.getByText("Whether this person would be let in").count()).toBe(1);
    // The provider would remember Ben.
    await page.context().clearCookies();
    await tryOut("Test again", /Cleo/);
    await tested.getByText("Failed", { exact: true }).first().waitFor();
    expect(await tested.getByRole("row", { name: /E-mail address/ }).innerText()).toMatch(/Failed/);
    await tested.getByRole("link", { name: /^[0-9A-Z]{4}-[0-9A-Z]{4}$/ }).click();
    await page.getByText("a test sign-on: nobody was signed in").waitFor();
    expect((await c.admin.customers.list()).total).toBe(customers);
  });

  test("a test sign-on is waited for as long as somebody may come back from it, whatever this machine's clock says", async () => {
    const page = await newPage(c);
    await page.context().clock.install({ time: Date.now() + 2 * 86_400_000 });
    await signInWithKey(c, page, (await practiceProvider(c)).path);
    const opened = page.waitForEvent("popup");
    await button(page, "Test sign-on").click();
    const second = await opened;
    await button(second, /Ben/).first().waitFor();
    const waits = page.getByText("Sign in in the other window");
    await waits.waitFor();
    // Its address was opened late, and from then on there are ten minutes more.
    await page.context().clock.fastForward(15 * 60_000);
    await waits.waitFor();
    await button(second, /Ben/).first().click();
    await page.getByText("Test came through").waitFor();
    await page.context().close();
  });

  test("a window that the browser keeps closed is opened by a link instead", async () => {
    await openProvider();
    await c.page.evaluate(() => {
      window.open = () => null;
    });
    await button(c.page, "Test sign-on").click();
    expect(await c.page.getByRole("link", { name: "Open it here" }).getAttribute("href")).toContain("/test?");
  });

  test("a provider is added in four steps, with a test before the last; nothing is offered to shoppers before that, and it is removed by its name", async () => {
    const { page } = c;
    await go(page, "/providers/add", "Add a provider");
    await page.getByRole("combobox").selectOption("other");
    await page.getByLabel(/^Name/).fill("Second door");
    await page.getByLabel("Address").fill("http://idp.example");
    await button(page, "Go on").click();
    await page.getByText("must begin with https").waitFor();
    await page.getByLabel("Address").fill(c.idp);
    await button(page, "Go on").click();
    await heading(page, "Register this callback at the provider");
    await page.getByRole("link", { name: "removed" }).click();
    await heading(page, "Second door");
    await button(page, "Remove").waitFor();
    await go(page, "/", /sign in/);
    await page.getByRole("link", { name: /Second door/ }).click();
    await heading(page, "Register this callback at the provider");
    await button(page, "Copy callback").click();
    await copied(page, /\/profiles\/[^/]+\/callback$/);
    await button(page, "It is registered").press("Enter");
    const inFocus = () => page.evaluate(() => document.activeElement?.getAttribute("aria-label"));
    await until(async () => (await inFocus()) === "Secret");
    await page.getByLabel("Client id").fill("latchkey");
    await page.getByLabel("Client secret").fill("practice");
    await button(page, "Go on").click();
    await heading(page, "Does it meet the nine requirements?");
    const all = async () => {
      const { data: settings } = await c.admin.settings.get();
      return (await c.admin.profiles(settings.realm_id).list()).data;
    };
    expect((await all()).filter(({ enabled }) => enabled)).toHaveLength(1);
    await button(page, "Examine now").click();
    await page.getByText("R9", { exact: true }).waitFor();
    expect(await button(page, "Test sign-on").count()).toBe(1);
    await button(page, "Finish: let people sign in").click();
    await heading(page, "Second door");
    await until(async () => (await all()).filter(({ enabled }) => enabled).length === 2);
    await button(page, "Remove").click();
    const dialog = page.getByRole("dialog", { name: "Remove Second door?" });
    expect(await dialog.getByRole("button", { name: "Remove the provider" }).isDisabled()).toBe(true);
    await dialog.getByRole("textbox").fill("Second door");
    await dialog.getByRole("button", { name: "Remove the provider" }).click();
    await heading(page, "Providers");
    await until(async () => (await all()).length === 1);
  });

  test("a provider that was saved without a secret is given one, and can be enabled", async () => {
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
    await button(page, "Keep the secret").click();
    await button(page, "Change the client secret").waitFor();
    await button(page, "Enable").click();
    await button(page, "Disable").waitFor();
    expect((await profiles.get(saved.id)).data.enabled).toBe(true);
    await profiles.delete(saved.id);
  });

  /** Moves the practice provider to this address, and answers what becomes of its people. */
  async function move(to: string, chosen: string, act: string) {
    const { page } = c;
    await openProvider();
    await button(page, "Change address and client").click();
    const form = page.getByRole("dialog", { name: "Change address and client" });
    await form.getByLabel("Address").fill(to);
    await form.getByLabel("Client secret").fill("practice");
    await form.getByRole("button", { name: "Change it" }).click();
    const asked = page.getByRole("dialog", { name: "What becomes of the people who signed in before?" });
    await asked.getByText("One person").waitFor();
    await asked.getByText(to).first().waitFor();
    await asked.getByRole("radio", { name: chosen }).check();
    expect(await asked.getByRole("button", { name: act }).isDisabled()).toBe(true);
    await asked.getByRole("textbox").fill("Practice sign-in");
    await asked.getByRole("button", { name: act }).click();
    await page.getByText("Practice sign-in is asked at its new address.").waitFor();
    await until(async () => (await practiceProvider(c)).profile.meta.issuer === to);
    return (await practiceProvider(c)).profile.meta.former_issuers;
  }

  test("a provider that is called something else asks what becomes of its people, and carries them over by its name", async () => {
    expect(await move(other.origin, "Carry them over", "Change it and carry them over")).toEqual([c.idp]);
    await move(c.idp, "Carry them over", "Change it and carry them over");
  });

  test("what somebody else has changed while a provider's address or secret was being typed is not overwritten unseen", async () => {
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
    const form = page.getByRole("dialog", { name: "Change address and client" });
    await form.getByLabel("Client secret").fill("practice");
    await form.getByRole("button", { name: "Change it" }).click();
    await form.getByText("profile_changed").waitFor();
    expect((await profiles.get(made.id)).data.client_id).toBe("second");
    await page.keyboard.press("Escape");
    // A secret that was typed for one client is not kept for another.
    await button(page, "Change the client secret").click();
    await profiles.update(made.id, { client_id: "third", client_secret: "practice" });
    await page.getByText("third", { exact: true }).waitFor({ state: "attached" });
    await page.getByLabel("New client secret").fill("for the second");
    await button(page, "Keep the new secret").click();
    await page.getByRole("dialog").getByText("profile_changed").waitFor();
    await page.keyboard.press("Escape");
    await profiles.delete(made.id);
  });

  /** The provider's document is read anew when it is enabled; what has changed in it waits. */
  async function readAnew() {
    const { realmId, profile } = await practiceProvider(c);
    const profiles = c.admin.profiles(realmId);
    await profiles.update(profile.id, { enabled: false });
    await profiles.update(profile.id, { enabled: true });
  }

  test("what a provider has changed is a difference to approve, with the same question about its people; only what was shown is approved", async () => {
    const { page } = c;
    const { realmId, profile } = await practiceProvider(c);
    const profiles = c.admin.profiles(realmId);
    const at = { discovery_url: hostile.origin, client_secret: "practice" };
    const carried = { adopt_identities_of: profile.id, confirm: profile.name };
    await profiles.update(profile.id, { ...at, ...carried });
    hostile.issuer = `${hostile.origin}/`;
    await readAnew();
    await openProvider();
    const drift = page.getByRole("region", { name: "The provider has changed" });
    const differences = async () => (await drift.innerText()).replaceAll(/\s+/g, " ");
    expect(await differences()).toContain(`issuer before ${hostile.origin} now ${hostile.issuer} `);
    const asked = page.getByRole("dialog", { name: "What becomes of the people who signed in before?" });
    const approve = async () => {
      await page.getByRole("button", { name: "Approve this change" }).click();
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
    expect(await differences()).toContain(`now ${other.origin}/token`);
    await approve();
    await leave();
    await page.getByText("The change is approved.").waitFor();
    await drift.waitFor({ state: "detached" });
    const { meta } = (await practiceProvider(c)).profile;
    expect([meta.issuer, meta.former_issuers]).toEqual([hostile.issuer, []]);
    await profiles.update(profile.id, { ...at, discovery_url: c.idp });
  });

  test("a key is created with its secret shown once, given another role, rotated with the end of the old one in sight, and deleted by its name", async () => {
    const { page } = c;
    await go(page, "/keys", "Keys");
    await page.getByRole("img", { name: /Requests a second: .*Shared by all/ }).waitFor();
    await button(page, "Create a key").click();
    await page.getByLabel("Name of the program").fill("Warehouse");
    await page.getByLabel("Reserved requests a second").fill("7");
    await button(page, "Create the key").click();
    const made = page.getByRole("dialog", { name: "The key of Warehouse" });
    await made.waitFor();
    await page.keyboard.press("Escape");
    await page.mouse.click(2, 2);
    await made.getByRole("button", { name: "Copy client secret" }).click();
    const secret = await copied(page, /^lksk_/);
    await made.getByRole("button", { name: "I have copied it" }).click();
    await made.waitFor({ state: "detached" });
    expect(await page.content()).not.toContain(secret);
    await page.getByText("administrator · 7 a second reserved").waitFor();
    await button(page, "Change role of Warehouse").click();
    await page.getByRole("radio", { name: /^Viewer/ }).check();
    await button(page, "Change the role").click();
    await page.getByText("viewer · 7 a second reserved").waitFor();
    await button(page, "Rotate secret of Warehouse").click();
    await button(page, "Make a new secret").click();
    await button(page, "I have copied it").click();
    await page.getByText(/An older secret ends in (1 day|2\d hours); last used/).waitFor();
    await button(page, "Delete Warehouse").click();
    await page.getByRole("dialog").getByRole("textbox").fill("Warehouse");
    await button(page, "Delete the key").click();
    await page.getByText("Warehouse is deleted.").waitFor();
    const names = async () => (await c.admin.applicationKeys.list()).data.map(({ name }) => name);
    await until(async () => !(await names()).includes("Warehouse"));
    // The button that was pressed is gone with its key.
    await until(() => page.evaluate(() => document.activeElement?.textContent === "Keys"));
  });

  test("a window that waits for a secret stays until it is there, however slow the service is", async () => {
    const { page } = c;
    const secretComes = async (act: string, secrets: RegExp) => {
      const asked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      await page.route(secrets, async (route) => {
        if (route.request().method() === "POST") {
          asked.resolve();
          await held.promise;
        }
        await route.continue();
      });
      await button(page, act).click();
      await asked.promise;
      await page.keyboard.press("Escape");
      await page.mouse.click(2, 2);
      expect(await button(page, "Cancel").isDisabled()).toBe(true);
      held.resolve();
      await button(page, "I have copied it").click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await page.unrouteAll({ behavior: "wait" });
    };
    await go(page, "/keys", "Keys");
    await button(page, "Create a key").click();
    await page.getByLabel("Name of the program").fill("Patience");
    await secretComes("Create the key", /\/v2\/application-keys$/);
    await button(page, "Rotate secret of Patience").click();
    await secretComes("Make a new secret", /\/v2\/application-keys\/[^/]+\/rotate$/);
    await go(page, "/integrations", "Integrations");
    await button(page, "Add an integration").click();
    await page.getByLabel("Name").fill("Patience");
    await page.getByLabel("Address").fill(c.receiver.url);
    await page.getByRole("checkbox", { name: /Keys and limit/ }).check();
    await secretComes("Add the integration", /\/v2\/integrations$/);
  });

  test("a window whose act is under way stays until it has succeeded, or says why it has not", async () => {
    const { page } = c;
    const { data: key } = await c.admin.applicationKeys.create({ name: "Endurance" });
    const fails = async (act: string, address: RegExp) => {
      const asked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      await onChange(page, address, async (route) => {
        asked.resolve();
        await held.promise;
        await route.fulfill({
          status: 409,
          json: { errors: [{ code: "last_administrator", detail: `Refused: ${act}` }] },
        });
      });
      const window = page.getByRole("dialog");
      await window.getByRole("button", { name: act, exact: true }).click();
      await asked.promise;
      await page.keyboard.press("Escape");
      await page.mouse.click(2, 2);
      expect(await window.getByRole("button", { name: "Cancel" }).isDisabled()).toBe(true);
      held.resolve();
      await window.getByRole("alert").getByText(`Refused: ${act}`).waitFor();
      await window.getByRole("button", { name: "Cancel" }).click();
      await window.waitFor({ state: "detached" });
      await page.unrouteAll({ behavior: "wait" });
    };
    await go(page, `/keys/${key.id}`, "Endurance");
    await button(page, "Delete Endurance").click();
    await page.getByRole("dialog").getByRole("textbox").fill("Endurance");
    await fails("Delete the key", /\/v2\/application-keys\/[^/]+$/);
    await button(page, "Change role of Endurance").click();
    await page.getByRole("radio", { name: /^Viewer/ }).check();
    await fails("Change the role", /\/v2\/application-keys\/[^/]+$/);
    await go(page, "/members", "Members");
    await button(page, "Invite somebody").click();
    await page.getByLabel("E-mail").fill("haste@shop.example");
    await fails("Invite", /\/v2\/members$/);
    await openProvider();
    await button(page, "Change the client secret").click();
    await page.getByLabel("New client secret").fill("a new secret");
    await fails("Keep the new secret", /\/oidc-profiles\/[^/]+$/);
    await button(page, "Change address and client").click();
    await page.getByLabel("Client secret", { exact: true }).fill("a new secret");
    await fails("Change it", /\/oidc-profiles\/[^/]+$/);
    await c.admin.applicationKeys.delete(key.id);
  });

  test("a secret is shown also to whoever leaves the screen before it is there, or while it is", async () => {
    const { page } = c;
    const { data: key } = await c.admin.applicationKeys.create({ name: "Wanderer" });
    const { data: integration } = await c.admin.integrations.create({
      name: "Wayfarer",
      integration_type: "webhook",
      observes: ["application_key.*"],
      configuration: { url: c.receiver.url },
    });
    const leaves = async (act: string, secrets: RegExp, name: string) => {
      const asked = Promise.withResolvers<void>();
      const held = Promise.withResolvers<void>();
      await onChange(page, secrets, async (route) => {
        asked.resolve();
        await held.promise;
        await route.continue();
      });
      await button(page, act).click();
      await asked.promise;
      await page.goBack();
      await heading(page, "Providers");
      held.resolve();
      const shown = page.getByRole("dialog", { name: `The new secret of ${name}` });
      await shown.waitFor();
      await page.goForward();
      await page.getByRole("heading", { level: 1, name, includeHidden: true }).waitFor();
      await shown.getByRole("button", { name: "I have copied it" }).click();
      await shown.waitFor({ state: "detached" });
      await page.unrouteAll({ behavior: "wait" });
    };
    await go(page, "/providers", "Providers");
    await go(page, `/integrations/${integration.id}`, "Wayfarer");
    await leaves("Rotate the signing secret", /\/v2\/integrations\/[^/]+\/rotate$/, "Wayfarer");
    await go(page, "/providers", "Providers");
    await go(page, `/keys/${key.id}`, "Wanderer");
    await button(page, "Rotate secret of Wanderer").click();
    await leaves("Make a new secret", /\/v2\/application-keys\/[^/]+\/rotate$/, "Wanderer");
  });

  test("a window that has shown a secret gives the focus back to what opened it", async () => {
    const { page } = c;
    // Clicked, and not pressed: a screen that has just opened takes the focus, which a key goes by.
    const inFocus = () => page.evaluate(() => document.activeElement?.textContent);
    const close = async (opener: string) => {
      await button(page, "I have copied it").click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      await until(async () => (await inFocus()) === opener);
    };
    await go(page, "/keys", "Keys");
    await button(page, "Create a key").click();
    await page.getByLabel("Name of the program").fill("Counter");
    await button(page, "Create the key").click();
    await close("Create a key");
    await button(page, "Rotate secret of Counter").click();
    await button(page, "Make a new secret").click();
    await close("Rotate secret of Counter");
    await go(page, "/integrations", "Integrations");
    await button(page, "Add an integration").click();
    await page.getByLabel("Name").fill("Loudspeaker");
    await page.getByLabel("Address").fill(c.receiver.url);
    await page.getByRole("checkbox", { name: /Keys and limit/ }).check();
    await button(page, "Add the integration").click();
    await close("Add an integration");
    await page.getByRole("link", { name: /Loudspeaker/ }).click();
    await button(page, "Rotate the signing secret").waitFor();
    // Also while what is below the window is still being read anew.
    let goOn = () => {};
    const isClosed = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    await page.route(/\/v2\/integrations/, async (route) => {
      if (route.request().method() === "GET") await isClosed;
      await route.continue();
    });
    await button(page, "Rotate the signing secret").click();
    await close("Rotate the signing secret");
    goOn();
    await page.unrouteAll({ behavior: "wait" });
  });

  test("a window gives the focus back also where a click leaves the button without it, as in Safari", async () => {
    const { page } = c;
    await go(page, "/keys", "Keys");
    const asInSafari = await page.evaluateHandle(() => {
      const leave = (event: Event) => {
        if (!(event.target as Element).closest("button")) return;
        event.preventDefault();
        (document.activeElement as HTMLElement | null)?.blur();
      };
      const ending = new AbortController();
      document.addEventListener("mousedown", leave, { capture: true, signal: ending.signal });
      return ending;
    });
    const isBack = () =>
      until(() => page.evaluate(() => document.activeElement?.textContent === "Create a key"));
    await button(page, "Create a key").click();
    await page.getByLabel("Name of the program").press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await isBack();
    await button(page, "Create a key").click();
    await page.getByLabel("Name of the program").fill("Safari");
    await button(page, "Create the key").click();
    await button(page, "I have copied it").click();
    await page.getByRole("dialog").waitFor({ state: "detached" });
    await isBack();
    await asInSafari.evaluate((ending) => ending.abort());
  });

  test("a window that is opened by a double click stays open; one click beside it closes it", async () => {
    const { page } = c;
    await go(page, "/keys", "Keys");
    const dialog = page.getByRole("dialog", { name: "Create a key" });
    await button(page, "Create a key").dblclick();
    await dialog.getByLabel("Name of the program").fill("Twice");
    await page.mouse.click(2, 2);
    await dialog.waitFor({ state: "detached" });
  });

  test("spaces around and in a name, and around a secret that was pasted, are in nobody's way", async () => {
    const { page } = c;
    await c.admin.applicationKeys.create({ name: " Till  2 " });
    await go(page, "/keys", "Keys");
    await button(page, /Delete\s+Till\s+2/).click();
    await page.getByRole("dialog").getByRole("textbox").fill("Till 2");
    await button(page, "Delete the key").click();
    await page.getByText(/Till\s+2\s+is deleted\./).waitFor();
    await openProvider();
    await button(page, "Change the client secret").click();
    await page.getByLabel("New client secret").fill(" a new secret ");
    const sent = page.waitForRequest((request) => request.method() === "PUT");
    await onChange(page, /\/oidc-profiles\//, (route) => route.abort());
    await button(page, "Keep the new secret").click();
    expect((await sent).postDataJSON().data.client_secret_next).toBe("a new secret");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
  });

  test("the planner plays the last hour again for a reservation, and applies it", async () => {
    const { page } = c;
    await go(page, "/planner", "Planner");
    await page.getByRole("slider").focus();
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowRight");
    await page
      .getByText(/would have been|Nobody was refused|Nothing was asked for/)
      .first()
      .waitFor();
    await button(page, "Apply").click();
    await page.getByText(/^3 a second are reserved for /).waitFor();
    expect((await c.admin.applicationKeys.list()).meta.total_reserved_rate_limit).toBe(3);
  });

  test("what somebody else reserves, and the role that they give, is shown where nothing else was chosen", async () => {
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
    // Somebody else is so quick that one's own is never read.
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
    expect(await button(page, "Change the role").isDisabled()).toBe(true);
    await page.keyboard.press("Escape");
    await c.admin.applicationKeys.delete(key.id);
  });

  test("a customer's sessions are ended; erasing asks for the address", async () => {
    const { page } = c;
    await go(page, "/customers", "Customers");
    await page.getByRole("searchbox").fill("Ada");
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: /ada@shop\.example/ }).click();
    await page.getByText("through Practice sign-in").first().waitFor();
    await page
      .getByText(/Chrome \d+ on Linux, from 127\.0\.0\.0\/24/)
      .first()
      .waitFor();
    const known = page.getByRole("region", { name: "Known to providers as" });
    expect(await known.getByRole("listitem").innerText()).toMatch(/Practice sign-in[\s\S]*ada at http/);
    await button(page, "End all sessions").click();
    await heading(page, "Nowhere");
    const { data: gone } = await c.admin.customers.create({
      name: "Grace Gone",
      email: "grace@shop.example",
    });
    await go(page, `/customers/${gone.id}`, "Grace Gone");
    // Made by a program, without a password, and no provider knows her: nothing says that she could sign in.
    await page.getByText("none: cannot sign in with e-mail").waitFor();
    await page.getByText("This person has never come through a provider.").waitFor();
    await button(page, "Erase this customer").click();
    await page.getByRole("dialog").getByRole("textbox").fill("grace@shop.example");
    await button(page, "Erase for good").click();
    await heading(page, "Customers");
    await page.getByText("Grace Gone is erased.").waitFor();
  });

  test("with the keyboard alone: a button has the focus again when it is done, and hands it on to what is next where it is gone", async () => {
    const { page } = c;
    const press = async (name: string | RegExp, next: string | RegExp) => {
      await button(page, name).first().press("Enter");
      const inFocus = () => page.evaluate(() => document.activeElement?.textContent ?? "");
      await until(async () => (await inFocus()).match(next) !== null);
    };
    await openProvider();
    await press("Disable", /^Enable$/);
    await press("Enable", /^Disable$/);
    await press("Examine now", /^Examine again$/);
    await go(page, "/settings", "Settings");
    await button(page, "Add a redirect URI").first().press("Enter");
    await press("Remove redirect URI 2", /^Redirect URIs$/);
    const { data: erin } = await c.admin.customers.create({
      name: "Erin",
      email: "erin@shop.example",
      password: "a long enough secret",
    });
    const { email } = erin;
    const shop = createStorefront({ baseUrl: c.url, clientId: c.key.clientId });
    await shop.signIn({ email, password: "a long enough secret" });
    await go(page, `/customers/${erin.id}`, "Erin");
    await press("End this session", /^Signed in now$/);
    for (let at = 0; at < 60; at++) await c.admin.applicationKeys.create({ name: `Many ${at}` });
    await go(page, "/keys", "Keys");
    await button(page, "Show more").waitFor();
    const shown = await page.getByRole("link", { name: /^Many/ }).count();
    await press("Show more", new RegExp(`^Many ${shown}lkid_`));
    await go(page, "/planner", "Planner");
    const slider = page.getByRole("slider");
    for (const name of [/^Back to/, "Apply"]) {
      await slider.press("ArrowRight");
      await button(page, name).press("Enter");
      await until(() => slider.evaluate((one) => one === document.activeElement));
    }
  });
});
