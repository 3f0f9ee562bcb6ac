import { describe, expect, test } from "vitest";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go, heading, inDialog } from "./place.ts";

/** An integration is edited, and its events are chosen one by one. */

describe.skipIf(!hasChromium)("an integration", () => {
  const c = consolePlace();

  const newHook = async (name: string, observes: string[]) => {
    const configuration = { url: `${c.receiver.url}/${name.toLowerCase()}` };
    return (await c.admin.integrations.create({ name, integration_type: "webhook", observes, configuration }))
      .data;
  };
  const read = async (id: string) => (await c.admin.integrations.get(id)).data;

  test("gets another name and single events; what was not changed is not sent", async () => {
    const { page } = c;
    const { id, configuration } = await newHook("Newsletter", ["customer_token.*", "store.updated"]);
    await go(page, `/integrations/${id}`, "Newsletter");
    await button(page, "Edit").click();
    const dialog = page.getByRole("dialog", { name: "Edit Newsletter" });
    const save = inDialog(page, "Save the integration");
    expect(await save.isDisabled()).toBe(true);
    await dialog.getByRole("textbox", { name: "Name" }).fill("Post");
    await dialog.getByText("Single events: 2 of 2 of Sessions").click();
    await dialog.getByRole("checkbox", { name: /^customer_token\.created/ }).uncheck();
    await dialog.getByText(/^Single events: 0 of 4 of Keys/).click();
    await dialog.getByRole("checkbox", { name: /^application_key\.rotated/ }).check();
    expect(await barriersOf(page)).toEqual([]);
    const sent = page.waitForRequest((request) => request.method() === "PUT");
    await save.click();
    expect((await sent).postDataJSON().data).not.toHaveProperty("configuration");
    await page.getByText("Post is saved.").waitFor();
    await heading(page, "Post");
    expect(await read(id)).toMatchObject({ name: "Post", configuration });
    expect((await read(id)).observes.toSorted()).toEqual([
      "application_key.rotated",
      "customer_token.revoked",
      "store.updated",
    ]);
  });

  test("asks before it sends the store's events to another address", async () => {
    const { page } = c;
    const { id, configuration } = await newHook("Till", ["store.*"]);
    await go(page, `/integrations/${id}`, "Till");
    await button(page, "Edit").click();
    const next = `${c.receiver.url}/elsewhere`;
    await page.getByRole("textbox", { name: "Address" }).fill(next);
    await inDialog(page, "Save the integration").click();
    const asked = page.getByRole("dialog", { name: "Send the messages of Till to another address?" });
    await asked.getByText("No delivery waits now.").waitFor();
    await asked.getByText(configuration.url).waitFor();
    await asked.getByRole("button", { name: "Cancel" }).click();
    expect((await read(id)).configuration.url).toBe(configuration.url);
    await inDialog(page, "Save the integration").click();
    await asked.getByRole("button", { name: "Change address" }).click();
    await page.getByRole("dialog").first().waitFor({ state: "detached" });
    await page.getByText(next).first().waitFor();
    expect((await read(id)).configuration.url).toBe(next);
  });
});
