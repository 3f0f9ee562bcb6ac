import type { Locator } from "playwright-core";
import { describe, test } from "vitest";
import { hasChromium } from "../support/chromium.ts";
import { button, consolePlace, go } from "./place.ts";

/** "Add a provider" without a mouse. */

describe.skipIf(!hasChromium)("Add a provider", () => {
  const c = consolePlace();

  test("all four steps work by the keyboard alone", async () => {
    const { page } = c;
    await go(page, "/providers", "Providers");
    const tabTo = async (to: Locator) => {
      for (let presses = 0; presses < 40; presses++) {
        if (await to.evaluate((element: Element) => element === document.activeElement)) return;
        await page.keyboard.press("Tab");
      }
      throw new Error(`Tab does not reach ${to}`);
    };
    const press = async (to: Locator) => {
      await tabTo(to);
      await page.keyboard.press("Enter");
    };
    await press(page.getByRole("link", { name: "Add a provider" }));
    await tabTo(page.getByRole("textbox", { name: "Address" }));
    await page.keyboard.type(c.idp);
    await page.keyboard.press("Enter");
    await page.getByText(/requirements are met/).waitFor();
    await press(button(page, "Continue"));
    await press(button(page, "I’ve registered it"));
    await tabTo(page.getByRole("textbox", { name: "Client ID" }));
    await page.keyboard.type("latchkey");
    await page.keyboard.press("Tab");
    await page.keyboard.type("practice");
    await page.keyboard.press("Enter");
    await press(button(page, /^Enable/));
    await page.getByText("Up", { exact: true }).first().waitFor();
  });
});
