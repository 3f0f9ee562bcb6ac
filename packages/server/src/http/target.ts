/** Path and query of a request, as they stand in its first line (RFC 9112 3.2), neither decoded nor resolved. */
export type Target = { path: string; query: string; length: number };

/**
 * Scheme and host may stand before the path, and are nothing to go by. No URL parser reads it: that would carry out `..`
 * and `%2e%2e`, and so name another path than the one that was sent.
 */
export function targetOf(sent: string): Target {
  const target = sent.startsWith("/") ? sent : sent.replace(/^[a-z]+:\/\/[^/?#]*/i, "");
  const end = target.indexOf("?");
  return end === -1
    ? { path: target, query: "", length: target.length }
    : { path: target.slice(0, end), query: target.slice(end + 1), length: target.length };
}

/** What is routed by: a slash at the end makes no difference. */
export const routedPath = (path: string): string =>
  path.length > 1 && path.endsWith("/") ? path.slice(0, -1) : path;
