import type { Clock } from "../../src/lib/clock.ts";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { type Engine, type TestDatabase, UNHURRIED } from "./engines.ts";

/** Tables that others reference. */
const FIRST = [
  "schema_migrations",
  "stores",
  "customers",
  "application_keys",
  "authentication_realms",
  "integrations",
];

export type CopiedDatabase = { storage: Storage; database: TestDatabase; drop(): Promise<void> };

/** Copies a database in its current state into another one, as restoring a backup of either engine does. */
export async function copyDatabase(engine: Engine, from: Storage, clock: Clock): Promise<CopiedDatabase> {
  const database = await engine.create();
  const storage = await openStorage({ clock }, database.url, UNHURRIED);
  const tables = (await from.db.introspection.getTables()).map(({ name }) => name);
  const ordered = [...FIRST, ...tables.filter((name) => !FIRST.includes(name))] as "customers"[];
  await storage.db.deleteFrom("schema_migrations").execute();
  for (const table of ordered.filter((name) => tables.includes(name))) {
    const rows = await from.db.selectFrom(table).selectAll().execute();
    for (const row of rows) {
      const { name_key: _, ...given } = row as typeof row & { name_key?: string };
      // A trigger computes the sum of the keys' reservations.
      const isStore = "total_reserved_rate_limit" in given;
      const values = isStore ? { ...given, total_reserved_rate_limit: 0 } : given;
      await storage.db.insertInto(table).values(values).execute();
    }
  }
  return {
    storage,
    database,
    async drop() {
      await storage.close();
      await database.drop();
    },
  };
}
