import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { type Draining, watchConnections } from "../src/http/drain.ts";
import type { HttpAnswer } from "../src/http/message.ts";
import { createHttpServer } from "../src/http/server.ts";
import { until } from "./support/until.ts";

/** Connections in every state that they can have at a stop. */

const WELL: HttpAnswer = { status: 200, headers: {}, body: "well" };

let server: Server;
let draining: Draining;
let asked: string[];
let answer: PromiseWithResolvers<HttpAnswer> | undefined;
let accepted: Socket | undefined;

beforeEach(async () => {
  asked = [];
  answer = undefined;
  accepted = undefined;
  server = createHttpServer({
    publicUrl: "http://localhost:4000",
    serve: async ({ target }) => {
      asked.push(target);
      return answer?.promise ?? WELL;
    },
    onRefused: () => {},
  });
  // Node itself closes no kept connection.
  server.keepAliveTimeout = 0;
  draining = watchConnections(server);
  server.on("connection", (socket: Socket) => {
    accepted = socket;
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
});
afterEach(() => draining.finish(0));

/** A client that keeps its half of the connection open until the test closes it. */
function client() {
  const socket = connect({
    port: (server.address() as AddressInfo).port,
    host: "127.0.0.1",
    allowHalfOpen: true,
  });
  let received = "";
  socket.on("data", (chunk) => {
    received += chunk;
  });
  return { socket, received: () => received, ended: once(socket, "end") };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

test("an idle connection is closed; a later request on it is not carried out", async () => {
  const { socket, received, ended } = client();
  socket.write(get("/first"));
  await until(() => received().includes("well"));
  expect(received()).toMatch(/connection: keep-alive/i);
  draining.begin(0);
  await ended;
  const served = accepted as Socket;
  socket.write(get("/too-late"));
  socket.end();
  await until(() => served.destroyed);
  expect(asked).toEqual(["/first"]);
});

test("a kept connection outlives the last new connection: a request within the grace period is answered", async () => {
  const { socket, received, ended } = client();
  socket.write(get("/first"));
  await until(() => received().includes("well"));
  draining.begin(60_000);
  const finished = draining.finish(60_000);
  socket.write(get("/in-time"));
  await ended;
  socket.end();
  await finished;
  expect(asked).toEqual(["/first", "/in-time"]);
  expect(received()).toMatch(/connection: close\r\n(.+\r\n)*\r\nwell$/i);
});

test("a connection without a request yet is closed too", async () => {
  const { socket, ended } = client();
  await until(() => accepted);
  draining.begin(0);
  await ended;
  socket.end();
});

test("a partly received request is waited for, and its answer ends the connection", async () => {
  const { socket, received, ended } = client();
  const text = get("/slow");
  socket.write(text.slice(0, 20));
  await until(() => accepted?.bytesRead === 20);
  draining.begin(0);
  const { socket: other, ended: otherEnded } = client();
  await otherEnded;
  socket.write(text.slice(20));
  await ended;
  expect(received()).toMatch(/^HTTP\/1.1 200 OK\r\n(.+\r\n)*connection: close\r\n/i);
  other.end();
  socket.end();
});

test("an answer under way has Connection: close, and is waited for", async () => {
  answer = Promise.withResolvers<HttpAnswer>();
  const { socket, received, ended } = client();
  socket.write(get("/under-way"));
  await until(() => asked.length === 1);
  draining.begin(0);
  const finished = draining.finish(60_000);
  answer.resolve({ ...WELL, body: "at last" });
  await ended;
  socket.end();
  await finished;
  expect(received()).toMatch(/connection: close\r\n/i);
  expect(received()).toContain("at last");
});

test("an answer whose head was sent before is completed, and then its connection is closed", async () => {
  answer = Promise.withResolvers<HttpAnswer>();
  const rest = Promise.withResolvers<void>();
  const { socket, received, ended } = client();
  socket.write(get("/in-pieces"));
  async function* pieces() {
    yield "beginning, ";
    await rest.promise;
    yield "end";
  }
  answer.resolve({ ...WELL, body: pieces() });
  await until(() => received().includes("beginning"));
  draining.begin(0);
  const { socket: other, ended: otherEnded } = client();
  await otherEnded;
  rest.resolve();
  await ended;
  expect(received()).toMatch(/connection: keep-alive/i);
  expect(received()).toContain("end");
  other.end();
  socket.end();
});

test("a pipelined request that came before the previous answer was sent is answered too", async () => {
  const [first, second] = [Promise.withResolvers<HttpAnswer>(), Promise.withResolvers<HttpAnswer>()];
  const rest = Promise.withResolvers<void>();
  const { socket, received, ended } = client();
  answer = first;
  socket.write(get("/in-pieces"));
  async function* pieces() {
    yield "beginning, ";
    await rest.promise;
    yield "end";
  }
  first.resolve({ ...WELL, body: pieces() });
  await until(() => received().includes("beginning"));
  answer = second;
  socket.write(get("/behind-it"));
  await until(() => asked.length === 2);
  draining.begin(0);
  rest.resolve();
  await until(() => received().includes("end"));
  const { socket: other, ended: otherEnded } = client();
  await otherEnded;
  second.resolve(WELL);
  await ended;
  expect(received()).toMatch(/well$/);
  other.end();
  socket.end();
});

test("a closed connection is forgotten", async () => {
  const { socket } = client();
  await until(() => accepted);
  const served = accepted as Socket;
  const closed = once(served, "close");
  socket.destroy();
  await closed;
  const timers = vi.spyOn(globalThis, "setTimeout");
  draining.begin(60_000);
  const count = timers.mock.calls.length;
  timers.mockRestore();
  expect(count).toBe(0);
});

test("a connection that does not end is cut off", async () => {
  answer = Promise.withResolvers<HttpAnswer>();
  const { socket } = client();
  const closed = once(socket, "close");
  socket.on("error", () => {});
  socket.write(get("/for-ever"));
  await until(() => asked.length === 1);
  draining.begin(0);
  await draining.finish(1);
  socket.end();
  await closed;
});
