import { expect, test } from "vitest";
import { isSameIssuer, judgeAddress, toIssuer } from "./address.ts";

test.each([
  ["", /Paste/],
  ["http://idp.example", /https/],
  ["https://ada:secret@idp.example", /password/],
  ["https://", /not an address/],
  ["https://login.microsoftonline.com/<tenant id>/v2.0", /between/],
])("%j is refused", (typed, fault) => {
  expect(judgeAddress(typed)).toMatch(fault);
});

test("a host name is accepted, and so is a provider on this machine", () => {
  expect([judgeAddress("idp.example"), judgeAddress("http://localhost:4001")]).toEqual([
    undefined,
    undefined,
  ]);
});

test.each([
  [" https://idp.example/shop ", "https://idp.example/shop"],
  ["idp.example", "https://idp.example"],
  ["https://idp.example/.well-known/openid-configuration", "https://idp.example"],
  ["https://idp.example/shop/.well-known/openid-configuration/", "https://idp.example/shop"],
  ["https://idp.example/v2.0/.well-known/openid-configuration?p=b2c", "https://idp.example/v2.0?p=b2c"],
  ["https://idp.example/.well-known/oauth-authorization-server", "https://idp.example"],
  ["https://idp.example/realms/shop/protocol/openid-connect/auth?x=1", "https://idp.example/realms/shop"],
  ["https://idp.example/realms/shop/account/#/security", "https://idp.example/realms/shop"],
  ["https://idp.example/auth/admin/master/console/#/shop/clients", "https://idp.example/auth/realms/shop"],
  ["https://login.microsoftonline.com/0a1b", "https://login.microsoftonline.com/0a1b/v2.0"],
  [
    "https://login.microsoftonline.com/0a1b/oauth2/v2.0/authorize",
    "https://login.microsoftonline.com/0a1b/v2.0",
  ],
  ["https://login.microsoftonline.com/0a1b/v2.0", "https://login.microsoftonline.com/0a1b/v2.0"],
  ["https://shop-admin.okta.com/admin/apps/active", "https://shop.okta.com"],
  ["https://shop.okta.com/oauth2/default", "https://shop.okta.com/oauth2/default"],
  ["https://accounts.google.com/o/oauth2/v2/auth", "https://accounts.google.com"],
  ["https://shop.eu.auth0.com/", "https://shop.eu.auth0.com/"],
  ["http://127.0.0.1:4001", "http://127.0.0.1:4001"],
])("%j leads to the issuer %s", (typed, issuer) => {
  expect(toIssuer(typed)).toBe(issuer);
});

test("the letters of an issuer stay, because issuers are compared letter by letter", () => {
  expect(toIssuer("https://IdP.example/Shop%2f")).toBe("https://IdP.example/Shop%2f");
});

test("issuers are the same with and without a slash at the end", () => {
  expect(isSameIssuer("https://idp.example/", "https://idp.example")).toBe(true);
  expect(isSameIssuer("https://idp.example/.well-known/openid-configuration", "https://idp.example")).toBe(
    true,
  );
  expect(isSameIssuer("https://idp.example/a", "https://idp.example")).toBe(false);
});
