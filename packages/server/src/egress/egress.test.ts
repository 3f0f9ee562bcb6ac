import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer as createHttp } from "node:http";
import { createServer as createHttps } from "node:https";
import { type AddressInfo, connect as connectPlain, createServer, type Server, type Socket } from "node:net";
import { connect as connectTls } from "node:tls";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test, vi } from "vitest";
import { until } from "../../test/support/until.ts";
import type { ConnectTarget } from "./connect.ts";
import { createEgress, type EgressDeps } from "./egress.ts";
import { type EgressReason, egressFault, isEgressFault } from "./egress-message.ts";

const PUBLIC = "93.184.216.34";
const MAX = 1000;
const SECRET = "upstream-text";

const cleanUp: (() => void)[] = [];
afterEach(() => {
  vi.unstubAllEnvs();
  for (const close of cleanUp.splice(0)) close();
});

/** A server on this machine, whose sockets the test can look at. */
async function listen(server: Server): Promise<{ port: number; sockets: Socket[] }> {
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

/** A server that speaks by hand: `talk` has a socket on which the head of a request has arrived. */
async function rawServer(talk: (socket: Socket, count: number) => void) {
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

const answerOf = (body: string, ...headers: string[]) =>
  ["HTTP/1.1 200 OK", ...headers, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n");

/** How a request ends: its answer, or the fault. */
async function send(
  deps: EgressDeps,
  request: Partial<Parameters<ReturnType<typeof createEgress>["send"]>[0]>,
) {
  return await createEgress(deps).send({ url: "https://idp.example/", maxBytes: MAX, ...request });
}

async function reasonOf(work: Promise<unknown>): Promise<EgressReason | "answered"> {
  return await work.then(
    () => "answered" as const,
    (error) => {
      if (!isEgressFault(error)) throw error;
      return error.reason;
    },
  );
}

/** A door whose resolver and connections are only written down. */
function closedDoor(resolve: () => Promise<string[]>, allowedOrigins: string[] = []) {
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

describe("a name is not connected to", () => {
  test.each<[string, string[], EgressReason]>([
    ["a public and a loopback address", [PUBLIC, "127.0.0.1"], "host_not_public"],
    ["a loopback and a public address", ["127.0.0.1", PUBLIC], "host_not_public"],
    ["many public addresses and one inside", [PUBLIC, "1.1.1.1", "8.8.8.8", "10.0.0.1"], "host_not_public"],
    ["a public IPv4 and a local IPv6 address", [PUBLIC, "fd00::1"], "host_not_public"],
    ["IPv6 loopback", ["::1"], "host_not_public"],
    ["the metadata service", ["169.254.169.254"], "host_not_public"],
    ["carrier NAT", ["100.64.0.1"], "host_not_public"],
    ["NAT64", ["64:ff9b::7f00:1"], "host_not_public"],
    ["a mapped address", ["::ffff:127.0.0.1"], "host_not_public"],
    ["a mapped public address", [`::ffff:${PUBLIC}`], "host_not_public"],
    ["6to4", ["2002:7f00:1::"], "host_not_public"],
    ["a zone", ["fe80::1%eth0"], "host_not_public"],
    ["0.0.0.0", ["0.0.0.0"], "host_not_public"],
    ["what is no address", ["idp.internal"], "host_not_public"],
    ["an empty text", [""], "host_not_public"],
    ["nothing", [], "host_unknown"],
  ])("when it resolves to %s (T25, A50)", async (_, addresses, reason) => {
    const { deps, resolved, connections } = closedDoor(async () => addresses);
    expect(await reasonOf(send(deps, {}))).toBe(reason);
    expect([resolved, connections]).toEqual([["idp.example"], []]);
  });

  test("when it points inside, also beside an origin inside that is allowed", async () => {
    const { deps, connections } = closedDoor(async () => ["127.0.0.1"], ["http://127.0.0.1:9000"]);
    expect(await reasonOf(send(deps, {}))).toBe("host_not_public");
    expect(connections).toEqual([]);
  });

  test("when it cannot be resolved", async () => {
    const { deps, connections } = closedDoor(() => Promise.reject(new Error(SECRET)));
    const fault = await send(deps, {}).catch((error) => error);
    expect(fault).toMatchObject({ reason: "host_unknown", message: "egress: host_unknown" });
    expect(connections).toEqual([]);
  });

  test("when resolving it takes longer than a call may", async () => {
    const { deps, connections } = closedDoor(() => new Promise(() => {}));
    expect(await reasonOf(send({ ...deps, callMs: 20 }, {}))).toBe("too_slow");
    expect(connections).toEqual([]);
  });
});

/** A connection to this machine in place of one to the outside, which counts as secure at once. */
function connectHere(port: number, connections: ConnectTarget[]): (to: ConnectTarget) => Socket {
  return (to) => {
    connections.push(to);
    const socket = connectPlain({ host: "127.0.0.1", port });
    socket.once("connect", () => socket.emit("secureConnect"));
    return socket;
  };
}

describe("a public name", () => {
  test("is resolved once, and what was checked is what is connected to (A51)", async () => {
    const { port } = await rawServer((socket) => socket.write(answerOf("{}")));
    const connections: ConnectTarget[] = [];
    let lookups = 0;
    const answer = await send(
      {
        allowedOrigins: [],
        resolve: async () => (++lookups === 1 ? [PUBLIC, "1.1.1.1"] : ["127.0.0.1"]),
        connect: connectHere(port, connections),
      },
      { url: "https://idp.example/keys?a=b" },
    );
    expect(answer.status).toBe(200);
    expect(lookups).toBe(1);
    expect(connections).toEqual([
      { address: PUBLIC, port: 443, host: "idp.example", secure: true, ca: undefined },
    ]);
  });

  test("is resolved and checked again for every request", async () => {
    const { port } = await rawServer((socket) => socket.write(answerOf("{}")));
    const connections: ConnectTarget[] = [];
    let lookups = 0;
    const egress = createEgress({
      allowedOrigins: [],
      resolve: async () => (++lookups === 1 ? [PUBLIC] : ["127.0.0.1"]),
      connect: connectHere(port, connections),
    });
    const request = { url: "https://idp.example/", maxBytes: MAX };
    expect(await reasonOf(egress.send(request))).toBe("answered");
    expect(await reasonOf(egress.send(request))).toBe("host_not_public");
    expect(connections).toHaveLength(1);
  });

  test("is the Host, and the path and query are the target", async () => {
    const { port, requests } = await rawServer((socket) => socket.write(answerOf("{}")));
    await send(
      { allowedOrigins: [], resolve: async () => [PUBLIC], connect: connectHere(port, []) },
      { url: "https://IDP.example/a/../keys?a=b%20c" },
    );
    const [line, ...headers] = (requests[0] as string).trimEnd().split("\r\n");
    expect(line).toBe("GET /keys?a=b%20c HTTP/1.1");
    expect(headers.toSorted()).toEqual([
      "Accept-Encoding: identity",
      "Accept: application/json",
      "Connection: close",
      "Host: idp.example",
      "User-Agent: latchkey",
    ]);
  });
});

describe("a name with several addresses", () => {
  const at = async (...addresses: string[]) => {
    const { port } = await rawServer((socket) => socket.write(answerOf("{}")));
    const tried: string[] = [];
    const connect = ({ address, port }: ConnectTarget) => {
      tried.push(address);
      return connectPlain({ host: address, port });
    };
    const url = `http://idp.example:${port}`;
    const deps = { allowedOrigins: [url], resolve: async () => addresses, connect };
    return { end: await reasonOf(send(deps, { url })), tried };
  };

  // The server listens on 127.0.0.1 alone: its neighbours refuse.
  test("is reached at the next one when one is dead", async () => {
    expect(await at("127.0.0.2", "127.0.0.3", "127.0.0.1")).toEqual({
      end: "answered",
      tried: ["127.0.0.2", "127.0.0.3", "127.0.0.1"],
    });
  });

  test("is tried at three, and the first that answers is enough", async () => {
    expect(await at("127.0.0.2", "127.0.0.3", "127.0.0.4", "127.0.0.1")).toMatchObject({
      end: "connect_failed",
      tried: ["127.0.0.2", "127.0.0.3", "127.0.0.4"],
    });
    expect((await at("127.0.0.1", "127.0.0.2")).tried).toEqual(["127.0.0.1"]);
  });
});

test("a distant provider with several addresses has half of the time to connect for the first of them, not its part", async () => {
  const { port } = await rawServer((socket) => socket.write(answerOf("{}")));
  const tried: string[] = [];
  const connect = ({ address }: ConnectTarget) => {
    tried.push(address);
    const socket = connectPlain({ host: "127.0.0.1", port });
    // As long as a handshake over half the globe takes: more than a third of the time, less than half. Both are timers of one
    // process, set at the same moment: however busy the machine is, this one comes first.
    setTimeout(() => socket.emit("secureConnect"), 400);
    return socket;
  };
  const resolve = async () => [PUBLIC, "1.1.1.1", "8.8.8.8"];
  expect(await reasonOf(send({ allowedOrigins: [], resolve, connect, connectMs: 1000 }, {}))).toBe(
    "answered",
  );
  expect(tried).toEqual([PUBLIC]);
});

test("an address that does not answer leaves time for the next", async () => {
  const { port } = await rawServer((socket) => socket.write(answerOf("{}")));
  const tried: string[] = [];
  const connect = ({ address }: ConnectTarget) => {
    tried.push(address);
    const socket = connectPlain({ host: "127.0.0.1", port });
    if (tried.length > 1) setTimeout(() => socket.emit("secureConnect"), 20);
    return socket;
  };
  const resolve = async () => [PUBLIC, "1.1.1.1"];
  const deps = { allowedOrigins: [], resolve, connect, connectMs: 1000 };
  expect(await reasonOf(send(deps, {}))).toBe("answered");
  expect(tried).toEqual([PUBLIC, "1.1.1.1"]);
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

  test("of three digits below 200 is only the herald of the answer", async () => {
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

describe("one request and the next", () => {
  test("share no connection, so that an answer nobody asked for goes nowhere (N76, A53)", async () => {
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

describe("a server that takes its time", () => {
  /** Sends a text one byte at a time, for as long as it may. */
  function drip(socket: Socket, text: string): void {
    let at = 0;
    const timer = setInterval(() => socket.write(text[at++] ?? "a"), 5);
    socket.on("close", () => clearInterval(timer));
  }

  test.each<[string, (socket: Socket) => void]>([
    ["says nothing", () => {}],
    [
      "sends its head byte by byte",
      (socket) => drip(socket, `HTTP/1.1 200 OK\r\nX-Long: ${"a".repeat(9999)}`),
    ],
    [
      "sends its body byte by byte",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n");
        drip(socket, "");
      },
    ],
    [
      "sends heralds without end",
      (socket) => {
        const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 5);
        socket.on("close", () => clearInterval(timer));
      },
    ],
  ])("is left when the call has taken too long: it %s (A57)", async (_, talk) => {
    const { origin, sockets } = await rawServer(talk);
    const startedMs = performance.now();
    expect(await reasonOf(send({ allowedOrigins: [origin], callMs: 80 }, { url: origin }))).toBe("too_slow");
    expect(performance.now() - startedMs).toBeGreaterThan(70);
    await until(() => sockets[0]?.closed);
  });

  test.each([
    ["connecting", { connectMs: 50, callMs: 3_600_000 }],
    ["the call", { connectMs: 3_600_000, callMs: 50 }],
  ])("to shake hands is left when %s has taken too long", async (_, times) => {
    const { port, sockets } = await listen(createServer((socket) => void socket.resume()));
    const url = `https://idp.example:${port}`;
    const deps = { allowedOrigins: [url], resolve: async () => ["127.0.0.1"], ...times };
    expect(await reasonOf(send(deps, { url }))).toBe("too_slow");
    await until(() => sockets[0]?.closed);
  });

  test("to connect leaves no socket behind", async () => {
    const made: Socket[] = [];
    const { port } = await listen(createServer(() => {}));
    const connect = () => {
      const socket = connectPlain({ host: "127.0.0.1", port });
      made.push(socket);
      return socket;
    };
    const work = send({ allowedOrigins: [], resolve: async () => [PUBLIC], connect, connectMs: 20 }, {});
    expect(await reasonOf(work)).toBe("too_slow");
    expect(made.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  test("to answer may take longer than connecting may", async () => {
    const { origin } = await rawServer((socket) => {
      setTimeout(() => socket.write(answerOf("{}")), 1100);
    });
    const deps = { allowedOrigins: [origin], connectMs: 1000, callMs: 60_000 };
    expect(await reasonOf(send(deps, { url: origin }))).toBe("answered");
  });
});

test("a port where nobody listens is a failed connection", async () => {
  const server = createServer();
  const { port } = await listen(server);
  server.close();
  await once(server, "close");
  const origin = `http://127.0.0.1:${port}`;
  expect(await reasonOf(send({ allowedOrigins: [origin] }, { url: origin }))).toBe("connect_failed");
});

describe("the environment", () => {
  test("cannot put a proxy between (A50)", async () => {
    const proxy = await rawServer((socket) => socket.write(answerOf("proxy")));
    for (const name of ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"]) {
      vi.stubEnv(name, proxy.origin);
      vi.stubEnv(name.toLowerCase(), proxy.origin);
    }
    vi.stubEnv("NODE_USE_ENV_PROXY", "1");
    vi.stubEnv("NO_PROXY", "");
    const { origin } = await rawServer((socket) => socket.write(answerOf("direct")));
    const { body } = await send({ allowedOrigins: [origin] }, { url: origin });
    expect(body.toString()).toBe("direct");
    expect(proxy.sockets).toEqual([]);
  });

  test("cannot do it from the start of the process either, though it does for others", async () => {
    const proxy = await rawServer((socket) => socket.write(answerOf("proxy")));
    const { origin } = await rawServer((socket) => socket.write(answerOf("direct")));
    const script = `
      const { createEgress } = await import(${JSON.stringify(new URL("./egress.ts", import.meta.url).href)});
      const url = ${JSON.stringify(origin)};
      const { get } = await import("node:http");
      const { text } = await import("node:stream/consumers");
      const other = await new Promise((resolve) => get(url, (answer) => resolve(text(answer))));
      const { body } = await createEgress({ allowedOrigins: [url] }).send({ url, maxBytes: 1000 });
      process.stdout.write(other + " " + body);
    `;
    const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
      env: { NODE_USE_ENV_PROXY: "1", HTTP_PROXY: proxy.origin, HTTPS_PROXY: proxy.origin, NO_PROXY: "" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    cleanUp.push(() => child.kill());
    let output = "";
    child.stdout.on("data", (chunk) => {
      output += chunk;
    });
    await once(child, "close");
    expect(output).toBe("proxy direct");
  });
});

describe("a fault", () => {
  test.each([
    ["text that is no HTTP", `${SECRET}\r\n\r\n`],
    ["a status line", `HTTP/1.1 200 ${SECRET}\r\nContent-Length: x\r\n\r\n`],
    ["a header", `HTTP/1.1 200 OK\r\n${SECRET}\r\n\r\n`],
    ["an encoding", answerOf("{}", `Content-Encoding: ${SECRET}`)],
    ["a body that is too large", answerOf(SECRET.repeat(MAX))],
  ])("does not repeat what the other side said: %s", async (_, text) => {
    const { origin } = await rawServer((socket) => socket.write(text));
    const fault: Error = await send({ allowedOrigins: [origin] }, { url: origin }).catch((error) => error);
    expect(isEgressFault(fault)).toBe(true);
    expect(fault.message).toMatch(/^egress: [a-z_]+$/);
    expect(`${fault.stack}`).not.toContain(SECRET);
  });

  test("tells whether the request was sent: then the other side may have read it", async () => {
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

  test("is told from other errors", () => {
    expect(isEgressFault(egressFault("resting"))).toBe(true);
    for (const other of [new Error("egress: resting"), { reason: "resting" }, "resting", undefined, null]) {
      expect(isEgressFault(other)).toBe(false);
    }
  });
});

describe("TLS", () => {
  const fixture = (name: string) =>
    readFileSync(new URL(`../../test/fixtures/tls/${name}.pem`, import.meta.url), "utf8");
  const ca = fixture("ca");
  const key = fixture("key");

  async function tlsServer(certificate: string) {
    const names: unknown[] = [];
    const server = createHttps({ key, cert: fixture(certificate) }, (request, response) => {
      const { servername, alpnProtocol } = request.socket as Socket & Record<string, unknown>;
      names.push({ servername, alpnProtocol, host: request.headers.host });
      response.end("{}");
    });
    server.on("tlsClientError", () => {});
    const { port, sockets } = await listen(server);
    return { server, port, sockets, names };
  }

  /** The door to a server of ours under a name that only the test resolves. */
  function doorTo(host: string, port: number, trusted: string | undefined = ca) {
    const url = `https://${host}:${port}`;
    const deps: EgressDeps = {
      allowedOrigins: [url],
      resolve: async () => ["127.0.0.1"],
      ...(trusted && { ca: trusted }),
    };
    return { url, egress: createEgress(deps), request: { url, maxBytes: MAX } };
  }

  test("with the right certificate is accepted, under the name that was asked for", async () => {
    const { port, names } = await tlsServer("idp");
    const { egress, request } = doorTo("idp.example", port);
    expect(await egress.send(request)).toMatchObject({ status: 200 });
    expect(names).toEqual([
      { servername: "idp.example", alpnProtocol: "http/1.1", host: `idp.example:${port}` },
    ]);
  });

  test("with a wildcard for exactly this depth is accepted", async () => {
    const { port } = await tlsServer("wildcard");
    const { egress, request } = doorTo("a.deep.example", port);
    expect(await reasonOf(egress.send(request))).toBe("answered");
  });

  test.each([
    ["for another host", "other", "idp.example", "tls_name"],
    ["for a host below", "idp", "a.idp.example", "tls_name"],
    ["that has expired", "expired", "idp.example", "tls_expired"],
    ["that signed itself", "self-signed", "idp.example", "tls_unknown_authority"],
    ["with a wildcard that is not deep enough", "wildcard", "a.b.example", "tls_name"],
    ["with a wildcard that is not deep enough", "wildcard", "a.b.deep.example", "tls_name"],
    ["with a wildcard that is too deep", "wildcard", "deep.example.test", "tls_name"],
  ])(
    "with a certificate %s is refused before anything is sent (A54): %s for %s is %s",
    async (_, certificate, host, reason) => {
      const { port, names, sockets } = await tlsServer(certificate);
      const { egress, request } = doorTo(host, port);
      const fault = await egress.send(request).catch((error) => error);
      expect(fault).toMatchObject({ reason, message: `egress: ${reason}` });
      expect(names).toEqual([]);
      await until(() => sockets[0]?.closed);
    },
  );

  test("with a wrong certificate is not tried at the name's other addresses", async () => {
    const { port } = await tlsServer("other");
    const url = `https://idp.example:${port}`;
    let connections = 0;
    const connect = () => {
      connections++;
      return connectTls({ host: "127.0.0.1", port, servername: "idp.example", ca });
    };
    const resolve = async () => ["127.0.0.1", "127.0.0.2"];
    expect(await reasonOf(send({ allowedOrigins: [url], resolve, connect }, { url }))).toBe("tls_name");
    expect(connections).toBe(1);
  });

  test("with a certificate of an authority that nobody knows is refused", async () => {
    const { port, names } = await tlsServer("idp");
    const { egress, request } = doorTo("idp.example", port, "");
    expect(await reasonOf(egress.send(request))).toBe("tls_unknown_authority");
    expect(names).toEqual([]);
  });

  test("is checked anew for every request: no session carries an old certificate on", async () => {
    const { server, port } = await tlsServer("idp");
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe("answered");
    server.setSecureContext({ key, cert: fixture("other") });
    expect(await reasonOf(egress.send(request))).toBe("tls_name");
  });

  test.each([
    ["self-signed", "tls_unknown_authority"],
    ["other", "tls_name"],
    ["expired", "tls_expired"],
  ])("cannot be switched off by the environment: %s", async (certificate, reason) => {
    vi.stubEnv("NODE_TLS_REJECT_UNAUTHORIZED", "0");
    const { port, names } = await tlsServer(certificate);
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe(reason);
    expect(names).toEqual([]);
  });

  test("is not what a server speaks that answers in plain text", async () => {
    const { port } = await listen(createServer((socket) => socket.end(answerOf(SECRET))));
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe("tls_failed");
  });

  test("that breaks off while shaking hands is a failed connection", async () => {
    const { port } = await listen(createServer((socket) => socket.resetAndDestroy()));
    const { egress, request } = doorTo("idp.example", port);
    expect(await reasonOf(egress.send(request))).toBe("connect_failed");
  });
});
