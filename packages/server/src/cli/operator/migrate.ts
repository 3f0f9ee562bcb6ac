import { steadyClock } from "../../lib/clock.ts";
import { connectStorage, migrateUrl } from "../../storage/open.ts";
import { chooseDatabase } from "./with-storage.ts";

export async function migrateDatabase({ json }: { json: boolean }): Promise<void> {
  const databaseUrl = chooseDatabase();
  const storage = await connectStorage(databaseUrl);
  try {
    const applied = await migrateUrl({ clock: steadyClock() }, databaseUrl, storage);
    if (json) return console.log(JSON.stringify({ applied }));
    console.log(
      applied.length > 0 ? `applied: ${applied.join(", ")}` : "nothing to do: the tables are up to date",
    );
  } finally {
    await storage.close();
  }
}
