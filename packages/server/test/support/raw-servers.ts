import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { ConnectTarget } from "../../src/egress/connect.ts";
import { createEgress, type EgressDeps } from "../../src/egress/egress.ts";
import { type EgressReason, isEgressFault } from "../../src/egress/egress-message.ts";

/** For tests of egress/: servers that answer by hand, and how a request to them ends. */

export const PUBLIC = "93.184.216.34";
export const MAX = 1000;
export const SECRET = "upstream-text";

/** Run after each test. */
export const cleanUp: (() => void)[] = [];
export function closeAll(): void {
  for (const close of cleanUp.splice(0)) close();
}

/** A server on this machine, whose sockets the test can look at. */
export async function listen(server: Server): Promise<{ port: number; sockets: Socket[] }> {
  const sockets: Socket[] = [];
  server.on("connection", (socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cleanUp.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return { port: (server.address() as AddressInfo).port, sockets };
}

/** A server without Node's parser: `talk` gets the socket when the head of a request has arrived. */
export async function rawServer(talk: (socket: Socket, count: number) => void) {
  let count = 0;
  const requests: string[] = [];
  const server = createServer((socket) => {
    let text = "";
    let isAnswered = false;
    socket.on("data", (chunk) => {
      text += chunk;
      if (isAnswered || !text.includes("\r\n\r\n")) return;
      isAnswered = true;
      requests.push(text);
      talk(socket, ++count);
    });
  });
  const { port, sockets } = await listen(server);
  return { port, sockets, requests, origin: `http://127.0.0.1:${port}` };
}

export const answerOf = (body: string, ...headers: string[]) =>
  ["HTTP/1.1 200 OK", ...headers, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n");

/** How a request ends: its answer, or the fault. */
export async function send(
  deps: EgressDeps,
  request: Partial<Parameters<ReturnType<typeof createEgress>["send"]>[0]>,
) {
  return await createEgress(deps).send({ url: "https://idp.example/", maxBytes: MAX, ...request });
}

export async function reasonOf(work: Promise<unknown>): Promise<EgressReason | "answered"> {
  return await work.then(
    () => "answered" as const,
    (error) => {
      if (!isEgressFault(error)) throw error;
      return error.reason;
    },
  );
}

/** Notes what is resolved and connected to, and allows no connection. */
export function closedDoor(resolve: () => Promise<string[]>, allowedOrigins: string[] = []) {
  const resolved: string[] = [];
  const connections: ConnectTarget[] = [];
  const deps: EgressDeps = {
    allowedOrigins,
    resolve: (host) => {
      resolved.push(host);
      return resolve();
    },
    connect: (to) => {
      connections.push(to);
      throw new Error("the test allows no connection");
    },
  };
  return { deps, resolved, connections };
}
