import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** Parts of all servers on bare `node:http`: reading a body, answering, listening, the `ready` message. */
export async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

/** Reads the body with events, which costs less than an async iterator. */
export function whenRead(request: IncomingMessage, use: (text: string) => Promise<void>): Promise<void> {
  let text = "";
  request.setEncoding("utf8");
  request.on("data", (chunk) => {
    text += chunk;
  });
  return new Promise((resolve, reject) => request.on("end", () => use(text).then(resolve, reject)));
}

export function answerJson(response: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body);
  response
    .writeHead(status, { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(text) })
    .end(text);
}

export function answerRedirect(response: ServerResponse, location: string, cookie?: string): void {
  response
    .writeHead(303, { Location: location, "Content-Length": 0, ...(cookie && { "Set-Cookie": cookie }) })
    .end();
}

type Serve = (request: IncomingMessage, response: ServerResponse) => Promise<void>;

/** Listens on a free port of loopback. A failed request is answered with 500, which ends the benchmark. */
export async function listen(serve: Serve): Promise<string> {
  const server = createServer(async (request, response) => {
    try {
      await serve(request, response);
    } catch (error) {
      console.error(error);
      response.writeHead(500).end(String(error));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

export const sendReady = (facts: object): void => void process.send?.({ ready: facts });
