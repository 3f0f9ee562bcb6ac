import { expect, test } from "vitest";
import { UNREGISTERED } from "../parts/profiles.ts";
import { addressOf, stepOf } from "./steps.ts";

test.each([
  [null, "callback", "test"],
  ["callback", "callback", "callback"],
  ["secret", "secret", "secret"],
  ["test", "secret", "test"],
  ["nonsense", "callback", "test"],
] as const)("step %j is %s before the client is registered, and %s afterwards", (asked, before, after) => {
  expect([stepOf({ client_id: UNREGISTERED }, asked), stepOf({ client_id: "shop" }, asked)]).toEqual([
    before,
    after,
  ]);
});

test("the address of a step names realm, provider and step, and the recipe if one was chosen", () => {
  expect(addressOf({ realm: "r", profile: "p", step: "secret", recipe: "okta" })).toBe(
    "/providers/add?realm=r&profile=p&step=secret&recipe=okta",
  );
  expect(addressOf({ realm: "r", profile: "p" })).toBe("/providers/add?realm=r&profile=p");
});
