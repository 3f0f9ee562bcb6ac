/** Checks the form of a typed address. The service checks the rest when it reads the address. */
export function judgeAddress(typed: string): string | undefined {
  const text = typed.trim();
  if (text === "") return "Paste the provider’s address.";
  if (text.includes("<")) return "Replace the part between < and > by your own value.";
  const url = URL.parse(withScheme(text));
  if (!url) return "This is not an address.";
  if (url.username || url.password) return "Remove the name and password from the address.";
  const isHere = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol !== "https:" && !isHere) return "The address must begin with https://.";
  return undefined;
}

const withScheme = (text: string): string => (/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);

const WELL_KNOWN = /\/\.well-known\/(openid-configuration|oauth-authorization-server)\/?(?=$|\?)/;

/**
 * The issuer that a pasted address belongs to. People paste the address that they have before them: the issuer, its
 * document, an endpoint, or a page of the provider's console. Otherwise the text stays as it is: issuers are compared
 * letter by letter.
 */
export function toIssuer(typed: string): string {
  const text = withScheme(typed.trim());
  const url = URL.parse(text);
  return (url && issuerBehind(url)) ?? (text.split("#")[0] ?? "").replace(WELL_KNOWN, "");
}

function issuerBehind({ origin, hostname, pathname, hash }: URL): string | undefined {
  const parts = pathname.split("/").filter(Boolean);
  if (hostname === "accounts.google.com") return origin;
  if (hostname === "login.microsoftonline.com" && (parts.length === 1 || parts[1] === "oauth2"))
    return `${origin}/${parts[0]}/v2.0`;
  const admin = /^([a-z0-9-]+)-admin\.(okta|oktapreview|okta-emea)\.com$/.exec(hostname);
  if (admin) return `https://${admin[1]}.${admin[2]}.com`;
  return keycloakRealm(origin, parts, hash);
}

/** From an endpoint, the account page, or the admin console, where the realm is behind the `#`. */
function keycloakRealm(origin: string, parts: readonly string[], hash: string): string | undefined {
  const before = (end: number) => [origin, ...parts.slice(0, end)].join("/");
  const realms = parts.indexOf("realms");
  if (realms >= 0 && ["protocol", "account"].includes(parts[realms + 2] ?? "")) return before(realms + 2);
  const realm = /^#\/([\w-]+)/.exec(hash)?.[1];
  const admin = parts.indexOf("admin");
  return realm && admin >= 0 && parts.at(-1) === "console" ? `${before(admin)}/realms/${realm}` : undefined;
}

/** Whether two addresses have the same document: a slash at the end makes no difference to its address. */
export const isSameIssuer = (one: string, other: string): boolean => bare(one) === bare(other);

const bare = (address: string): string => address.replace(WELL_KNOWN, "").replace(/\/$/, "");
