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
