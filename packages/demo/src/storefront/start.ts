import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Contents, readContents } from "./contents.ts";
import { createWebhookReceiver, HOOKS_PATH } from "./webhook-receiver.ts";

type StorefrontOptions = {
  /** Default: any free port. */
  port?: number;
  host?: string;
  /** Latchkey's URL. */
  apiUrl: string;
  /** The application key's client id. It is public: the pages fetch implicit tokens with it. */
  clientId: string;
  /** The knobs page of the practice identity provider, if it runs. */
  knobsUrl?: string;
};

export type Storefront = {
  origin: string;
  /** The URL for webhooks. The receiver refuses every message until it has the signing secret. */
  hooksUrl: string;
  setWebhookSecret(secret: string): void;
  close(): Promise<void>;
};

/** A practice shop, "Alder & Pine", which sells wooden furniture. */
export async function startStorefront(options: StorefrontOptions): Promise<Storefront> {
  const { port = 0, host = "127.0.0.1", apiUrl, clientId, knobsUrl } = options;
  const contents = await readContents({ apiUrl, clientId, ...(knobsUrl !== undefined && { knobsUrl }) });
  const headers = securityHeaders(apiUrl);
  const receiver = createWebhookReceiver();
  const server = createServer((request, response) => {
    if (!receiver.answer(request, response, headers)) answer(contents, headers, request, response);
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  // Always the same host name: redirect URIs are compared byte for byte, and browsers keep storage by origin.
  const origin = `http://localhost:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    hooksUrl: `${origin}${HOOKS_PATH}`,
    setWebhookSecret: receiver.setSecret,
    close: () =>
      new Promise((resolve) => {
        receiver.close();
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/**
 * Looks the path up as it was sent. The path is not decoded, joined or read from disk, so path traversal is
 * impossible.
 */
function answer(
  { files, notFound }: Contents,
  headers: Record<string, string>,
  { method, url = "/" }: IncomingMessage,
  response: ServerResponse,
): void {
  if (method !== "GET" && method !== "HEAD") {
    response.writeHead(405, { ...headers, Allow: "GET, HEAD" }).end();
    return;
  }
  const file = files.get(url.split("?", 1)[0] ?? "");
  const { type, body } = file ?? notFound;
  response.writeHead(file ? 200 : 404, {
    ...headers,
    "Content-Type": type,
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(method === "HEAD" ? undefined : body);
}

/**
 * The pages store a customer token, so the policy allows only their own scripts, and connections only to the
 * shop and Latchkey.
 */
const securityHeaders = (apiUrl: string): Record<string, string> => ({
  "Content-Security-Policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    `connect-src 'self' ${new URL(apiUrl).origin}`,
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join("; "),
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-cache",
});
