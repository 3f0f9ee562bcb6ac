import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { revokeToken } from "../../src/contract/access-tokens.ts";
import { deleteApplicationKey } from "../../src/contract/application-keys.ts";
import { streamEvents } from "../../src/contract/events.ts";
import { limits } from "../../src/contract/limits.ts";
import { updateStore } from "../../src/contract/store.ts";
import { byService } from "../../src/events/event.ts";
import { noteEvents } from "../../src/events/note.ts";
import { watchConnections } from "../../src/http/drain.ts";
import { createHttpServer } from "../../src/http/server.ts";
import { openStorage } from "../../src/storage/open.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { call, toRequest } from "../support/call.ts";
import { handClock } from "../support/clock.ts";
import { observe } from "../support/observed.ts";
import { watchStatements } from "../support/statements.ts";
import { longTest } from "../support/test-run.ts";
import { until } from "../support/until.ts";

let latchkey: TestApp;
let store: TestStore;
let token: string;
let readers: Reader[];

beforeEach(async () => {
  latchkey = await createTestApp();
  store = await latchkey.createStore();
  token = await store.token();
  await latchkey.app.tidy();
  readers = [];
});
afterEach(async () => {
  for (const reader of readers) await reader.leave();
  await latchkey.close();
});

type Reader = { status: number; text(): string; isOver(): boolean; leave(): Promise<void> };

async function open(query = "", headers: Record<string, string> = {}): Promise<Reader> {
  const response = await latchkey.app.fetch(toRequest(streamEvents, { token, query, headers }));
  let text = "";
  let isOver = false;
  const body = response.body?.getReader();
  const reading = (async () => {
    for (;;) {
      const { done, value } = (await body?.read()) ?? { done: true, value: undefined };
      if (done) break;
      text += Buffer.from(value ?? []).toString();
    }
    isOver = true;
  })();
  const reader = {
    status: response.status,
    text: () => text,
    isOver: () => isOver,
    async leave() {
      await body?.cancel();
      await reading;
    },
  };
  readers.push(reader);
  return reader;
}

const rename = async (name: string) => {
  await store.call(updateStore, { json: { data: { type: "store", name } } });
  await latchkey.app.tidy();
};
const messages = ({ text }: Reader) =>
  text()
    .split("\n\n")
    .filter((part) => part.includes("data: "))
    .map((part) => {
      const [, id, data] = /^id: (\d+)\ndata: (.*)$/.exec(part) ?? [];
      return { id, event: JSON.parse(data ?? "null") };
    });
const ids = (reader: Reader) => messages(reader).map(({ id }) => id);

describe("a stream of events", () => {
  test("200: new events, each message with its number and the event of the list", async () => {
    const stream = await open();
    expect(stream.status).toBe(200);
    observe(streamEvents.id, "200");
    await until(async () => stream.text() !== "");
    expect(stream.text()).toBe("retry: 2000\nid: 2\n\n");
    await rename("one");
    await rename("two");
    await until(async () => messages(stream).length === 2);
    expect(ids(stream)).toEqual(["3", "4"]);
    expect(messages(stream)[1]?.event).toMatchObject({
      type: "store.updated",
      sequence: "4",
      data: { changes: { name: { before: "one", after: "two" } } },
    });
  });

  test("resumes after a number, by Last-Event-ID before `after`", async () => {
    await rename("one");
    const whole = await open("after=0");
    await until(async () => messages(whole).length === 3);
    expect(ids(whole)).toEqual(["1", "2", "3"]);
    const rest = await open("after=0", { "last-event-id": "2" });
    await until(async () => messages(rest).length === 1);
    expect(ids(rest)).toEqual(["3"]);
    const bad = await call(latchkey.app, streamEvents, { token, headers: { "last-event-id": "x" } });
    expect(bad.body.errors).toMatchObject([
      {
        code: "parameter_invalid",
        detail: "`Last-Event-ID`: expected the number of an event.",
        source: { header: "Last-Event-ID" },
      },
    ]);
  });

  test("resumes after the last number for a reader that is further ahead than a restored log", async () => {
    const stream = await open("", { "last-event-id": "500" });
    await until(async () => stream.text() !== "");
    expect(stream.text()).toBe("retry: 2000\nid: 2\n\n");
    await rename("one");
    await until(async () => messages(stream).length === 1);
    expect(ids(stream)).toEqual(["3"]);
  });

  test("410 for a number that was deleted", async () => {
    const first = { first_sequence: 3 };
    await latchkey.storage.db
      .updateTable("event_heads")
      .set(first)
      .where("store_id", "=", store.store.id)
      .execute();
    const gone = await call(latchkey.app, streamEvents, { token, query: "after=1" });
    expect(gone.code).toBe("events_gone");
  });

  test("sends a comment every 15 seconds without an event", async () => {
    const stream = await open();
    await until(async () => stream.text() !== "");
    latchkey.clock.advance(14_000);
    await rename("one");
    await until(async () => messages(stream).length === 1);
    expect(stream.text()).not.toContain("\n: ");
    latchkey.clock.advance(15_000);
    await until(async () => stream.text().endsWith("\n\n: still here\n\n"));
  });

  test("sends events that another instance has numbered", async () => {
    const stream = await open();
    await until(async () => stream.text() !== "");
    const other = await createTestApp({ storage: latchkey.storage, clock: latchkey.clock });
    const { storage, clock } = latchkey;
    const happening = { type: "store.updated", subject: "x", resource: { type: "store", id: "x" } } as const;
    await storage.transact((trx) => noteEvents(trx, { clock }, byService(store.store.id), [happening]));
    await other.app.tidy();
    await until(async () => ids(stream).length === 1);
  });

  test("continues after the database was away, and misses no event", async () => {
    let isAway = false;
    let refused = 0;
    const plain = await openStorage({ clock: handClock() }, "sqlite::memory:");
    const storage = watchStatements(plain, ({ sql }) => {
      if (!isAway || !sql.includes('from "events"')) return;
      refused++;
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    });
    await latchkey.close();
    latchkey = await createTestApp({ storage });
    store = await latchkey.createStore();
    token = await store.token();
    await latchkey.app.tidy();
    const stream = await open();
    await until(async () => stream.text() !== "");
    isAway = true;
    await rename("one");
    await until(async () => refused > 1);
    expect([stream.isOver(), ids(stream)]).toEqual([false, []]);
    isAway = false;
    await until(async () => ids(stream).length === 1);
    expect(messages(stream)[0]).toMatchObject({ id: "3", event: { type: "store.updated" } });
  });

  test("ends when the access token expires", async () => {
    const stream = await open();
    latchkey.clock.advance(limits.accessTokenSeconds * 1000);
    await until(async () => stream.isOver());
  });

  test("ends when the token is revoked, and when its key is deleted", async () => {
    const { clientId: client_id, clientSecret: client_secret } = store.key;
    const revoked = await open();
    const form = { token, client_id, client_secret };
    await call(latchkey.app, revokeToken, { form });
    await until(async () => revoked.isOver());
    token = await store.token();
    const keyless = await open();
    await call(latchkey.app, deleteApplicationKey, { token, ids: { id: store.key.id } });
    await until(async () => keyless.isOver());
  });

  test("429 for a store's twenty-first stream; other stores count separately, and a closed stream makes room", async () => {
    for (let at = 0; at < limits.eventStreams; at++) await open();
    const refused = await call(latchkey.app, streamEvents, { token });
    expect([refused.status, refused.code]).toEqual([429, "streams_exceeded"]);
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
    const other = await latchkey.createStore();
    const theirs = await latchkey.app.fetch(toRequest(streamEvents, { token: await other.token() }));
    expect(theirs.status).toBe(200);
    await theirs.body?.cancel();
    await readers.pop()?.leave();
    expect((await open()).status).toBe(200);
  });

  test("HEAD answers with the headers, and opens no stream", async () => {
    for (let at = 0; at < limits.eventStreams + 1; at++) {
      const asked = toRequest(streamEvents, { token });
      const response = await latchkey.app.fetch(new Request(asked, { method: "HEAD" }));
      expect([response.status, response.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
    }
  });
});

describe("on a port", () => {
  const started: { close(): Promise<void> }[] = [];
  afterEach(async () => {
    for (const one of started.splice(0)) await one.close();
  });

  async function serve() {
    const server = createHttpServer(latchkey.app);
    const draining = watchConnections(server);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    started.push({ close: () => draining.finish(0) });
    return { server, port: (server.address() as AddressInfo).port, draining };
  }

  test("a stream is sent without buffering, and ends with the service: no client is cut off", async () => {
    const { port, draining } = await serve();
    const headers = { authorization: `Bearer ${token}` };
    const asking = request({ host: "127.0.0.1", port, path: "/v2/events/stream", headers }).end();
    const [response] = await once(asking, "response");
    let text = "";
    response.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
    });
    await until(async () => text.includes("id: 2"));
    await rename("one");
    await until(async () => text.includes("id: 3"));
    draining.begin(10);
    latchkey.app.endStreams();
    await once(response, "end");
    await draining.finish(5000);
  });

  longTest("a client that does not read costs bounded memory, delays nobody and is cut off", async () => {
    const { server, port } = await serve();
    const { storage, clock } = latchkey;
    const happenings = Array.from({ length: 500 }, (_, at) => ({
      type: "store.updated" as const,
      subject: `${at}`,
      resource: { type: "store", id: "x", text: "x".repeat(4000) },
    }));
    for (let at = 0; at < 20; at++)
      await storage.transact((trx) => noteEvents(trx, { clock }, byService(store.store.id), happenings));
    await latchkey.app.tidy();
    const connected = once(server, "connection");
    const deaf = connect({ host: "127.0.0.1", port });
    deaf.write(`GET /v2/events/stream?after=0 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    deaf.pause();
    deaf.on("error", () => {});
    const [line] = await connected;
    const reader = await open("after=10000");
    await until(async () => ids(reader).length === 2);
    // Forty megabytes are waiting. The service holds a socket's buffer and one page.
    const before = process.memoryUsage().arrayBuffers;
    const closed = once(deaf, "close");
    await until(() => {
      expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20e6);
      return line.destroyed;
    });
    deaf.resume();
    await closed;
    expect(deaf.bytesRead).toBeLessThan(20e6);
  });
});
