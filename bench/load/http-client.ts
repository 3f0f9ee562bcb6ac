import { connect, type Socket } from "node:net";

/**
 * HTTP/1.1 over kept connections, one request at a time on each. It parses only the forms that the contestants send: a
 * client that does less work than a general one leaves more CPU time to the measured server.
 */
export type HttpClient = { send(request: Outgoing): Promise<Answer>; close(): void };

type Outgoing = {
  url: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
};

export type Answer = {
  status: number;
  body: string;
  /** The first header with this lower-case name. */
  header(name: string): string | undefined;
  /** The value of the Cookie header that sends all set cookies back. */
  cookies(): string;
};

type Connection = { exchange(bytes: string): Promise<Answer>; end(): void; freeSinceMs: number };

/**
 * Servers close a connection after five idle seconds. A connection that closes at its next use would fail the request.
 */
const USED_AGAIN_WITHIN_MS = 2000;

/** A request waits while `most` connections to its server are in use. */
export function createHttpClient(most = Number.POSITIVE_INFINITY): HttpClient {
  const lanes = new Map<string, Lane>();
  const all = new Set<Connection>();
  return {
    async send({ url, method = "GET", headers = {}, body = "" }) {
      const slash = url.indexOf("/", "http://".length);
      const origin = url.slice(0, slash);
      const lane = lanes.get(origin) ?? { idle: [], inUse: 0, waiting: [] };
      lanes.set(origin, lane);
      const { idle, waiting } = lane;
      if (lane.inUse === most) await new Promise<void>((resolve) => waiting.push(resolve));
      else lane.inUse++;
      const connection = takeFresh(idle) ?? (await open(origin, all));
      let head = `${method} ${url.slice(slash)} HTTP/1.1\r\nHost: ${origin.slice("http://".length)}\r\n`;
      for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
      if (body !== "" || method !== "GET") head += `Content-Length: ${Buffer.byteLength(body)}\r\n`;
      const answer = await connection.exchange(`${head}\r\n${body}`);
      if (answer.header("connection") === "close") connection.end();
      else {
        connection.freeSinceMs = performance.now();
        idle.push(connection);
      }
      const next = waiting.shift();
      if (next) next();
      else lane.inUse--;
      return answer;
    },
    close() {
      for (const connection of all) connection.end();
      lanes.clear();
    },
  };
}

type Lane = { idle: Connection[]; inUse: number; waiting: (() => void)[] };

/** Takes the last used connection. If this connection is too old, all are, and all are closed. */
function takeFresh(idle: Connection[]): Connection | undefined {
  const last = idle.pop();
  if (!last || performance.now() - last.freeSinceMs < USED_AGAIN_WITHIN_MS) return last;
  for (const old of [last, ...idle.splice(0)]) old.end();
  return undefined;
}

async function open(origin: string, all: Set<Connection>): Promise<Connection> {
  const { hostname, port } = new URL(origin);
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let waiting: { resolve(answer: Answer): void; reject(error: Error): void } | undefined;
  let received: Buffer = Buffer.alloc(0);
  await connected(socket);
  socket.on("data", (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = readAnswer(received);
    if (!answer || !waiting) return;
    received = Buffer.alloc(0);
    const { resolve } = waiting;
    waiting = undefined;
    resolve(answer);
  });
  const fail = (error: Error) => {
    all.delete(connection);
    waiting?.reject(error);
    waiting = undefined;
  };
  socket.on("error", fail);
  socket.on("close", () => fail(new Error(`${origin} has closed the connection`)));
  const connection: Connection = {
    exchange: (bytes) =>
      new Promise((resolve, reject) => {
        waiting = { resolve, reject };
        socket.write(bytes);
      }),
    end: () => socket.destroy(),
    freeSinceMs: 0,
  };
  all.add(connection);
  return connection;
}

const connected = (socket: Socket): Promise<void> =>
  new Promise((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve();
    });
  });

/** `undefined` until the answer is complete. */
function readAnswer(bytes: Buffer): Answer | undefined {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd === -1) return undefined;
  const head = bytes.toString("latin1", 0, headEnd + 2);
  const header = (name: string) => new RegExp(`\r\n${name}: *([^\r]*)`, "i").exec(head)?.[1];
  const status = Number(head.slice(9, 12));
  const body = readBody(bytes.subarray(headEnd + 4), status, header);
  if (body === undefined) return undefined;
  const cookies = () =>
    [...head.matchAll(/\r\nset-cookie: *([^;\r]*)/gi)].map((match) => match[1] as string).join("; ");
  return { status, body, header, cookies };
}

function readBody(
  bytes: Buffer,
  status: number,
  header: (name: string) => string | undefined,
): string | undefined {
  if (status === 204 || status === 304) return "";
  const length = header("content-length");
  if (length !== undefined)
    return bytes.length >= Number(length) ? bytes.toString("utf8", 0, Number(length)) : undefined;
  if (header("transfer-encoding") === undefined) return "";
  let text = "";
  for (let at = 0; ; ) {
    const lineEnd = bytes.indexOf("\r\n", at);
    if (lineEnd === -1) return undefined;
    const size = Number.parseInt(bytes.toString("latin1", at, lineEnd), 16);
    if (bytes.length < lineEnd + 2 + size + 2) return undefined;
    if (size === 0) return text;
    text += bytes.toString("utf8", lineEnd + 2, lineEnd + 2 + size);
    at = lineEnd + 2 + size + 2;
  }
}
