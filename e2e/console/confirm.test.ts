import type { Page } from "playwright-core";
import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { barriersOf } from "../support/axe.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  button,
  consolePlace,
  go,
  heading,
  inDialog,
  newPage,
  practiceProvider,
  signInWithKey,
} from "./place.ts";

/** One confirmation for every act that redirects trust or stops people: it says what happens, and to how many. */

type Confirmed = {
  path: string;
  open: (page: Page) => Promise<unknown>;
  title: string;
  act: string;
  figures: RegExp[];
  /** The text to type, for the most dangerous acts. */
  name?: string;
};

describe.skipIf(!hasChromium)("a confirmation", () => {
  const c = consolePlace({ shoppers: [/Ada/] });
  const acts = new Map<string, Confirmed>();

  beforeAll(async () => {
    const { admin } = c;
    const { path, realmId, profile } = await practiceProvider(c);
    await admin.profiles(realmId).setupLinks(profile.id).create({ expires_in_days: 7 });
    const { data: key } = await admin.applicationKeys.create({
      name: "Warehouse",
      reserved_rate_limit: 7,
      role: "viewer",
    });
    const { data: hook } = await admin.integrations.create({
      name: "Till",
      integration_type: "webhook",
      observes: ["member.*"],
      configuration: { url: `${c.receiver.url}/till` },
    });
    await admin.members.create({ name: "Tilda", email: "tilda@shop.example", role: "viewer" });
    const [ada] = (await admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data;
    const press = (name: string | RegExp) => (page: Page) => button(page, name).first().click();
    const add = (name: string, act: Confirmed) => acts.set(name, act);
    const provider = { path, figures: [/^\d+ sign-ons? through it in the last 24 hours\.$/] };
    const ofKey = { path: `/keys/${key.id}`, figures: [/^No request with this key in the last/] };
    const ofHook = { path: `/integrations/${hook.id}`, figures: [/^No delivery waits now\.$/] };
    const ofMember = { path: "/members", figures: [/other administrators? (has|have) signed in\.$/] };
    const ofAda = { path: `/customers/${ada?.id}`, figures: [/^1 session of this customer now\.$/] };
    const settings = { path: "/settings" };
    add("disable a provider", {
      ...provider,
      open: press("Disable"),
      title: "Disable Practice sign-in?",
      act: "Disable provider",
      figures: [...provider.figures, /^No other provider of this realm is enabled/],
    });
    add("remove a provider", {
      ...provider,
      open: press("Remove"),
      title: "Remove Practice sign-in?",
      act: "Remove provider",
      name: "Practice sign-in",
    });
    add("move a provider", {
      ...provider,
      open: async (page) => {
        await button(page, "Change address and client").click();
        await page.getByRole("dialog").getByLabel("Client secret").fill("practice");
      },
      title: "Change address and client of Practice sign-in?",
      act: "Move provider",
    });
    add("replace a provider's client secret", {
      ...provider,
      open: async (page) => {
        await button(page, "Change the client secret").click();
        await page.getByLabel("New client secret").fill("another");
      },
      title: "Replace the client secret of Practice sign-in?",
      act: "Replace secret",
    });
    add("end a set-up link", {
      path,
      figures: [],
      open: press(/^End the link/),
      title: "End this set-up link?",
      act: "End link",
    });
    add("rotate a key's secret", {
      ...ofKey,
      open: press("Rotate secret of Warehouse"),
      title: "Rotate the secret of Warehouse?",
      act: "Rotate secret",
    });
    add("change a key's role", {
      ...ofKey,
      open: async (page) => {
        await button(page, "Change role of Warehouse").click();
        await page.getByRole("radio", { name: /^Support/ }).check();
      },
      title: "Change the role of Warehouse?",
      act: "Change role",
    });
    add("delete a key", {
      ...ofKey,
      open: press("Delete Warehouse"),
      title: "Delete Warehouse?",
      act: "Delete key",
      name: "Warehouse",
    });
    add("lower a reservation", {
      ...ofKey,
      path: `/planner?key=${key.id}`,
      open: async (page) => {
        await page.getByRole("slider").press("ArrowLeft");
        await button(page, "Apply").click();
      },
      title: "Lower the reservation of Warehouse to 6 a second?",
      act: "Lower reservation",
    });
    add("disable an integration", {
      ...ofHook,
      open: press("Disable"),
      title: "Disable Till?",
      act: "Disable integration",
    });
    add("rotate an integration's secret", {
      ...ofHook,
      open: press("Rotate the signing secret"),
      title: "Rotate the signing secret of Till?",
      act: "Rotate secret",
    });
    add("delete an integration", {
      ...ofHook,
      open: press("Delete"),
      title: "Delete Till?",
      act: "Delete integration",
      name: "Till",
    });
    add("change a member's role", {
      ...ofMember,
      open: async (page) => {
        await button(page, "Change role of Tilda").click();
        await page.getByRole("radio", { name: /^Support/ }).check();
      },
      title: "Change the role of Tilda?",
      act: "Change role",
    });
    add("remove a member", {
      ...ofMember,
      open: press("Remove Tilda"),
      title: "Remove Tilda?",
      act: "Remove member",
      name: "tilda@shop.example",
    });
    add("remove a redirect URI", {
      ...settings,
      open: async (page) => {
        await button(page, "Remove redirect URI 1").first().click();
        await button(page, "Save the redirect URIs").first().click();
      },
      title: "Remove this redirect URI?",
      act: "Remove redirect URI",
      figures: [/of the latest \d+ sign-ons? returned to http|No sign-on in this realm lately/],
    });
    add("change the rule for e-mail addresses", {
      ...settings,
      open: async (page) => {
        await page.getByText("Refuse the new sign-on").first().click();
        await button(page, "Save the policy").first().click();
      },
      title: "Change the rule to “Refuse the new sign-on”?",
      act: "Change rule",
      figures: [/^\d+ customers? in this store\.$/, /^1 successful sign-on in the last 24 hours\.$/],
    });
    add("lower the store's limit", {
      ...settings,
      open: async (page) => {
        await page.getByLabel("Limit (requests a second)").fill("50");
        await button(page, "Save the store").click();
      },
      title: "Lower the limit to 50 requests a second?",
      act: "Lower limit",
      figures: [/requests? in the busiest second of the last 5 minutes\.$/],
    });
    add("end a session", {
      ...ofAda,
      open: press("End this session"),
      title: "End this session of Ada?",
      act: "End session",
    });
    add("end all sessions", {
      ...ofAda,
      open: press("End all sessions"),
      title: "End all sessions of Ada?",
      act: "End all sessions",
    });
    add("erase a customer", {
      ...ofAda,
      open: press("Erase this customer"),
      title: "Erase Ada?",
      act: "Erase for good",
      name: "ada@shop.example",
    });
  });

  const openedBy = async (page: Page, { path, open, title }: Confirmed) => {
    await go(page, "/", /sign in/);
    await go(page, path);
    await open(page);
    const dialog = page.getByRole("dialog", { name: title, exact: true });
    await dialog.waitFor();
    return dialog;
  };

  test("of every act asks a question, gives the figures, and has the verb on its button; axe finds nothing", async () => {
    const { page } = c;
    for (const [what, confirmed] of acts) {
      const dialog = await openedBy(page, confirmed);
      const lines = dialog.getByRole("list", { name: "How many this concerns" }).getByRole("listitem");
      for (const figure of confirmed.figures) await lines.filter({ hasText: figure }).waitFor();
      const confirms = inDialog(page, confirmed.act);
      expect([what, await confirms.isDisabled()]).toEqual([what, confirmed.name !== undefined]);
      if (confirmed.name) {
        await dialog.getByRole("textbox").fill(confirmed.name);
        expect([what, await confirms.isEnabled()]).toEqual([what, true]);
      }
      expect([what, await barriersOf(page)]).toEqual([what, []]);
      await page.keyboard.press("Escape");
      await dialog.waitFor({ state: "detached" });
    }
  }, 240_000);

  test("is not confirmed by Enter: not in a field, not on a choice, and not by an Enter that opened the dialog", async () => {
    const { page } = c;
    const changes: string[] = [];
    page.on("request", (request) => {
      if (/^(PUT|DELETE|POST)$/.test(request.method()) && !request.url().endsWith("/dry-run"))
        changes.push(`${request.method()} ${request.url()}`);
    });
    const find = (what: string) => acts.get(what) as Confirmed;
    const remove = await openedBy(page, find("delete a key"));
    await remove.getByRole("textbox").fill("Warehouse");
    await remove.getByRole("textbox").press("Enter");
    await page.keyboard.press("Escape");
    const role = await openedBy(page, find("change a key's role"));
    await role.getByRole("radio", { name: /^Support/ }).press("Enter");
    await page.keyboard.press("Escape");
    await role.waitFor({ state: "detached" });
    await openedBy(page, find("end all sessions"));
    await until(() => page.evaluate(() => document.activeElement?.textContent === "Cancel"));
    await page.keyboard.press("Enter");
    await page.getByRole("dialog").waitFor({ state: "detached" });
    expect(changes).toEqual([]);
  });

  test("takes the focus, keeps it, and gives it back to the button that opened it", async () => {
    const { page } = c;
    const inFocus = () => page.evaluate(() => document.activeElement?.textContent);
    const dialog = await openedBy(page, acts.get("disable a provider") as Confirmed);
    for (let at = 0; at < 4; at++) {
      await page.keyboard.press("Tab");
      const isHeld = (one: Element) =>
        one.contains(document.activeElement) || document.activeElement === document.body;
      expect(await dialog.evaluate(isHeld)).toBe(true);
    }
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    await until(async () => (await inFocus()) === "Disable");
  });

  test("ignores the second click of a double click on the button that opened it", async () => {
    const page = await newPage(c);
    await signInWithKey(c, page, (await practiceProvider(c)).path);
    await heading(page, "The nine requirements");
    await button(page, "Disable").click();
    await inDialog(page, "Disable provider").evaluate((one: HTMLElement) =>
      one.dispatchEvent(new MouseEvent("click", { bubbles: true, detail: 2 })),
    );
    expect(await inDialog(page, "Disable provider").isEnabled()).toBe(true);
    await inDialog(page, "Cancel").click();
    expect((await practiceProvider(c)).profile.enabled).toBe(true);
    await page.context().close();
  });

  test("says which figure could not be read, reads it again, and still lets the person decide", async () => {
    const { page } = c;
    await page.route(/\/v2\/sign-ons\/statistics/, (route) =>
      route.fulfill({ status: 500, json: { errors: [{ code: "internal_error", detail: "It broke." }] } }),
    );
    const dialog = await openedBy(page, acts.get("disable a provider") as Confirmed);
    await dialog.getByText("The number of sign-ons through it could not be read.").waitFor();
    await dialog.getByText(/^No other provider of this realm is enabled/).waitFor();
    expect(await inDialog(page, "Disable provider").isEnabled()).toBe(true);
    await page.unrouteAll({ behavior: "wait" });
    await inDialog(page, "Try again").click();
    await dialog.getByText(/^\d+ sign-ons? through it in the last 24 hours\.$/).waitFor();
    await page.keyboard.press("Escape");
  });

  test("a new key is a viewer, unless the person says that it is for more", async () => {
    const { page } = c;
    await go(page, "/keys", "Keys");
    const create = async (name: string, purpose?: RegExp) => {
      await button(page, "Create a key").click();
      const dialog = page.getByRole("dialog", { name: "Create a key" });
      expect(await dialog.getByRole("radio", { checked: true }).count()).toBe(0);
      await dialog.getByLabel("Name of the program").fill(name);
      if (purpose) await dialog.getByRole("radio", { name: purpose }).check();
      await inDialog(page, "Create the key").click();
      await button(page, "I have copied it").click();
      await page.getByRole("dialog").waitFor({ state: "detached" });
      const keys = (await c.admin.applicationKeys.list({ limit: 100 })).data;
      return keys.find((key) => key.name === name)?.role;
    };
    expect(await create("Unknown")).toBe("viewer");
    expect(await create("Shop", /^A storefront/)).toBe("viewer");
    expect(await create("Desk", /^A support tool/)).toBe("support");
    expect(await create("Robot", /^A program that administers/)).toBe("administrator");
  });
});
