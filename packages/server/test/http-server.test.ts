import { once } from "node:events";
import type { Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterEach, expect, test } from "vitest";
import { Problem } from "../src/contract/problem.ts";
import type { Serve } from "../src/http/message.ts";
import { createHttpServer } from "../src/http/server.ts";
import { until } from "./support/until.ts";

/** What a handler, or a client, can do to the server that nobody should. */

let server: Server | undefined;
let refused: Problem[];
afterEach(async () => {
  server?.closeAllConnections();
  await new Promise((resolve) => server?.close(resolve));
});

async function listen(serve: Serve) {
  refused = [];
  server = createHttpServer(serve, (problem) => refused.push(problem));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const socket = connect(port, "127.0.0.1");
  let heard = "";
  socket.on("data", (chunk) => {
    heard += chunk;
  });
  socket.on("error", () => {});
  return { socket, heard: () => heard };
}

const post = (length: number, body: string) =>
  `POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${length}\r\n\r\n${body}`;

test("500 for an answer that cannot be written, and the next one is", async () => {
  const answers = [{ Location: "https://shop.example/✓" }, { "X-Good": "yes" }];
  const { socket, heard } = await listen(async () => ({
    status: 303,
    headers: answers.shift() as Record<string, string>,
    body: undefined,
  }));
  const get = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
  socket.write(get);
  await until(() => heard().includes("internal_error"));
  expect(heard()).toMatch(/^HTTP\/1.1 500 /);
  expect(refused.map(({ code }) => code)).toEqual(["internal_error"]);
  socket.write(get);
  await until(() => heard().includes("X-Good: yes"));
});

test("a request that expects what nobody knows is answered like any other", async () => {
  const { socket, heard } = await listen(async ({ method }) => ({
    status: 200,
    headers: { "X-Request-Id": "ours" },
    body: method,
  }));
  socket.write("GET / HTTP/1.1\r\nHost: localhost\r\nExpect: something\r\n\r\n");
  await until(() => heard().includes("\r\n\r\n"));
  expect(heard()).toMatch(/^HTTP\/1.1 200 .*X-Request-Id: ours.*GET$/s);
});

test.each([
  ["a body that is longer than was said", post(4, "all.and more")],
  ["a body whose length was not said", "POST / HTTP/1.1\r\nHost: localhost\r\n\r\n{}"],
  ["what is no request", `${post(4, "all.")}hello\r\n\r\n`],
])("a request is answered before %s ends the connection", async (_, sent) => {
  const { socket, heard } = await listen(async ({ readBytes }) => {
    await readBytes();
    return { status: 201, headers: {}, body: "made" };
  });
  const closed = once(socket, "close");
  socket.write(sent);
  await closed;
  expect(heard()).toMatch(/^HTTP\/1.1 201 .*\r\nConnection: close\r\n.*\r\nmade$/s);
  expect(refused).toEqual([]);
});

const chunked = "POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";

test.each([
  ["at once", [`${chunked}zz\r\nhello`]],
  ["while it is read", [`${chunked}4\r\nhalf\r\n`, "zz\r\n"]],
])(
  "400 for a body whose chunks cannot be read, %s, and the connection ends",
  async (_, [first = "", then]) => {
    const reading = Promise.withResolvers<void>();
    const { socket, heard } = await listen(async ({ readBytes }) => {
      await Promise.resolve();
      const bytes = readBytes();
      reading.resolve();
      await bytes;
      return { status: 201, headers: {}, body: "made" };
    });
    const closed = once(socket, "close");
    socket.write(first);
    await reading.promise;
    if (then) socket.write(then);
    await closed;
    expect(heard()).toMatch(/^HTTP\/1.1 400 .*\r\nConnection: close\r\n.*"body_broke_off"/s);
    expect(refused.map(({ code }) => code)).toEqual(["body_broke_off"]);
  },
);

test("clients that send nothing more are cut off, others are served meanwhile, and no connection is left (T49)", async () => {
  await listen(async ({ readBytes }) => {
    await readBytes();
    return { status: 200, headers: {}, body: "served" };
  });
  const http = server as Server;
  const { port } = http.address() as AddressInfo;
  expect([http.headersTimeout, http.requestTimeout, http.keepAliveTimeout]).toEqual([10_000, 20_000, 65_000]);
  // None is cut off before all are there. What is kept idle has Node's own second more.
  Object.assign(http, { headersTimeout: 600_000, requestTimeout: 600_000, keepAliveTimeout: 1 });
  const open = async (sent: string) => {
    const socket = connect(port, "127.0.0.1");
    let heard = "";
    socket.on("data", (chunk) => {
      heard += chunk;
    });
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    socket.on("error", () => {});
    await once(socket, "connect");
    socket.write(sent);
    return { socket, closed, heard: () => heard };
  };
  const openMany = (count: number, sent: string) =>
    Promise.all(Array.from({ length: count }, () => open(sent)));
  const isServed = async () => {
    const { socket, closed, heard } = await open(post(4, "all."));
    await until(() => heard().includes("served"));
    socket.destroy();
    await closed;
  };
  const silent = await openMany(50, "");
  const slow = await openMany(500, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ");
  const halfSent = await openMany(100, post(10, "half"));
  const countOpen = () => new Promise<number>((resolve) => http.getConnections((_, count) => resolve(count)));
  await until(async () => (await countOpen()) > 650);
  await isServed();
  const idle = await openMany(500, post(4, "all."));
  await until(() => idle.every(({ heard }) => heard().includes("served")));
  await isServed();
  Object.assign(http, { headersTimeout: 1, requestTimeout: 1 });
  for (const { closed } of [...silent, ...slow, ...halfSent, ...idle]) await closed;
  for (const { heard } of slow) expect(heard()).toMatch(/^HTTP\/1.1 408 .*request_timeout/s);
  for (const { heard } of halfSent) expect(heard()).toMatch(/^HTTP\/1.1 400 .*body_broke_off/s);
  await until(async () => (await countOpen()) <= 1);
  Object.assign(http, { headersTimeout: 10_000, requestTimeout: 20_000 });
  await isServed();
});

test.each([
  ["in the middle of a body", post(10, "half")],
  ["after all of it", post(4, "half")],
])("a client that has left %s before it is read ends the request", async (_, sent) => {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  let outcome: unknown;
  const { socket } = await listen(async ({ isGone, readBytes }) => {
    asked.resolve();
    await left.promise;
    await until(isGone);
    outcome = await readBytes().catch((error) => error);
    throw outcome;
  });
  socket.write(sent);
  await asked.promise;
  socket.destroy();
  left.resolve();
  await until(() => outcome !== undefined);
  expect(outcome).toBeInstanceOf(Problem);
  expect((outcome as Problem).code).toBe("body_broke_off");
});
