import { createServer, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { newId } from "../lib/ids.ts";
import { problemBody } from "./problem-response.ts";

type Fetch = (request: Request, env: never) => Response | Promise<Response>;

/** Node's server with our limits. A client that sends slowly, or not at all, is cut off without touching the others. */
export function createHttpServer(fetch: Fetch): Server {
  const serverOptions: ServerOptions = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: 10_000,
    requestTimeout: 20_000,
    keepAliveTimeout: 65_000,
    connectionsCheckingInterval: 2_000,
  };
  const server = createAdaptorServer({ fetch: fetch as never, createServer, serverOptions }) as Server;
  server.on("clientError", refuse);
  return server;
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
  const requestId = newId();
  const body = JSON.stringify(problemBody(problem, requestId));
  socket.end(
    [
      `HTTP/1.1 ${problem.status} ${problemBody(problem, requestId).errors[0]?.title}`,
      "Connection: close",
      "Content-Type: application/json",
      `Content-Length: ${Buffer.byteLength(body)}`,
      "Cache-Control: no-store",
      "X-Content-Type-Options: nosniff",
      `X-Request-Id: ${requestId}`,
      "",
      body,
    ].join("\r\n"),
  );
}
