import { once } from "node:events";
import pino, { type Logger } from "pino";
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { type Draining, watchConnections } from "./http/drain.ts";
import type { Serve } from "./http/message.ts";
import { createHttpServer } from "./http/server.ts";
import { type Clock, steadyClock, toIso } from "./lib/clock.ts";
import { giveBackWhenIdle } from "./lib/give-back.ts";
import { createKeyring } from "./lib/keyring.ts";
import { createLineWriter, type LineWriter } from "./lib/line-writer.ts";
import { operatorFault } from "./lib/operator-fault.ts";
import { trustedProxies } from "./lib/source-address.ts";
import { refuseMissingKeys } from "./sealed.ts";
import { openStorage } from "./storage/open.ts";
import type { Storage } from "./storage/storage.ts";

/** A running service. */
type Service = { stop(drainMs: number): Promise<void> };

const FINISH_WITHIN_MS = 6000;

type Prepare = (deps: { storage: Storage; clock: Clock }) => Promise<void>;

/** Opens everything and listens. `prepare` may put something into the database before the first request comes. */
export async function startService(config: Config, prepare?: Prepare): Promise<Service> {
  const lines = createLineWriter(1);
  const log = createLog(config.logLevel, lines);
  const clock = steadyClock();
  const storage = await openStorage({ clock }, config.databaseUrl, { claim: true });
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
    log.info({ event: "ready", public_url: config.publicUrl, engine: storage.engine, node: process.version });
    return { stop: (drainMs) => stop({ app, doors, storage, log, lines }, drainMs) };
  } catch (error) {
    await Promise.all(doors.map((door) => door.finish(0)));
    await storage.close();
    throw error;
  }
}

/** Standard output, one JSON object a line. */
function createLog(level: string, lines: LineWriter): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  const timestamp = () => `,"time":"${toIso(Date.now())}"`;
  return pino({ level, base: null, timestamp, formatters }, lines);
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
  app.endStreams();
  for (const door of doors) door.begin(2 * drainMs);
  await new Promise((resolve) => setTimeout(resolve, drainMs));
  await Promise.all(doors.map((door) => door.finish(FINISH_WITHIN_MS)));
  await app.stop();
  await storage.close();
  log.info({ event: "stopped" });
  await lines.flush(500);
}
