import { existsSync, readFileSync } from "node:fs";
import { sql } from "kysely";
import type { Storage } from "../../src/storage/storage.ts";

/** Everything that is readable in SQLite's files, or in a dump of PostgreSQL. */
export async function storedText(url: string, storage: Storage): Promise<string> {
  if (url.startsWith("sqlite:")) {
    const path = url.slice("sqlite:".length);
    const files = [path, `${path}-wal`, `${path}-journal`].filter((file) => existsSync(file));
    return files.map((file) => readFileSync(file, "latin1")).join("\n");
  }
  const tables = await storage.db.introspection.getTables();
  const texts: string[] = [];
  for (const { name } of tables) {
    const { rows } = await sql<{ row: string }>`select t::text as row from ${sql.table(name)} t`.execute(
      storage.db,
    );
    texts.push(...rows.map(({ row }) => row));
  }
  return texts.join("\n");
}
