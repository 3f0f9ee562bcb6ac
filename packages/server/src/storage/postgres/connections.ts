import type { EventEmitter } from "node:events";
import pg from "pg";
import { CROWDED, isCrowded } from "../failures.ts";
import type { Pool, PostgresOptions } from "../storage.ts";
import { PooledConnection } from "./connection.ts";
import { PlanNames } from "./plan-names.ts";
import { closeSocket, greet } from "./session.ts";
import { types } from "./types.ts";

/** Limits of the pool. Waiting for a connection and then for a statement (connection.ts) takes two seconds. */
const LIMITS = {
  /** Waiting for a free connection, or for a new one. */
  acquireMs: 1000,
  /** So many callers may wait for each connection, however quickly it is given back. */
  waiting: { least: 1, most: 100 },
  /** Connections are replaced after this time, so that a fleet spreads over servers added behind the address. */
  ageSeconds: 600,
  idleMs: 30_000,
  keepAliveAfterMs: 5000,
} as const;

/** The weight of the latest use of a connection in the mean: some twenty uses replace what was before. */
const LATEST = 0.1;

/** The options of every connection, also of the one that listens. */
export const connectionOptions = (url: string, applicationName: string, slack = 1): pg.ClientConfig => ({
  connectionString: url,
  application_name: applicationName,
  connectionTimeoutMillis: LIMITS.acquireMs * slack,
  keepAlive: true,
  keepAliveInitialDelayMillis: LIMITS.keepAliveAfterMs,
  types,
});

type Options = Required<Pick<PostgresOptions, "connections" | "patient" | "slack">>;

/**
 * The pool that Kysely works on. It differs from pg's own pool in what it takes back (`PooledConnection.release`), and
 * in how many callers may wait: as many as can be expected to get a connection within the second. It refuses all others
 * at once, because a longer queue only makes everybody in it wait for nothing.
 */
export class ConnectionPool {
  readonly #pool: pg.Pool;
  readonly #options: Options;
  readonly #acquireMs: number;
  readonly #connections = new WeakMap<pg.PoolClient, PooledConnection>();
  readonly #names = new PlanNames();
  #isPooler = false;
  #silentAtMs = 0;
  #heardAtMs = performance.now();
  /** Start of the current busy period: the first request after a time with no open requests. */
  #askedAtMs = this.#heardAtMs;
  /** For how long a connection is in use, in the mean. */
  #heldMs = 0;
  #shed = 0;

  constructor(url: string, options: Options) {
    this.#options = options;
    this.#acquireMs = LIMITS.acquireMs * options.slack;
    this.#pool = new pg.Pool({
      ...connectionOptions(url, "latchkey", options.slack),
      Client: PooledClient,
      // Pipelining: statements do not wait for earlier answers.
      pipeline: true,
      max: options.connections,
      maxLifetimeSeconds: LIMITS.ageSeconds,
      idleTimeoutMillis: LIMITS.idleMs,
    });
    // The pool drops an idle connection that breaks; one in use fails its statement.
    this.#pool.on("error", () => {});
    this.#pool.on("connect", (client) => client.on("error", () => {}));
  }

  async take(): Promise<PooledConnection> {
    const startedMs = performance.now();
    if (this.#inUse === 0 && this.#heardAtMs >= this.#askedAtMs) this.#askedAtMs = startedMs;
    if (this.#isFull && this.#pool.waitingCount >= this.#mostWaiting) throw this.#refuse();
    const connection = await this.#findOrOpen(startedMs).catch((error) => {
      if (isCrowded(error) && this.#isServerSilent) throw serverSilent(error);
      // The server answers other callers, so it is up but overloaded.
      throw this.#isFull && this.#heardAtMs > startedMs ? this.#refuse(error) : error;
    });
    connection.takenAtMs = performance.now();
    return connection;
  }

  giveBack(connection: PooledConnection): void {
    this.#heldMs += LATEST * (performance.now() - connection.takenAtMs - this.#heldMs);
    connection.release();
  }

  end(): Promise<void> {
    return this.#pool.end();
  }

  state(): Omit<Pool, "deafness"> {
    return {
      connections: this.#options.connections,
      active: this.#inUse,
      idle: this.#pool.idleCount,
      waiting: this.#pool.waitingCount,
      shed: this.#shed,
      isPooler: this.#isPooler,
    };
  }

  get #inUse(): number {
    return this.#pool.totalCount - this.#pool.idleCount;
  }

  get #isFull(): boolean {
    return this.#inUse >= this.#options.connections;
  }

  get #mostWaiting(): number {
    const served = this.#heldMs > 0 ? this.#acquireMs / this.#heldMs : Number.POSITIVE_INFINITY;
    const { least, most } = LIMITS.waiting;
    return this.#options.connections * Math.min(most, Math.max(least, served));
  }

  /**
   * All connections wait for a server that does not answer, or that accepts no connection: readiness must not take that
   * for being busy. Counted from the first statement after a pause, because without statements there are no answers.
   */
  get #isServerSilent(): boolean {
    return performance.now() - Math.max(this.#heardAtMs, this.#askedAtMs) > this.#acquireMs;
  }

  #refuse(cause?: unknown): Error {
    if (this.#isServerSilent) return serverSilent(cause);
    this.#shed++;
    return Object.assign(new Error("every connection to the database is in use", { cause }), {
      code: CROWDED,
    });
  }

  async #findOrOpen(startedMs: number): Promise<PooledConnection> {
    for (;;) {
      const client = await this.#pool.connect();
      try {
        const leftMs = startedMs + this.#acquireMs - performance.now();
        const connection = await this.#connectionOf(client, Math.max(leftMs, this.#acquireMs / 4));
        // A connection fell silent: others of that age probably have, too (a failover, a forgotten NAT entry). They are
        // closed rather than tried one after the other. A new connection is younger, so this ends.
        if (connection.heardAtMs >= this.#silentAtMs) return connection;
        connection.release(true);
      } catch (error) {
        client.release(true);
        throw error;
      }
    }
  }

  async #connectionOf(client: pg.PoolClient, withinMs: number): Promise<PooledConnection> {
    const known = this.#connections.get(client);
    if (known) return known;
    const { patient, slack } = this.#options;
    const isPooled = !patient && (await greet(client, withinMs, slack)) === "pooled";
    this.#isPooler ||= isPooled;
    const connection = new PooledConnection(client, {
      patient,
      slack,
      isPooled,
      names: this.#names,
      onHeard: (atMs) => {
        this.#heardAtMs = atMs;
      },
      onSilent: () => {
        this.#silentAtMs = performance.now();
      },
    });
    this.#connections.set(client, connection);
    return connection;
  }
}

/** The driver leaves the socket of a failed login open, and the process would wait a minute for the server. */
class PooledClient extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    const { connection } = this as unknown as { connection: EventEmitter };
    connection.on("error", () => closeSocket(this));
  }
}

const serverSilent = (cause?: unknown): Error =>
  new Error("Connection terminated: nothing is heard from the server", { cause });
