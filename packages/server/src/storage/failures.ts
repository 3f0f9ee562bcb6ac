/** Classifies database errors, on both engines. */

/**
 * SQLSTATE 53300, too_many_connections. Also thrown here, when all pooled connections are in use and the queue is full.
 */
export const CROWDED = "53300";

export const isCrowded = (error: unknown): boolean => (error as { code?: unknown }).code === CROWDED;

// PostgreSQL: connection exceptions (08), resources (53), intervention and cancellation (57), system errors (58),
// read-only (25006), idle_in_transaction_session_timeout (25P03), lock_timeout (55P03), serialisation failure (40001),
// deadlock (40P01).
const POSTGRES_DOWN = /^(08...|53...|57...|58...|25006|25P03|55P03|40001|40P01)$/;
// Errors of an open connection, and of several addresses that were tried in vain, which have no `syscall`.
const SOCKET_DOWN = new Set([
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "ECONNREFUSED",
  "EHOSTUNREACH",
  "ENETUNREACH",
]);
/** In all of these calls (no route, no such name, no socket file) no statement was sent. */
const TO_CONNECT = new Set<unknown>(["connect", "getaddrinfo"]);
// SQLite: BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN.
const SQLITE_DOWN = new Set([5, 6, 8, 10, 13, 14]);

/** True when the database is away, full or overloaded: nothing was changed, and the same request may work later. */
export function isUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode, syscall, message } = error as Error &
    Record<"code" | "errcode" | "syscall", unknown>;
  if (typeof errcode === "number") return SQLITE_DOWN.has(primaryCodeOf(error));
  if (TO_CONNECT.has(syscall)) return true;
  if (typeof code === "string" && (SOCKET_DOWN.has(code) || POSTGRES_DOWN.test(code))) return true;
  return /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/.test(
    message,
  );
}

// SQLite: READONLY, IOERR, FULL. PostgreSQL: read_only_sql_transaction, disk_full.
const SQLITE_NO_WRITE = new Set([8, 10, 13]);
const POSTGRES_NO_WRITE = new Set<unknown>(["25006", "53100"]);

/** True when the disk is full or read-only. Reads still work. */
export const isWriteRefused = (error: unknown): boolean =>
  SQLITE_NO_WRITE.has(primaryCodeOf(error)) || POSTGRES_NO_WRITE.has((error as { code?: unknown }).code);

// SQLite: IOERR, CORRUPT, NOTADB. PostgreSQL: data_corrupted, index_corrupted.
const SQLITE_DAMAGED = new Set([10, 11, 26]);
const POSTGRES_DAMAGED = new Set<unknown>(["XX001", "XX002"]);

/** True when a part of the database cannot be read, and another try would not help. */
export const isDamaged = (error: unknown): boolean =>
  SQLITE_DAMAGED.has(primaryCodeOf(error)) || POSTGRES_DAMAGED.has((error as { code?: unknown }).code);

// SQLite: SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. PostgreSQL: unique_violation.
const SQLITE_UNIQUE = new Set<unknown>([2067, 1555]);
const POSTGRES_UNIQUE = "23505";

/** True when a unique index refused a row: the database decides which transaction came first. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown };
  return SQLITE_UNIQUE.has(errcode) || code === POSTGRES_UNIQUE;
}

/** For `catch`: throws `refusal` in place of the error of a unique index. */
export const ifTaken =
  (refusal: (error: unknown) => Error) =>
  (error: unknown): never => {
    throw isUniqueViolation(error) ? refusal(error) : error;
  };

/** Thrown in a transaction that came second and can go on from the row of the first: `transact` tries it again. */
export const cameSecond = (cause: unknown): Error =>
  // PostgreSQL: serialization_failure.
  Object.assign(new Error("another transaction was quicker", { cause }), { code: "40001" });

/** SQLite: extended codes keep the primary code in the low byte. */
export const primaryCodeOf = (error: unknown): number =>
  ((error as { errcode?: number }).errcode ?? 0) & 0xff;
