import { createServer, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { titles } from "../contract/problems.ts";
import { newId } from "../lib/ids.ts";
import { problemBody, toProblem } from "./problem-response.ts";

type Fetch = (request: Request, env: never) => Response | Promise<Response>;

const OPTIONS: ServerOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false,
};

/** Node's server with our limits. A client that sends slowly, or not at all, is cut off without touching the others. */
export function createHttpServer(fetch: Fetch): Server {
  const listener = getRequestListener(fetch as never, { errorHandler: answerUnread });
  const server = createServer(OPTIONS, (incoming, outgoing) => {
    // Nothing we do depends on the Host header, so none, or a strange one, makes no difference.
    incoming.headers.host = "latchkey";
    listener(incoming, outgoing);
  });
  server.on("clientError", refuse);
  return server;
}

/** A request that could not even be made into one for our routes. */
function answerUnread(error: unknown): Response {
  const problem =
    error instanceof RequestError ? new Problem("request_malformed", { cause: error }) : toProblem(error);
  const { body, headers } = answerTo(problem);
  return new Response(body, { status: problem.status, headers });
}

/** What Node's parser refuses never reaches a route; it is answered here, in the same form. */
function refuse(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === "ECONNRESET") {
    socket.destroy();
    return;
  }
  const problem = new Problem(
    error.code === "HPE_HEADER_OVERFLOW" ? "headers_too_large" : "request_malformed",
  );
  const { body, headers } = answerTo(problem);
  const fields = { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${problem.status} ${titles[problem.status]}`, ...lines, "", body].join("\r\n"));
}

function answerTo(problem: Problem): { body: string; headers: Record<string, string> } {
  const requestId = newId();
  return {
    body: JSON.stringify(problemBody(problem, requestId)),
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  };
}
