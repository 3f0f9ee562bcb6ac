import { createServer, type Server, type ServerOptions } from "node:http";
import type { Socket } from "node:net";
import { getRequestListener, RequestError } from "@hono/node-server";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { type ProblemCode, titles } from "../contract/problems.ts";
import { newId } from "../lib/ids.ts";
import { problemBody, toProblem } from "./problem-response.ts";
import type { Incoming } from "./target.ts";

/** Told of what never reached a route, so that its request id is in the log, too. */
export type OnRefused = (problem: Problem, requestId: string, peer: string) => void;

export type Fetch = (request: Request, env?: { incoming?: Incoming }) => Response | Promise<Response>;

const OPTIONS: ServerOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  requireHostHeader: false,
};

/** Node's server with our limits. A client that sends slowly, or not at all, is cut off without touching the others. */
export function createHttpServer(fetch: Fetch, onRefused: OnRefused): Server {
  const answering = new WeakSet<Socket>();
  const listener = getRequestListener((request, { incoming }) => fetch(request, { incoming }), {
    errorHandler: (error) => answerUnread(error, onRefused),
  });
  const server = createServer(OPTIONS, (incoming, outgoing) => {
    // We have ended this connection, so nobody would hear what became of the request.
    if (!incoming.socket.writable) return;
    answering.add(incoming.socket);
    outgoing.once("close", () => answering.delete(incoming.socket));
    // Nothing we do depends on the Host header, so none, or a strange one, makes no difference.
    incoming.headers.host = "latchkey";
    listener(incoming, outgoing);
  });
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => {
    // An answer that is under way on this connection must not be written over.
    if (!socket.writable || error.code === "ECONNRESET" || answering.has(socket)) socket.destroy();
    else refuse(error, socket, onRefused);
  });
  return server;
}

/** A request that could not even be made into one for our routes. */
function answerUnread(error: unknown, onRefused: OnRefused): Response {
  const problem =
    error instanceof RequestError ? new Problem("request_malformed", { cause: error }) : toProblem(error);
  const { body, headers, requestId } = answerTo(problem);
  onRefused(problem, requestId, "");
  return new Response(body, { status: problem.status, headers });
}

const REFUSALS: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** What Node's parser refuses never reaches a route; it is answered here, in the same form. */
function refuse(error: Error & { code?: string }, socket: Socket, onRefused: OnRefused): void {
  const problem = new Problem(REFUSALS[error.code ?? ""] ?? "request_malformed", { cause: error });
  const { body, headers, requestId } = answerTo(problem);
  onRefused(problem, requestId, socket.remoteAddress ?? "");
  const fields = { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${problem.status} ${titles[problem.status]}`, ...lines, "", body].join("\r\n"));
}

function answerTo(problem: Problem) {
  const requestId = newId();
  return {
    requestId,
    body: JSON.stringify(problemBody(problem, requestId)),
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  };
}
