import { once } from "node:events";
import type { Logger } from "pino";
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { type Draining, watchConnections } from "./http/drain.ts";
import type { Serve } from "./http/message.ts";
import { createHttpServer } from "./http/server.ts";
import { type Clock, steadyClock } from "./lib/clock.ts";
import { giveBackWhenIdle } from "./lib/give-back.ts";
import { createKeyring } from "./lib/keyring.ts";
import { createLineWriter, type LineWriter } from "./lib/line-writer.ts";
import { createLog } from "./lib/log.ts";
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
  const log = createLog(config.logLevel, lines, worker ? { worker: worker.number } : null);
  const clock = steadyClock();
  const storage = await openStorage({ clock }, config.databaseUrl, {
    claim: true,
    connections: config.databasePool,
    directUrl: config.databaseDirectUrl,
  });
  const doors: Draining[] = [];
  try {
    const keyring = createKeyring(config.masterKeys);
    await refuseMissingKeys({ storage, keyring });
    await prepare?.({ storage, clock });
    const app = createApp({
      publicUrl: config.publicUrl,
      storage,
      clock,
      keyring,
      log,
      droppedLogLines: lines.dropped,
      allowedOrigins: config.allowedOrigins,
      proxies: trustedProxies(config.trustedProxies),
      customerTokenSeconds: config.customerTokenSeconds,
      codeSeconds: config.codeSeconds,
      recordDays: config.recordDays,
      workers: worker?.workers,
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
    return { stop: (drainMs) => stop({ app, doors, storage, log, lines }, drainMs) };
  } catch (error) {
    await Promise.all(doors.map((door) => door.finish(0)));
    await storage.close();
    throw error;
  }
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

type Running = { app: App; doors: Draining[]; storage: Storage; log: Logger; lines: LineWriter };

/**
 * Readiness goes first, so that a balancer looks elsewhere, and every answer asks its client to leave. Then no connection is
 * taken any more, what is under way finishes, and memory is written. Clients that are quiet have twice the time to come.
 */
async function stop({ app, doors, storage, log, lines }: Running, drainMs: number): Promise<void> {
  log.info({ event: "stopping" });
  app.readiness.drain();
  for (const door of doors) door.begin(2 * drainMs);
  await new Promise((resolve) => setTimeout(resolve, drainMs));
  await Promise.all(doors.map((door) => door.finish(FINISH_WITHIN_MS)));
  await app.stop();
  await storage.close();
  log.info({ event: "stopped" });
  await lines.flush(500);
}
