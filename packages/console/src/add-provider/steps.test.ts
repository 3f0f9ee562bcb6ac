import { expect, test } from "vitest";
import { UNREGISTERED } from "../parts/profiles.ts";
import { addressOf, isHalfMade, stepOf } from "./steps.ts";

const NEW = { client_id: UNREGISTERED, meta: { has_client_secret: false } };
const NO_SECRET = { client_id: "shop", meta: { has_client_secret: false } };
const READY = { client_id: "shop", meta: { has_client_secret: true } };

test.each([
  [null, "callback", "secret", "test"],
  ["callback", "callback", "callback", "callback"],
  ["secret", "secret", "secret", "secret"],
  ["test", "secret", "secret", "test"],
  ["nonsense", "callback", "secret", "test"],
] as const)(
  "step %j is %s for a new provider, %s with a client ID, and %s with its secret too",
  (asked, first, second, third) => {
    expect([NEW, NO_SECRET, READY].map((profile) => stepOf(profile, asked))).toEqual([first, second, third]);
  },
);

test("a provider is half made until it has a client ID and a secret; a direct one is set up elsewhere", () => {
  const flow = "brokered" as const;
  expect([NEW, NO_SECRET, READY].map((profile) => isHalfMade({ ...profile, flow }))).toEqual([
    true,
    true,
    false,
  ]);
  expect(isHalfMade({ ...NEW, flow: "direct" })).toBe(false);
});

test("the address of a step names realm, provider and step, and the recipe if one was chosen", () => {
  expect(addressOf({ realm: "r", profile: "p", step: "secret", recipe: "okta" })).toBe(
    "/providers/add?realm=r&profile=p&step=secret&recipe=okta",
  );
  expect(addressOf({ realm: "r", profile: "p" })).toBe("/providers/add?realm=r&profile=p");
});
