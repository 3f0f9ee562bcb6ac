import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { barriersOf } from "../support/axe.ts";
import { hasChromium, launchChromium } from "../support/chromium.ts";
import { createStore, type Made, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** The API reference at /docs, in a developer's browser. */
describe.skipIf(!hasChromium)("the API reference", () => {
  let place: Place;
  let running: Running;
  let browser: Browser;
  let made: Made;

  beforeAll(async () => {
    place = await newPlace();
    made = await createStore(place);
    running = await serve(place);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    running?.child.kill("SIGTERM");
    await running?.exited;
    place?.leave();
  });

  test.each([
    ["light", 1440],
    ["dark", 360],
  ] as const)(
    "has no barrier that axe finds, %s and %i wide, and does not scroll sideways",
    async (colorScheme, width) => {
      const context = await browser.newContext({ colorScheme, viewport: { width, height: 900 } });
      const page = await context.newPage();
      await page.goto(`${place.url}/docs#createCustomer`);
      await page.locator("#tokens:visible").waitFor();
      expect(await barriersOf(page)).toEqual([]);
      expect(await page.evaluate("document.documentElement.scrollWidth")).toBe(width);
      await context.close();
    },
  );

  async function openAs({ client_id, client_secret }: Made["application_key"], page: Page): Promise<void> {
    await page.goto(`${place.url}/docs`);
    const tokens = page.locator("#tokens");
    await tokens.getByLabel("Client id").fill(client_id);
    await tokens.getByLabel("Client secret").fill(client_secret);
    await tokens.getByRole("button").click();
    await tokens.getByText("Every command below now has the token").waitFor();
  }

  test("puts the reader's own token into the commands, and sends them", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("console", (message) => message.type() === "error" && complaints.push(message.text()));
    await page.goto(`${place.url}/docs`);
    const tokens = page.locator("#tokens");
    await tokens.getByLabel("Client id").fill(made.application_key.client_id);
    await tokens.getByLabel("Client secret").fill(made.application_key.client_secret);
    await tokens.getByRole("button").click();
    await tokens
      .getByText("Every command below now has the token. IDs from answers are filled in, too.")
      .waitFor();
    const token = await tokens.getByLabel("Access token").inputValue();
    const create = page.locator("#createCustomer");
    expect(await create.locator("pre").textContent()).toContain(`Bearer ${token}`);
    await create.getByRole("button", { name: /^Send POST/ }).click();
    await create.locator("output", { hasText: /^201 / }).waitFor();
    const answer = (await create.locator("output").textContent()) as string;
    const { id } = JSON.parse(answer.slice(answer.indexOf("\n"))).data;

    const get = page.locator("#getCustomer");
    await get.getByText("Fill in").click();
    await get.getByLabel("id").fill(id);
    expect(await get.locator("pre").textContent()).toContain(`/v2/customers/${id}'`);
    await get.getByRole("button", { name: /^Send GET/ }).click();
    await get.locator("output", { hasText: /^200 / }).waitFor();
    expect(complaints).toEqual([]);
    await context.close();
  });

  test("a deleted resource is in no command any more", async () => {
    const page = await browser.newPage();
    await openAs(made.application_key, page);
    const send = async (id: string, status: RegExp) => {
      await page.locator(`#${id} button[type=submit]`).click();
      await page.locator(`#answer-${id}`).filter({ hasText: status }).waitFor();
    };
    const command = page.locator("#getIntegration pre");
    await send("createIntegration", /^201 /);
    expect(await command.textContent()).toMatch(/\/v2\/integrations\/[\w-]{36}'/);
    await send("deleteIntegration", /^204 /);
    await page.locator("#getIntegration pre", { hasText: "/v2/integrations/ID'" }).waitFor();
    await page.close();
  });

  test("a copied command is announced, also to screen readers", async () => {
    const context = await browser.newContext({ permissions: ["clipboard-read", "clipboard-write"] });
    const page = await context.newPage();
    // The message is shown for two seconds; the test moves the clock past them.
    await page.clock.install();
    await page.goto(`${place.url}/docs`);
    await page.clock.pauseAt(Date.now() + 600_000);
    const article = page.locator("#listCustomers");
    await article.getByRole("button", { name: /^Copy the command: / }).click();
    await article.getByRole("button", { name: /^Copied\. Copy the command: / }).waitFor();
    await page.clock.runFor(2000);
    await article.getByRole("button", { name: /^Copy the command: / }).waitFor();
    await context.close();
  });

  test("shows why there is no token: the service's answer, or that there was none", async () => {
    const page = await browser.newPage();
    await page.goto(`${place.url}/docs`);
    const tokens = page.locator("#tokens");
    const ask = () => tokens.getByRole("button").click();
    const said = (words: RegExp) => tokens.getByRole("status").filter({ hasText: words }).waitFor();
    await tokens.getByLabel("Client id").fill(made.application_key.client_id);
    await ask();
    await said(/secret/);
    await page.route("**/oauth/access_token", (route) =>
      route.fulfill({ status: 503, json: { errors: [] } }),
    );
    await ask();
    await said(/^The answer was 503, without a token\.$/);
    await page.unrouteAll();
    await page.route("**/oauth/access_token", (route) => route.abort());
    await ask();
    await said(/^There was no answer: /);
    await page.close();
  });

  test("sends every example unchanged, and each succeeds that needs no sign-on", async () => {
    const page = await browser.newPage();
    await openAs((await createStore(place)).application_key, page);
    const methods = new Map<string, string>();
    for (const form of await page.locator("form.try:has(button[type=submit])").all()) {
      const id = (await form.locator("output").getAttribute("id"))?.replace("answer-", "") as string;
      methods.set(id, (await form.getAttribute("data-method")) as string);
    }
    // The stream does not end by itself, so the test does not wait for its end.
    expect(methods.has("streamEvents")).toBe(false);
    const rest = [...methods.keys()].filter(
      (id) => !FIRST.includes(id) && !LAST.includes(id) && !(id in NOT_AT_ONCE),
    );
    const byMethod = (method: string) => rest.filter((id) => methods.get(id) === method);
    const order = [
      ...FIRST,
      ...byMethod("POST"),
      ...byMethod("GET"),
      ...byMethod("PUT"),
      ...byMethod("DELETE").reverse(),
    ];
    const answered: Record<string, string> = {};
    for (const id of [...order, ...LAST]) {
      await page.locator(`#${id} button[type=submit]`).click();
      const output = page.locator(`#answer-${id}`).filter({ hasText: /^(?:\d{3} |There was)/ });
      await output.waitFor();
      const text = (await output.textContent()) as string;
      if (!/^20[0-4] /.test(text)) answered[id] = text;
    }
    expect(answered).toEqual({});
    expect(Object.keys(NOT_AT_ONCE).filter((id) => !methods.has(id))).toEqual([]);
    await page.close();
  });
});

/** A new password ends the customer's tokens. */
const FIRST = ["createCustomer", "issueCustomerToken", "revokeCustomerToken", "createMember"];
/** After the other examples have deleted their resources. */
const LAST = ["createCustomer", "revokeCustomerTokens", "eraseCustomer", "createMember", "eraseMember"];

const NOT_AT_ONCE: Record<string, string> = {
  realmToken: "needs the code of a sign-on",
  userinfo: "needs a customer token from a sign-on with the realm",
  userinfoByPost: "needs a customer token from a sign-on with the realm",
  backchannelLogout: "is for identity providers",
  getSignOn: "needs a sign-on",
  approveDrift: "needs a change of the provider that waits for approval",
  redeliver: "needs a delivery that has ended",
  checkAtGateway: "needs a customer token",
};
