/** What a sign-on gives without being asked for more: the scope of codes and tokens that say none. */
export const LEAST_SCOPE = "openid email";

export const grantedScope = (asked: readonly string[]): string =>
  asked.includes("profile") ? `${LEAST_SCOPE} profile` : LEAST_SCOPE;

export const scopesOf = (granted: string | null | undefined): string[] => (granted ?? LEAST_SCOPE).split(" ");
