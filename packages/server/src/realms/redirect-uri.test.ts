import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isAllowedRedirectUri } from "./redirect-uri.ts";

/** Any characters, without lone surrogates. */
const anyCharacter = fc
  .integer({ min: 0, max: 0x10ffff })
  .map((point) => String.fromCodePoint(point))
  .filter((character) => character.isWellFormed());

describe("a redirect URI can be registered", () => {
  test.each([
    "https://shop.example/cb",
    "https://shop.example/a/b/c",
    "https://shop.example/cb/",
    "https://shop.example/cb?realm=1&x=a%20b",
    "https://shop.example/cb?",
    "https://shop.example:8443/cb",
    "https://shop.example",
    "https://shop.example/",
    "https://shop.example:8443",
    "https://www.shop.co.example/~user/cb;v=1",
    "https://shop.example/a%2Fb",
    "https://xn--bcher-kva.example/cb",
    "https://feature_x.shop.example/cb",
    "http://localhost",
    "http://localhost/",
    "http://localhost:3000/cb",
    "http://localhost:3000",
    "http://127.0.0.1/cb",
    "http://127.0.0.1:1/",
    "http://127.0.0.1:65535/cb?x=1",
    "https://localhost:3000/cb",
  ])("%s", (uri) => {
    expect(isAllowedRedirectUri(uri)).toBe(true);
  });
});

describe("a redirect URI is refused (A27, A28, T05)", () => {
  test.each([
    // No URL, or only a part of a URL.
    "",
    " ",
    "shop.example/cb",
    "/cb",
    "//evil.example/cb",
    "///evil.example",
    "https://",
    "https:",
    "*",
    "null",
    // Schemes.
    "http://shop.example/cb",
    "javascript:alert(1)",
    "javascript://shop.example/%0aalert(1)",
    "JavaScript:alert(1)",
    "data:text/html,hello",
    "vbscript:x",
    "file:///etc/passwd",
    "ftp://shop.example/cb",
    "ws://shop.example/cb",
    "blob:https://shop.example/1",
    "about:blank",
    "urn:ietf:wg:oauth:2.0:oob",
    "com.example.app:/cb",
    "myapp://cb",
    "intent://shop.example/#Intent;end",
    // Other spellings of a URL.
    "HTTPS://shop.example/cb",
    "https://SHOP.example/cb",
    "https://shop.example:443/cb",
    "https://shop.example:/cb",
    "https://shop.example:08443/cb",
    "http://localhost:80/cb",
    "https:shop.example/cb",
    "https:/shop.example/cb",
    "https:///shop.example/cb",
    "https:\\\\evil.example",
    "https://shop.example\\@evil.example/",
    "https://shop.example/\\evil.example",
    "https://shop.example/cb/../x",
    "https://shop.example/./cb",
    "https://shop.example/cb/..",
    "https://shop.example/%2e%2e/cb",
    "https://shop.example/a/.%2E/cb",
    "https://shop%2eexample/cb",
    "https://shop。example/cb",
    "https://shop．example/cb",
    "https://bücher.example/cb",
    "https://shop.example/ключ",
    'https://shop.example/"',
    "https://shop.example/<x>",
    "https://shop.example/cb?a='b'",
    // Fragments.
    "https://shop.example/cb#f",
    "https://shop.example/cb#",
    "https://shop.example#",
    "https://shop.example/cb?x#f",
    // Users.
    "https://shop.example@evil.example/",
    "https://user@shop.example/cb",
    "https://user:pass@shop.example/cb",
    "https://:pass@shop.example/cb",
    "https://@shop.example/cb",
    "https://:@shop.example/cb",
    "http://localhost@evil.example/",
    // White space and control characters.
    " https://shop.example/cb",
    "https://shop.example/cb ",
    "https://shop.example/c b",
    "https://shop.example/cb\n",
    "https://shop.example/\tcb",
    "https://shop.example/cb\r\nLocation: https://evil.example",
    "ht\ttps://shop.example/cb",
    "https://sh\nop.example/cb",
    "https://shop.example/cb\x00",
    "https://shop.example/cb\x7f",
    "https://shop.example/\u200bcb",
    "https://shop.example/cb?x=\u2028",
    "\ufeffhttps://shop.example/cb",
    // Hosts with a dot at the end, and hosts that only look like localhost.
    "https://shop.example./cb",
    "https://shop.example../cb",
    "http://localhost./cb",
    "http://localhost.evil.example/cb",
    "http://localhost.localdomain/cb",
    "http://127.0.0.1.evil.example/cb",
    "http://127.0.0.2/cb",
    "http://127.1/cb",
    "http://2130706433/cb",
    "http://0x7f.0.0.1/cb",
    "http://0177.0.0.1/cb",
    "http://0.0.0.0/cb",
    "http://[::1]/cb",
    "http://[::ffff:127.0.0.1]/cb",
    "http://192.168.0.1/cb",
    "http://localhost:65536/cb",
    "http://localhost:*/cb",
    "https://[::1/cb",
    "https://shop.example:port/cb",
  ])("%j", (uri) => {
    expect(isAllowedRedirectUri(uri)).toBe(false);
  });

  test.each([
    "https://*.shop.example/cb",
    "https://*/cb",
    "https://shop*.example/",
    "https://shop.example:*/cb",
  ])("with a pattern for a host, which is none: %s", (uri) => {
    expect(isAllowedRedirectUri(uri)).toBe(false);
  });

  test.each(["https://shop.example/cb?next=\\evil", "https://shop.example?\\", "http://localhost/?a=\\\\b"])(
    "with a backslash anywhere: %s",
    (uri) => {
      expect(isAllowedRedirectUri(uri)).toBe(false);
    },
  );

  test.each([
    "https://shop..example/cb",
    "https://.shop.example/cb",
    "https://-shop.example/cb",
    "https://sh$op.example/cb",
    "https://shop.example,evil.example/cb",
    "https://shop.example;evil.example/cb",
    "https://shop.example&evil.example/cb",
  ])("with a host that is no host name: %s", (uri) => {
    expect(isAllowedRedirectUri(uri)).toBe(false);
  });
});

test("a URI that can be registered is ASCII that every parser reads in the same way", () => {
  const part = fc.oneof(
    fc.constantFrom(
      "https://",
      "http://",
      "shop.example",
      "localhost",
      "127.0.0.1",
      "evil.example",
      ":443",
      ":80",
    ),
    fc.constantFrom(
      "/",
      "//",
      "\\",
      "@",
      "#",
      "?",
      "..",
      ".",
      "%2e",
      "%00",
      "\t",
      "\n",
      " ",
      "\x00",
      "*",
      "ü",
      "．",
    ),
    fc.string({ unit: anyCharacter, maxLength: 3 }),
  );
  const uri = fc.oneof(
    fc.webUrl(),
    fc.array(part, { maxLength: 6 }).map((parts) => parts.join("")),
    fc.array(part, { maxLength: 6 }).map((parts) => `https://shop.example${parts.join("")}`),
    fc.array(part, { maxLength: 6 }).map((parts) => `http://localhost${parts.join("")}`),
  );
  fc.assert(
    fc.property(uri, (text) => {
      if (!isAllowedRedirectUri(text)) return;
      const { href, protocol, username, password, hash, host } = new URL(text);
      expect(text).toMatch(/^[\x21-\x7e]+$/);
      expect(text).not.toMatch(/[\\#]/);
      expect([username, password, hash]).toEqual(["", "", ""]);
      expect(text.startsWith(`${protocol}//${host}`)).toBe(true);
      expect([text, text.replace(/(?<=^https?:\/\/[^/?]+)(?=\?|$)/, "/")]).toContain(href);
      if (protocol !== "https:") expect(host).toMatch(/^(localhost|127\.0\.0\.1)(:\d+)?$/);
    }),
    { numRuns: 2000 },
  );
});
