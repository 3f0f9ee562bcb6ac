import type { IncomingMessage, Server, ServerOptions, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { type ProblemCode, titles } from "../contract/problems.ts";
import { newId } from "../lib/ids.ts";
import { createServer } from "../lib/node-http.ts";
import { connectionOf, noteAnswer } from "./connections.ts";
import type { Answer, Pieces, Serve } from "./message.ts";
import { problemBody, toProblem } from "./problem-response.ts";

/** Told of what never reached a route, so that its request id is in the log, too. */
export type OnRefused = (problem: Problem, requestId: string, peer: string) => void;

const OPTIONS: ServerOptions = {
  maxHeaderSize: limits.headerBytes,
  headersTimeout: 10_000,
  requestTimeout: 20_000,
  keepAliveTimeout: 65_000,
  connectionsCheckingInterval: 2_000,
  // Nothing we do depends on the Host header, so none, or a strange one, makes no difference.
  requireHostHeader: false,
  // Node would keep the first of two Authorization fields and drop the other, where a proxy may have looked at that one.
  joinDuplicateHeaders: true,
};

/** Node's server with our limits. A client that sends slowly, or not at all, is cut off without touching the others. */
export function createHttpServer(serve: Serve, onRefused: OnRefused): Server {
  const server = createServer(OPTIONS, (incoming, outgoing) => {
    // One that we have ended: nobody would hear what became of the request.
    if (incoming.socket.writable) void answer(serve, onRefused, incoming, outgoing);
  });
  // Node would refuse an expectation that it does not know by itself, without an id and without a line in the log.
  server.on("checkExpectation", (incoming, outgoing) => server.emit("request", incoming, outgoing));
  server.on("clientError", (error: Error & { code?: string }, socket: Socket) => {
    const last = [...connectionOf(socket).answering].at(-1);
    const hasLeft =
      error.code === "ECONNRESET" || (error.code === "HPE_INVALID_EOF_STATE" && last?.req.complete === false);
    if (!socket.writable || hasLeft) socket.destroy();
    else if (!last) refuse(error, socket, onRefused);
    // A body that is longer than its Content-Length is such: its request is answered, and the connection ends with that.
    else if (!last.headersSent) endWith(last);
    // An answer that is under way on this connection must not be written over.
    else socket.destroy();
  });
  return server;
}

async function answer(
  serve: Serve,
  onRefused: OnRefused,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const { socket, method = "", url: target = "", headers } = incoming;
  noteAnswer(socket, outgoing);
  const peer = socket.remoteAddress ?? "";
  const isGone = () => !socket.writable;
  try {
    const made = await serve({ method, target, headers, peer, isGone, readBytes: () => readBytes(incoming) });
    await send(outgoing, made);
  } catch (error) {
    // Whatever went wrong in the frame itself, or in writing what it answered, ends this request and nothing else.
    try {
      await send(outgoing, answerUnserved(error, onRefused, peer));
    } catch {
      socket.destroy();
    }
  }
  if (!incoming.complete) readOn(incoming);
}

/** Bodies that will not come to an end, because Node's parser has refused what came of them. */
const broken = new WeakSet<IncomingMessage>();

/** The last answer of a connection of which no more can be read. */
function endWith(outgoing: ServerResponse): void {
  outgoing.shouldKeepAlive = false;
  if (outgoing.req.complete) return;
  broken.add(outgoing.req);
  outgoing.req.emit("broken");
}

/** The length is said, because Node would send a body of unknown length in chunks. */
function send(outgoing: ServerResponse, { status, headers, body = "" }: Answer): Promise<void> | undefined {
  if (typeof body === "object" && !Buffer.isBuffer(body)) return sendPieces(outgoing, status, headers, body);
  const length = Buffer.byteLength(body);
  if (status !== 204) headers["Content-Length"] = String(length);
  // A text with as many bytes as letters is ASCII, which Node need not convert: the same bytes for less.
  outgoing.writeHead(status, headers).end(body, length === body.length ? "latin1" : "utf8");
  return undefined;
}

/** A client that has taken nothing for this long is cut off: what we have written waits in memory until then, and no more comes. */
const TAKEN_WITHIN_MS = 10_000;

/** Each piece when the client has taken the one before. */
async function sendPieces(
  outgoing: ServerResponse,
  status: number,
  headers: Answer["headers"],
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

/** False: the client has gone, or takes nothing. */
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
    // Nothing more is told of a request whose client has left while it waited to be read.
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
 * A client that is still sending when it is answered hears the answer only if we read on: a connection that is closed with
 * bytes unread is reset. Node reads and throws away; here it is given half a second for that.
 */
function readOn(incoming: IncomingMessage): void {
  const timer = setTimeout(() => incoming.socket.destroySoon(), READ_ON_MS);
  incoming.once("close", () => clearTimeout(timer));
  incoming.resume();
}

/** What went wrong where no request was in reach: in the frame itself. */
function answerUnserved(error: unknown, onRefused: OnRefused, peer: string): Answer {
  const problem = toProblem(error);
  const { body, headers, requestId } = answerTo(problem);
  onRefused(problem, requestId, peer);
  return { status: problem.status, headers, body };
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

function answerTo(problem: Problem): { requestId: string; body: string; headers: Record<string, string> } {
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
