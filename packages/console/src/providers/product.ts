import type { Product } from "../../recipes.ts";

/** The known product behind an issuer or a discovery address, by the form of the address alone. */
export function productAt(products: readonly Product[], address: string): Product | undefined {
  const issuer = address.replace(/\/\.well-known\/openid-configuration$/, "").replace(/\/$/, "");
  return products.find(({ issuers }) => issuers.some((form) => form.test(issuer) || form.test(`${issuer}/`)));
}
