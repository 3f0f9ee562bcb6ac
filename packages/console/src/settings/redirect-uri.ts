/**
 * The fault of a redirect URI, shown while it is typed. The rules are the service's: absolute, https or http
 * on this machine, no fragment, no user info. URIs must be equal in every byte, so the console does not
 * normalize them.
 */
export function judgeRedirectUri(typed: string): string | undefined {
  if (typed === "") return "Enter an address.";
  if (typed !== typed.trim() || /\s/.test(typed)) return "Remove the space.";
  const url = URL.parse(typed);
  if (!url) return "Enter a whole address that begins with https://.";
  if (typed.includes("#")) return "Remove the fragment (#…).";
  if (url.username || url.password) return "Remove the user name and password.";
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
    (uri, at) =>
      judgeRedirectUri(uri) ?? (uris.indexOf(uri) < at ? "This address is already in the list." : undefined),
  );
}
