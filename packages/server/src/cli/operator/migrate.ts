import { steadyClock } from "../../lib/clock.ts";
import { connectStorage, migrateUrl } from "../../storage/open.ts";
import { printAnswer } from "./show-list.ts";
import { chooseDatabase } from "./with-storage.ts";

export async function migrateDatabase({ json }: { json: boolean }): Promise<void> {
  const databaseUrl = chooseDatabase();
  const storage = await connectStorage(databaseUrl);
  try {
    const applied = await migrateUrl({ clock: steadyClock() }, databaseUrl, storage);
    const names = applied.join(", ");
    printAnswer(json, { applied }, names ? `applied: ${names}` : "nothing to do: the tables are up to date");
  } finally {
    await storage.close();
  }
}
