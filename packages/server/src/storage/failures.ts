/** Classifies database errors, on both engines. */

/** SQLSTATE 53300, too_many_connections. Also thrown here, when the pool and its queue are full. */
export const CROWDED = "53300";

export const isCrowded = (error: unknown): boolean => (error as { code?: unknown }).code === CROWDED;

/** SQLite: extended codes keep the primary code in the low byte. */
export const primaryCodeOf = (error: unknown): number =>
  ((error as { errcode?: number }).errcode ?? 0) & 0xff;

function isOneOf(error: unknown, sqlite: readonly number[], others: RegExp): boolean {
  const { code } = error as { code?: unknown };
  return sqlite.includes(primaryCodeOf(error)) || (typeof code === "string" && others.test(code));
}

// SQLite: BUSY, LOCKED, READONLY, IOERR, FULL, CANTOPEN.
const SQLITE_DOWN = [5, 6, 8, 10, 13, 14];
// PostgreSQL: connection exceptions (08), resources (53), intervention and cancellation (57), system errors (58),
// read-only (25006), idle_in_transaction_session_timeout (25P03), lock_timeout (55P03), serialisation failure (40001),
// deadlock (40P01). Then errors of an open connection, and of several addresses that were tried in vain, which have no
// `syscall`.
const DOWN =
  /^(08...|53...|57...|58...|25006|25P03|55P03|40001|40P01|ECONNRESET|EPIPE|ETIMEDOUT|ECONNREFUSED|EHOSTUNREACH|ENETUNREACH)$/;
/** In all of these calls (no route, no such name, no socket file) no statement was sent. */
const TO_CONNECT = new Set<unknown>(["connect", "getaddrinfo"]);
const NO_CONNECTION =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error)/;

/** True when the database is away, full or overloaded: nothing was changed, and the same request may work later. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof Error &&
  (isOneOf(error, SQLITE_DOWN, DOWN) ||
    TO_CONNECT.has((error as { syscall?: unknown }).syscall) ||
    NO_CONNECTION.test(error.message));

/** True when the disk is full or read-only. Reads still work. */
export const isWriteRefused = (error: unknown): boolean =>
  // SQLite: READONLY, IOERR, FULL. PostgreSQL: read_only_sql_transaction, disk_full.
  isOneOf(error, [8, 10, 13], /^(25006|53100)$/);

/** True when a part of the database cannot be read, and another try would not help. */
export const isDamaged = (error: unknown): boolean =>
  // SQLite: IOERR, CORRUPT, NOTADB. PostgreSQL: data_corrupted, index_corrupted.
  isOneOf(error, [10, 11, 26], /^(XX001|XX002)$/);

/** True when a unique index refused a row: the database decides which transaction came first. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown };
  // SQLite: SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. PostgreSQL: unique_violation.
  return errcode === 2067 || errcode === 1555 || code === "23505";
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
