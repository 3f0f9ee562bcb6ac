import { expect, test } from "vitest";
import { judgeColor, judgeShownUrl } from "./shown.ts";

test("an address that is shown keeps to the rules of a redirect URI, and may be left out", () => {
  expect(judgeShownUrl("")).toBeUndefined();
  expect(judgeShownUrl("https://shop.example/")).toBeUndefined();
  expect(judgeShownUrl("http://shop.example/")).toMatch(/https/);
  expect(judgeShownUrl("javascript:alert(1)")).toMatch(/\.$/);
});

test("a colour is six digits, or left out", () => {
  for (const good of ["", "#0b5f52", "#0B5F52"]) expect(judgeColor(good)).toBeUndefined();
  for (const bad of ["red", "#fff", "#0b5f5g"]) expect(judgeColor(bad)).toMatch(/#/);
});
