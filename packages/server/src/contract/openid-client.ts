/**
 * What an application key owes as a client of its store's realms. `pkce`: a PKCE challenge and the scope `email`, as the storefronts'
 * public client. `standard`: what OpenID Connect Core 1.0 demands, with a challenge or a nonce.
 */
export const OPENID_CLIENTS = ["pkce", "standard"] as const;

export type OpenidClient = (typeof OPENID_CLIENTS)[number];
