import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { type ProblemCode, titles } from "../contract/problems.ts";
import { newId } from "../lib/ids.ts";
import { createServer } from "../lib/node-http.ts";
import { connectionOf, noteAnswer } from "./connections.ts";
import type { HttpAnswer, Pieces, Serve } from "./message.ts";
import { problemBody, toProblem } from "./problem-response.ts";

/** Called for connections that never reached a route, so that the log has their request id. */
export type OnRefused = (problem: Problem, requestId: string, peer: string) => void;

type ServedApp = { serve: Serve; onRefused: OnRefused; publicUrl: string };

const OPTIONS: ServerOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  // The Host header has no effect, so a missing or odd one is accepted.
  requireHostHeader: false,
  // Node would keep the first of two Authorization headers and drop the second, which a proxy may have checked.
  joinDuplicateHeaders: true,
};

/** Node's server with the service's limits. A slow or silent client is cut off without affecting others. */
export function createHttpServer(app: ServedApp): Server {
  const server = createServer(OPTIONS, (incoming, outgoing) => {
    // This connection was ended by the service, so no answer can be sent.
    if (incoming.socket.writable) void answer(app, incoming, outgoing);
  });
  // Node would refuse an unknown Expect header by itself, without a request id and a log line.
  server.on("checkExpectation", (incoming, outgoing) => server.emit("request", incoming, outgoing));
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => {
    const last = [...connectionOf(socket).answering].at(-1);
    const hasLeft =
      error.code === "ECONNRESET" || (error.code === "HPE_INVALID_EOF_STATE" && last?.req.complete === false);
    if (!socket.writable || hasLeft) socket.destroy();
    else if (!last) refuse(app, error, socket);
    // Bytes after the Content-Length are such a fault: the request is answered, and then the connection ends.
    else if (!last.headersSent) endWith(last);
    // Does not overwrite an answer that is being written on this connection.
    else socket.destroy();
  });
  return server;
}

async function answer(app: ServedApp, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const { serve, onRefused } = app;
  const { socket, method = "", url: target = "", headers } = incoming;
  noteAnswer(socket, outgoing);
  const peer = socket.remoteAddress ?? "";
  const isGone = () => !socket.writable;
  let made: HttpAnswer | undefined;
  try {
    made = await serve({ method, target, headers, peer, isGone, readBytes: () => readBytes(incoming) });
    await send(outgoing, made);
  } catch (error) {
    // A failure in the frame, or while writing an answer, ends this request only.
    if (made && outgoing.headersSent) {
      // Without the end of the body the client does not take the part for the whole.
      onRefused(toProblem(error), String(made.headers["X-Request-Id"]), peer);
      return void socket.destroy();
    }
    try {
      await send(outgoing, answerUnserved(app, error, peer));
    } catch {
      socket.destroy();
    }
  }
  if (!incoming.complete) readOn(incoming);
}

/** Bodies that will not end, because Node's parser refused the rest. */
const broken = new WeakSet<IncomingMessage>();

/** The last answer on a connection that cannot be read further. */
function endWith(outgoing: ServerResponse): void {
  outgoing.shouldKeepAlive = false;
  if (outgoing.req.complete) return;
  broken.add(outgoing.req);
  outgoing.req.emit("broken");
}

/** Sets Content-Length, because Node would otherwise send a body in chunks. */
function send(
  outgoing: ServerResponse,
  { status, headers, body = "" }: HttpAnswer,
): Promise<void> | undefined {
  if (typeof body === "object" && !Buffer.isBuffer(body)) return sendPieces(outgoing, status, headers, body);
  const length = Buffer.byteLength(body);
  if (status !== 204) headers["Content-Length"] = String(length);
  // Equal byte and character counts mean ASCII, which Node can write without conversion.
  outgoing.writeHead(status, headers).end(body, length === body.length ? "latin1" : "utf8");
  return undefined;
}

/**
 * A client that takes nothing for this long is cut off. Written bytes wait in memory until then, and no more are
 * produced.
 */
const TAKEN_WITHIN_MS = 10_000;

/** Writes each piece after the client has taken the one before. */
async function sendPieces(
  outgoing: ServerResponse,
  status: number,
  headers: HttpAnswer["headers"],
  pieces: Pieces,
): Promise<void> {
  const end = () => void pieces.return?.();
  outgoing.once("close", end);
  outgoing.writeHead(status, headers);
  if (outgoing.req.method === "HEAD") end();
  for await (const piece of pieces) {
    if (outgoing.destroyed) return;
    if (!outgoing.write(piece) && !(await isDrained(outgoing))) return void outgoing.destroy();
  }
  outgoing.end();
}

/** Returns false when the client has gone or takes nothing. */
function isDrained(outgoing: ServerResponse): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => settle(false), TAKEN_WITHIN_MS);
    const onDrain = () => settle(true);
    const onClose = () => settle(false);
    function settle(isTaken: boolean): void {
      clearTimeout(timer);
      outgoing.off("drain", onDrain).off("close", onClose);
      resolve(isTaken);
    }
    outgoing.once("drain", onDrain).once("close", onClose);
    if (outgoing.destroyed) onClose();
  });
}

function readBytes(incoming: IncomingMessage): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const brokeOff = (cause?: unknown) => {
      if (!incoming.readableEnded) reject(new Problem("body_broke_off", { cause }));
    };
    // The client left while the request waited to be read, so nothing more is reported.
    if (incoming.destroyed || broken.has(incoming)) return brokeOff();
    incoming.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > limits.bodyBytes) reject(new Problem("body_too_large"));
      else chunks.push(chunk);
    });
    incoming.once("end", () => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    incoming.once("error", brokeOff);
    incoming.once("close", brokeOff);
    incoming.once("broken", brokeOff);
  });
}

const READ_ON_MS = 500;

/**
 * A client that is still sending reads the answer only if the server keeps reading: closing a connection with unread
 * bytes resets it. The server discards input for half a second.
 */
function readOn(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.socket.destroySoon(), READ_ON_MS);
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
}

/** Logs a failure outside of any request. */
function answerUnserved(app: ServedApp, error: unknown, peer: string): HttpAnswer {
  const problem = toProblem(error);
  const { body, headers, requestId } = answerTo(app, problem);
  app.onRefused(problem, requestId, peer);
  return { status: problem.status, headers, body };
}

const REFUSALS: Record<string, ProblemCode> = {
  HPE_HEADER_OVERFLOW: "headers_too_large",
  ERR_HTTP_REQUEST_TIMEOUT: "request_timeout",
};

/** Answers requests that Node's parser refuses, in the usual form. */
function refuse(app: ServedApp, error: Error & { code?: string }, socket: Socket): void {
  const problem = new Problem(REFUSALS[error.code ?? ""] ?? "request_malformed", { cause: error });
  const { body, headers, requestId } = answerTo(app, problem);
  app.onRefused(problem, requestId, socket.remoteAddress ?? "");
  const fields = { ...headers, "Content-Length": Buffer.byteLength(body), Connection: "close" };
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  socket.end([`HTTP/1.1 ${problem.status} ${titles[problem.status]}`, ...lines, "", body].join("\r\n"));
}

function answerTo(
  app: ServedApp,
  problem: Problem,
): { requestId: string; body: string; headers: Record<string, string> } {
  const requestId = newId();
  return {
    requestId,
    body: JSON.stringify(problemBody(app, problem, requestId)),
    headers: {
      "Content-Type": "application/json",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
    },
  };
}
