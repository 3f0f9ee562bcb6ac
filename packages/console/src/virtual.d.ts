declare module "virtual:remedies" {
  export const remedies: Record<string, string>;
}

declare module "virtual:documentation" {
  /** The address of the repository's files, with a slash at its end. */
  export const DOCUMENTATION: string;
}

declare module "*.css";
