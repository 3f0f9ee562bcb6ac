/** The realm whose issuer this is; only for what we have signed. */
export const realmOfIssuer = (issuer: string): string => issuer.slice(issuer.lastIndexOf("/") + 1);

/** A realm is an OpenID provider of its own; everything it signs, and every answer it redirects with, names it. */
export const issuerOf = ({ publicUrl }: { publicUrl: string }, storeId: string, realmId: string): string =>
  `${publicUrl}/sign-on/stores/${storeId}/realms/${realmId}`;
