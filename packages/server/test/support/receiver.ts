import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export type Arrived = {
  headers: IncomingHttpHeaders;
  body: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into it
  json: any;
};
type Answering = (response: ServerResponse, arrived: Arrived, count: number) => void;

/** A receiver of webhooks on loopback, whose answers the test sets. */
export type Receiver = {
  origin: string;
  url: string;
  arrived: Arrived[];
  /** The number of requests without an answer yet, and the most there were at once. */
  open(): { now: number; most: number };
  /** Sets its answer from now on; 200 at first. */
  answer(how: Answering | number): void;
  close(): Promise<void>;
};

const plainly =
  (status: number): Answering =>
  (response) =>
    response.writeHead(status).end("ok");

export async function startReceiver(): Promise<Receiver> {
  let how = plainly(200);
  let now = 0;
  let most = 0;
  const arrived: Arrived[] = [];
  const server = createServer((request, response) => {
    now++;
    most = Math.max(most, now);
    response.on("close", () => now--);
    let body = "";
    request.setEncoding("utf8");
    request.on("data", (chunk) => {
      body += chunk;
    });
    request.on("end", () => {
      const one = { headers: request.headers, body, json: JSON.parse(body) };
      arrived.push(one);
      how(response, one, arrived.length);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    origin,
    url: `${origin}/hooks`,
    arrived,
    open: () => ({ now, most }),
    answer(next) {
      how = typeof next === "number" ? plainly(next) : next;
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
