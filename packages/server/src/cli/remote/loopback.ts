import type { AddressInfo } from "node:net";
import { createServer } from "../../lib/node-http.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { loopbackUri } from "../../realms/loopback-uri.ts";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  connection: "close",
};

const page = (title: string, text: string): string =>
  `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><h1>${title}</h1><p>${text}</p>\n`;

type Loopback = {
  redirectUri: string;
  /** The parameters of the answer with the right `state`. */
  answered(timeoutMs: number): Promise<URLSearchParams>;
  close(): void;
};

/**
 * Listens on 127.0.0.1, at a port that the system chooses, for the browser that comes back (RFC 8252 7.3). Requests
 * with another host, path or `state` are refused, and the listener goes on: any page of the browser can send requests
 * here.
 */
export async function listenOnLoopback(state: string): Promise<Loopback> {
  const { promise, resolve } = Promise.withResolvers<URLSearchParams>();
  const server = createServer((request, response) => {
    const { method, headers, url = "" } = request;
    const [path, query] = url.split("?", 2);
    const answer = new URLSearchParams(query);
    const isHere = headers.host === new URL(redirectUri).host && path === "/callback" && method === "GET";
    if (!isHere)
      return void response.writeHead(404, HEADERS).end(page("Not found", "Return to the terminal."));
    if (answer.getAll("state").join(" ") !== state)
      return void response
        .writeHead(400, HEADERS)
        .end(
          page("Another sign-in", "The terminal waits for another sign-in. Open the address that it shows."),
        );
    const title = answer.has("error") ? "The sign-in failed" : "Return to the terminal";
    response
      .writeHead(200, HEADERS)
      .end(page(title, "You can close this window; the terminal continues."), () => {
        resolve(answer);
      });
  });
  await new Promise<void>((listening, failed) => {
    server.once("error", failed).listen(0, "127.0.0.1", listening);
  });
  const redirectUri = loopbackUri((server.address() as AddressInfo).port);
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  async function answered(timeoutMs: number): Promise<URLSearchParams> {
    const late = Promise.withResolvers<never>();
    const timer = setTimeout(
      () => late.reject(operatorFault("the sign-in was not finished in time: run the command again")),
      timeoutMs,
    );
    try {
      return await Promise.race([promise, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }
  return { redirectUri, answered, close };
}
