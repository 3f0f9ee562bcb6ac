import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import type { AddressInfo } from "node:net";
import { text as readText } from "node:stream/consumers";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { revokeToken } from "../../src/contract/access-tokens.ts";
import { createApplicationKey, updateApplicationKey } from "../../src/contract/application-keys.ts";
import { createCustomer, listCustomers } from "../../src/contract/customers.ts";
import { listEvents } from "../../src/contract/events.ts";
import { createIntegration, listIntegrations } from "../../src/contract/integrations.ts";
import { limits } from "../../src/contract/limits.ts";
import { createMember, listMembers } from "../../src/contract/members.ts";
import { listRealms } from "../../src/contract/realms.ts";
import type { Role } from "../../src/contract/roles.ts";
import { listSignOns } from "../../src/contract/sign-ons.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { brokenDatabase } from "../every-operation/requests.ts";
import { createTestApp, getToken, type TestApp, type TestStore } from "../support/app.ts";
import { type Call, call, toRequest } from "../support/call.ts";
import { csvRows } from "../support/csv.ts";
import { engines, type TestDatabase } from "../support/engines.ts";
import { insertCrowd, insertEvents } from "../support/many-rows.ts";
import { watchStatements } from "../support/statements.ts";
import { longTest } from "../support/test-run.ts";
import { until } from "../support/until.ts";

const CSV = { accept: "text/csv" };

setFlagsFromString("--expose-gc");
const collect: () => void = runInNewContext("gc");

/** Memory in use, without what waits to be collected. */
function usedBytes(): number {
  collect();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

/** The rows of a file as objects, by the names of its columns. */
function recordsOf(text: string): Record<string, string>[] {
  const [head = [], ...rows] = csvRows(text);
  return rows.map((row) => Object.fromEntries(row.map((cell, at) => [head[at], cell])));
}

describe.each(engines)("a list as CSV, on $name", (engine) => {
  let database: TestDatabase;
  let latchkey: TestApp;
  let store: TestStore;

  beforeEach(async ({ skip }) => {
    if (!engine.isHere) skip("this engine is not installed");
    database = await engine.create();
    latchkey = await createTestApp({ databaseUrl: database.url });
    store = await latchkey.createStore(100_000);
  });
  afterEach(async () => {
    await latchkey?.close();
    await database?.drop();
  });

  const createNamed = (name: string, email: string) =>
    store.call(createCustomer, { json: { data: { type: "customer", name, email } } });
  const crowd = (count: number, tables = ["customers"]) =>
    insertCrowd(latchkey.storage, { storeId: store.store.id, count, overAt: 1e12, tables });
  const csv = (asked: Call & { operation?: typeof listCustomers } = {}) =>
    store.call(asked.operation ?? listCustomers, { headers: CSV, ...asked });

  /** The service on a port, where a client can be slow or leave. */
  async function serve() {
    const server = createHttpServer(latchkey.app);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    onTestFinished(async () => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return async (path: string): Promise<IncomingMessage> => {
      const headers = { authorization: `Bearer ${await store.token()}`, ...CSV };
      const asking = request({ host: "127.0.0.1", port, path, headers, agent: false }).end();
      const [response] = await once(asking, "response");
      return response.on("error", () => {});
    };
  }

  /** A second key, whose role a test changes. */
  async function createKey() {
    const data = { type: "application_key", name: "Other" };
    const { body } = await store.call(createApplicationKey, { json: { data } });
    const { id, client_id: clientId, client_secret: clientSecret } = body.data;
    const key = { id, clientId, clientSecret };
    return {
      token: await getToken(latchkey.app, { ...store, key }, "client_credentials"),
      setRole: (role: Role) =>
        store.call(updateApplicationKey, { ids: { id }, json: { data: { ...data, role } } }),
    };
  }

  /** Counts the pages that are read. */
  function countPages(table: string, onPage = () => {}): () => number {
    let count = 0;
    const watched = watchStatements(latchkey.storage, ({ sql }) => {
      if (!sql.includes(`from "${table}"`) || !sql.includes("order by")) return;
      count++;
      onPage();
    });
    latchkey.storage.db = watched.db;
    return () => count;
  }

  test("has every row once, over many pages, whatever `page[…]` says", async () => {
    await crowd(250);
    const { body } = await csv({ query: "page[limit]=1&page%5Boffset%5D=x&page[after]=%27" });
    const emails = recordsOf(body).map(({ email }) => email);
    expect(new Set(emails).size).toBe(250);
    expect(emails).toHaveLength(250);
  });

  test("has the same filter and sort as the JSON", async () => {
    await crowd(230);
    const query = "filter=like(name,somebody 1*)&sort=-name";
    const json: { name: string }[] = [];
    for (let offset = 0; offset < 200; offset += 100)
      json.push(
        ...(await store.call(listCustomers, { query: `${query}&page[limit]=100&page[offset]=${offset}` }))
          .body.data,
      );
    expect(json.length).toBeGreaterThan(100);
    expect(recordsOf((await csv({ query })).body).map(({ name }) => name)).toEqual(
      json.map(({ name }) => name),
    );
    expect((await csv({ query: "filter=eq(email,x)" })).body.split("\r\n")).toHaveLength(2);
  });

  test("shows a text that a spreadsheet would take for a formula as text", async () => {
    const names = [
      "=1+1",
      "+1",
      "-1",
      "@SUM(A1)",
      '=HYPERLINK("https://evil.example","a")',
      "Reed, Ada",
      "'='",
    ];
    for (const [at, name] of names.entries()) await createNamed(name, `${at}@shop.example`);
    const { body } = await csv({ query: "sort=created_at" });
    expect(recordsOf(body).map(({ name }) => name)).toEqual([
      ...["'=1+1", "'+1", "'-1", "'@SUM(A1)", `'=HYPERLINK("https://evil.example","a")`, "Reed, Ada", "'='"],
    ]);
    expect(body).not.toMatch(/(^|,|\r\n)"?[=+\-@\t]/);
  });

  test("is a file named by the list and the day, in UTF-8", async () => {
    await createNamed("Zoë 🔑", "zoe@shop.example");
    const { headers, body } = await csv();
    expect(headers.get("content-disposition")).toBe('attachment; filename="customers-2026-01-01.csv"');
    expect(headers.get("content-type")).toBe("text/csv; charset=utf-8");
    expect(recordsOf(body)[0]?.name).toBe("Zoë 🔑");
    const ofRealms = await csv({ operation: listRealms as never });
    expect(ofRealms.headers.get("content-disposition")).toContain("authentication-realms-2026-01-01.csv");
  });

  test("of the log has every event, by `types`, `after` and `filter`", async () => {
    await insertEvents(latchkey.storage, store.store.id, 250);
    const sequences = async (query: string) =>
      recordsOf((await csv({ operation: listEvents as never, query })).body).map(({ sequence }) =>
        Number(sequence),
      );
    const all = Array.from({ length: 250 }, (_, at) => at + 1);
    expect(await sequences("page[limit]=1")).toEqual(all);
    expect(await sequences("after=140")).toEqual(all.slice(140));
    expect(await sequences("types=customer.*&filter=eq(subject,customer 7)")).toEqual([8]);
    expect(await sequences("types=store.*")).toEqual([]);
  });

  test("is refused like the JSON, and then counts as no export", async () => {
    for (let at = 0; at < limits.exportsPerHour; at++) {
      expect((await csv({ query: "filter=x" })).code).toBe("parameter_invalid");
      expect((await csv({ query: "sort=x" })).code).toBe("parameter_invalid");
    }
    await insertEvents(latchkey.storage, store.store.id, 3);
    await latchkey.storage.db.updateTable("event_heads").set({ first_sequence: 3 }).execute();
    for (let at = 0; at < limits.exportsPerHour; at++)
      expect((await csv({ operation: listEvents as never, query: "after=0" })).code).toBe("events_gone");
    expect((await csv()).status).toBe(200);
  });

  test("429 after sixty in an hour, with the time when there is room; another store is served", async () => {
    for (let at = 0; at < limits.exportsPerHour; at++) {
      expect((await csv()).status).toBe(200);
      latchkey.clock.advance(1000);
    }
    const refused = await csv();
    expect([refused.status, refused.code]).toEqual([429, "exports_exceeded"]);
    expect(refused.headers.get("retry-after")).toBe(String(3600 - limits.exportsPerHour));
    expect(refused.body.errors[0].meta.bucket).toBe("hour");
    const other = await latchkey.createStore();
    expect((await other.call(listCustomers, { headers: CSV })).status).toBe(200);
    expect((await store.call(listCustomers)).status).toBe(200);
  });

  test("HEAD has the headers of the file, and leaves room for others", async () => {
    for (let at = 0; at < limits.exportsAtOnce + 1; at++) {
      const asked = toRequest(listCustomers, { token: await store.token(), headers: CSV });
      const { status, headers } = await latchkey.app.fetch(new Request(asked, { method: "HEAD" }));
      expect([status, headers.get("content-type")]).toEqual([200, "text/csv; charset=utf-8"]);
    }
  });

  longTest(
    "20,000 rows, sixty megabytes, arrive whole, with the memory of a few pages",
    async () => {
      await crowd(20_000, ["sign_ons"]);
      const checks = JSON.stringify([{ check: "x".repeat(3000), passed: true }]);
      for (let from = 0; from < 1000; from += 100)
        await latchkey.storage.db
          .updateTable("sign_ons")
          .set({ checks })
          .where("started_at", "<=", 1e12 - from)
          .where("started_at", ">", 1e12 - from - 100)
          .execute();
      let [lines, bytes] = [0, 0];
      const used: number[] = [];
      const pages = countPages("sign_ons", () => {
        if (pages() % 20 === 0) used.push(usedBytes());
      });
      const ask = await serve();
      const response = await ask("/v2/sign-ons");
      for await (const chunk of response as AsyncIterable<Buffer>) {
        lines += chunk.toString("latin1").split("\n").length - 1;
        bytes += chunk.length;
      }
      expect([lines, response.complete]).toEqual([20_001, true]);
      expect(bytes).toBeGreaterThan(60e6);
      // Both ends of the connection are in this process, with their buffers.
      const [first = 0, ...later] = used;
      expect(Math.max(...later) - first).toBeLessThan(bytes / 2);
    },
    120_000,
  );

  test("a client that stops reading stops the reading of pages, and one that leaves ends the export", async () => {
    await crowd(20_000, ["sign_ons"]);
    const pages = countPages("sign_ons");
    const ask = await serve();
    const slow = await ask("/v2/sign-ons");
    await once(slow, "readable");
    let seen = -1;
    await until(() => {
      const isSame = pages() === seen;
      seen = pages();
      return isSame && seen > 0;
    });
    expect(seen).toBeLessThan(150);
    slow.destroy();
    // Its place is free again: as many as may be at once can begin.
    for (let at = 0; at < limits.exportsAtOnce; at++) {
      const held = await ask("/v2/sign-ons");
      expect(held.statusCode).toBe(200);
    }
    expect((await ask("/v2/sign-ons")).statusCode).toBe(429);
  }, 120_000);

  test("a fault after the first byte closes the connection before the end of the body", async () => {
    await crowd(20_000, ["sign_ons"]);
    const response = await (await serve())("/v2/sign-ons");
    expect(response.statusCode).toBe(200);
    const { db } = latchkey.storage;
    latchkey.storage.db = brokenDatabase(new TypeError("marker"));
    await expect(readText(response)).rejects.toThrow("aborted");
    latchkey.storage.db = db;
    expect(response.complete).toBe(false);
    const requestId = response.headers["x-request-id"];
    await until(() => latchkey.logLines.some((line) => line.request_id === requestId && line.cause));
  }, 120_000);

  test("ends when the access token is revoked or expires, and at no other time", async () => {
    await crowd(500);
    const readAll = async (token: string, between: () => Promise<unknown>) => {
      const response = await latchkey.app.fetch(toRequest(listCustomers, { token, headers: CSV }));
      const reader = response.body?.getReader();
      await reader?.read();
      await between();
      for (;;) if ((await reader?.read())?.done !== false) return;
    };
    const token = await store.token();
    await expect(
      readAll(token, () =>
        call(latchkey.app, revokeToken, {
          form: { token, client_id: store.key.clientId, client_secret: store.key.clientSecret },
        }),
      ),
    ).rejects.toThrow("token_invalid");
    await expect(readAll(await store.token(), async () => latchkey.clock.advance(3_700_000))).rejects.toThrow(
      "token_invalid",
    );
    await readAll(await store.token(), async () => {});
  });

  test("shows a viewer what the JSON shows, not what an administrator sees", async () => {
    const { token, setRole } = await createKey();
    const configuration = { url: "https://hooks.example/secret-path", secret_key: "secret-key" };
    const integration = {
      type: "integration",
      name: "One",
      integration_type: "webhook",
      observes: ["customer.*"],
    };
    await store.call(createIntegration, { json: { data: { ...integration, configuration } } });
    const ask = async () =>
      recordsOf((await call(latchkey.app, listIntegrations, { token, headers: CSV })).body);
    expect(await ask()).toMatchObject([
      { "configuration.url": configuration.url, "configuration.secret_key": configuration.secret_key },
    ]);
    await setRole("viewer");
    expect(await ask()).toMatchObject([
      { "configuration.url": "https://hooks.example/(hidden)", "configuration.secret_key": "" },
    ]);
  });

  test("goes on with the role of now: less of each row, or an end where the role is too low", async () => {
    const { token, setRole } = await createKey();
    for (let at = 0; at < 250; at++)
      await store.call(createMember, {
        json: { data: { type: "member", email: `m${at}@shop.example`, role: "viewer" } },
      });
    await latchkey.app.tidy();
    const members = await latchkey.app.fetch(toRequest(listMembers, { token, headers: CSV }));
    const events = await latchkey.app.fetch(
      toRequest(listEvents, { token, headers: CSV, query: "types=member.created" }),
    );
    await setRole("viewer");
    await expect(members.text()).rejects.toThrow("token_invalid");
    const rows = recordsOf(await events.text());
    expect(rows).toHaveLength(250);
    expect(rows[0]?.["data.resource"]).toContain("m0@shop.example");
    expect(rows.at(-1)).toMatchObject({ "data.withheld": "true", salt: "" });
    expect(rows.at(-1)?.["data.resource"]).not.toContain("@shop.example");
  });

  test("two exports of one store at once have the same rows", async () => {
    await crowd(700);
    const [one, other] = await Promise.all([csv(), csv()]);
    expect(one.body).toBe(other.body);
    expect(recordsOf(one.body)).toHaveLength(700);
    expect((await store.call(listSignOns)).status).toBe(200);
  });
});
