import { describe, expect, test } from "vitest";
import { isDigest } from "./attempt.ts";
import { browserCookieName, browserCookies, newBrowserValue } from "./browser-tie.ts";

describe("the browser's cookie", () => {
  test("is a new random value each time, of 256 bits", () => {
    const values = Array.from({ length: 1000 }, newBrowserValue);
    expect(new Set(values).size).toBe(1000);
    for (const value of values) {
      expect(isDigest(value)).toBe(true);
      expect(Buffer.from(value, "base64url")).toHaveLength(32);
    }
  });

  test.each([
    undefined,
    "",
    "x".repeat(42),
    "x".repeat(44),
    `${"x".repeat(42)}=`,
    `${"x".repeat(43)}\n`,
    '"x"',
  ])("%j is refused as its value", (text) => {
    expect(isDigest(text)).toBe(false);
  });

  test("cannot be set by another host, read by a script or sent by another site (A22)", () => {
    expect(browserCookieName("https://keys.example")).toBe("__Host-latchkey");
    const attributes = ["Path=/", "HttpOnly", "SameSite=Lax", "Secure"];
    expect(browserCookies("https://keys.example", "v", "digest").map((cookie) => cookie.split("; "))).toEqual(
      [
        ["__Host-latchkey=v", ...attributes],
        ["__Host-latchkey.d=v", ...attributes],
      ],
    );
  });

  test("has a plain name on localhost without TLS", () => {
    expect(browserCookies("http://localhost:4000", "v", "digest")).toEqual([
      "latchkey=v; Path=/; HttpOnly; SameSite=Lax",
      "latchkey.d=v; Path=/; HttpOnly; SameSite=Lax",
    ]);
  });
});
