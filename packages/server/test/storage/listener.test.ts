import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { revokeToken } from "../../src/contract/access-tokens.ts";
import { getStore } from "../../src/contract/store.ts";
import { createTestApp, type TestApp } from "../support/app.ts";
import { call } from "../support/call.ts";
import { postgresEngine, type TestDatabase } from "../support/engines.ts";
import { type FaultProxy, startFaultProxy } from "../support/fault-proxy.ts";
import { until } from "../support/until.ts";

/**
 * Instances learn of each other's changes over a listening connection. While it is dead, an instance clears its caches
 * at every beat, so that a token that was revoked elsewhere is refused in time.
 */

type Wire = {
  url: string;
  /** The fault for connections that listen; statements on others pass. */
  mode: "passes" | "refuses" | "holds";
  listening: Set<number>;
  line: FaultProxy;
};

async function wireTo(databaseUrl: string): Promise<Wire> {
  const line = await startFaultProxy(Number(new URL(databaseUrl).port));
  const wire: Wire = { mode: "passes", listening: new Set(), line, url: line.via(databaseUrl) };
  line.toServer.judge = (piece, connection) => {
    if (/\blisten /i.test(piece.toString("latin1"))) wire.listening.add(connection);
    if (wire.mode === "passes" || !wire.listening.has(connection)) return "pass";
    return wire.mode === "refuses" ? "cut" : "silence";
  };
  return wire;
}

describe("while the listening connection is dead", () => {
  let database: TestDatabase;
  let wire: Wire;
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
    await wire?.line.close();
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
        await until(() => wire.listening.size > 0);
        wire.mode = "holds";
        wire.line.silence((connection) => wire.listening.has(connection));
      },
    ],
    [
      "it breaks after it has listened, and cannot be made again",
      async () => {
        await open();
        await until(() => wire.listening.size > 0);
        wire.mode = "refuses";
        wire.line.cut();
      },
    ],
  ])("%s: a token that another instance revokes is refused here at the next beat (I4)", async (_, kill) => {
    await kill();
    const store = await there.createStore();
    for (let round = 0; round < 3; round++) {
      const token = await store.token();
      const isKnown = async () => (await call(here.app, getStore, { token })).status === 200;
      // Repeated until it answers: the pool's own connections may have been cut as well.
      await until(isKnown);
      const { clientId: client_id, clientSecret: client_secret } = store.key;
      await call(there.app, revokeToken, { form: { token, client_id, client_secret } });
      await until(async () => !(await isKnown()));
      expect((await call(here.app, getStore, { token })).code).toBe("token_invalid");
    }
  });
});
