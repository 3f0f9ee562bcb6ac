import type { Admin } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { othersInWords, signOnsInWords, signOnsThrough } from "./provider-figures.ts";

test("the sign-ons of all steps count, without redirects, tests, refused logouts and other providers", () => {
  const data = [
    { profile_id: "a", outcomes: { exchanged: 1200, failed: 3, tested: 5, started: 1300 } },
    { profile_id: "a", outcomes: { code_issued: 1, logout_refused: 9 } },
    { profile_id: "b", outcomes: { exchanged: 7 } },
    { profile_id: null, outcomes: { failed: 7 } },
  ];
  expect(signOnsInWords({ data }, "a")).toBe("1,204 sign-ons through it in the last 24 hours.");
  expect(signOnsInWords({ data }, "c")).toBe("No sign-on through it in the last 24 hours.");
});

test("members' sign-ons count too, for a provider of their realm", async () => {
  const to = new Date(Math.ceil(Date.now() / 3_600_000) * 3_600_000);
  const meta = { from: new Date(to.getTime() - 86_400_000).toISOString(), to: to.toISOString() };
  const statistics = async ({ purpose = "customers" }) => ({
    data: [{ profile_id: "m", outcomes: { exchanged: purpose === "members" ? 4 : 0 } }],
    meta,
  });
  const admin = { signOns: { statistics } } as unknown as Pick<Admin, "signOns">;
  expect(await signOnsThrough(admin, { id: "m" }).read()).toBe("4 sign-ons through it in the last 24 hours.");
});

test("only enabled providers are another way to sign in", () => {
  const all = [
    { id: "a", enabled: true },
    { id: "b", enabled: true },
    { id: "c", enabled: false },
  ];
  expect(othersInWords(all, "a")).toBe("1 other provider of this realm is enabled.");
  expect(othersInWords(all, "c")).toBe("2 other providers of this realm are enabled.");
  expect(othersInWords(all.slice(1), "b")).toMatch(/^No other provider of this realm is enabled:/);
});
