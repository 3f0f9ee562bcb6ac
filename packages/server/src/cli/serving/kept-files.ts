import { existsSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { DEFAULT_DATABASE_URL } from "../../config.ts";
import { toRealPath } from "../../lib/real-path.ts";

/**
 * The files that `latchkey dev` keeps beside a database between starts. Each database has its own; an in-memory
 * database has none. For the default database the names are without its name.
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

/** The path of an SQLite file. */
export const pathOf = (databaseUrl: string): string | undefined =>
  databaseUrl.startsWith("sqlite:") ? toRealPath(databaseUrl.slice("sqlite:".length)) : undefined;

/** The base of the names: the SQLite file itself, or the name of a PostgreSQL database in the data folder. */
export const placeOf = (databaseUrl: string): string =>
  pathOf(databaseUrl) ?? join("./data", `postgres-${nameOf(databaseUrl)}`);

const nameOf = (databaseUrl: string): string =>
  new URL(databaseUrl).pathname.slice(1).replaceAll(/[^\w.-]/g, "_");

/** The file with the master key that `latchkey dev` has made for a database; a new key would open nothing in it. */
export function findKeptKey(databaseUrl: string): string | undefined {
  const file = nameKept(databaseUrl)?.masterKey;
  return file !== undefined && existsSync(file) ? file : undefined;
}
