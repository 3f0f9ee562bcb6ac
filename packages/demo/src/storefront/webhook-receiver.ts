import type { IncomingMessage, ServerResponse } from "node:http";
import { ApiError, verifyWebhook } from "@latchkey/sdk/webhooks";

/**
 * Receives webhooks as another service of a shop would: verify, answer at once, then work. It keeps the last
 * messages in memory and shows them on a page. The page shows a message with a wrong signature as refused,
 * without its content.
 */
type WebhookReceiver = {
  /** Sets the integration's signing secret. */
  setSecret(secret: string): void;
  /** True if the request was for the receiver, which has then answered it. */
  answer(request: IncomingMessage, response: ServerResponse, headers: Record<string, string>): boolean;
  close(): void;
};

/** A line of the page. A line without `body` was refused, for the reason in `refused`. */
export type Received = {
  number: number;
  at: string;
  id: string;
  body?: string;
  refused?: string;
  /** A message with this id came before. */
  again: boolean;
};

export const HOOKS_PATH = "/webhooks/receive";
const LIVE_PATH = "/webhooks/live";
const MAX_BYTES = 64 * 1024;
const KEPT = 50;
const WATCHERS = 20;

export function createWebhookReceiver(): WebhookReceiver {
  const kept: Received[] = [];
  const seen = new Set<string>();
  const watchers = new Set<ServerResponse>();
  let secrets: string[] = [];
  let number = 0;

  function keep(one: Omit<Received, "number" | "at" | "again">): void {
    const received = { number: ++number, at: new Date().toISOString(), again: seen.has(one.id), ...one };
    if (one.body !== undefined) seen.add(one.id);
    for (const old of seen) {
      if (seen.size <= KEPT * 10) break;
      seen.delete(old);
    }
    kept.push(received);
    if (kept.length > KEPT) kept.shift();
    for (const watcher of watchers) watcher.write(toMessage(received));
  }

  async function receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readText(request);
    if (body === undefined) return void response.writeHead(413).end();
    try {
      const { id } = await verifyWebhook(body, request.headers, secrets);
      keep({ id, body });
      response.writeHead(204).end();
    } catch (error) {
      const refused = error instanceof ApiError ? error.code : "not verified";
      keep({ id: String(request.headers["webhook-id"] ?? ""), refused });
      response.writeHead(400).end(refused);
    }
  }

  function watch(response: ServerResponse, headers: Record<string, string>): void {
    if (watchers.size >= WATCHERS) return void response.writeHead(503, headers).end();
    response.writeHead(200, { ...headers, "Content-Type": "text/event-stream", "Cache-Control": "no-store" });
    response.write(`retry: 2000\n\n${kept.map(toMessage).join("")}`);
    watchers.add(response);
    response.on("close", () => watchers.delete(response));
  }

  return {
    setSecret(secret) {
      secrets = [secret];
    },
    answer(request, response, headers) {
      const path = request.url?.split("?", 1)[0];
      if (request.method === "POST" && path === HOOKS_PATH) {
        receive(request, response).catch(() => response.destroy());
        return true;
      }
      if (request.method === "GET" && path === LIVE_PATH) {
        watch(response, headers);
        return true;
      }
      return false;
    },
    close() {
      for (const watcher of watchers) watcher.end();
    },
  };
}

const toMessage = (received: Received): string =>
  `id: ${received.number}\ndata: ${JSON.stringify(received)}\n\n`;

/** Undefined if the body is longer than any message of Latchkey. */
async function readText(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length;
    if (length > MAX_BYTES) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
