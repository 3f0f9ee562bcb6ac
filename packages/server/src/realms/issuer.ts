/** The realm id in an issuer. Only for issuers that Latchkey itself has signed. */
export const realmOfIssuer = (issuer: string): string => issuer.slice(issuer.lastIndexOf("/") + 1);

/** Each realm is an OpenID provider with its own issuer, which its tokens and its redirects contain. */
export const issuerOf = ({ publicUrl }: { publicUrl: string }, storeId: string, realmId: string): string =>
  `${publicUrl}/sign-on/stores/${storeId}/realms/${realmId}`;
