import { expect, test } from "vitest";
import { loopbackPortOf, loopbackUri } from "./loopback-uri.ts";

test.each([1, 80, 9999, 49_152, 65_535])("port %d is allowed, spelt exactly so", (port) => {
  expect(loopbackPortOf(loopbackUri(port))).toBe(port);
});

test.each([
  ["no port", "http://127.0.0.1/callback"],
  ["an empty port", "http://127.0.0.1:/callback"],
  ["port 0", "http://127.0.0.1:0/callback"],
  ["port 65536", "http://127.0.0.1:65536/callback"],
  ["six digits", "http://127.0.0.1:100000/callback"],
  ["a leading zero", "http://127.0.0.1:08080/callback"],
  ["a sign", "http://127.0.0.1:+8080/callback"],
  ["localhost", "http://localhost:8080/callback"],
  ["IPv6", "http://[::1]:8080/callback"],
  ["another loopback address", "http://127.0.0.2:8080/callback"],
  ["a short spelling of the address", "http://127.1:8080/callback"],
  ["a name that begins the same", "http://127.0.0.1.shop.example:8080/callback"],
  ["user information", "http://127.0.0.1:8080@shop.example/callback"],
  ["https", "https://127.0.0.1:8080/callback"],
  ["upper case", "HTTP://127.0.0.1:8080/callback"],
  ["another path", "http://127.0.0.1:8080/"],
  ["a longer path", "http://127.0.0.1:8080/callback/"],
  ["a path of another case", "http://127.0.0.1:8080/Callback"],
  ["a query", "http://127.0.0.1:8080/callback?x=1"],
  ["a fragment", "http://127.0.0.1:8080/callback#x"],
  ["a line break at the end", "http://127.0.0.1:8080/callback\n"],
  ["a space in front", " http://127.0.0.1:8080/callback"],
  ["digits of another script", "http://127.0.0.1:٨٠٨٠/callback"],
])("%s is refused", (_, text) => {
  expect(loopbackPortOf(text)).toBeUndefined();
});
