import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import {
  button,
  consolePlace,
  copied,
  go,
  heading,
  inDialog,
  keyWithRole,
  newPage,
  onChange,
  practiceProvider,
  signInAsMember,
  signInWithKey,
} from "./place.ts";

/** The store's settings and members, and what each role is offered. */

describe.skipIf(!hasChromium)("the console", () => {
  const c = consolePlace({ shoppers: [/Ada/] });

  describe("Settings", () => {
    test("checks a redirect URI while it is typed, saves valid values, and explains each policy", async () => {
      const { page } = c;
      await go(page, "/settings", "Settings");
      const realmCard = page
        .getByRole("region")
        .filter({ hasText: "Client id for OpenID Connect libraries" });
      await realmCard.getByRole("button", { name: "Add a redirect URI" }).click();
      const added = realmCard.getByRole("textbox", { name: /^Redirect URI/ }).last();
      await added.fill("http://shop.example/back");
      await page.getByText("Only https, except on localhost and 127.0.0.1.").waitFor();
      const save = realmCard.getByRole("button", { name: "Save the redirect URIs" });
      expect(await save.isDisabled()).toBe(true);
      await added.fill("https://shop.example/back");
      await save.click();
      await page.getByText("The redirect URIs are saved.").waitFor();
      const read = async () => {
        const { data: settings } = await c.admin.settings.get();
        return (await c.admin.realms.get(settings.realm_id)).data;
      };
      expect((await read()).redirect_uris).toContain("https://shop.example/back");
      await realmCard.getByLabel("Link back to the shop").fill("http://shop.example/");
      await realmCard.getByLabel("Colour").fill("pine");
      await realmCard.getByText("Enter # and six digits").waitFor();
      const saveShown = realmCard.getByRole("button", { name: "Save what shoppers see" });
      expect(await saveShown.isDisabled()).toBe(true);
      await realmCard.getByLabel("Link back to the shop").fill("https://shop.example/");
      await realmCard.getByLabel("Colour").fill("#0b5f52");
      await saveShown.click();
      await until(async () => (await read()).home_url === "https://shop.example/");
      expect((await read()).accent_color).toBe("#0b5f52");
      // The policy depends on who has verified the address, not on who has it.
      await page.getByText("If the provider has not verified it, the sign-on is refused.").waitFor();
      await page.getByText("Addresses that are not verified do not count.").waitFor();
      await page.getByText("Refuse the new sign-on").click();
      await button(page, "Save the policy").click();
      await inDialog(page, "Change rule").click();
      await until(async () => (await read()).duplicate_email_policy === "disallowed");
      await page.getByText("Leave the customer unchanged").click();
      await button(page, "Save this policy").click();
      await until(async () => (await read()).profile_updates === "first");
      await c.admin.realms.update((await read()).id, {
        duplicate_email_policy: "api_only",
        profile_updates: "always",
      });
      await page.getByLabel("Limit (requests a second)").fill("0");
      await page.getByText("Enter a whole number, 1 or more.").waitFor();
    });

    test("shows what another administrator saves where nothing was typed, and keeps what was typed", async () => {
      const { page } = c;
      const { realm_id } = (await c.admin.settings.get()).data;
      const read = async () => (await c.admin.realms.get(realm_id)).data;
      const before = await read();
      await go(page, "/settings", "Settings");
      const realmCard = page
        .getByRole("region")
        .filter({ hasText: "Client id for OpenID Connect libraries" });
      const field = (label: string) => realmCard.getByLabel(label);
      const note = page.getByText(/^Another person has saved a new value/);
      await field("Colour").fill("#123456");
      await c.admin.realms.update(realm_id, { logo_url: "https://shop.example/theirs.svg" });
      await until(async () => (await field("Logo URL").inputValue()).endsWith("/theirs.svg"));
      expect([await field("Colour").inputValue(), await note.count()]).toEqual(["#123456", 0]);
      await c.admin.realms.update(realm_id, { accent_color: "#abcdef" });
      await note.getByText("#abcdef").waitFor();
      expect(await field("Colour").inputValue()).toBe("#123456");
      await c.admin.realms.update(realm_id, { home_url: "https://shop.example/unseen" });
      await realmCard.getByRole("button", { name: "Save what shoppers see" }).click();
      await page.getByText("What shoppers see is saved.").waitFor();
      // Only what was typed is sent, so what was saved at the same moment stays.
      expect(await read()).toMatchObject({
        accent_color: "#123456",
        home_url: "https://shop.example/unseen",
        logo_url: "https://shop.example/theirs.svg",
      });
      await note.waitFor({ state: "detached" });
      await realmCard.getByRole("button", { name: "Add a redirect URI" }).click();
      const added = realmCard.getByRole("textbox", { name: /^Redirect URI/ }).last();
      await added.fill("https://shop.example/mine");
      await page.getByText("Refuse the new sign-on").click();
      await page.getByLabel("Limit (requests a second)").fill("12");
      await c.admin.realms.update(realm_id, {
        redirect_uris: [...before.redirect_uris, "https://shop.example/theirs"],
        duplicate_email_policy: "allowed",
      });
      await c.admin.store.update({ rate_limit: 99 });
      await note.getByText(/shop\.example\/theirs/).waitFor();
      await note.getByText("Keep separate").waitFor();
      await note.getByText("99", { exact: true }).waitFor();
      expect(await added.inputValue()).toBe("https://shop.example/mine");
      expect(await page.getByRole("radio", { name: /Refuse the new sign-on/ }).isChecked()).toBe(true);
      expect(await page.getByLabel("Limit (requests a second)").inputValue()).toBe("12");
      for (let left = 3; left > 0; left--) await button(page, "Use the new value").first().click();
      expect(await added.inputValue()).toBe("https://shop.example/theirs");
      expect(await page.getByLabel("Limit (requests a second)").inputValue()).toBe("99");
      const { redirect_uris, duplicate_email_policy, logo_url, accent_color, home_url } = before;
      const shown = { logo_url, accent_color, home_url };
      await c.admin.realms.update(realm_id, { redirect_uris, duplicate_email_policy, ...shown });
      await c.admin.store.update({ rate_limit: 100 });
    });

    test("keeps a redirect URI that another administrator adds during a save", async () => {
      const { page } = c;
      const { realm_id } = (await c.admin.settings.get()).data;
      const { redirect_uris: before } = (await c.admin.realms.get(realm_id)).data;
      await go(page, "/settings", "Settings");
      const realmCard = page
        .getByRole("region")
        .filter({ hasText: "Client id for OpenID Connect libraries" });
      const line = (at: number) =>
        realmCard.getByRole("textbox", { name: `Redirect URI ${at}`, exact: true });
      const mine = line(before.length + 1);
      // An earlier state may still be shown.
      await line(before.length).waitFor();
      await mine.waitFor({ state: "detached" });
      await realmCard.getByRole("button", { name: "Add a redirect URI" }).click();
      await mine.fill("https://shop.example/mine");
      const theirs = [...before, "https://shop.example/theirs"];
      await onChange(page, new RegExp(realm_id), async (route) => {
        await c.admin.realms.update(realm_id, { redirect_uris: theirs });
        await route.continue();
      });
      await realmCard.getByRole("button", { name: "Save the redirect URIs" }).click();
      await page.getByText("The realm was changed since it was read.").waitFor();
      expect((await c.admin.realms.get(realm_id)).data.redirect_uris).toEqual(theirs);
      await page.getByText(/^Another person has saved a new value/).waitFor();
      expect(await mine.inputValue()).toBe("https://shop.example/mine");
      await c.admin.realms.update(realm_id, { redirect_uris: before });
    });

    test("refuses a save over the same field of another administrator, and accepts one of another field", async () => {
      // A new visit: messages of earlier saves may still be shown on the shared page.
      const page = await newPage(c);
      const { realm_id } = (await c.admin.settings.get()).data;
      const read = async () => (await c.admin.realms.get(realm_id)).data;
      const { accent_color, duplicate_email_policy, home_url } = await read();
      await signInWithKey(c, page, "/settings");
      const realmCard = page
        .getByRole("region")
        .filter({ hasText: "Client id for OpenID Connect libraries" });
      const meanwhile = (theirs: Parameters<typeof c.admin.realms.update>[1]) =>
        onChange(page, new RegExp(realm_id), async (route) => {
          await c.admin.realms.update(realm_id, theirs);
          await route.continue();
        });
      const refused = page.getByText("The realm was changed since it was read.");
      const note = page.getByText(/^Another person has saved a new value/);
      await realmCard.getByLabel("Colour").fill("#123456");
      await meanwhile({ accent_color: "#abcdef" });
      const saveShown = realmCard.getByRole("button", { name: "Save what shoppers see" });
      await saveShown.click();
      await refused.waitFor();
      await note.getByText("#abcdef").waitFor();
      expect([(await read()).accent_color, await realmCard.getByLabel("Colour").inputValue()]).toEqual([
        "#abcdef",
        "#123456",
      ]);
      await page.unrouteAll({ behavior: "wait" });
      await meanwhile({ home_url: "https://shop.example/elsewhere" });
      await saveShown.click();
      await until(async () => (await read()).accent_color === "#123456");
      expect((await read()).home_url).toBe("https://shop.example/elsewhere");
      await refused.waitFor({ state: "detached" });
      await page.unrouteAll({ behavior: "wait" });
      await page.getByText("Refuse the new sign-on").click();
      await meanwhile({ duplicate_email_policy: "allowed" });
      await button(page, "Save the policy").click();
      await inDialog(page, "Change rule").click();
      await page.getByRole("dialog").getByText("The realm was changed since it was read.").waitFor();
      await inDialog(page, "Cancel").click();
      expect((await read()).duplicate_email_policy).toBe("allowed");
      await page.unrouteAll({ behavior: "wait" });
      await note.getByText("Keep separate").waitFor();
      await button(page, "Use the new value").click();
      await c.admin.realms.update(realm_id, { accent_color, duplicate_email_policy, home_url });
      await page.context().close();
    });

    test("shows the other redirect URIs after a refused save and can then save, also without the stream of events", async () => {
      const { realm_id } = (await c.admin.settings.get()).data;
      const { redirect_uris: before } = (await c.admin.realms.get(realm_id)).data;
      const page = await newPage(c);
      await page.route(/\/v2\/events\/stream/, (route) => route.abort());
      await signInWithKey(c, page, "/settings");
      const realmCard = page
        .getByRole("region")
        .filter({ hasText: "Client id for OpenID Connect libraries" });
      const save = realmCard.getByRole("button", { name: "Save the redirect URIs" });
      const name = `Redirect URI ${before.length + 1}`;
      await realmCard.getByRole("button", { name: "Add a redirect URI" }).click();
      await realmCard.getByRole("textbox", { name, exact: true }).fill("https://shop.example/mine");
      await c.admin.realms.update(realm_id, { redirect_uris: [...before, "https://shop.example/theirs"] });
      await save.click();
      await page.getByText("The realm was changed since it was read.").waitFor();
      await page.getByText(/^Another person has saved a new value/).waitFor();
      await save.click();
      await inDialog(page, "Remove redirect URI").click();
      await page.getByText("The redirect URIs are saved.").waitFor();
      const { redirect_uris } = (await c.admin.realms.get(realm_id)).data;
      expect(redirect_uris).toEqual([...before, "https://shop.example/mine"]);
      await c.admin.realms.update(realm_id, { redirect_uris: before });
      await page.context().close();
    });
  });

  describe("Members", () => {
    test("an administrator invites a member, changes the role, and types the address to remove the member", async () => {
      const { page } = c;
      await go(page, "/members", "Members");
      await button(page, "Copy address for members").click();
      await copied(page, /\/console\/sign-in\?store=/);
      await button(page, "Invite a colleague").click();
      const invite = page.getByRole("dialog", { name: "Invite a colleague" });
      await invite.getByLabel("Name").fill("Tilda");
      await invite.getByLabel("E-mail").fill("tilda@shop.example");
      await invite.getByRole("radio", { name: /Viewer/ }).check();
      await invite.getByRole("button", { name: "Invite" }).click();
      await inDialog(page, "Done").click();
      const row = page.getByRole("row").filter({ hasText: "tilda@shop.example" });
      await row.getByText("Invited").waitFor();
      await row.getByText("viewer").waitFor();
      await row.getByRole("button", { name: "Change role of Tilda" }).click();
      const change = page.getByRole("dialog", { name: "Change the role of Tilda?" });
      expect(await change.getByRole("button", { name: "Change role" }).isDisabled()).toBe(true);
      await change.getByRole("radio", { name: /Support/ }).check();
      await change.getByRole("button", { name: "Change role" }).click();
      await row.getByText("support").waitFor();
      await row.getByRole("button", { name: "Remove Tilda" }).click();
      const remove = page.getByRole("dialog", { name: "Remove Tilda?" });
      await remove.getByRole("textbox").fill("tilda");
      expect(await remove.getByRole("button", { name: "Remove member" }).isDisabled()).toBe(true);
      await remove.getByRole("textbox").fill("tilda@shop.example");
      await remove.getByRole("button", { name: "Remove member" }).click();
      await row.waitFor({ state: "detached" });
    });

    test("the last administrator cannot remove herself, and sees the remedy", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Mona/);
      await go(page, "/members", "Members");
      await button(page, "Remove Mona").click();
      const remove = page.getByRole("dialog", { name: "Remove Mona?" });
      await remove.getByRole("textbox").fill("mona@shop.example");
      await remove.getByRole("button", { name: "Remove member" }).click();
      const problem = remove.getByRole("alert");
      await problem.getByText("last_administrator").waitFor();
      expect(await problem.innerText()).toMatch(/Request [0-9a-f-]{36}/);
      await page.context().close();
    });
  });

  describe("a role", () => {
    /** A button on a screen, and the path of the screen. */
    type Offer = [path: string, title: string, act: string];

    const FOR_SUPPORT = async (): Promise<Offer[]> => {
      const [ada] = (await c.admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data;
      const { path } = await practiceProvider(c);
      return [
        [path, "Practice sign-in", "Run checks"],
        [path, "Practice sign-in", "Test sign-on"],
        [`/customers/${ada?.id}`, "Ada", "End all sessions"],
      ];
    };

    const FOR_ADMINISTRATORS = async (): Promise<Offer[]> => {
      const [, , [customer] = [""]] = await FOR_SUPPORT();
      const { path } = await practiceProvider(c);
      return [
        [path, "Practice sign-in", "Remove"],
        [customer, "Ada", "Erase this customer"],
        [customer, "Ada", "Download data"],
        ["/keys", "Keys", "Create a key"],
        ["/integrations", "Integrations", "Add an integration"],
        ["/settings", "Settings", "Save the policy"],
        ["/members", "Members", "Invite a colleague"],
      ];
    };

    /** Offered: the button is there. Not offered: the screen explains which role is needed. */
    async function expectOffers(page: Page, offers: Offer[], isOffered: boolean, says: string | RegExp) {
      for (const [path, title, act] of offers) {
        await go(page, path, title);
        if (isOffered) await button(page, act).first().waitFor();
        else {
          await page.getByText(says).first().waitFor();
          expect([path, await button(page, act).count()]).toEqual([path, 0]);
        }
      }
    }

    test.each([
      ["viewer", false, false],
      ["support", true, false],
      ["administrator", true, true],
    ] as const)(
      "%s offers a key what it may do, and explains for whom the rest is",
      async (role, isSupport, isAdministrator) => {
        const page = await newPage(c);
        await signInWithKey(c, page, "/", await keyWithRole(c, role));
        await expectOffers(
          page,
          await FOR_SUPPORT(),
          isSupport,
          "Only support and administrators can do this.",
        );
        await expectOffers(page, await FOR_ADMINISTRATORS(), isAdministrator, /only administrators can/i);
        await page.context().close();
      },
    );

    test("support lets a member end a session under his own name, and offers him no more", async () => {
      const page = await newPage(c);
      await signInAsMember(c, page, /Sam/);
      await page.getByText(/Sam.*support/).waitFor();
      await expectOffers(page, await FOR_ADMINISTRATORS(), false, /only administrators can/i);
      const [, , [customer] = [""]] = await FOR_SUPPORT();
      await go(page, customer, "Ada");
      await button(page, "End all sessions").click();
      await inDialog(page, "End all sessions").click();
      await heading(page, "Nowhere");
      const told = async () => (await c.admin.events.list({ types: ["customer_token.revoked"] })).data;
      await until(async () => (await told()).length > 0);
      expect((await told()).at(-1)?.data).toMatchObject({ actor: { type: "member", name: null } });
      await page.context().close();
    });
  });

  describe("a store with more than a hundred realms", () => {
    test("shows all of them on Settings", async () => {
      for (let at = 1; at <= 100; at++) await c.admin.realms.create({ name: `Season ${at}` });
      await go(c.page, "/", /sign in/);
      await go(c.page, "/settings", "Settings");
      await heading(c.page, "Realm “Season 100”");
    });
  });
});
