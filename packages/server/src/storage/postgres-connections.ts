import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from "kysely";
import pg from "pg";

/**
 * Every limit of a connection to PostgreSQL. A statement is ended by the server before we stop waiting for it, so that
 * what we have given up is not carried out later; waiting for a connection and then for a statement takes two seconds.
 */
const LIMITS = {
  connections: 10,
  /** Waiting for a free connection, or for a new one. */
  acquireMs: 1000,
  /** At the server: waiting for somebody else's lock, and a whole statement with that. */
  lockMs: 600,
  statementMs: 800,
  /** At the server: a transaction in which nothing is asked, because its instance is paused or gone. Its locks go with it. */
  idleInTransactionMs: 5000,
  /** Here: a statement that the server has not answered, not even by ending it, is on a connection that is lost. */
  answerMs: 1000,
  /** A connection is replaced after this time, so that a fleet spreads over servers that were added behind its address. */
  ageSeconds: 600,
  idleMs: 30_000,
  keepAliveAfterMs: 5000,
} as const;

/** What every connection is opened with, those that are not pooled included. */
export const connectionOptions = (url: string, applicationName: string): pg.ClientConfig => ({
  connectionString: url,
  application_name: applicationName,
  connectionTimeoutMillis: LIMITS.acquireMs,
  keepAlive: true,
  keepAliveInitialDelayMillis: LIMITS.keepAliveAfterMs,
  types: { getTypeParser: parserOf },
});

const statementLimits: pg.ClientConfig = {
  lock_timeout: LIMITS.lockMs,
  statement_timeout: LIMITS.statementMs,
  idle_in_transaction_session_timeout: LIMITS.idleInTransactionMs,
};

type Ask = (text: string, values: readonly unknown[]) => Promise<PostgresQueryResult<unknown>>;

type Connection = {
  query: Ask;
  release(isDiscarded?: boolean): void;
  /** When the server last answered on it. */
  heardAtMs(): number;
};

/**
 * The pool that Kysely works on. It differs from pg's own in what it takes back: a connection returns only if the server's
 * last word was "idle, no transaction" and nothing is unanswered. Any other is closed, and the server undoes what was open.
 *
 * `patient`: without limits on statements, for migrations, which may wait for another instance's and may take their time.
 */
export function openConnections(url: string, { patient = false } = {}): PostgresPool {
  const pool = new pg.Pool({
    ...connectionOptions(url, "latchkey"),
    ...(!patient && statementLimits),
    max: LIMITS.connections,
    maxLifetimeSeconds: LIMITS.ageSeconds,
    idleTimeoutMillis: LIMITS.idleMs,
  });
  // A connection that breaks while nobody uses it is dropped by the pool; one in use fails its statement.
  pool.on("error", () => {});
  pool.on("connect", (client) => client.on("error", () => {}));
  const connections = new WeakMap<pg.PoolClient, Connection>();
  let silentAtMs = 0;

  function connectionOf(client: pg.PoolClient): Connection {
    const known = connections.get(client);
    if (known) return known;
    const made = watched(client, patient ? Number.POSITIVE_INFINITY : LIMITS.answerMs, () => {
      silentAtMs = performance.now();
    });
    connections.set(client, made);
    return made;
  }

  return {
    async connect() {
      for (;;) {
        const connection = connectionOf(await pool.connect());
        // One connection went silent: the others of that age probably have, too (a failover, a forgotten NAT entry). They
        // are closed rather than tried one after the other. A new connection is younger, so this ends.
        // Of a client Kysely uses these two members; cursors are none of ours.
        if (connection.heardAtMs() >= silentAtMs) return connection as unknown as PostgresPoolClient;
        connection.release(true);
      }
    },
    end: () => pool.end(),
    options: {},
  };
}

function watched(client: pg.PoolClient, answerMs: number, onSilent: () => void): Connection {
  let heardAtMs = performance.now();
  let unanswered = 0;
  let isLost = false;

  const ask: Ask = async (text, values) => {
    if (isLost) throw new Error("Connection terminated: the statement before was not answered");
    unanswered++;
    try {
      const result = await answered(client.query(text, values as unknown[]), answerMs);
      heardAtMs = performance.now();
      return result as unknown as PostgresQueryResult<unknown>;
    } catch (error) {
      isLost = leavesInDoubt(error);
      // The socket goes now and not at release: what is still under way there is undone that much sooner.
      if (isLost) closeSocket(client);
      if (isSilence(error)) onSilent();
      else heardAtMs = performance.now();
      throw error;
    } finally {
      unanswered--;
    }
  };

  const query: Ask = async (text, values) => {
    const isAlone = client.getTransactionStatus() === "I";
    try {
      return await ask(text, values);
    } catch (error) {
      // Outside a transaction a statement that lost a deadlock has changed nothing, and may simply be sent again.
      if (!isAlone || !isUndone(error)) throw error;
      return ask(text, values);
    }
  };
  return {
    query,
    release(isDiscarded = false) {
      const isAtRest = !isLost && unanswered === 0 && client.getTransactionStatus() === "I";
      client.release(isDiscarded || !isAtRest);
    },
    heardAtMs: () => heardAtMs,
  };
}

/** Without the farewell that `end` waits for: a server that does not answer would not answer that either. */
export function closeSocket(client: pg.ClientBase): void {
  (client as unknown as { connection: { stream: { destroy(): void } } }).connection.stream.destroy();
}

const codeOf = (error: unknown): string | undefined => {
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
};

/**
 * Serialisation failure, deadlock, a lock not had in time: the server has answered, and undone the statement with its
 * transaction. Two that lock each other out meet the limit on locks before the server's own look for deadlocks.
 */
export const isUndone = (error: unknown): boolean =>
  ["40001", "40P01", "55P03"].includes(codeOf(error) ?? "");

/** Without a code of SQL nobody answered; with these the session was cancelled or ended, or the server is not well. */
const leavesInDoubt = (error: unknown): boolean => /^(08|57|58|XX|25P03)/.test(codeOf(error) ?? "08");

const SILENCE = "Connection terminated: a statement was not answered in time";

const isSilence = (error: unknown): boolean => (error as Error).message === SILENCE;

/**
 * Rejects when there is no answer in time. The last look comes after the sockets were read once more: where the process itself
 * had to wait for a processor, the answer is there and only has not been read yet.
 */
export function answered<T>(work: Promise<T>, withinMs: number): Promise<T> {
  if (withinMs === Number.POSITIVE_INFINITY) return work;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => setImmediate(() => reject(new Error(SILENCE))), withinMs);
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** Our bigints are milliseconds and counts, all below 2^53: numbers, as SQLite gives them. */
function parserOf(oid: number, format?: "text" | "binary"): (value: string) => unknown {
  return oid === pg.types.builtins.INT8 ? Number : pg.types.getTypeParser(oid, format as "text");
}
