import type { EventEmitter } from "node:events";
import type { PostgresPool, PostgresPoolClient } from "kysely";
import pg from "pg";
import { CROWDED, isCrowded, type Pool } from "../storage.ts";
import { type Connection, closeSocket, createNames, greet, watched } from "./connection.ts";

/**
 * Limits of the pool. Waiting for a connection and then for a statement (postgres-connection.ts) takes two seconds.
 */
const LIMITS = {
  /** Waiting for a free connection, or for a new one. */
  acquireMs: 1000,
  /** So many may wait for each connection, however quickly it is given back. */
  waiting: { least: 1, most: 100 },
  /** A connection is replaced after this time, so that a fleet spreads over servers that were added behind its address. */
  ageSeconds: 600,
  idleMs: 30_000,
  keepAliveAfterMs: 5000,
} as const;

/** How much the latest use of a connection weighs in the mean: some twenty uses forget what was before. */
const LATEST = 0.1;

/** What every connection is opened with, those that are not pooled included. */
export const connectionOptions = (url: string, applicationName: string, slack = 1): pg.ClientConfig => ({
  connectionString: url,
  application_name: applicationName,
  connectionTimeoutMillis: LIMITS.acquireMs * slack,
  keepAlive: true,
  keepAliveInitialDelayMillis: LIMITS.keepAliveAfterMs,
  types: { getTypeParser: parserOf },
});

type Options = {
  connections: number;
  /** Without limits on statements, for migrations, which may wait for another instance's and may take their time. */
  patient: boolean;
  /** Multiplies the limits of time. */
  slack: number;
};

/**
 * The pool that Kysely works on. It differs from pg's own in what it takes back: a connection returns only if the server's
 * last word was "idle, no transaction" and nothing is unanswered. Any other is closed, and the server undoes what was open.
 * And in who may wait: as many as can be expected to have a connection within the second. Who comes after them is refused at
 * once, because a queue that is longer only makes everybody in it wait for nothing.
 */
export function openConnections(
  url: string,
  { connections: max, patient, slack }: Options,
): PostgresPool & { state(): Omit<Pool, "deafness"> } {
  const acquireMs = LIMITS.acquireMs * slack;
  const pool = new pg.Pool({
    ...connectionOptions(url, "latchkey", slack),
    Client,
    // What is sent together travels together: see postgres-connection.ts on poolers.
    pipeline: true,
    max,
    maxLifetimeSeconds: LIMITS.ageSeconds,
    idleTimeoutMillis: LIMITS.idleMs,
  });
  // A connection that breaks while nobody uses it is dropped by the pool; one in use fails its statement.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const connections = new WeakMap<pg.PoolClient, Connection>();
  const names = createNames();
  let isPooler = false;
  let silentAtMs = 0;
  let heardAtMs = performance.now();
  /** When somebody asked after all had been answered. */
  let askedAtMs = heardAtMs;
  let heldMs = 0;
  let shed = 0;

  /** Within what is left of the second that a connection may take. */
  async function connectionOf(client: pg.PoolClient, leftMs: number): Promise<Connection> {
    const known = connections.get(client);
    if (known) return known;
    const isPooled = !patient && (await greet(client, leftMs, slack)) === "pooled";
    isPooler ||= isPooled;
    const made = watched(client, {
      patient,
      slack,
      isPooled,
      names,
      onHeard: (atMs) => {
        heardAtMs = atMs;
      },
      onSilent: () => {
        silentAtMs = performance.now();
      },
    });
    connections.set(client, made);
    return made;
  }

  const inUse = () => pool.totalCount - pool.idleCount;
  const mayWait = () => {
    const served = heldMs > 0 ? acquireMs / heldMs : Number.POSITIVE_INFINITY;
    return max * Math.min(LIMITS.waiting.most, Math.max(LIMITS.waiting.least, served));
  };

  /**
   * All connections wait for a server that says nothing, or it has none for us: readiness must not take that for being busy. Counted
   * from the first question after a pause, because while nobody asked there was nothing to hear.
   */
  const isUnheard = () => performance.now() - Math.max(heardAtMs, askedAtMs) > acquireMs;

  async function take(startedMs: number): Promise<Connection> {
    for (;;) {
      const client = await pool.connect();
      try {
        const leftMs = startedMs + acquireMs - performance.now();
        const connection = await connectionOf(client, Math.max(leftMs, acquireMs / 4));
        // One connection went silent: the others of that age probably have, too (a failover, a forgotten NAT entry). They
        // are closed rather than tried one after the other. A new connection is younger, so this ends.
        if (connection.heardAtMs() >= silentAtMs) return connection;
        connection.release(true);
      } catch (error) {
        client.release(true);
        throw error;
      }
    }
  }

  async function connect(): Promise<PostgresPoolClient> {
    const startedMs = performance.now();
    if (inUse() === 0 && heardAtMs >= askedAtMs) askedAtMs = startedMs;
    if (inUse() >= max && pool.waitingCount >= mayWait()) {
      if (isUnheard()) throw unheard();
      shed++;
      throw crowded();
    }
    const connection = await take(startedMs).catch((error) => {
      if (isCrowded(error) && isUnheard()) throw unheard(error);
      // The others hear from the server, so it is not away: there are too many of us.
      const isCrowd = inUse() >= max && heardAtMs > startedMs;
      if (!isCrowd) throw error;
      shed++;
      throw crowded(error);
    });
    const takenMs = performance.now();
    const taken = {
      query: connection.query,
      release() {
        heldMs += LATEST * (performance.now() - takenMs - heldMs);
        connection.release();
      },
    };
    // Of a client Kysely uses these two members; cursors are none of ours.
    return taken as unknown as PostgresPoolClient;
  }

  return {
    connect,
    end: () => pool.end(),
    options: {},
    state: () => ({
      connections: max,
      active: inUse(),
      idle: pool.idleCount,
      waiting: pool.waitingCount,
      shed,
      isPooler,
    }),
  };
}

/** The driver leaves a client that cannot log in with its socket, and the process waits until the server closes that, after a minute. */
class Client extends pg.Client {
  constructor(options?: pg.ClientConfig) {
    super(options);
    const { connection } = this as unknown as { connection: EventEmitter };
    connection.on("error", () => closeSocket(this));
  }
}

const crowded = (cause?: unknown): Error =>
  Object.assign(new Error("every connection to the database is in use", { cause }), { code: CROWDED });

const unheard = (cause?: unknown): Error =>
  new Error("Connection terminated: nothing is heard from the server", { cause });

/** Our bigints are milliseconds and counts, all below 2^53: numbers, as SQLite gives them. */
function parserOf(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}
