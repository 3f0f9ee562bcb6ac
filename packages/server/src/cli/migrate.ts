import { steadyClock } from "../lib/clock.ts";
import { connectStorage, migrateUrl } from "../storage/open.ts";
import { readOptions } from "./options.ts";
import { chooseDatabase } from "./with-storage.ts";

const USAGE =
  "latchkey migrate\n\nBrings the tables of LATCHKEY_DATABASE_URL up to date. `serve` does the same when it starts.";

export async function migrateDatabase(args: string[]): Promise<void> {
  if (!readOptions(USAGE, args, {})) return;
  const databaseUrl = chooseDatabase();
  const storage = await connectStorage(databaseUrl);
  try {
    const applied = await migrateUrl({ clock: steadyClock() }, databaseUrl, storage);
    console.log(
      applied.length > 0 ? `applied: ${applied.join(", ")}` : "nothing to do: the tables are up to date",
    );
  } finally {
    await storage.close();
  }
}
