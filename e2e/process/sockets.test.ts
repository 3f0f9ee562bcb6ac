import { once } from "node:events";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "../../packages/server/test/support/until.ts";
import { createStore, getToken, newPlace, type Place, type Running, serve } from "../support/running.ts";

/** Malformed requests on a real socket. */

let place: Place;
let running: Running;
let token: string;

beforeAll(async () => {
  place = await newPlace();
  running = await serve(place);
  token = await getToken(place.url, await createStore(place));
});
afterAll(async () => {
  running.child.kill("SIGKILL");
  await running.exited;
  place.leave();
});

const send = (...lines: (string | Buffer)[]) =>
  new Promise<string>((resolve, reject) => {
    const socket = connect(Number(new URL(place.url).port), "127.0.0.1");
    let answer = "";
    socket.on("data", (chunk) => {
      answer += chunk;
    });
    socket.on("close", () => resolve(answer));
    socket.on("error", reject);
    socket.write(Buffer.concat(lines.map((line) => Buffer.concat([Buffer.from(line), Buffer.from("\r\n")]))));
  });

const get = (...headers: (string | Buffer)[]) =>
  send("GET /v2/store HTTP/1.1", "Host: localhost", "Connection: close", ...headers, "");

const isServed = async () => (await get(`Authorization: Bearer ${token}`)).startsWith("HTTP/1.1 200");

test("two Authorization headers are refused (T02)", async () => {
  expect(await get(`Authorization: Bearer ${token}`, `Authorization: Bearer ${token}`)).toMatch(
    /^HTTP\/1.1 401/,
  );
});

test.each([
  ["a NUL in a header", [Buffer.from("Authorization: Bearer \u0000")], 400],
  ["a bare line feed in a header", ["Authorization: Bearer a\nX: y z\u0001"], 400],
  ["a header of 100 KB", [`Authorization: Bearer ${"x".repeat(100_000)}`], 431],
  ["two different lengths", ["Content-Length: 1", "Content-Length: 2"], 400],
  ["a length and chunks at once", ["Content-Length: 5", "Transfer-Encoding: chunked"], 400],
])(
  "%s gets an error body of the service, which continues to serve (T02, A65)",
  async (_, headers, status) => {
    const answer = await get(...headers);
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
    const { errors } = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n")));
    expect(errors[0].status).toBe(String(status));
    expect(answer).toContain(`X-Request-Id: ${errors[0].id}`);
    expect(await isServed()).toBe(true);
  },
);

test("bytes outside ASCII in a token are 401 (T02, A69)", async () => {
  expect(await get(Buffer.from("Authorization: Bearer \u00e9\u20ac"))).toMatch(/^HTTP\/1.1 401/);
  expect(await isServed()).toBe(true);
});

test.each(["evil.example:99999", "a b", "[::1", "evil.example/path", ""])(
  "a Host header of %j is in no answer and breaks no request (T34)",
  async (host) => {
    const answer = await send(
      "GET /v2/store HTTP/1.1",
      `Host: ${host}`,
      "Connection: close",
      `Authorization: Bearer ${token}`,
      "",
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
    expect(answer).not.toContain("evil");
    expect(await isServed()).toBe(true);
  },
);

test("a target that is no path, an absolute URL as target, and an unknown method are answered", async () => {
  for (const line of [
    "GET http://evil.example/v2/store HTTP/1.1",
    "GET //evil.example/v2/store HTTP/1.1",
    "PROPFIND /v2/store HTTP/1.1",
    "GET /v2/%zz HTTP/1.1",
  ]) {
    const answer = await send(line, "Host: localhost", "Connection: close", "");
    expect(answer).toMatch(/^HTTP\/1.1 4\d\d /);
    expect(answer).not.toContain("evil");
  }
  expect(await isServed()).toBe(true);
});

test.each(["%2e%2e", ".%2e", "%2E.", "..", "%2e%2e/", "x/%2e%2e/%2e%2e"])(
  "404 for DELETE …/oidc-profiles/%s, and the realm is still there",
  async (tail) => {
    const bearer = `Authorization: Bearer ${token}`;
    const body = JSON.stringify({ data: { type: "authentication-realm", name: "Doomed" } });
    const made = await send(
      "POST /v2/authentication-realms HTTP/1.1",
      "Connection: close",
      bearer,
      "Content-Type: application/json",
      `Content-Length: ${body.length}`,
      "",
      body,
    );
    const id = /"id":"([0-9a-f-]{36})","type":"authentication-realm"/.exec(made)?.[1];
    const realm = `/v2/authentication-realms/${id}`;
    const ask = (method: string, path: string) =>
      send(`${method} ${path} HTTP/1.1`, "Connection: close", bearer, "");
    expect(await ask("DELETE", `${realm}/oidc-profiles/${tail}`)).toMatch(/^HTTP\/1.1 404 /);
    expect(await ask("GET", realm)).toMatch(/^HTTP\/1.1 200 /);
    expect(await ask("GET", realm.replace("realms", "re%61lms"))).toMatch(/^HTTP\/1.1 404 /);
  },
);

test("405 for HEAD at authorize on a real socket, with Allow", async () => {
  const id = "019a0000-0000-7000-8000-000000000000";
  const answer = await send(
    `HEAD /sign-on/stores/${id}/realms/${id}/authorize HTTP/1.1`,
    "Connection: close",
    "",
  );
  expect(answer).toMatch(/^HTTP\/1.1 405 /);
  expect(answer).toMatch(/^allow: GET, POST\r$/im);
});

test("a body announced as larger than 16 KB is refused before it is sent, and the next request is served", async () => {
  const answer = await send(
    `PUT /v2/store HTTP/1.1`,
    "Host: localhost",
    "Connection: close",
    `Authorization: Bearer ${token}`,
    "Content-Type: application/json",
    "Content-Length: 1000000",
    "",
    "{",
  );
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
  expect(await isServed()).toBe(true);
});

test.skipIf(process.platform !== "linux")(
  "500 clients with unfinished headers get an answer and are cut off, others are served, and every socket is closed (T49)",
  async () => {
    const countOpen = () => readdirSync(`/proc/${running.child.pid}/fd`).length;
    const open = async (...lines: string[]) => {
      const socket = connect(Number(new URL(place.url).port), "127.0.0.1");
      let received = "";
      socket.on("data", (chunk) => {
        received += chunk;
      });
      socket.on("error", () => {});
      const closed = once(socket, "close");
      await once(socket, "connect");
      socket.write(lines.join("\r\n"));
      return { socket, closed, received: () => received };
    };
    const openMany = (count: number, ...lines: string[]) =>
      Promise.all(Array.from({ length: count }, () => open(...lines)));
    const before = countOpen();
    const halfSent = await openMany(
      20,
      "PUT /v2/store HTTP/1.1",
      `Authorization: Bearer ${token}`,
      "Content-Type: application/json",
      "Content-Length: 100",
      "",
      "{",
    );
    const idle = await openMany(500, "GET /health/live HTTP/1.1", "Host: localhost", "", "");
    await until(() => idle.every(({ received }) => received().startsWith("HTTP/1.1 200")));
    const slow = await openMany(500, "GET /v2/store HTTP/1.1", "X-Slow: ");
    await until(() => countOpen() >= before + 1000);
    expect(await isServed()).toBe(true);
    await Promise.all(slow.map(({ closed }) => closed));
    for (const { received } of slow) expect(received()).toMatch(/^HTTP\/1.1 408 .*request_timeout/s);
    expect(await isServed()).toBe(true);
    for (const { socket } of [...halfSent, ...idle]) socket.destroy();
    // As many as before, apart from files that the service opens for itself.
    await until(() => countOpen() <= before + 10);
    expect(await isServed()).toBe(true);
  },
);
