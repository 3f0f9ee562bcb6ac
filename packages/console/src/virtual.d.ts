declare module "virtual:remedies" {
  export const remedies: Record<string, string>;
}

declare module "*.css";
