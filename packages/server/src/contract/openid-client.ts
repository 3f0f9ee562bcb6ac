/**
 * The duties of an application key as a client of its store's realms. `pkce`: a PKCE challenge and the scope `email`,
 * like the storefronts' public client. `standard`: OpenID Connect Core 1.0, with a challenge or a nonce.
 */
export const OPENID_CLIENTS = ["pkce", "standard"] as const;

export type OpenidClient = (typeof OPENID_CLIENTS)[number];
