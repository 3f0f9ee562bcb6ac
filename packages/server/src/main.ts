import { once } from "node:events";
import build from "../package.json" with { type: "json" };
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import type { Traces } from "./contract/traces.ts";
import type { Valkey } from "./counters/valkey.ts";
import { type Draining, watchConnections } from "./http/drain.ts";
import type { Serve } from "./http/message.ts";
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

/** A running service. */
type Service = { stop(drainMs: number): Promise<void> };

const FINISH_WITHIN_MS = 6000;

type Prepare = (deps: { storage: Storage; clock: Clock }) => Promise<void>;

type Starting = {
  /** May put something into the database before the first request comes. */
  prepare?: Prepare;
  /** This process is one of several, with this number. */
  worker?: { number: number; workers: Workers };
};

/** Opens everything and listens. */
export async function startService(config: Config, { prepare, worker }: Starting = {}): Promise<Service> {
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
      publicUrl: config.publicUrl,
      storage,
      clock,
      keyring,
      log,
      valkey,
      lines,
      traces,
      allowedOrigins: config.allowedOrigins,
      proxies: trustedProxies(config.trustedProxies),
      customerTokenSeconds: config.customerTokenSeconds,
      codeSeconds: config.codeSeconds,
      recordDays: config.recordDays,
      workers: worker?.workers,
      eventDays: config.eventDays,
      operationsApart: config.operationsPort !== undefined,
    });
    const { host, port, operationsPort } = config;
    doors.push(await open(app, app.serve, { host, port, name: "PORT" }));
    if (operationsPort !== undefined) {
      const address = { host, port: operationsPort, name: "LATCHKEY_OPERATIONS_PORT" };
      doors.push(await open(app, app.serveOperations, address));
    }
    app.start();
    giveBackWhenIdle();
    const pooler = storage.pool?.().isPooler || undefined;
    const { publicUrl: public_url } = config;
    log.info({ event: "ready", public_url, engine: storage.engine, pooler, node: process.version });
    // Not waited for: the door is open, so whoever starts us may send a signal at once, and it is heard only after the return.
    app.readiness.degraded().then(
      (found) => {
        for (const what of found) log.warn({ event: "degraded", what });
      },
      () => {},
    );
    return { stop: (drainMs) => stop({ app, doors, storage, valkey, log, lines, traces }, drainMs) };
  } catch (error) {
    await Promise.all(doors.map((door) => door.finish(0)));
    await valkey?.close();
    await traces?.stop();
    await storage.close();
    throw error;
  }
}

/** The client is loaded where it is used: a start is mostly the loading of files. */
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

async function open({ onRefused }: App, serve: Serve, { host, port, name }: Address): Promise<Draining> {
  const server = createHttpServer(serve, onRefused);
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

/** Loaded only where there is a collector: nobody else pays for it. */
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
 * Readiness goes first, so that a balancer looks elsewhere, and every answer asks its client to leave. Then no connection is
 * taken any more, what is under way finishes, and memory is written. Clients that are quiet have twice the time to come.
 */
async function stop(running: Running, drainMs: number): Promise<void> {
  const { app, doors, storage, valkey, log, lines, traces } = running;
  log.info({ event: "stopping" });
  app.readiness.drain();
  app.endStreams();
  for (const door of doors) door.begin(2 * drainMs);
  await new Promise((resolve) => setTimeout(resolve, drainMs));
  // Together: one after the other, slow clients and slow receivers would take more than the ten seconds that there are.
  await Promise.all([...doors.map((door) => door.finish(FINISH_WITHIN_MS)), app.endDeliveries()]);
  await app.stop();
  await valkey?.close();
  await traces?.stop();
  await storage.close();
  log.info({ event: "stopped" });
  await lines.flush(500);
}
