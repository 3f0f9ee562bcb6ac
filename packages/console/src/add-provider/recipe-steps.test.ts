import { expect, test } from "vitest";
import { recipes } from "../../recipes.ts";
import { stepsAt } from "./recipe-steps.ts";

const links = {
  "callback-endpoint": "https://keys.example/callback",
  "backchannel-logout-endpoint": "https://keys.example/logout",
};

test.each(Object.values(recipes()))("the steps at $name are for a person, not for a program", ({ steps }) => {
  for (const step of stepsAt(steps, links))
    expect(step).not.toMatch(/(callback|logout)-endpoint|profile's|propagate_logout|\{/);
});

test("an address is itself in a command, and has its name in a sentence", () => {
  expect(stepsAt(["`run --to {callback}`.", "Enter {callback}, or {backchannel-logout}."], links)).toEqual([
    "`run --to https://keys.example/callback`.",
    "Enter the redirect URI above, or the back-channel logout URL above.",
  ]);
});

test("the steps for the page after a sign-out are left out", () => {
  expect(stepsAt(["Enter {signed-out}."], links)).toEqual([]);
});
