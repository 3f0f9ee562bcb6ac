import { sql } from "kysely";
import type { Clock } from "../../src/lib/clock.ts";
import { connectStorage, openStorage } from "../../src/storage/open.ts";
import { writeStatistics } from "../../src/storage/sqlite-statistics.ts";
import type { Storage } from "../../src/storage/storage.ts";

type Schema = { statements: string[]; migrations: { version: number; name: string; applied_at: number }[] };

let schema: Promise<Schema> | undefined;

/**
 * A database in memory as `openStorage` makes it, in a quarter of the time: the migrations have run once for all tests of a
 * worker, and each test gets the tables that they ended with.
 */
export async function openMemory({ clock }: { clock: Clock }): Promise<Storage> {
  schema ??= readSchema({ clock });
  const { statements, migrations } = await schema;
  const storage = await connectStorage("sqlite::memory:");
  for (const statement of statements) await sql.raw(statement).execute(storage.db);
  await storage.db.insertInto("schema_migrations").values(migrations).execute();
  await writeStatistics(storage);
  return storage;
}

async function readSchema({ clock }: { clock: Clock }): Promise<Schema> {
  const storage = await openStorage({ clock }, "sqlite::memory:");
  const made = await sql<{ sql: string }>`
    select sql from sqlite_master where sql is not null and name not like 'sqlite_%'`.execute(storage.db);
  const migrations = await storage.db.selectFrom("schema_migrations").selectAll().execute();
  await storage.close();
  return { statements: made.rows.map((row) => row.sql), migrations };
}
