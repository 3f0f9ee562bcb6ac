import { describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go, heading, inDialog, keyWithRole, newPage, signInWithKey } from "./place.ts";

/** An integration is edited, its events are chosen one by one, and its deliveries are filtered and read. */

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

  test("shows the payload of a delivery beside the receiver's answer", async () => {
    const { page } = c;
    Object.assign(c.receiver.answer, { status: 200, text: "thank you" });
    const { id } = await newHook("Archive", ["application_key.*"]);
    await go(page, `/integrations/${id}`, "Archive");
    await c.admin.applicationKeys.create({ name: "Seen by the archive", role: "viewer" });
    const row = page.getByRole("rowgroup").filter({ hasText: "application_key.created" }).first();
    await row.getByText("Delivered").waitFor();
    await row.getByRole("button", { expanded: false }).click();
    await row
      .getByRole("region", { name: "Payload" })
      .getByText(/"name": "Seen by the archive"/)
      .waitFor();
    await row.getByRole("region", { name: "Answers" }).getByText("thank you").waitFor();
    const tops = await Promise.all(
      ["Payload", "Answers"].map(async (name) => (await row.getByRole("region", { name }).boundingBox())?.y),
    );
    expect(tops[0]).toBe(tops[1]);
    expect(await barriersOf(page)).toEqual([]);
  });

  test("filters its deliveries by state and event, and the address keeps the filter", async () => {
    const { page } = c;
    Object.assign(c.receiver.answer, { status: 200, text: "heard" });
    const { id } = await newHook("Ledger", ["application_key.*", "store.*"]);
    const { data: key } = await c.admin.applicationKeys.create({ name: "Ledger key", role: "viewer" });
    await c.admin.applicationKeys.delete(key.id);
    const deliveries = async () => (await c.admin.integrations.deliveries(id)).data;
    await until(async () => (await deliveries()).filter(({ status }) => status === "delivered").length === 2);
    Object.assign(c.receiver.answer, { status: 500, text: "full" });
    await c.admin.store.update({ name: "Alder" });
    await until(async () => (await deliveries()).some(({ status }) => status === "waiting"));
    await go(page, `/integrations/${id}`, "Ledger");
    const rows = page.getByRole("rowgroup").filter({ hasText: /attempt/ });
    await until(async () => (await rows.count()) === 3);
    await page.getByLabel("State").selectOption("Delivered");
    await until(async () => (await rows.count()) === 2);
    await page.getByLabel("Event", { exact: true }).selectOption("application_key.deleted");
    await until(async () => (await rows.count()) === 1);
    expect(new URL(page.url()).search).toBe("?status=delivered&type=application_key.deleted");
    await page.getByLabel("State").selectOption("Failed");
    await heading(page, "No such delivery");
    await go(page, `/integrations/${id}?status=waiting`, "Ledger");
    await until(async () => (await rows.count()) === 1);
    await rows.getByText("store.updated").waitFor();
    expect(await page.getByLabel("State").inputValue()).toBe("waiting");
    Object.assign(c.receiver.answer, { status: 200, text: "heard" });
    await c.admin.store.update({ name: "Practice store" });
  });

  test("is not offered for editing to support, who reads the payload without what is withheld", async () => {
    const { id } = await newHook("Desk", ["application_key.*"]);
    await c.admin.applicationKeys.create({ name: "Seen by the desk", role: "viewer" });
    const page = await newPage(c);
    await signInWithKey(c, page, `/integrations/${id}`, await keyWithRole(c, "support"));
    await button(page, "Send a test message").waitFor();
    for (const name of ["Edit", "Disable", "Rotate the signing secret", "Delete"])
      expect([name, await button(page, name).count()]).toEqual([name, 0]);
    const row = page.getByRole("rowgroup").filter({ hasText: "application_key.created" }).last();
    await row.getByRole("button", { expanded: false }).click();
    await row.getByText(/"name": "Seen by the desk"/).waitFor();
    await page.context().close();
  });
});
