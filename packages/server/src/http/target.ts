/** What we look at of Node's request behind a web Request. In one process there is none. */
export type Incoming = {
  url?: string | undefined;
  socket?: { remoteAddress?: string | undefined; writable?: boolean } | undefined;
};

/** Path and query of a request, as they stand in its first line (RFC 9112 3.2), neither decoded nor resolved. */
type Target = { path: string; query: string; length: number };

/**
 * Scheme and host may stand before the path, and are nothing to go by. `Request.url` is not used where there is a request
 * line: the URL parser has carried out `..` and `%2e%2e` by then, so it names another path than the one that was sent.
 */
export function targetOf(request: Request, incoming: Incoming | undefined): Target {
  const target = (incoming?.url ?? request.url).replace(/^[a-z]+:\/\/[^/?#]*/i, "");
  const end = target.indexOf("?");
  const [path, query] = end === -1 ? [target, ""] : [target.slice(0, end), target.slice(end + 1)];
  return { path, query, length: target.length };
}

/** What is routed by: a slash at the end makes no difference. */
export const routedPath = (path: string): string => (path.length > 1 ? path.replace(/\/$/, "") : path);
