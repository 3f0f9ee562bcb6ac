import type { IncomingMessage } from "node:http";

const MAX_FORM_BYTES = 16 * 1024;

/**
 * Whether a POST comes from the provider's own pages. Any web site can post to this machine, and a page on
 * another port of it counts as the same site, so the request must name the same origin.
 */
export function isFromOwnPage({ headers }: IncomingMessage, origin: string): boolean {
  const site = headers["sec-fetch-site"];
  if (site === undefined && headers.origin === undefined) return false;
  return (site === undefined || site === "same-origin") && (headers.origin ?? origin) === origin;
}

/** Undefined if the body is longer than any form of the provider's pages. */
export async function readForm(request: IncomingMessage): Promise<URLSearchParams | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes > MAX_FORM_BYTES) return undefined;
    chunks.push(chunk);
  }
  return new URLSearchParams(Buffer.concat(chunks).toString("utf8"));
}
