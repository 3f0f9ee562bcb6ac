import { describe, expect, test } from "vitest";
import { SHOP } from "../../support/federation.ts";
import {
  ask,
  authorizeRequests,
  eachAlone,
  f,
  idp,
  isAtIdp,
  locationOf,
  nobody,
  queryOf,
} from "./requests.ts";

/** The redirect URI and the client must be registered: else the service answers with a page. */

authorizeRequests();

describe("400: a redirect URI that is not registered, byte for byte, is never gone to (R1 to R4, T05, A27, A28)", () => {
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
    ["the host as a prefix", "https://shop.example.evil.example/signed-in"],
    ["the host as a suffix", "https://evilshop.example/signed-in"],
    ["a dot at the host's end", "https://shop.example./signed-in"],
    ["a full-width dot", "https://shop．example/signed-in"],
    ["a letter that only looks like one", "https://shоp.example/signed-in"],
    ["an address", "https://[::1]/signed-in"],
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
    ["two in one", `${SHOP} https://evil.example`],
    ["a list", `${SHOP},https://evil.example`],
    ["itself, encoded twice", encodeURIComponent(SHOP)],
    ["itself in quotes", `"${SHOP}"`],
    ["a script", "javascript:alert('evil')"],
    ["a script that looks like a URL", "javascript://shop.example/%0aalert(1)"],
    ["a document", "data:text/html,<script>evil</script>"],
    ["markup", "https://evil.example/<script>alert(1)</script>"],
    ["our own callback", "https://keys.example/sign-on"],
    ["a very long one", `${SHOP}?${"evil".repeat(1000)}`],
  ];

  test.each(variants)("%s", async (_, uri) => {
    const answer = await f.begin(nobody(), { redirect_uri: uri });
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.headers.has("location")).toBe(false);
    expect(answer.headers.has("set-cookie")).toBe(false);
    for (const text of [uri, encodeURIComponent(uri), "evil", "shop.example", "signed-in", "javascript"])
      expect(answer.body).not.toContain(text);
    expect(idp.journal).toEqual([]);
    expect(isAtIdp(await f.begin(nobody()))).toBe(true);
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
  ])("%s", async (_, query) => {
    const answer = await ask(query());
    expect([answer.status, answer.code]).toEqual([400, "redirect_uri_unregistered"]);
    expect(answer.body).not.toContain("evil");
  });

  test("not even after a good one, with the same browser", async () => {
    const browser = nobody();
    await f.begin(browser);
    expect((await f.begin(browser, { redirect_uri: `${SHOP}/` })).status).toBe(400);
  });
});

describe("a redirect URI that is registered", () => {
  eachAlone();

  test("on this machine the port counts too", async () => {
    await f.changeRealm({ redirect_uris: ["http://localhost:3000/cb"] });
    expect(isAtIdp(await f.begin(nobody(), { redirect_uri: "http://localhost:3000/cb" }))).toBe(true);
    expect((await f.begin(nobody(), { redirect_uri: "http://localhost:3001/cb" })).status).toBe(400);
    expect((await f.begin(nobody(), { redirect_uri: "http://127.0.0.1:3000/cb" })).status).toBe(400);
  });

  test("one that is in the database but would not be registered today is not gone to either (A28)", async () => {
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
      expect((await f.begin(nobody(), { redirect_uri })).code).toBe("redirect_uri_unregistered");
  });

  test("works exactly, however the query spells it", async () => {
    for (const spelling of [SHOP, encodeURIComponent(SHOP), SHOP.replaceAll("e", "%65")])
      expect(isAtIdp(await ask(`${queryOf({ redirect_uri: undefined })}&redirect_uri=${spelling}`))).toBe(
        true,
      );
  });

  test("with a query of its own keeps it: code and errors are appended with an ampersand (T05)", async () => {
    const redirect_uri = `${SHOP}?shop=1`;
    const signedOn = await f.signOn({ parameters: { redirect_uri } });
    expect(signedOn.location).toMatch(
      new RegExp(`^${SHOP.replaceAll(".", "\\.")}\\?shop=1&code=lkac_\\w+&state=[^&]+&iss=[^&]+$`),
    );
    const { status } = await f.redeem(signedOn, { oauth_redirect_uri: redirect_uri });
    expect(status).toBe(200);
    const refused = await f.begin(nobody(), { redirect_uri, response_type: "token" });
    expect(locationOf(refused).startsWith(`${redirect_uri}&error=unsupported_response_type&`)).toBe(true);
  });

  test.each(["https://shop.example/cb?", "https://shop.example/cb?a=?", "https://shop.example/cb?a=1&"])(
    "%s gets code, state and iss as parameters of their own",
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

describe("400: a client that is not the store's is not answered (R1)", () => {
  test.each([
    ["another", "evil-client"],
    ["the identity provider's", "the-store"],
    ["its name in capitals", "CUSTOMERS"],
    ["its name with a space", "customers "],
    ["its name with a null byte", "customers\0"],
    ["a script", "<script>alert('evil')</script>"],
    ["a header", "customers\r\nSet-Cookie: evil=1"],
    ["a long one", "evil".repeat(500)],
  ])("%s", async (_, client_id) => {
    const answer = await f.begin(nobody(), { client_id });
    expect([answer.status, answer.code]).toEqual([400, "sign_on_client_unknown"]);
    expect(answer.body).not.toContain("evil");
    expect(answer.headers.has("set-cookie")).toBe(false);
  });

  test.each([
    ["none", () => queryOf({ client_id: undefined })],
    ["an empty one", () => queryOf({ client_id: "" })],
    ["two", () => `${queryOf()}&client_id=evil`],
    ["the same twice", () => `${queryOf()}&client_id=customers`],
  ])("%s", async (_, query) => {
    expect((await ask(query())).code).toBe("sign_on_client_unknown");
  });
});
