import { type KnownProvider, knownProviders } from "../server/src/contract/known-providers.ts";

/** The console's part of the table of known providers. build.ts makes modules of it, because the table has more. */

/** For a provider's mark. Small, because every list of providers loads it. */
export type Product = {
  key: string;
  name: string;
  letters: string;
  /** The forms of its issuer. */
  issuers: readonly RegExp[];
};

/** For the person who registers Latchkey there. */
export type Recipe = Pick<KnownProvider, "key" | "name" | "issuer" | "steps" | "console">;

export const products = (): Product[] =>
  knownProviders.map(({ key, name, letters, recognisedBy, usualIssuer }) => ({
    key,
    name,
    letters,
    issuers: [...recognisedBy.flatMap(issuerAlone), ...(usualIssuer ? [usualIssuer] : [])],
  }));

/** The pattern of the issuer, if the issuer alone shows the product. */
const issuerAlone = ({ issuer, ...others }: KnownProvider["recognisedBy"][number]): RegExp[] =>
  issuer && Object.keys(others).length === 0 ? [issuer] : [];

/** By key, in the order of the table. */
export const recipes = (): Record<string, Recipe> =>
  Object.fromEntries(
    knownProviders.map(({ key, name, issuer, steps, console }) => [
      key,
      { key, name, issuer, steps, console },
    ]),
  );

/** The products as source text: JSON has no regular expressions. */
export const productsAsText = (): string =>
  `[${products()
    .map(({ issuers, ...texts }) => `{...${JSON.stringify(texts)},issuers:[${issuers.map(String).join()}]}`)
    .join()}]`;
