import { primaryCodeOf } from "./sqlite.ts";

// SQLite: IOERR, CORRUPT, NOTADB. PostgreSQL: data_corrupted, index_corrupted.
const SQLITE_DAMAGED = new Set([10, 11, 26]);
const POSTGRES_DAMAGED = new Set<unknown>(["XX001", "XX002"]);

/** True when a part of the database cannot be read, and will not be when it is tried again. */
export const isDamaged = (error: unknown): boolean =>
  SQLITE_DAMAGED.has(primaryCodeOf(error)) || POSTGRES_DAMAGED.has((error as { code?: unknown }).code);
