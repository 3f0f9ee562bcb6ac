/**
 * The fault of a redirect URI, shown while it is typed. The rules are the service's: absolute, https or http
 * on this machine, no fragment, no user info. URIs are compared byte for byte, so the console does not
 * normalize them.
 */
export function judgeRedirectUri(typed: string): string | undefined {
  if (typed === "") return "An address is missing.";
  if (typed !== typed.trim() || /\s/.test(typed)) return "There is a space in it.";
  const url = URL.parse(typed);
  if (!url) return "This is not a whole address: it begins with https://.";
  if (typed.includes("#")) return "It may have no fragment (#…).";
  if (url.username || url.password) return "It may have no name or password in it.";
  if (url.protocol === "https:") return undefined;
  const isHere = url.hostname === "localhost" || url.hostname === "127.0.0.1";
  if (url.protocol === "http:" && isHere) return undefined;
  return url.protocol === "http:"
    ? "Only https, except on localhost and 127.0.0.1."
    : "Only https addresses.";
}

/** The faults of all URIs. A duplicate is a fault. */
export function judgeAll(uris: readonly string[]): (string | undefined)[] {
  return uris.map(
    (uri, at) => judgeRedirectUri(uri) ?? (uris.indexOf(uri) < at ? "It is in the list already." : undefined),
  );
}
