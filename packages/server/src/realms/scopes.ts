/** What a sign-on gives without being asked for more: the scope of codes and tokens that say none. */
export const LEAST_SCOPE = "openid email";

/** Those that say something here, in this order. */
export const SCOPES = ["openid", "email", "profile"] as const;

/** What the client is granted of what it asked for. */
export const grantedScope = (asked: readonly string[]): string =>
  SCOPES.filter((scope) => asked.includes(scope)).join(" ");

/** What the identity provider is asked for: the e-mail address always, because a customer has one (seed 1.4). */
export const idpScope = (granted: string): string =>
  scopesOf(granted).includes("profile") ? `${LEAST_SCOPE} profile` : LEAST_SCOPE;

export const scopesOf = (granted: string | null | undefined): string[] => (granted ?? LEAST_SCOPE).split(" ");
