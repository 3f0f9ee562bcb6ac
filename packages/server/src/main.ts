import { once } from "node:events";
import type { Server } from "node:http";
import pino, { type Logger } from "pino";
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { createHttpServer } from "./http/server.ts";
import { type Clock, steadyClock } from "./lib/clock.ts";
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
    });
    const server = createHttpServer(app.fetch, app.onRefused);
    await listen(server, config);
    app.start();
    log.info({ event: "ready", public_url: config.publicUrl, engine: storage.engine, node: process.version });
    return { stop: (drainMs) => stop({ app, server, storage, log, lines }, drainMs) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Standard output, one JSON object a line. */
function createLog(level: string, lines: LineWriter): Logger {
  const formatters = { level: (label: string) => ({ level: label }) };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters }, lines);
}

async function listen(server: Server, { host, port }: Config): Promise<void> {
  server.listen({ host, port });
  try {
    await once(server, "listening");
  } catch (cause) {
    const { code } = cause as { code?: string };
    const why = code === "EADDRINUSE" ? "another program listens there; set PORT to a free one" : code;
    throw operatorFault(`cannot listen on ${host}:${port}: ${why}`, cause);
  }
}

type Running = { app: App; server: Server; storage: Storage; log: Logger; lines: LineWriter };

/** Readiness goes first, so that a balancer looks elsewhere; then what is under way finishes; then memory is written. */
async function stop({ app, server, storage, log, lines }: Running, drainMs: number): Promise<void> {
  log.info({ event: "stopping" });
  app.readiness.drain();
  await new Promise((resolve) => setTimeout(resolve, drainMs));
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const cut = setTimeout(() => server.closeAllConnections(), FINISH_WITHIN_MS);
  await closed;
  clearTimeout(cut);
  await app.stop();
  await storage.close();
  log.info({ event: "stopped" });
  await lines.flush(500);
}
