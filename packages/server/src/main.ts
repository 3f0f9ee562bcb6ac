import { once } from "node:events";
import build from "../package.json" with { type: "json" };
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import type { Traces } from "./contract/traces.ts";
import type { Valkey } from "./counters/valkey.ts";
import { type Draining, watchConnections } from "./http/drain.ts";
import { createHttpServer } from "./http/server.ts";
import { type Clock, steadyClock } from "./lib/clock.ts";
import { giveBackWhenIdle } from "./lib/give-back.ts";
import { createKeyring } from "./lib/keyring.ts";
import { createLineWriter, type LineWriter } from "./lib/line-writer.ts";
import { createLog, type Log } from "./lib/log.ts";
import { operatorFault } from "./lib/operator-fault.ts";
import { trustedProxies } from "./lib/source-address.ts";
import { refuseMissingKeys } from "./sealed.ts";
import { openStorage } from "./storage/open.ts";
import type { Storage } from "./storage/storage.ts";
import type { Workers } from "./workers.ts";

const FINISH_WITHIN_MS = 6000;

type Starting = {
  /** Runs before the first request, and can write to the database. */
  prepare?: (deps: { storage: Storage; clock: Clock }) => Promise<void>;
  /** Set when this process is one of several workers. */
  worker?: { number: number; workers: Workers };
};

/** Opens everything and listens. */
export async function startService(config: Config, { prepare, worker }: Starting = {}) {
  const lines = createLineWriter(1, { isShared: worker !== undefined });
  const log = createLog(config.logLevel, lines, worker && { worker: worker.number });
  const clock = steadyClock();
  const storage = await openStorage({ clock }, config.databaseUrl, {
    claim: true,
    connections: config.databasePool,
    directUrl: config.databaseDirectUrl,
  });
  const doors: Draining[] = [];
  let valkey: Valkey | undefined;
  const traces = await openTraces(config, clock);
  try {
    const keyring = createKeyring(config.masterKeys);
    await refuseMissingKeys({ storage, keyring });
    await prepare?.({ storage, clock });
    valkey = await connectValkey(config.valkeyUrls, log, storage);
    const app = createApp({
      ...config,
      storage,
      clock,
      keyring,
      log,
      valkey,
      lines,
      traces,
      proxies: trustedProxies(config.trustedProxies),
      workers: worker?.workers,
      operationsApart: config.operationsPort !== undefined,
    });
    const { host, port, operationsPort } = config;
    doors.push(await open(app, { host, port, name: "PORT" }));
    if (operationsPort !== undefined) {
      const address = { host, port: operationsPort, name: "LATCHKEY_OPERATIONS_PORT" };
      doors.push(await open({ ...app, serve: app.serveOperations }, address));
    }
    app.start();
    giveBackWhenIdle();
    const pooler = storage.pool?.().isPooler || undefined;
    const { publicUrl: public_url } = config;
    log.info({ event: "ready", public_url, engine: storage.engine, pooler, node: process.version });
    // Not awaited: the service is listening, and its caller handles signals only after this function has returned.
    app.readiness.degraded().then(
      (found) => {
        for (const what of found) log.warn({ event: "degraded", what });
      },
      () => {},
    );
    return { stop: (drainMs: number) => stop({ app, doors, storage, valkey, log, lines, traces }, drainMs) };
  } catch (error) {
    await Promise.all(doors.map((door) => door.finish(0)));
    await valkey?.close();
    await traces?.stop();
    await storage.close();
    throw error;
  }
}

/** Imports the client only when there is a Valkey, because loading files is most of the time of a start. */
async function connectValkey(
  urls: readonly string[],
  log: Log,
  storage: Storage,
): Promise<Valkey | undefined> {
  if (urls.length === 0) return undefined;
  const { openValkey } = await import("./counters/valkey.ts");
  return openValkey({ urls, log, countOthers: async () => (await storage.ping()).otherInstances });
}

type Address = { host: string; port: number; name: string };

async function open(app: App, { host, port, name }: Address): Promise<Draining> {
  const server = createHttpServer(app);
  const draining = watchConnections(server);
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (cause) {
    const { code } = cause as { code?: string };
    const why = code === "EADDRINUSE" ? `another program listens there; set ${name} to a free one` : code;
    throw operatorFault(`cannot listen on ${host}:${port}: ${why}`, cause);
  }
  return draining;
}

/** Imports the tracing code only when a collector is configured. */
async function openTraces({ otlpUrl: url }: Config, clock: Clock): Promise<Traces | undefined> {
  if (url === undefined) return undefined;
  const { createTraces } = await import("./traces/traces.ts");
  return createTraces({ clock, url, version: build.version });
}

type Running = {
  app: App;
  doors: Draining[];
  storage: Storage;
  valkey: Valkey | undefined;
  log: Log;
  lines: LineWriter;
  traces: Traces | undefined;
};

/**
 * First `/health/ready` answers 503, so that load balancers send requests elsewhere, and every answer carries
 * `Connection: close`. After `drainMs` the service accepts no connection, finishes the requests under way and writes
 * what is in memory. Idle clients get `2 * drainMs` before their connection is closed.
 */
async function stop(running: Running, drainMs: number): Promise<void> {
  const { app, doors, storage, valkey, log, lines, traces } = running;
  log.info({ event: "stopping" });
  app.readiness.drain();
  app.endStreams();
  for (const door of doors) door.begin(2 * drainMs);
  await new Promise((resolve) => setTimeout(resolve, drainMs));
  // In parallel, because slow clients and then slow webhook receivers would exceed the ten seconds of a stop.
  await Promise.all([...doors.map((door) => door.finish(FINISH_WITHIN_MS)), app.endDeliveries()]);
  await app.stop();
  await valkey?.close();
  await traces?.stop();
  await storage.close();
  log.info({ event: "stopped" });
  await lines.flush(500);
}
