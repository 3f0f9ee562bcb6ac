import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { afterEach, describe, expect, test, vi } from "vitest";
import { until } from "../../test/support/until.ts";
import { createEgress, type EgressDeps } from "./egress.ts";
import { isEgressFault } from "./egress-message.ts";

const cleanUp: (() => void)[] = [];
afterEach(() => {
  vi.useRealTimers();
  for (const close of cleanUp.splice(0)) close();
});

type Talk = (socket: Socket, count: number) => void;

/**
 * A server without Node's parser, which answers every request of a connection. The requests of these tests have no
 * body.
 */
async function server(talk: Talk) {
  const sockets: Socket[] = [];
  const requests: string[] = [];
  const listener = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => {});
    let text = "";
    socket.on("data", (chunk) => {
      text += chunk;
      if (!text.endsWith("\r\n\r\n")) return;
      requests.push(text);
      text = "";
      talk(socket, requests.length);
    });
  });
  listener.listen(0, "127.0.0.1");
  await once(listener, "listening");
  cleanUp.push(() => {
    for (const socket of sockets) socket.destroy();
    listener.close();
  });
  const { port } = listener.address() as AddressInfo;
  return { port, origin: `http://127.0.0.1:${port}`, sockets, requests };
}

const answerOf = (count: number, ...headers: string[]) => {
  const body = `answer ${count}`;
  return ["HTTP/1.1 200 OK", ...headers, `Content-Length: ${body.length}`, "", body].join("\r\n");
};
const inChunks = (count: number) =>
  `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8\r\nanswer ${count}\r\n0\r\n\r\n`;

/** An egress, the answers to one request per URL in turn, and the client's ends of its connections. */
function door(deps: EgressDeps) {
  const ends: Socket[] = [];
  const egress = createEgress({
    connect({ address, port }) {
      const socket = connect({ host: address, port });
      ends.push(socket);
      return socket;
    },
    ...deps,
  });
  return {
    egress,
    ends,
    async ask(url: string, keptFor = "profile"): Promise<string> {
      return (await egress.send({ url, maxBytes: 1000, keptFor })).body.toString();
    },
  };
}

describe("a connection is used again", () => {
  test.each<[string, (count: number) => string]>([
    ["says its length", answerOf],
    ["comes in chunks", inChunks],
  ])("after an answer that %s", async (_, answer) => {
    const { origin, sockets, requests } = await server((socket, count) => socket.write(answer(count)));
    const { ask } = door({ allowedOrigins: [origin] });
    for (const count of [1, 2, 3]) expect(await ask(origin)).toBe(`answer ${count}`);
    expect(sockets).toHaveLength(1);
    expect(requests[0]).toContain("Connection: keep-alive\r\n");
  });

  test("after an answer that arrives in parts", async () => {
    const { origin, sockets } = await server((socket, count) => {
      const parts = [...inChunks(count)];
      const next = () => {
        const part = parts.shift();
        if (part !== undefined) socket.write(part, () => setImmediate(next));
      };
      next();
    });
    const { ask } = door({ allowedOrigins: [origin] });
    for (const count of [1, 2]) expect(await ask(origin)).toBe(`answer ${count}`);
    expect(sockets).toHaveLength(1);
  });

  test("without asking for its address again", async () => {
    const { port, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const origin = `http://idp.example:${port}`;
    let lookups = 0;
    const resolve = async () => [++lookups === 1 ? "127.0.0.1" : "127.0.0.2"];
    const { ask } = door({ allowedOrigins: [origin], resolve });
    for (const path of ["/a", "/b"]) await ask(origin + path);
    expect([lookups, sockets.length]).toEqual([1, 1]);
  });

  test("for any number of requests, without listeners of earlier ones", async () => {
    const { origin, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const { ask, ends } = door({ allowedOrigins: [origin] });
    const listeners = () => ["data", "error"].map((event) => ends[0]?.listenerCount(event));
    await ask(origin);
    const after = listeners();
    for (let count = 2; count <= 205; count++) {
      // However busy the machine is, no second without use ends it in between.
      ends[0]?.setTimeout(0);
      expect(await ask(origin)).toBe(`answer ${count}`);
    }
    expect(sockets).toHaveLength(1);
    expect(listeners()).toEqual(after);
  });

  test("after 204, which says nothing of a length", async () => {
    const { origin, sockets } = await server((socket) => socket.write("HTTP/1.1 204 No Content\r\n\r\n"));
    const { ask } = door({ allowedOrigins: [origin] });
    for (let count = 0; count < 3; count++) expect(await ask(origin)).toBe("");
    expect(sockets).toHaveLength(1);
  });

  test("by as many requests at once as there are connections", async () => {
    const { origin, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const { ask } = door({ allowedOrigins: [origin] });
    await Promise.all([ask(origin), ask(origin)]);
    expect(new Set(await Promise.all([ask(origin), ask(origin)])).size).toBe(2);
    expect(sockets).toHaveLength(2);
  });
});

describe("a connection is not used again", () => {
  test("by another profile, nor for another origin at the same address", async () => {
    const { port, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const origins = [`http://a.example:${port}`, `http://b.example:${port}`];
    const { ask } = door({ allowedOrigins: origins, resolve: async () => ["127.0.0.1"] });
    for (const origin of origins) for (const profile of ["one", "other"]) await ask(origin, profile);
    expect(sockets).toHaveLength(4);
  });

  test("by a request that does not say whose it is", async () => {
    const { origin, sockets, requests } = await server((socket, count) => socket.write(answerOf(count)));
    const { egress, ask } = door({ allowedOrigins: [origin] });
    await ask(origin);
    await egress.send({ url: origin, maxBytes: 1000 });
    expect(sockets).toHaveLength(2);
    expect(requests[1]).toContain("Connection: close\r\n");
    await until(() => sockets[1]?.closed);
  });

  test("for an origin that is not allowed", async () => {
    const { origin } = await server((socket, count) => socket.write(answerOf(count)));
    const allowedOrigins = [origin];
    const { ask } = door({ allowedOrigins });
    await ask(origin);
    allowedOrigins.pop();
    await expect(ask(origin)).rejects.toMatchObject({ reason: "address_not_allowed" });
  });

  test("half a minute after it was made: the name may have moved", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { port, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const origin = `http://idp.example:${port}`;
    let lookups = 0;
    const resolve = async () => {
      lookups++;
      return ["127.0.0.1"];
    };
    const { ask } = door({ allowedOrigins: [origin], resolve });
    for (const afterMs of [0, 20_000, 9000, 2000]) {
      vi.advanceTimersByTime(afterMs);
      await ask(origin);
    }
    expect([lookups, sockets.length]).toEqual([2, 2]);
  });

  test("a second after its last use: it is closed by then", async () => {
    const { origin, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    await door({ allowedOrigins: [origin] }).ask(origin);
    expect(sockets[0]?.closed).toBe(false);
    await until(() => sockets[0]?.closed);
  });

  test.each<[string, (count: number) => string]>([
    ["says that it is the last", (count) => answerOf(count, "Connection: close")],
    ["is of HTTP/1.0", (count) => answerOf(count).replace("1.1", "1.0")],
    ["says that the connection is kept for a second", (count) => answerOf(count, "Keep-Alive: timeout=1")],
    ["has another answer behind it", (count) => answerOf(count) + answerOf(99)],
    ["has another answer in chunks behind it", (count) => inChunks(count) + inChunks(9)],
    ["has the beginning of another behind it", (count) => `${answerOf(count)}HTTP/1.1 200 OK\r\nX: `],
    ["has, in chunks, the beginning of another behind it", (count) => `${inChunks(count)}HTTP/1.1 2`],
    ["has an empty line behind it", (count) => `${answerOf(count)}\r\n`],
    ["has, in chunks, an empty line behind it", (count) => `${inChunks(count)}\r\n`],
    [
      "has a beginning behind it that ends like chunks",
      (count) => `${inChunks(count)}HTTP/1.1 200 OK\r\nX: 0\r\n\r\n`,
    ],
    ["has heralds before it", (count) => `HTTP/1.1 103 Early Hints\r\n\r\n${answerOf(count)}`],
  ])("after an answer that %s (N76, A53)", async (_, answer) => {
    const { origin, sockets } = await server((socket, count) => socket.write(answer(count)));
    const { ask } = door({ allowedOrigins: [origin] });
    for (const count of [1, 2]) expect(await ask(origin)).toBe(`answer ${count}`);
    expect(sockets).toHaveLength(2);
  });

  test("after unrequested bytes (N76, A53)", async () => {
    const { origin, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const { ask, ends } = door({ allowedOrigins: [origin] });
    expect(await ask(origin)).toBe("answer 1");
    // So that it is not the second without use that ends it.
    ends[0]?.setTimeout(0);
    sockets[0]?.write(answerOf(99));
    await until(() => sockets[0]?.closed);
    expect(await ask(origin)).toBe("answer 2");
    expect(sockets).toHaveLength(2);
  });

  test("after the server has closed it", async () => {
    const { origin, sockets } = await server((socket, count) => socket.end(answerOf(count)));
    const { ask } = door({ allowedOrigins: [origin] });
    for (const count of [1, 2]) {
      expect(await ask(origin)).toBe(`answer ${count}`);
      await until(() => sockets[count - 1]?.closed);
    }
  });

  test("when it ends while it is taken", async () => {
    const { origin, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const { ask, ends } = door({ allowedOrigins: [origin] });
    await ask(origin);
    const asking = ask(origin);
    ends[0]?.destroy();
    expect(await asking).toBe("answer 2");
    expect(sockets).toHaveLength(2);
  });

  test("after an answer of which the beginning was enough", async () => {
    const { origin, sockets } = await server((socket, count) => socket.write(answerOf(count)));
    const { egress } = door({ allowedOrigins: [origin] });
    for (let count = 0; count < 2; count++) {
      const request = { url: origin, maxBytes: 6, cutsAnswer: true, keptFor: "profile" } as const;
      expect((await egress.send(request)).body.toString()).toBe("answer");
    }
    expect(sockets).toHaveLength(2);
  });

  test("after an answer that was too large, or that broke off", async () => {
    const { origin, sockets } = await server((socket, count) => {
      if (count === 1) socket.write(answerOf(1).replace("Length: 8", "Length: 1001"));
      else if (count === 2) socket.end(answerOf(2).slice(0, -1));
      else socket.write(answerOf(count));
    });
    const { ask } = door({ allowedOrigins: [origin] });
    await expect(ask(origin)).rejects.toMatchObject({ reason: "too_large" });
    await expect(ask(origin)).rejects.toMatchObject({ reason: "answer_broken" });
    expect(await ask(origin)).toBe("answer 3");
    expect(sockets).toHaveLength(3);
  });
});

describe("a request that is lost on a kept connection", () => {
  const lost = async () => {
    const { origin, sockets, requests } = await server((socket, count) => {
      if (count === 2) socket.destroy();
      else socket.write(answerOf(count));
    });
    const { ask } = door({ allowedOrigins: [origin] });
    await ask(origin);
    const fault = await ask(origin).catch((error) => error);
    return { origin, sockets, requests, ask, fault };
  };

  test("is not sent again: the other side may have read it (RFC 9112 9.3.1)", async () => {
    const { fault, requests } = await lost();
    expect(isEgressFault(fault) && [fault.reason, fault.wasSent]).toEqual(["answer_broken", true]);
    expect(requests).toHaveLength(2);
  });

  test("ends the keeping for this server for ten minutes", async () => {
    vi.useFakeTimers({ toFake: ["performance"] });
    const { origin, ask, sockets } = await lost();
    for (const count of [3, 4]) expect(await ask(origin)).toBe(`answer ${count}`);
    vi.advanceTimersByTime(10 * 60_000 - 1000);
    expect(await ask(origin)).toBe("answer 5");
    vi.advanceTimersByTime(1000);
    for (const count of [6, 7]) expect(await ask(origin)).toBe(`answer ${count}`);
    // The first was used twice, and so was the last.
    expect(sockets).toHaveLength(5);
  });
});

test("at most 200 connections are kept", async () => {
  const asked: Socket[] = [];
  const { origin } = await server((socket) => {
    if (asked.push(socket) < 205) return;
    asked.map((each, index) => each.write(answerOf(index)));
  });
  const { ask, ends } = door({ allowedOrigins: [origin] });
  await Promise.all(Array.from({ length: 205 }, (_, index) => ask(origin, `profile ${index}`)));
  expect(ends.filter(({ destroyed }) => !destroyed).length).toBeLessThanOrEqual(200);
});
