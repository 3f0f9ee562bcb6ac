import { expect, test } from "vitest";
import { products } from "../../recipes.ts";
import { productAt } from "./product.ts";

const keyAt = (address: string) => productAt(products(), address)?.key;

test.each([
  ["https://sso.shop.example/realms/shop", "keycloak"],
  ["https://sso.shop.example/auth/realms/shop/.well-known/openid-configuration", "keycloak"],
  ["https://login.microsoftonline.com/9188040d-6c67-4c5b-b112-36a304b66dad/v2.0", "entra"],
  ["https://shop.okta.com", "okta"],
  ["https://shop.eu.auth0.com", "auth0"],
  ["https://shop.eu.auth0.com/", "auth0"],
  ["https://accounts.google.com", "google"],
  ["https://shop.zitadel.cloud", "zitadel"],
  ["https://sso.shop.example/application/o/shop/", "authentik"],
])("%s is an address of %s", (address, key) => {
  expect(keyAt(address)).toBe(key);
});

test.each(["https://idp.example", "https://okta.com.idp.example/v2", "https://idp.example/?x=/realms/a"])(
  "%s is an address of no known product",
  (address) => {
    expect(keyAt(address)).toBeUndefined();
  },
);

test("every mark has two letters, and no two products share a mark", () => {
  const letters = products().map((product) => product.letters);
  for (const one of letters) expect(one).toMatch(/^\w{2}$/);
  expect(new Set(letters.map((one) => one.toLowerCase())).size).toBe(letters.length);
});
