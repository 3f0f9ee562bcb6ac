import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DEFAULT_DATABASE_URL } from "../../config.ts";
import { toRealPath } from "../../lib/real-path.ts";

/**
 * What `latchkey dev` keeps beside the database from one start to the next: each database has its own, and one in memory has none.
 * The names for the default database are without its name.
 */
export type Kept = { masterKey: string; ports: string; credentials: string };

export function nameKept(databaseUrl: string): Kept | undefined {
  if (databaseUrl === "sqlite::memory:") return undefined;
  const path = placeOf(databaseUrl);
  const prefix = basename(path) === basename(DEFAULT_DATABASE_URL) ? "" : `${basename(path)}.`;
  const named = (name: string) => join(dirname(path), prefix + name);
  return {
    masterKey: named("master.key"),
    ports: named("ports.json"),
    credentials: named("first-store.json"),
  };
}

/** Of a SQLite file. */
export const pathOf = (databaseUrl: string): string | undefined =>
  databaseUrl.startsWith("sqlite:") ? toRealPath(databaseUrl.slice("sqlite:".length)) : undefined;

/** What is kept is called after this: a SQLite file itself, or the name of a PostgreSQL, in the folder for data. */
export const placeOf = (databaseUrl: string): string =>
  pathOf(databaseUrl) ?? join("./data", `postgres-${nameOf(databaseUrl)}`);

const nameOf = (databaseUrl: string): string =>
  new URL(databaseUrl).pathname.slice(1).replaceAll(/[^\w.-]/g, "_");

/** Where the master key of a database is that `latchkey dev` has made: a new one would open nothing of what is in there. */
export function findKeptKey(databaseUrl: string): string | undefined {
  const file = nameKept(databaseUrl)?.masterKey;
  return file !== undefined && existsSync(file) ? file : undefined;
}
