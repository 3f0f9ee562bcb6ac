/** Path and query of a request as its first line has them (RFC 9112, section 3.2), neither decoded nor resolved. */
export type Target = { path: string; query: string; length: number };

/**
 * Scheme and host before the path are ignored. No URL parser reads the path, because it would resolve `..` and `%2e%2e`
 * and so name another path.
 */
export function targetOf(sent: string): Target {
  const target = sent.startsWith("/") ? sent : sent.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
  const end = target.indexOf("?");
  return end === -1
    ? { path: target, query: "", length: target.length }
    : { path: target.slice(0, end), query: target.slice(end + 1), length: target.length };
}

/** The routed path: a trailing slash makes no difference. */
export const routedPath = (path: string): string =>
  path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
