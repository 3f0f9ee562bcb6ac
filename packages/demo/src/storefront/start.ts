import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Contents, readContents } from "./contents.ts";
import { createWebhookReceiver, HOOKS_PATH } from "./webhook-receiver.ts";

type StorefrontOptions = {
  /** 0, or none: one that is free. */
  port?: number;
  host?: string;
  /** Where Latchkey is. */
  apiUrl: string;
  /** The application key's client id: public, the pages fetch implicit tokens with it. */
  clientId: string;
  /** The practice identity provider's switches, if it runs. */
  knobsUrl?: string;
};

export type Storefront = {
  origin: string;
  /** Where it takes webhooks, and the secret that they must be signed with: before that none is taken. */
  hooksUrl: string;
  setWebhookSecret(secret: string): void;
  close(): Promise<void>;
};

/** A shop to try signing in with: "Alder & Pine", things made of wood. */
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
  // Redirect URIs are compared byte for byte, and browsers keep storage by origin: one name, always the same.
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

/** The path is looked up as it was sent: nothing is decoded, joined or read from the disk, so nothing can be escaped from. */
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

/** The pages hold a customer token, so only their own scripts run, and only this shop and Latchkey are spoken to. */
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
