import type { Clock } from "../lib/clock.ts";
import { migrate } from "./migrate.ts";
import { openPostgres } from "./postgres.ts";
import { openSqlite } from "./sqlite.ts";
import type { Storage } from "./storage.ts";

/** Connects to `sqlite:<path>`, `sqlite::memory:` or `postgres://…`, whatever state its tables are in. */
export const connectStorage = (databaseUrl: string): Storage =>
  databaseUrl.startsWith("sqlite:")
    ? openSqlite(databaseUrl.slice("sqlite:".length))
    : openPostgres(databaseUrl);

/** Connects, and brings the tables up to this version's. */
export async function openStorage({ clock }: { clock: Clock }, databaseUrl: string): Promise<Storage> {
  const storage = connectStorage(databaseUrl);
  try {
    await migrate({ storage, clock });
    return storage;
  } catch (error) {
    await storage.close();
    throw error;
  }
}
