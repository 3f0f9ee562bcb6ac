import { expect, test } from "vitest";
import { returnsInWords, signOnsInWords } from "./settings-figures.ts";

test("only sign-ons that reached the storefront count", () => {
  const data = [{ outcomes: { exchanged: 1000, failed: 5 } }, { outcomes: { code_issued: 2, tested: 1 } }];
  expect(signOnsInWords({ data })).toBe("1,002 successful sign-ons in the last 24 hours.");
});

test("a redirect URI has its share of the latest sign-ons of its realm, without tests", () => {
  const to = (redirect_uri: string, realm_id = "a", test = false) => ({ redirect_uri, realm_id, test });
  const latest = [to("https://x/"), to("https://y/"), to("https://x/", "b"), to("https://x/", "a", true)];
  expect(returnsInWords(latest, "a", "https://x/")).toBe(
    "1 of the latest 2 sign-ons returned to https://x/.",
  );
  expect(returnsInWords(latest, "a", "https://z/")).toBe(
    "None of the latest 2 sign-ons returned to https://z/.",
  );
  expect(returnsInWords(latest, "c", "https://x/")).toBe("No recent sign-on in this realm.");
});
