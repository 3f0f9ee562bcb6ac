import { describe, expect, test } from "vitest";
import { SHOP } from "../../support/federation.ts";
import { locationOf, newBrowser } from "../../support/redirects.ts";
import { ask, authorizeRequests, f, idp, isAtIdp, queryOf, withOwnFederation } from "./requests.ts";

/** The redirect URI and the client must be registered: else the service answers with a page. */

authorizeRequests();

describe("an unregistered redirect URI › 400 as a page for (R1 to R4, T05, A27, A28)", () => {
  const variants: [string, string][] = [
    ["the scheme in capitals", "HTTPS://shop.example/signed-in"],
    ["the host in capitals", "https://SHOP.example/signed-in"],
    ["the path in capitals", "https://shop.example/Signed-in"],
    ["a slash at its end", `${SHOP}/`],
    ["a slash too many", "https://shop.example//signed-in"],
    ["a path cut short", "https://shop.example/signed"],
    ["no path", "https://shop.example"],
    ["a dot segment behind it", `${SHOP}/../evil`],
    ["a dot segment before it", "https://shop.example/evil/../signed-in"],
    ["an encoded dot segment", "https://shop.example/%2e%2e/signed-in"],
    ["an encoded letter", "https://shop.example/%73igned-in"],
    ["a letter encoded twice", "https://shop.example/%2573igned-in"],
    ["a query added", `${SHOP}?x=1`],
    ["an empty query added", `${SHOP}?`],
    ["the query of another that is registered, changed", `${SHOP}?shop=2`],
    ["the query of another that is registered, with more", `${SHOP}?shop=1&x=1`],
    ["a fragment", `${SHOP}#f`],
    ["an empty fragment", `${SHOP}#`],
    ["the default port", "https://shop.example:443/signed-in"],
    ["another port", "https://shop.example:8443/signed-in"],
    ["http", "http://shop.example/signed-in"],
    ["no scheme", "//shop.example/signed-in"],
    ["no scheme and another host", "//evil.example/signed-in"],
    ["only the path", "/signed-in"],
    ["backslashes for slashes", "https:\\\\evil.example"],
    ["a backslash in the path", "https://shop.example\\@evil.example/signed-in"],
    ["the host as a user", "https://shop.example@evil.example/signed-in"],
    ["a user", "https://evil@shop.example/signed-in"],
    ["a user and password", "https://evil:pass@shop.example/signed-in"],
    ["the shop's host as a prefix", "https://shop.example.evil.example/signed-in"],
    ["the host as a suffix", "https://evilshop.example/signed-in"],
    ["a dot at the host's end", "https://shop.example./signed-in"],
    ["a full-width dot", "https://shop．example/signed-in"],
    ["a Cyrillic letter that looks like a Latin one", "https://shоp.example/signed-in"],
    ["an IPv6 address", "https://[::1]/signed-in"],
    ["a mapped address", "https://[::ffff:127.0.0.1]/signed-in"],
    ["a pattern", "https://*.example/signed-in"],
    ["a tab inside", "https://shop.example/\tsigned-in"],
    ["a tab in the scheme", "ht\ttps://shop.example/signed-in"],
    ["a line feed at its end", `${SHOP}\n`],
    ["a carriage return at its end", `${SHOP}\r`],
    ["a header behind it", `${SHOP}\r\nLocation: https://evil.example`],
    ["an encoded line break", `${SHOP}%0d%0a`],
    ["a null byte", `${SHOP}\0`],
    ["an encoded null byte", `${SHOP}%00`],
    ["a space before it", ` ${SHOP}`],
    ["a space behind it", `${SHOP} `],
    ["a space of no width", `${SHOP}\u200b`],
    ["two URIs in one", `${SHOP} https://evil.example`],
    ["a list of URIs", `${SHOP},https://evil.example`],
    ["the registered URI, encoded twice", encodeURIComponent(SHOP)],
    ["the registered URI in quotes", `"${SHOP}"`],
    ["a script", "javascript:alert('evil')"],
    ["a script that looks like a URL", "javascript://shop.example/%0aalert(1)"],
    ["a document", "data:text/html,<script>evil</script>"],
    ["markup", "https://evil.example/<script>alert(1)</script>"],
    ["Latchkey's own callback", "https://keys.example/sign-on"],
    ["a URI of 4,000 characters", `${SHOP}?${"evil".repeat(1000)}`],
  ];

  test.each(variants)("%s", async (_, uri) => {
    const answer = await f.begin(newBrowser(), { redirect_uri: uri });
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.headers.has("location")).toBe(false);
    expect(answer.headers.has("set-cookie")).toBe(false);
    for (const text of [uri, encodeURIComponent(uri), "evil", "shop.example", "signed-in", "javascript"])
      expect(answer.body).not.toContain(text);
    expect(idp.journal).toEqual([]);
    expect(isAtIdp(await f.begin(newBrowser()))).toBe(true);
  });

  const uri = encodeURIComponent(SHOP);
  test.each([
    ["missing", () => queryOf({ redirect_uri: undefined })],
    ["empty", () => queryOf({ redirect_uri: "" })],
    ["without a value", () => `${queryOf({ redirect_uri: undefined })}&redirect_uri`],
    ["given twice", () => `${queryOf()}&redirect_uri=${uri}`],
    ["given twice, the second of another host", () => `${queryOf()}&redirect_uri=https://evil.example`],
    ["given twice, the first of another host", () => `redirect_uri=https://evil.example&${queryOf()}`],
    ["under another name", () => `${queryOf({ redirect_uri: undefined })}&REDIRECT_URI=${uri}`],
    ["as a list", () => `${queryOf({ redirect_uri: undefined })}&redirect_uri%5B%5D=${uri}`],
  ])("a redirect URI that is %s", async (_, query) => {
    const answer = await ask(query());
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.body).not.toContain("evil");
  });

  test("a URI with one more slash, after a good request of the same browser", async () => {
    const browser = newBrowser();
    await f.begin(browser);
    expect((await f.begin(browser, { redirect_uri: `${SHOP}/` })).status).toBe(400);
  });
});

describe("a registered redirect URI", () => {
  withOwnFederation();

  test("must have the registered host and port on localhost, too", async () => {
    await f.changeRealm({ redirect_uris: ["http://localhost:3000/cb"] });
    expect(isAtIdp(await f.begin(newBrowser(), { redirect_uri: "http://localhost:3000/cb" }))).toBe(true);
    expect((await f.begin(newBrowser(), { redirect_uri: "http://localhost:3001/cb" })).status).toBe(400);
    expect((await f.begin(newBrowser(), { redirect_uri: "http://127.0.0.1:3000/cb" })).status).toBe(400);
  });

  test("400 for a URI in the database that could not be registered today (A28)", async () => {
    const uris = [
      "http://shop.example/cb",
      "javascript:alert(1)",
      "https://shop.example/cb#f",
      "//evil.example",
    ];
    await f.latchkey.storage.db
      .updateTable("authentication_realms")
      .set({ redirect_uris: JSON.stringify(uris) })
      .execute();
    for (const redirect_uri of uris)
      expect((await f.begin(newBrowser(), { redirect_uri })).code).toBe("redirect_uri_unregistered");
  });

  test("may be percent-encoded in the query", async () => {
    for (const spelling of [SHOP, encodeURIComponent(SHOP), SHOP.replaceAll("e", "%65")])
      expect(isAtIdp(await ask(`${queryOf({ redirect_uri: undefined })}&redirect_uri=${spelling}`))).toBe(
        true,
      );
  });

  test("with a query of its own gets code and errors appended with an ampersand (T05)", async () => {
    const redirect_uri = `${SHOP}?shop=1`;
    const signedOn = await f.signOn({ parameters: { redirect_uri } });
    expect(signedOn.location).toMatch(
      new RegExp(`^${SHOP.replaceAll(".", "\\.")}\\?shop=1&code=lkac_\\w+&state=[^&]+&iss=[^&]+$`),
    );
    const { status } = await f.redeem(signedOn, { oauth_redirect_uri: redirect_uri });
    expect(status).toBe(200);
    const refused = await f.begin(newBrowser(), { redirect_uri, response_type: "token" });
    expect(locationOf(refused).startsWith(`${redirect_uri}&error=unsupported_response_type&`)).toBe(true);
  });

  test.each(["https://shop.example/cb?", "https://shop.example/cb?a=?", "https://shop.example/cb?a=1&"])(
    "%s gets code, state and iss as separate parameters",
    async (redirect_uri) => {
      await f.changeRealm({ redirect_uris: [redirect_uri] });
      const { location } = await f.signOn({ parameters: { redirect_uri } });
      expect(location.startsWith(redirect_uri)).toBe(true);
      const { searchParams } = new URL(location);
      expect(searchParams.get("code")).toMatch(/^lkac_/);
      expect(searchParams.get("iss")).toBe(f.issuer);
    },
  );
});

describe("a client that is not the store's › 400 as a page for (R1)", () => {
  test.each([
    ["another client id", "evil-client"],
    ["the client id at the identity provider", "the-store"],
    ["the client id in capitals", "CUSTOMERS"],
    ["the client id with a space", "customers "],
    ["the client id with a null byte", "customers\0"],
    ["a script", "<script>alert('evil')</script>"],
    ["a header", "customers\r\nSet-Cookie: evil=1"],
    ["a client id of 2,000 characters", "evil".repeat(500)],
  ])("%s", async (_, client_id) => {
    const answer = await f.begin(newBrowser(), { client_id });
    expect([answer.status, answer.code]).toEqual([400, "sign_on_client_unknown"]);
    expect(answer.body).not.toContain("evil");
    expect(answer.headers.has("set-cookie")).toBe(false);
  });

  test.each([
    ["no client id", () => queryOf({ client_id: undefined })],
    ["an empty client id", () => queryOf({ client_id: "" })],
    ["two client ids", () => `${queryOf()}&client_id=evil`],
    ["the same client id twice", () => `${queryOf()}&client_id=customers`],
  ])("%s", async (_, query) => {
    expect((await ask(query())).code).toBe("sign_on_client_unknown");
  });
});
