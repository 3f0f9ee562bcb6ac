/** Who can correct a fault, and in which words the pages of the errors say it. */
export const fixers = {
  caller: "The developer of the program that sent the request.",
  storefront: "The developers of the storefront.",
  store: "An administrator of the store.",
  provider: "The administrator of the identity provider.",
  shopper: "The person who signs in, by starting again.",
  time: "It passes by itself. The program waits, and sends the request again.",
  operator: "The operator of the service.",
} as const;

export type Fixer = keyof typeof fixers;
