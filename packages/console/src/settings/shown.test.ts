import { expect, test } from "vitest";
import { judgeColor, judgeShownUrl } from "./shown.ts";

test("a URL on the service's pages follows the rules of redirect URIs, or is empty", () => {
  expect(judgeShownUrl("")).toBeUndefined();
  expect(judgeShownUrl("https://shop.example/")).toBeUndefined();
  expect(judgeShownUrl("http://shop.example/")).toMatch(/https/);
  expect(judgeShownUrl("javascript:alert(1)")).toMatch(/\.$/);
});

test("a colour has six hexadecimal digits, or is empty", () => {
  for (const good of ["", "#0b5f52", "#0B5F52"]) expect(judgeColor(good)).toBeUndefined();
  for (const bad of ["red", "#fff", "#0b5f5g"]) expect(judgeColor(bad)).toMatch(/#/);
});
