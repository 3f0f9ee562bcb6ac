import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect as connectPlain, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import {
  answerOf,
  cleanUp,
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
import type { ConnectTarget } from "./connect.ts";
import { createEgress } from "./egress.ts";
import type { EgressReason } from "./egress-message.ts";

afterEach(() => {
  vi.unstubAllEnvs();
  closeAll();
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
  test("is resolved once, and the connection goes to the checked address (A51)", async () => {
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
  test("is reached at the next address when one is dead", async () => {
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

test("the first of several addresses has half of the time to connect", async () => {
  const { port } = await rawServer((socket) => socket.write(answerOf("{}")));
  const tried: string[] = [];
  const connect = ({ address }: ConnectTarget) => {
    tried.push(address);
    const socket = connectPlain({ host: "127.0.0.1", port });
    // As long as a handshake over half the globe takes: more than a third of the time, less than half. Both are timers
    // of one process, set at the same moment: however busy the machine is, this one comes first.
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
      "sends 103 answers without end",
      (socket) => {
        const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"), 5);
        socket.on("close", () => clearInterval(timer));
      },
    ],
  ])("is disconnected when the call has taken too long: it %s (A57)", async (_, talk) => {
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

test("a port without a listener is connect_failed", async () => {
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

  test("cannot put a proxy between from the start of the process either", async () => {
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
