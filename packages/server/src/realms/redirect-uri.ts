/**
 * Where a storefront may be sent back to. What is registered is compared byte for byte later, so only the one spelling
 * that a URL parser leaves alone is taken: no default port, upper-case host, dot segment, backslash or odd character.
 */
export function isAllowedRedirectUri(text: string): boolean {
  // The characters of RFC 3986, and no others.
  if (!/^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(text) || !URL.canParse(text)) return false;
  const url = new URL(text);
  const withPath = url.pathname === "/" ? text.replace(url.origin, `${url.origin}/`) : text;
  if (url.href !== text && url.href !== withPath) return false;
  if (text.includes("#") || url.username !== "" || url.password !== "" || !isHost(url.hostname)) return false;
  if (url.protocol === "https:") return true;
  return url.protocol === "http:" && (url.hostname === "localhost" || url.hostname === "127.0.0.1");
}

/** A name of letters, digits and hyphens, or an address. */
const isHost = (host: string): boolean =>
  host.startsWith("[") || host.split(".").every((label) => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label));
