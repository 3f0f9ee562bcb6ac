import { readDatabaseUrl } from "../config.ts";
import { type Clock, steadyClock } from "../lib/clock.ts";
import { openStorage } from "../storage/open.ts";
import type { Storage } from "../storage/storage.ts";

/** Opens the configured database for one command. A service that runs on it sees the change within a second. */
export async function withStorage<T>(
  work: (deps: { storage: Storage; clock: Clock }) => Promise<T>,
): Promise<T> {
  const clock = steadyClock();
  const storage = await openStorage({ clock }, readDatabaseUrl(process.env));
  try {
    return await work({ storage, clock });
  } finally {
    await storage.close();
  }
}
