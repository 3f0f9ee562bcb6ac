import { isLocalUrl } from "../lib/local-url.ts";

/**
 * Registered redirect URIs are compared byte for byte, so only the spelling that a URL parser leaves unchanged is
 * accepted: no default port, upper-case host, dot segment, backslash or character outside RFC 3986.
 */
export const isAllowedRedirectUri = (text: string): boolean => faultOfRedirectUri(text) === undefined;

/** A description of the fault, which never repeats a part of the URI. */
export function faultOfRedirectUri(text: string): string | undefined {
  // The characters of RFC 3986, and no others.
  if (!/^[A-Za-z0-9\-._~:/?#[\]@!$&'()*+,;=%]+$/.test(text))
    return "only the characters of a URL are allowed; others must be percent-encoded, a host in punycode";
  if (/^[a-z]+:\/\/[^/?]*\*/i.test(text))
    return "a host has no wildcard, because anyone could own a host that fits: register the exact address of each preview deployment when it is made, and remove it afterwards";
  if (!URL.canParse(text)) return "it must be an absolute URL, such as https://shop.example/signed-in";
  const url = new URL(text);
  const isLocal = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol !== "https:" && !(url.protocol === "http:" && isLocal))
    return "it must begin with https://, or with http:// on localhost or 127.0.0.1";
  if (text.includes("#")) return "it must have no fragment";
  if (url.username !== "" || url.password !== "") return "it must have no user information before the host";
  const host = /^[a-z]+:\/\/([^/?]*)/i.exec(text)?.[1] ?? "";
  if (/[A-Z]/.test(host)) return "the host must be in lower case, as browsers send it";
  if (!isHost(url.hostname))
    return "the host must be a name of letters, digits, hyphens and underscores, or an address";
  const withPath = url.pathname === "/" ? text.replace(url.origin, `${url.origin}/`) : text;
  if (url.href !== text && url.href !== withPath)
    return "it must be written as browsers send it: no default port, no dot segments, scheme and host in lower case";
  return undefined;
}

/** For addresses on Latchkey's pages. The same rules; http only if the service itself runs on localhost. */
export function faultOfShownUrl({ publicUrl }: { publicUrl: string }, text: string): string | undefined {
  const fault = faultOfRedirectUri(text);
  if (fault !== undefined || text.startsWith("https:") || isLocalUrl(publicUrl)) return fault;
  return "it must begin with https://";
}

/** A host name or an IP address. Preview deployments have underscores in names, which browsers accept. */
const isHost = (host: string): boolean =>
  host.startsWith("[") || host.split(".").every((label) => /^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?$/.test(label));
