import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { sql } from "kysely";
import { afterEach, describe, expect, test } from "vitest";
import { isWanted, readOnly } from "../../bench/compare/options.ts";
import { createHttpClient } from "../../bench/load/http-client.ts";
import { figureOf } from "../../bench/measure/figures.ts";
import { measureRound } from "../../bench/measure/measure.ts";
import { seed } from "../../bench/seeding/seed.ts";
import type { Server } from "../../bench/servers/process.ts";
import type { Target, Workload } from "../../bench/workloads/workload.ts";
import { connectStorage } from "../../packages/server/src/storage/open.ts";
import type { Tables } from "../../packages/server/src/storage/tables.ts";
import { engines } from "../../packages/server/test/support/engines.ts";

/** The instruments of the benchmark, not its measurements. */

const undo: (() => void)[] = [];
afterEach(() => {
  for (const step of undo.splice(0)) step();
});

async function answering(bytes: string): Promise<string> {
  const server = createServer((socket) =>
    socket.once("data", async () => {
      // Each byte is a packet of its own.
      for (const byte of Buffer.from(bytes)) await new Promise((sent) => socket.write(Buffer.of(byte), sent));
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  undo.push(() => server.close());
  return `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
}

describe("the load generator", () => {
  test.each([
    ["with a length", 'HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n{"ä"}', '{"ä"}'],
    [
      "in chunks",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
      "abcde",
    ],
    ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", ""],
  ])("reads an answer %s completely, however its bytes arrive", async (_, bytes, body) => {
    const client = createHttpClient();
    undo.push(client.close);
    expect((await client.send({ url: await answering(bytes) })).body).toBe(body);
  });

  test("returns every received cookie, without its attributes", async () => {
    const client = createHttpClient();
    undo.push(client.close);
    const head = "HTTP/1.1 303 See Other\r\nLocation: /on\r\nSet-Cookie: a=1; Path=/\r\nset-cookie: b=2\r\n";
    const answer = await client.send({ url: await answering(`${head}Content-Length: 0\r\n\r\n`) });
    expect([answer.status, answer.header("location"), answer.cookies()]).toEqual([303, "/on", "a=1; b=2"]);
  });

  test("opens no more connections than allowed, and queues the other requests", async () => {
    let connections = 0;
    const server = createHttpServer((_, response) => void setImmediate(() => response.end("{}")));
    server.on("connection", () => connections++);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    undo.push(() => server.close());
    const client = createHttpClient(3);
    undo.push(client.close);
    const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/`;
    const answers = await Promise.all(Array.from({ length: 50 }, () => client.send({ url })));
    expect(answers.map(({ body }) => body)).toEqual(Array(50).fill("{}"));
    expect(connections).toBe(3);
  });
});

test("the result of several rounds is the median", () => {
  expect(figureOf([3, 1, 2])).toEqual({ median: 2, low: 1, high: 3 });
  expect(figureOf([4, 1, 2, 3]).median).toBe(2.5);
});

describe("a round", () => {
  const seen = { count: 10, elapsedMs: 5, p50Us: 1, p99Us: 2 };
  const target = { contestant: "limit" } as Target;
  const server = { usage: async () => ({ cpuUs: 0, rssBytes: 0 }) } as Server;
  const measure = (...faults: string[]) => {
    const receive = async (member: string) => {
      const fault = member === "seen" ? faults.shift() : undefined;
      if (fault !== undefined) throw new Error(fault);
      return seen as never;
    };
    const instruments = {
      load: { receive, send() {} },
      databases: { usage: () => new Map() },
      pauseMs: 0,
    };
    return measureRound(instruments, { target, server }, { name: "redeem" } as Workload, { count: 10 });
  };
  const AWAY = 'expected 200, got 503: {"errors":[{"code":"storage_unavailable"}]}';

  test("in which the service's database did not answer is repeated, three times at most, and reported", async () => {
    expect((await measure()).repeated).toBe(0);
    expect((await measure(AWAY, AWAY, AWAY)).repeated).toBe(3);
    await expect(measure(AWAY, AWAY, AWAY, AWAY)).rejects.toThrow("storage_unavailable");
  });

  test("with a wrong answer ends the run", async () => {
    await expect(measure("expected 200, got 500")).rejects.toThrow("got 500");
  });
});

test("words select a run: all of them must match, a comma means or", () => {
  const only = readOnly("Redeem sqlite, authorize");
  const names = ["redeem sqlite", "redeem postgres", "authorize postgres", "read key sqlite"];
  expect(names.filter((name) => isWanted({ only }, name))).toEqual(["redeem sqlite", "authorize postgres"]);
  expect(isWanted({ only: readOnly(undefined) }, "anything")).toBe(true);
});

describe.each(engines)("seeding on $name", ({ isHere, create }) => {
  test.skipIf(!isHere)(
    "fills a new database with consistent rows, and leaves a filled one unchanged",
    async () => {
      const { url: databaseUrl, drop } = await create();
      const counts = { customers: 120, signOns: 150, tokens: 130, keys: 60, stores: 3 };
      const { store, samples } = await seed({ databaseUrl, counts });
      const { db, close } = await connectStorage(databaseUrl);
      const countOf = async (table: keyof Tables) =>
        (await db.selectFrom(table).select(sql`1`.as("one")).execute()).length;
      const tables = ["customers", "sign_ons", "customer_tokens", "application_keys", "stores"] as const;
      expect(await Promise.all(tables.map(countOf))).toEqual([120, 150, 130, 60 + 2, 3]);
      const [customer] = samples.customers;
      const known = db
        .selectFrom("customer_identities")
        .selectAll()
        .where("customer_id", "=", customer?.id ?? "");
      expect(await known.execute()).toMatchObject([{ store_id: store.id, subject: "subject-seeded-0" }]);
      await close();
      await expect(seed({ databaseUrl, counts })).rejects.toThrow("already");
      await drop();
    },
  );
});
