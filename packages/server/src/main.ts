import { once } from "node:events";
import type { Server } from "node:http";
import pino, { type Logger } from "pino";
import { type App, createApp } from "./app.ts";
import type { Config } from "./config.ts";
import { createHttpServer } from "./http/server.ts";
import { type Clock, steadyClock } from "./lib/clock.ts";
import { createKeyring } from "./lib/keyring.ts";
import { operatorFault } from "./lib/operator-fault.ts";
import { trustedProxies } from "./lib/source-address.ts";
import { openStorage } from "./storage/open.ts";
import type { Storage } from "./storage/storage.ts";

/** A running service. */
export type Service = { stop(drainMs: number): Promise<void> };

const FINISH_WITHIN_MS = 6000;

type Prepare = (deps: { storage: Storage; clock: Clock }) => Promise<void>;

/** Opens everything and listens. `prepare` may put something into the database before the first request comes. */
export async function startService(config: Config, prepare?: Prepare): Promise<Service> {
  const log = createLog(config.logLevel);
  const clock = steadyClock();
  const storage = await openStorage({ clock }, config.databaseUrl);
  try {
    storage.claim();
    await prepare?.({ storage, clock });
    const app = createApp({
      publicUrl: config.publicUrl,
      storage,
      clock,
      keyring: createKeyring(config.masterKeys),
      log,
      proxies: trustedProxies(config.trustedProxies),
    });
    const server = createHttpServer(app.fetch as never);
    await listen(server, config);
    app.start();
    log.info({ event: "ready", public_url: config.publicUrl, engine: storage.engine, node: process.version });
    return { stop: (drainMs) => stop({ app, server, storage, log }, drainMs) };
  } catch (error) {
    await storage.close();
    throw error;
  }
}

/** Standard output, one JSON object a line. */
function createLog(level: string): Logger {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    pino.destination({ fd: 1, sync: false }),
  );
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

/** Readiness goes first, so that a balancer looks elsewhere; then what is under way finishes; then memory is written. */
async function stop(
  { app, server, storage, log }: { app: App; server: Server; storage: Storage; log: Logger },
  drainMs: number,
): Promise<void> {
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
  await new Promise<void>((resolve) => log.flush(() => resolve()));
}
