// SQLite: SQLITE_CONSTRAINT_UNIQUE and SQLITE_CONSTRAINT_PRIMARYKEY. PostgreSQL: unique_violation.
const SQLITE_UNIQUE = new Set<unknown>([2067, 1555]);
const POSTGRES_UNIQUE = "23505";

/** True when a row was refused because there is one like it: the database's word on who came first. */
export function isUniqueViolation(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, errcode } = error as Error & { code?: unknown; errcode?: unknown };
  return SQLITE_UNIQUE.has(errcode) || code === POSTGRES_UNIQUE;
}

/** Thrown in a transaction whose row came second, where it can go on from the row of the first: `transact` tries it again. */
export const cameSecond = (cause: unknown): Error =>
  // PostgreSQL: serialization_failure.
  Object.assign(new Error("another transaction was quicker", { cause }), { code: "40001" });
