import type { Socket } from "node:net";
import type pg from "pg";
import { answered } from "./errors.ts";

/** The server ends a statement before the service stops waiting, so nothing is carried out afterwards. */
export const LIMITS = {
  /** Server limits: waiting for a lock, and a whole statement with that. */
  lockMs: 600,
  statementMs: 800,
  /** Server limit: how long a transaction may be idle. Then the server rolls it back and releases its locks. */
  idleInTransactionMs: 5000,
  /** Limit of this process: a connection is lost if a statement has no answer by then, not even a cancellation. */
  answerMs: 1000,
} as const;

const settingsOf = (slack: number): [name: string, ms: number][] => [
  ["lock_timeout", LIMITS.lockMs * slack],
  ["statement_timeout", LIMITS.statementMs * slack],
  ["idle_in_transaction_session_timeout", LIMITS.idleInTransactionMs * slack],
];

export const setLimits = (slack: number, isLocal: boolean): string =>
  `select ${settingsOf(slack)
    .map(([name, ms]) => `set_config('${name}', '${ms}', ${isLocal})`)
    .join(", ")}`;

/**
 * True where one server process serves the connection for as long as it lasts: the process number of the greeting is
 * then the one that the process has itself. A pooler (PgBouncer) makes a number up, because it lends its clients a
 * process for a transaction at a time.
 */
export const isOwnProcess = (client: pg.ClientBase): string =>
  `pg_backend_pid() = ${Number((client as unknown as { processID: number | null }).processID)}`;

/**
 * The first statement on a connection. Sets the time limits for the session if the connection leads to the server
 * itself. Behind a pooler it sets nothing: the session belongs to the pooler, and its next client would get these
 * limits.
 */
export async function greet(
  client: pg.ClientBase,
  withinMs: number,
  slack: number,
): Promise<"direct" | "pooled"> {
  try {
    const text = `${setLimits(slack, false)} where ${isOwnProcess(client)}`;
    const { rowCount } = await answered(client.query(text), withinMs);
    return rowCount === 1 ? "direct" : "pooled";
  } catch (error) {
    closeSocket(client);
    throw error;
  }
}

/** Without the farewell that `end` waits for: a server that does not answer would not answer that either. */
export function closeSocket(client: pg.ClientBase): void {
  (client as unknown as { connection: { stream: Socket } }).connection.stream.destroy();
}
