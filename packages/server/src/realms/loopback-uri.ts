/**
 * The redirect URIs of the command line: `http://127.0.0.1:<port>/callback` with any port that can be listened on
 * (RFC 8252 7.3). One spelling for each port, so a comparison of texts is enough. `localhost` is left out: it may
 * resolve to another interface (RFC 8252 8.3).
 */
export const loopbackUri = (port: number): string => `http://127.0.0.1:${port}/callback`;

/** The port, if the text is exactly such a URI. */
export function loopbackPortOf(text: string): number | undefined {
  const port = Number(/^http:\/\/127\.0\.0\.1:([1-9]\d{0,4})\/callback$/.exec(text)?.[1]);
  return port <= 65_535 ? port : undefined;
}
