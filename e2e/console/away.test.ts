import { beforeAll, describe, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go, heading, practiceProvider } from "./place.ts";

/** Screens that are opened while the service is away. */

describe.skipIf(!hasChromium)("the console, while the service is away", () => {
  const c = consolePlace({ shoppers: [/Ada/] });
  let paths: string[];

  beforeAll(async () => {
    const { admin } = c;
    const kept = async () => (await admin.signOns.list()).data[0]?.id;
    await until(kept);
    const [ada] = (await admin.customers.list({ filter: "eq(email,ada@shop.example)" })).data;
    paths = [
      "/",
      "/find?q=ada@shop.example",
      "/sign-ons",
      `/sign-ons/${await kept()}`,
      "/failures",
      "/failures?reason=claims.email_missing",
      "/providers",
      "/providers/add",
      (await practiceProvider(c)).path,
      "/keys",
      `/keys/${(await admin.applicationKeys.list()).data[0]?.id}`,
      "/planner",
      "/customers",
      `/customers/${ada?.id}`,
      "/events",
      "/integrations",
      `/integrations/${(await admin.integrations.list()).data[0]?.id}`,
      "/settings",
      "/members",
    ];
  });

  test("every screen says so, and one press of Try again shows all of it when the service is back", async () => {
    const { page } = c;
    for (const path of paths) {
      await go(page, "/nothing", "This page doesn’t exist");
      await page.context().route(/\/v2\//, (route) => route.abort("connectionrefused"));
      await go(page, path);
      const problems = page.getByRole("main").getByRole("alert");
      await problems.getByText("network_failed").first().waitFor();
      await page.locator("[aria-busy=true]").first().waitFor({ state: "detached" });
      await page.context().unrouteAll();
      await button(page, "Try again").first().click();
      await until(async () => (await problems.count()) === 0);
      expect([path, await page.getByRole("heading", { level: 1 }).count()]).toEqual([path, 1]);
    }
    await go(page, "/nothing");
    await heading(page, "This page doesn’t exist");
  }, 180_000);
});
