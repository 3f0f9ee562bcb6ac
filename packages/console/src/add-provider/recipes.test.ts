import { expect, test } from "vitest";
import { judgeAddress, RECIPES, recipeOf } from "./recipes.ts";

test("a recipe's address is accepted when its example parts are replaced", () => {
  for (const { id, address } of RECIPES) {
    if (id === "other") continue;
    if (address.includes("<")) expect(judgeAddress(address), id).toMatch(/between/);
    expect(judgeAddress(address.replaceAll(/<[^>]+>/g, "mine")), id).toBeUndefined();
  }
});

test("a recipe is found by the address of its provider", () => {
  for (const { id, address } of RECIPES)
    expect(recipeOf(address.replaceAll(/<[^>]+>/g, "mine")), id).toBe(id);
  expect(recipeOf("https://okta.com.idp.example/v2")).toBe("other");
});

test.each([
  ["", /Paste/],
  ["http://idp.example", /https/],
  ["https://ada:secret@idp.example", /password/],
  ["https://", /not an address/],
])("%j is refused", (typed, fault) => {
  expect(judgeAddress(typed)).toMatch(fault);
});

test("a host name is accepted, and so is a provider on this machine", () => {
  expect([judgeAddress("idp.example"), judgeAddress("http://localhost:4001")]).toEqual([
    undefined,
    undefined,
  ]);
});
