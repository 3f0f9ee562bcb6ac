import { createServer as createHttp } from "node:http";
import { createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import {
  answerOf,
  closeAll,
  closedDoor,
  listen,
  MAX,
  PUBLIC,
  rawServer,
  reasonOf,
  SECRET,
  send,
} from "../../test/support/raw-servers.ts";
import { until } from "../../test/support/until.ts";
import { createEgress } from "./egress.ts";
import { egressFault, isEgressFault } from "./egress-message.ts";

afterEach(closeAll);

describe("a URL that may not be asked", () => {
  test.each([
    "http://idp.example/",
    "https://idp.example:8443/",
    "https://user:pass@idp.example/",
    "https://127.0.0.1/",
    "https://[::1]/",
    "https://[::ffff:7f00:1]/",
    "https://2130706433/",
    "https://0x7f.1/",
    "https://169.254.169.254/latest/meta-data/",
    "https://localhost/",
    "https://idp.example./",
    "https://idp.example/\r\nHost: evil.example",
    "file:///etc/passwd",
    "",
  ])("is neither resolved nor connected to (N58, A50): %j", async (url) => {
    const { deps, resolved, connections } = closedDoor(async () => [PUBLIC]);
    expect(await reasonOf(send(deps, { url }))).toBe("address_not_allowed");
    expect([resolved, connections]).toEqual([[], []]);
  });

  test("is refused beside an origin that is allowed", async () => {
    const { deps, resolved } = closedDoor(async () => [PUBLIC], ["http://127.0.0.1:9000"]);
    expect(await reasonOf(send(deps, { url: "http://127.0.0.1:9001/" }))).toBe("address_not_allowed");
    expect(await reasonOf(send(deps, { url: "https://127.0.0.1:9000/" }))).toBe("address_not_allowed");
    expect(resolved).toEqual([]);
  });
});

describe("a request", () => {
  test("carries its method, headers and body", async () => {
    const server = createHttp(async (request, response) => {
      let body = "";
      for await (const chunk of request.setEncoding("utf8")) body += chunk;
      const { method, url, headers } = request;
      response.end(JSON.stringify({ method, url, headers, body }));
    });
    const { port } = await listen(server);
    const answer = await send(
      { allowedOrigins: [`http://127.0.0.1:${port}`] },
      {
        url: `http://127.0.0.1:${port}/token`,
        method: "POST",
        headers: { authorization: "Basic YTpi", "content-type": "application/x-www-form-urlencoded" },
        body: "code=ключ",
      },
    );
    expect(JSON.parse(answer.body.toString())).toEqual({
      method: "POST",
      url: "/token",
      headers: {
        host: `127.0.0.1:${port}`,
        accept: "application/json",
        "accept-encoding": "identity",
        connection: "close",
        "user-agent": "latchkey",
        authorization: "Basic YTpi",
        "content-type": "application/x-www-form-urlencoded",
        "content-length": "13",
      },
      body: "code=ключ",
    });
  });

  test("cannot be split by a header", async () => {
    const { origin, requests } = await rawServer((socket) => socket.write(answerOf("{}")));
    const headers = { authorization: "Bearer a\r\nX-Injected: 1" };
    expect(await send({ allowedOrigins: [origin] }, { url: origin, headers }).catch(() => "refused")).toBe(
      "refused",
    );
    expect(requests).toEqual([]);
  });

  test("says how long it took", async () => {
    const { origin } = await rawServer((socket) => socket.write(answerOf("{}")));
    const startedMs = performance.now();
    const { elapsedMs } = await send({ allowedOrigins: [origin] }, { url: origin });
    expect(elapsedMs).toBeGreaterThan(0);
    expect(elapsedMs).toBeLessThanOrEqual(performance.now() - startedMs);
  });
});

describe("an answer", () => {
  /** How a request ends at a server that answers with this text, and then does no more. */
  async function answered(text: string | Buffer, then?: (socket: Socket) => void) {
    const { origin, sockets } = await rawServer((socket) => {
      socket.write(text, () => then?.(socket));
    });
    const work = send({ allowedOrigins: [origin], callMs: 1000 }, { url: origin });
    return { work, sockets };
  }

  test.each([301, 302, 303, 307, 308])("%d is returned and not followed (N59, A50)", async (status) => {
    const elsewhere = await rawServer((socket) => socket.write(answerOf("{}")));
    const { work } = await answered(
      `HTTP/1.1 ${status} Moved\r\nLocation: ${elsewhere.origin}/\r\nContent-Length: 0\r\n\r\n`,
    );
    expect(await work).toMatchObject({ status, headers: { location: `${elsewhere.origin}/` } });
    expect(elsewhere.sockets).toEqual([]);
  });

  test("may be as large as it may be, announced or not", async () => {
    const body = "a".repeat(MAX);
    const announced = await answered(answerOf(body));
    expect((await announced.work).body.toString()).toBe(body);
    const chunked = await answered(
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${MAX.toString(16)}\r\n${body}\r\n0\r\n\r\n`,
    );
    expect((await chunked.work).body.toString()).toBe(body);
    const untilClosed = await answered(`HTTP/1.1 200 OK\r\n\r\n${body}`, (socket) => socket.end());
    expect((await untilClosed.work).body.toString()).toBe(body);
  });

  test.each([
    ["announced", `HTTP/1.1 200 OK\r\nContent-Length: ${MAX + 1}\r\n\r\n`],
    ["announced and sent", answerOf("a".repeat(MAX + 1))],
    ["announced as terabytes", "HTTP/1.1 200 OK\r\nContent-Length: 9007199254740991\r\n\r\n"],
    [
      "not announced, in one chunk",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${(MAX + 1).toString(16)}\r\n${"a".repeat(MAX + 1)}`,
    ],
    [
      "not announced, in many chunks",
      `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(MAX + 1)}`,
    ],
    ["not announced, until the end", `HTTP/1.1 200 OK\r\n\r\n${"a".repeat(MAX + 1)}`],
  ])("may not be larger: %s", async (_, text) => {
    const { work, sockets } = await answered(text);
    expect(await reasonOf(work)).toBe("too_large");
    await until(() => sockets[0]?.closed);
  });

  test("that never ends is cut off as soon as it is too large", async () => {
    const pour = (socket: Socket): void => {
      if (!socket.destroyed) socket.write("a".repeat(65_536), () => pour(socket));
    };
    const { work, sockets } = await answered("HTTP/1.1 200 OK\r\n\r\n", pour);
    expect(await reasonOf(work)).toBe("too_large");
    await until(() => sockets[0]?.closed);
  });

  test.each(["gzip", "br", "deflate", "zstd", "x", "gzip, identity", "identity, gzip"])(
    "that is encoded is refused: %s",
    async (encoding) => {
      const body = gzipSync("a".repeat(1_000_000));
      const head = `HTTP/1.1 200 OK\r\nContent-Encoding: ${encoding}\r\nContent-Length: ${body.length}\r\n\r\n`;
      const { work } = await answered(Buffer.concat([Buffer.from(head), body]));
      expect(await reasonOf(work)).toBe("answer_encoded");
    },
  );

  test.each(["identity", "Identity"])("may say that it is not encoded: %s", async (encoding) => {
    const { work } = await answered(answerOf("{}", `Content-Encoding: ${encoding}`));
    expect((await work).body.toString()).toBe("{}");
  });

  test.each<[string, string, ((socket: Socket) => void)?]>([
    [
      "reset in the body",
      "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab",
      (socket) => socket.resetAndDestroy(),
    ],
    ["ended in the body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nab", (socket) => socket.end()],
    [
      "ended in a chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
      (socket) => socket.end(),
    ],
    [
      "ended before the last chunk",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n",
      (socket) => socket.end(),
    ],
    ["reset in the head", "HTTP/1.1 200 OK\r\nContent-", (socket) => socket.resetAndDestroy()],
    ["ended in the head", "HTTP/1.1 200 OK\r\nContent-", (socket) => socket.end()],
    ["ended before it began", "", (socket) => socket.end()],
    ["another protocol", `SSH-2.0-${SECRET}\r\n`],
    ["HTTP of no version", `HTTP/9.9 200 ${SECRET}\r\n\r\n`],
    ["no HTTP", `<html>${SECRET}</html>`],
    ["zeros", "\x00".repeat(100)],
    ["a status that is no number", `HTTP/1.1 abc ${SECRET}\r\n\r\n`],
    ["a head of 20 KB", answerOf("{}", `X-Long: ${SECRET.repeat(2000)}`)],
    ["two lengths", `HTTP/1.1 200 ${SECRET}\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}`],
    ["a length that is none", "HTTP/1.1 200 OK\r\nContent-Length: 2x\r\n\r\n{}"],
    [
      "a length and chunks",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
    ],
    ["a chunk of no length", `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${SECRET}\r\n`],
    ["an upgrade", "HTTP/1.1 101 Switching\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n"],
  ])("that is broken is refused: %s", async (_, text, then) => {
    const { work, sockets } = await answered(text, then);
    expect(await reasonOf(work)).toBe("answer_broken");
    await until(() => sockets[0]?.closed);
  });

  test("with a status below 200 comes before the answer", async () => {
    const { work } = await answered(
      `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: a\r\n\r\n${answerOf("{}")}`,
    );
    expect(await work).toMatchObject({ status: 200 });
  });

  test("keeps its headers to texts, without cookies or names that objects have", async () => {
    const { work } = await answered(
      answerOf("{}", "X-A: 1", "Set-Cookie: a=1", "Set-Cookie: b=2", "__proto__: x", "constructor: y"),
    );
    const { headers } = await work;
    expect(headers["x-a"]).toBe("1");
    expect(Object.keys(headers)).not.toContain("set-cookie");
    expect(Object.getPrototypeOf(headers)).toBe(Object.prototype);
  });

  test("ends the connection, whatever it says about keeping it", async () => {
    const { work, sockets } = await answered(
      answerOf("{}", "Connection: keep-alive", "Keep-Alive: timeout=60"),
    );
    await work;
    await until(() => sockets[0]?.closed);
  });
});

describe("two requests", () => {
  test("share no connection, so that an unrequested answer is never read (N76, A53)", async () => {
    const { origin, sockets } = await rawServer((socket, count) => {
      socket.write(answerOf(`answer ${count}`, "Connection: keep-alive") + answerOf("poison"));
    });
    const egress = createEgress({ allowedOrigins: [origin] });
    for (const count of [1, 2, 3]) {
      const { body } = await egress.send({ url: origin, maxBytes: MAX });
      expect(body.toString()).toBe(`answer ${count}`);
    }
    expect(sockets).toHaveLength(3);
  });

  test("share no cookies", async () => {
    const { origin, requests } = await rawServer((socket) => {
      socket.write(answerOf("{}", "Set-Cookie: session=1; Path=/"));
    });
    const egress = createEgress({ allowedOrigins: [origin] });
    await egress.send({ url: origin, maxBytes: MAX });
    await egress.send({ url: origin, maxBytes: MAX });
    expect(requests).toHaveLength(2);
    expect(requests.join("")).not.toMatch(/cookie/i);
  });
});

describe("a fault", () => {
  test.each([
    ["text that is no HTTP", `${SECRET}\r\n\r\n`],
    ["a status line", `HTTP/1.1 200 ${SECRET}\r\nContent-Length: x\r\n\r\n`],
    ["a header", `HTTP/1.1 200 OK\r\n${SECRET}\r\n\r\n`],
    ["an encoding", answerOf("{}", `Content-Encoding: ${SECRET}`)],
    ["a body that is too large", answerOf(SECRET.repeat(MAX))],
  ])("does not repeat text of the other side: %s", async (_, text) => {
    const { origin } = await rawServer((socket) => socket.write(text));
    const fault: Error = await send({ allowedOrigins: [origin] }, { url: origin }).catch((error) => error);
    expect(isEgressFault(fault)).toBe(true);
    expect(fault.message).toMatch(/^egress: [a-z_]+$/);
    expect(`${fault.stack}`).not.toContain(SECRET);
  });

  test("has wasSent when the other side may have read the request", async () => {
    const faultOf = (work: Promise<unknown>) => work.catch((error: unknown) => error);
    const silent = await rawServer(() => {});
    const broken = await rawServer((socket) => socket.destroy());
    for (const { origin } of [silent, broken]) {
      const fault = await faultOf(send({ allowedOrigins: [origin], callMs: 80 }, { url: origin }));
      expect(fault).toMatchObject({ name: "EgressFault", wasSent: true });
    }
    const { deps } = closedDoor(async () => ["127.0.0.1"]);
    expect(await faultOf(send(deps, {}))).toMatchObject({ reason: "host_not_public", wasSent: false });
    const { port } = await listen(createServer((socket) => void socket.resume()));
    const handshake = { allowedOrigins: [`https://idp.example:${port}`], resolve: async () => ["127.0.0.1"] };
    const slow = send({ ...handshake, connectMs: 50 }, { url: `https://idp.example:${port}` });
    expect(await faultOf(slow)).toMatchObject({ reason: "too_slow", wasSent: false });
  });

  test("is distinguished from other errors", () => {
    expect(isEgressFault(egressFault("resting"))).toBe(true);
    for (const other of [new Error("egress: resting"), { reason: "resting" }, "resting", undefined, null]) {
      expect(isEgressFault(other)).toBe(false);
    }
  });
});
