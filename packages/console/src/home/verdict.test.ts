import { expect, test } from "vitest";
import type { Provider } from "../parts/profiles.ts";
import { UNREGISTERED } from "../parts/profiles.ts";
import { toLookAt, verdictOf } from "./verdict.ts";

const provider = (name: string, status: string, more: object = {}) =>
  ({ name, enabled: true, client_id: "c", meta: { health: { status } }, ...more }) as unknown as Provider;

test.each([
  [[], "No shopper can sign in through a provider yet."],
  [[provider("A", "up")], "Shoppers can sign in."],
  [[provider("A", "up"), provider("B", "degraded")], "Shoppers can sign in, some with trouble."],
  [[provider("A", "up"), provider("B", "down")], "Some shoppers cannot sign in."],
  [[provider("A", "down"), provider("B", "down")], "Shoppers cannot sign in."],
  [[provider("A", "up"), provider("B", "unknown")], "Shoppers can sign in, as far as is known."],
])("the verdict depends on the enabled providers (%#)", (providers, says) => {
  expect(verdictOf(providers).says).toBe(says);
});

test("a disabled or unfinished provider does not change the verdict", () => {
  const idle = [
    provider("B", "down", { enabled: false }),
    provider("C", "down", { client_id: UNREGISTERED }),
  ];
  expect(verdictOf([provider("A", "up"), ...idle]).says).toBe("Shoppers can sign in.");
  expect(verdictOf(idle).says).toBe("No shopper can sign in through a provider yet.");
});

test("the verdict names providers that are down, and providers with unknown health", () => {
  expect(verdictOf([provider("A", "up"), provider("B", "unknown")]).because).toBe("B was not called lately.");
  expect(verdictOf([provider("A", "down"), provider("B", "down")]).because).toBe(
    "A and B are not responding.",
  );
});

test.each([
  [["A"], "A is responding."],
  [["A", "B"], "Both providers are responding."],
  [["A", "B", "C"], "All 3 providers are responding."],
])("%j: %s", (names, because) => {
  expect(verdictOf(names.map((name) => provider(name, "up"))).because).toBe(because);
});

test("of many providers the ones that are down are shown first", () => {
  const many = ["up", "unknown", "degraded", "up", "down"].map((status, at) => provider(`P${at}`, status));
  const idle = provider("Off", "down", { enabled: false });
  expect(toLookAt([idle, ...many], 4).map(({ name }) => name)).toEqual(["P4", "P2", "Off", "P0"]);
});
