/** The scope of a sign-on that asks for no more, and of codes and tokens without a scope. */
export const LEAST_SCOPE = "openid email";

/** The supported scopes, in the order in which they are granted. */
export const SCOPES = ["openid", "email", "profile"] as const;

/** The supported part of the requested scopes. */
export const grantedScope = (asked: readonly string[]): string =>
  SCOPES.filter((scope) => asked.includes(scope)).join(" ");

/** The scope for the identity provider. Always with `email`: every customer has an address (seed 1.4). */
export const idpScope = (granted: string): string =>
  scopesOf(granted).includes("profile") ? `${LEAST_SCOPE} profile` : LEAST_SCOPE;

export const scopesOf = (granted: string | null | undefined): string[] => (granted ?? LEAST_SCOPE).split(" ");
