import { DEFAULT_DATABASE_URL, readDatabaseUrl, readPublicUrl } from "../../config.ts";
import { type Clock, steadyClock } from "../../lib/clock.ts";
import { operatorFault } from "../../lib/operator-fault.ts";
import { describeUrl, openStorage } from "../../storage/open.ts";
import type { Storage } from "../../storage/storage.ts";

/** The dependencies of a command on the database. `publicUrl` begins the links in the answers of the slices. */
export type CommandDeps = { storage: Storage; clock: Clock; publicUrl: string };

/**
 * Opens the configured database for one command. A running service applies its change within a second. Only a command
 * that starts something may create the database, because a mistyped path must be an error and not an empty list.
 */
export async function withStorage<T>(
  work: (deps: CommandDeps) => Promise<T>,
  { mayCreate = false } = {},
): Promise<T> {
  const publicUrl = readPublicUrl(process.env);
  const clock = steadyClock();
  const storage = await openStorage({ clock }, chooseDatabase(), { mustExist: !mayCreate });
  try {
    return await work({ storage, clock, publicUrl });
  } finally {
    await storage.close();
  }
}

/** The path of the configured SQLite file, for commands that work on the file. */
export function chooseSqliteFile(otherwise: string): string {
  const databaseUrl = chooseDatabase();
  const path = databaseUrl.startsWith("sqlite:") ? databaseUrl.slice("sqlite:".length) : undefined;
  if (path === undefined || path === ":memory:")
    throw operatorFault(`this command is for SQLite files: ${otherwise}`);
  return path;
}

/**
 * The configured database. A database other than the default is printed on standard error, so that an operator notices
 * the wrong one.
 */
export function chooseDatabase(): string {
  const databaseUrl = readDatabaseUrl(process.env);
  if (databaseUrl !== DEFAULT_DATABASE_URL) console.error(`database: ${describeUrl(databaseUrl)}`);
  return databaseUrl;
}
