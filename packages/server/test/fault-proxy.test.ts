import { once } from "node:events";
import { createConnection, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type FaultProxy, startFaultProxy } from "./support/fault-proxy.ts";
import { until } from "./support/until.ts";

/** The proxy that other tests break: each fault has exactly its documented effect. */
describe("a proxy with faults", () => {
  type End = { socket: Socket; heard: string; isOver: boolean; fault: string | undefined };
  let server: Server;
  let served: End[];
  let line: FaultProxy;
  let clients: End[];

  const watch = (socket: Socket): End => {
    const end: End = { socket, heard: "", isOver: false, fault: undefined };
    socket.on("data", (piece) => {
      end.heard += piece;
    });
    socket.on("error", (error: NodeJS.ErrnoException) => {
      end.fault = error.code;
    });
    socket.on("close", () => {
      end.isOver = true;
    });
    return end;
  };
  const open = async (): Promise<End> => {
    const socket = createConnection(line.port, "127.0.0.1");
    const client = watch(socket);
    clients.push(client);
    await until(() => !socket.connecting);
    return client;
  };
  /** A client, and the server's end of the same connection. */
  const pair = async (): Promise<[End, End]> => {
    const known = served.length;
    const client = await open();
    await until(() => served.length > known);
    return [client, served[known] as End];
  };

  beforeEach(async () => {
    served = [];
    clients = [];
    server = createServer((socket) => served.push(watch(socket)));
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    line = await startFaultProxy((server.address() as { port: number }).port);
  });
  afterEach(async () => {
    for (const { socket } of clients) socket.destroy();
    await line.close();
    for (const { socket } of served) socket.destroy();
    server.close();
  });

  test("carries both directions, and the end of either", async () => {
    const [client, far] = await pair();
    client.socket.write("there");
    far.socket.write("back");
    await until(() => far.heard === "there" && client.heard === "back");
    client.socket.end();
    await until(() => far.isOver);
    const [other, otherFar] = await pair();
    otherFar.socket.end();
    await until(() => other.isOver);
    expect([client.fault, other.fault, line.opened()]).toEqual([undefined, undefined, 2]);
  });

  test("has an address that leads through it", () => {
    expect(line.via("postgres://me@db.example:5432/shop?x=1")).toBe(
      `postgres://me@127.0.0.1:${line.port}/shop?x=1`,
    );
  });

  test.each(["toServer", "toClient"] as const)("%s is delayed and slowed alone", async (way) => {
    const [client, far] = await pair();
    const [slow, quick] = way === "toServer" ? [client, far] : [far, client];
    const heardAt = (end: End) => (end === client ? far : client);
    line[way].delayMs = 100;
    line[way].bytesPerSecond = 1000;
    const startedMs = performance.now();
    quick.socket.write("quick");
    slow.socket.write("x".repeat(200));
    await until(() => heardAt(quick).heard === "quick");
    expect(heardAt(slow).heard).toBe("");
    await until(() => heardAt(slow).heard.length === 200);
    expect(performance.now() - startedMs).toBeGreaterThan(290);
  });

  test("one direction is held alone; after repair everything arrives in order, also the end", async () => {
    const [client, far] = await pair();
    line.toServer.isHeld = true;
    client.socket.write("one ");
    far.socket.write("back");
    await until(() => client.heard === "back");
    client.socket.end("two");
    expect([far.heard, far.isOver]).toEqual(["", false]);
    line.mend();
    await until(() => far.isOver);
    expect(far.heard).toBe("one two");
  });

  test("cut: both ends are reset, and the next connection works", async () => {
    const [client, far] = await pair();
    line.cut();
    await until(() => client.isOver && far.isOver);
    expect([client.fault, far.fault]).toEqual(["ECONNRESET", "ECONNRESET"]);
    const [again, there] = await pair();
    again.socket.write("good");
    await until(() => there.heard === "good");
  });

  test("cut and silenced by number: other connections continue", async () => {
    const [first, second, third] = [await pair(), await pair(), await pair()] as const;
    line.cut((connection) => connection === 0);
    line.silence((connection) => connection === 1);
    for (const [client] of [first, second, third]) client.socket.write("on");
    await until(() => third[1].heard === "on" && first[0].isOver);
    expect([second[1].heard, second[0].isOver]).toEqual(["", false]);
  });

  test("silent: neither end receives anything, not even the close of the other", async () => {
    const [client, far] = await pair();
    line.silence();
    client.socket.end("lost");
    far.socket.write("lost");
    const [again, there] = await pair();
    again.socket.write("good");
    await until(() => there.heard === "good");
    expect([far.heard, far.isOver, client.heard]).toEqual(["", false, ""]);
  });

  test("a black hole accepts connections and returns nothing; after repair new ones work", async () => {
    const [old] = await pair();
    line.blackHole();
    const fresh = await open();
    old.socket.write("lost");
    fresh.socket.write("lost");
    line.mend();
    const [again, there] = await pair();
    again.socket.write("good");
    await until(() => there.heard === "good");
    expect(served.map(({ heard }) => heard)).toEqual(["", "good"]);
    expect([old.isOver, fresh.isOver]).toEqual([false, false]);
  });

  test("refused: new connections are reset, existing ones continue", async () => {
    const [old, far] = await pair();
    line.refuse();
    const fresh = await open();
    await until(() => fresh.isOver);
    old.socket.write("on");
    await until(() => far.heard === "on");
    expect(served).toHaveLength(1);
  });

  test("a chunk can be judged: it passes, silences its connection, or resets it", async () => {
    const [first, second] = [await pair(), await pair()] as const;
    line.toServer.judge = (piece, connection) =>
      piece.includes("bad") ? (connection === 0 ? "silence" : "cut") : "pass";
    for (const [client] of [first, second]) client.socket.write("good ");
    await until(() => first[1].heard === "good " && second[1].heard === "good ");
    for (const [client] of [first, second]) client.socket.write("bad");
    await until(() => second[0].isOver);
    first[1].socket.write("not heard");
    const [again, there] = await pair();
    again.socket.write("good");
    await until(() => there.heard === "good");
    expect([first[1].heard, first[0].heard, first[0].isOver]).toEqual(["good ", "", false]);
  });
});
