import { expect, test } from "vitest";
import { judgeAll, judgeRedirectUri } from "./redirect-uri.ts";

test.each([
  "https://shop.example/signed-in",
  "https://shop.example:8443/a?b=c",
  "http://localhost:3000/back",
  "http://127.0.0.1/",
])("%s is accepted", (uri) => {
  expect(judgeRedirectUri(uri)).toBeUndefined();
});

test.each([
  "",
  "shop.example/back",
  "http://shop.example/back",
  "https://shop.example/#back",
  "https://ada:secret@shop.example/",
  " https://shop.example/",
  "myapp://back",
])("%j is refused while it is typed", (uri) => {
  expect(judgeRedirectUri(uri)).toMatch(/\.$/);
});

test("the second of two equal URIs is a fault", () => {
  expect(judgeAll(["https://a.example/", "https://a.example/"])).toEqual([
    undefined,
    "This address is already in the list.",
  ]);
});
