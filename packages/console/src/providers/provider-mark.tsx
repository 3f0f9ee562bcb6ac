import { PRODUCTS } from "virtual:products";
import type { Profile } from "@latchkey/sdk/admin";
import { productAt } from "./product.ts";

/** The known product of a provider, by its issuer. Undefined: another product. */
export const productOf = ({ discovery_url, meta }: Pick<Profile, "discovery_url" | "meta">) =>
  productAt(PRODUCTS, meta.issuer ?? discovery_url);

/** A provider's mark, for the eye alone: the provider's name is beside it. */
export const ProviderMark = ({ of }: { of: Pick<Profile, "discovery_url" | "meta"> }) => (
  <ProductMark of={productOf(of)?.key} />
);

const TINTS = 6;

/** Letters for a known product, because logos are trademarks; a door for any other. */
export function ProductMark({ of }: { of: string | undefined }) {
  const at = PRODUCTS.findIndex(({ key }) => key === of);
  return (
    <svg className="mark" data-tint={at < 0 ? 0 : (at % TINTS) + 1} viewBox="0 0 32 32" aria-hidden="true">
      <rect className="mark-back" width="32" height="32" rx="9" />
      {at < 0 ? (
        <path
          className="mark-line"
          d="M11 25V9.5A2.5 2.5 0 0 1 13.5 7h5A2.5 2.5 0 0 1 21 9.5V25M8 25h16M17.5 16v1.5"
        />
      ) : (
        <text className="mark-letters" x="16" y="21" textAnchor="middle">
          {PRODUCTS[at]?.letters}
        </text>
      )}
    </svg>
  );
}
