declare module "virtual:products" {
  export const PRODUCTS: readonly import("../recipes.ts").Product[];
}

declare module "virtual:recipes" {
  /** By key, in the order of the table of known providers. */
  export const RECIPES: Readonly<Record<string, import("../recipes.ts").Recipe>>;
}

declare module "virtual:remedies" {
  export const remedies: Record<string, string>;
}

declare module "virtual:documentation" {
  /** The address of the repository's files, with a slash at its end. */
  export const DOCUMENTATION: string;
}

declare module "*.css";
