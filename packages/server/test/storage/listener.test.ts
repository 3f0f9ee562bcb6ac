import { connect, createServer, type Server, type Socket } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { revokeToken } from "../../src/contract/access-tokens.ts";
import { getStore } from "../../src/contract/store.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { postgresEngine, type TestDatabase } from "../support/engines.ts";
import { until } from "../support/until.ts";

/**
 * Instances hear of each other's changes over a connection that listens. While it is dead, what an instance has in
 * memory goes at every beat: a token that was revoked elsewhere must not live on here for longer.
 */

type Mode = "passes" | "refuses" | "holds";

/** PostgreSQL behind a wire that lets statements through, and does as it is told with connections that listen. */
async function wireTo(databaseUrl: string) {
  const { hostname: host, port } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  const wire = { mode: "passes" as Mode, listening: 0, url: "", cut, close };

  function cut(): void {
    for (const socket of sockets) socket.destroy();
  }
  const server: Server = createServer((client) => {
    const upstream = connect({ host, port: Number(port) });
    let listens = false;
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        sockets.delete(socket);
        client.destroy();
        upstream.destroy();
      });
    }
    client.on("data", (bytes) => {
      if (/\blisten /i.test(bytes.toString("latin1"))) {
        listens = true;
        if (wire.mode === "passes") wire.listening++;
      }
      if (!listens || wire.mode === "passes") upstream.write(bytes);
      else if (wire.mode === "refuses") client.destroy();
    });
    upstream.on("data", (bytes) => {
      if (!listens || wire.mode === "passes") client.write(bytes);
    });
  });
  async function close(): Promise<void> {
    cut();
    await new Promise((resolve) => server.close(resolve));
  }
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.port = String((server.address() as { port: number }).port);
  wire.url = url.href;
  return wire;
}

describe("while the connection that listens is dead", () => {
  let database: TestDatabase;
  let wire: Awaited<ReturnType<typeof wireTo>>;
  let here: TestApp;
  let there: TestApp;

  beforeEach(async ({ skip }) => {
    if (!postgresEngine.isHere) skip("this engine is not installed");
    database = await postgresEngine.create();
    wire = await wireTo(database.url);
    there = await createTestApp({ databaseUrl: database.url });
  });
  afterEach(async () => {
    await here?.close();
    await there?.close();
    await wire?.close();
    await database?.drop();
  });

  const open = async () => {
    here = await createTestApp({ databaseUrl: wire.url });
  };

  test.each<[string, () => Promise<void>]>([
    [
      "it is refused from the start",
      async () => {
        wire.mode = "refuses";
        await open();
      },
    ],
    [
      "LISTEN is never answered",
      async () => {
        wire.mode = "holds";
        await open();
      },
    ],
    [
      "it falls silent after it has listened",
      async () => {
        await open();
        await until(() => wire.listening > 0);
        wire.mode = "holds";
      },
    ],
    [
      "it breaks after it has listened, and cannot be made again",
      async () => {
        await open();
        await until(() => wire.listening > 0);
        wire.mode = "refuses";
        wire.cut();
      },
    ],
  ])("%s: a token that another instance revokes is refused here at the next beat (I4)", async (_, kill) => {
    await kill();
    const store = await there.createStore();
    for (let round = 0; round < 3; round++) {
      const token = await store.token();
      const isKnown = async () => (await call(here.app, getStore, { token })).status === 200;
      // Asked until it answers: the pool's own connections may have been cut as well.
      await until(isKnown);
      const { clientId: client_id, clientSecret: client_secret } = store.key;
      await call(there.app, revokeToken, { form: { token, client_id, client_secret } });
      await until(async () => !(await isKnown()));
      expect((await call(here.app, getStore, { token })).code).toBe("token_invalid");
    }
  });
});
