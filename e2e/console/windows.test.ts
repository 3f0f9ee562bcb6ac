import { describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, copied, go, heading, inDialog, onChange, openProvider } from "./place.ts";

/** Dialogs: a secret that is shown once is never lost, and a dialog gives the focus back. */

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace();

  describe("a dialog with a secret", () => {
    test("shows the secret of a new key once; the key then changes its role, rotates, and is deleted by name", async () => {
      const { page } = c;
      await go(page, "/keys", "Keys");
      await page.getByRole("img", { name: /Requests a second: .*Shared by all keys/ }).waitFor();
      await button(page, "Create a key").click();
      await page.getByLabel("Name of the program").fill("Warehouse");
      await page.getByLabel("Reserved requests a second").fill("7");
      await page.getByRole("radio", { name: /^A program that administers/ }).check();
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
      await page.getByRole("row", { name: /Warehouse.*administrator 7 a second/ }).waitFor();
      await button(page, "Change role of Warehouse").click();
      await page.getByRole("radio", { name: /^Viewer/ }).check();
      await inDialog(page, "Change role").click();
      await page.getByRole("row", { name: /Warehouse.*viewer 7 a second/ }).waitFor();
      await button(page, "Rotate secret of Warehouse").click();
      await inDialog(page, "Rotate secret").click();
      await button(page, "I have copied it").click();
      await page.getByText(/An older secret ends in (1 day|2\d hours); last used/).waitFor();
      await button(page, "Delete Warehouse").click();
      await page.getByRole("dialog").getByRole("textbox").fill("Warehouse");
      await inDialog(page, "Delete key").click();
      await page.getByText("Warehouse is deleted.").waitFor();
      const names = async () => (await c.admin.applicationKeys.list()).data.map(({ name }) => name);
      await until(async () => !(await names()).includes("Warehouse"));
      // The button that was pressed is gone with its key.
      await until(() => page.evaluate(() => document.activeElement?.textContent === "Keys"));
    });

    test("stays open until the secret has arrived, however slow the service is", async () => {
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
        await inDialog(page, act).click();
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
      await secretComes("Rotate secret", /\/v2\/application-keys\/[^/]+\/rotate$/);
      await go(page, "/integrations", "Integrations");
      await button(page, "Add an integration").click();
      await page.getByRole("textbox", { name: "Name" }).fill("Patience");
      await page.getByRole("textbox", { name: "Address" }).fill(c.receiver.url);
      await page.getByRole("checkbox", { name: /application_key\.\*/ }).check();
      await secretComes("Add the integration", /\/v2\/integrations$/);
    });

    test("opens also after a change of the screen, and stays open during a change", async () => {
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
        await inDialog(page, act).click();
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
      await button(page, "Rotate the signing secret").click();
      await leaves("Rotate secret", /\/v2\/integrations\/[^/]+\/rotate$/, "Wayfarer");
      await go(page, "/providers", "Providers");
      await go(page, `/keys/${key.id}`, "Wanderer");
      await button(page, "Rotate secret of Wanderer").click();
      await leaves("Rotate secret", /\/v2\/application-keys\/[^/]+\/rotate$/, "Wanderer");
    });

    test("gives the focus back to the button that opened it", async () => {
      const { page } = c;
      // Clicked, not pressed: a newly opened screen takes the focus, and key presses go to the focus.
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
      await inDialog(page, "Rotate secret").click();
      await close("Rotate secret of Counter");
      await go(page, "/integrations", "Integrations");
      await button(page, "Add an integration").click();
      await page.getByRole("textbox", { name: "Name" }).fill("Loudspeaker");
      await page.getByRole("textbox", { name: "Address" }).fill(c.receiver.url);
      await page.getByRole("checkbox", { name: /application_key\.\*/ }).check();
      await button(page, "Add the integration").click();
      await close("Add an integration");
      await page.getByRole("link", { name: /Loudspeaker/ }).click();
      await button(page, "Rotate the signing secret").waitFor();
      // Also while the list below the dialog is requested again.
      let goOn = () => {};
      const isClosed = new Promise<void>((resolve) => {
        goOn = resolve;
      });
      await page.route(/\/v2\/integrations/, async (route) => {
        if (route.request().method() === "GET") await isClosed;
        await route.continue();
      });
      await button(page, "Rotate the signing secret").click();
      await inDialog(page, "Rotate secret").click();
      await close("Rotate the signing secret");
      goOn();
      await page.unrouteAll({ behavior: "wait" });
    });
  });

  describe("a dialog", () => {
    test("stays open during its request, and shows why the request failed", async () => {
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
      await fails("Delete key", /\/v2\/application-keys\/[^/]+$/);
      await button(page, "Change role of Endurance").click();
      await page.getByRole("radio", { name: /^Viewer/ }).check();
      await fails("Change role", /\/v2\/application-keys\/[^/]+$/);
      await go(page, "/members", "Members");
      await button(page, "Invite a colleague").click();
      await page.getByLabel("E-mail").fill("haste@shop.example");
      await fails("Invite", /\/v2\/members$/);
      await openProvider(c);
      await button(page, "Change the client secret").click();
      await page.getByLabel("New client secret").fill("a new secret");
      await fails("Replace secret", /\/oidc-profiles\/[^/]+$/);
      await button(page, "Change address and client").click();
      await page.getByLabel("Client secret", { exact: true }).fill("a new secret");
      await fails("Move provider", /\/oidc-profiles\/[^/]+$/);
      await c.admin.applicationKeys.delete(key.id);
    });

    test("gives the focus back where a click does not focus a button, as in Safari", async () => {
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

    test("stays open after a double click, and closes on a click outside", async () => {
      const { page } = c;
      await go(page, "/keys", "Keys");
      const dialog = page.getByRole("dialog", { name: "Create a key" });
      await button(page, "Create a key").dblclick();
      await dialog.getByLabel("Name of the program").fill("Twice");
      await page.mouse.click(2, 2);
      await dialog.waitFor({ state: "detached" });
    });

    test("ignores spaces around a typed name and around a pasted secret", async () => {
      const { page } = c;
      await c.admin.applicationKeys.create({ name: " Till  2 " });
      await go(page, "/keys", "Keys");
      await button(page, /Delete\s+Till\s+2/).click();
      await page.getByRole("dialog").getByRole("textbox").fill("Till 2");
      await inDialog(page, "Delete key").click();
      await page.getByText(/Till\s+2\s+is deleted\./).waitFor();
      await openProvider(c);
      await button(page, "Change the client secret").click();
      await page.getByLabel("New client secret").fill(" a new secret ");
      const sent = page.waitForRequest((request) => request.method() === "PUT");
      await onChange(page, /\/oidc-profiles\//, (route) => route.abort());
      await inDialog(page, "Replace secret").click();
      expect((await sent).postDataJSON().data.client_secret_next).toBe("a new secret");
      await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    });
  });
});
