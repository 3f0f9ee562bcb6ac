import { sql } from "kysely";
import { expect, test } from "vitest";
import { migrate, migrations } from "../../src/storage/migrate.ts";
import { connectStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { handClock } from "../support/clock.ts";

test("a new SQLite database has the tables, indexes, triggers and rows of one that every migration has run on", async () => {
  const clock = handClock();
  const made = await connectStorage("sqlite::memory:");
  await migrate({ storage: made, clock });
  const migrated = await connectStorage("sqlite::memory:");
  for (const [index] of migrations.entries())
    await migrate({ storage: migrated, clock }, migrations.slice(0, index + 1));
  expect(await contentOf(made)).toEqual(await contentOf(migrated));
  await made.close();
  await migrated.close();
});

async function contentOf({ db }: Storage): Promise<unknown> {
  const schema = await sql<{ name: string; type: string }>`
    select type, name, sql from sqlite_master order by type, name`.execute(db);
  const tables = schema.rows.filter(({ type }) => type === "table");
  const rows = tables.map(async ({ name }) => ({
    name,
    rows: (await sql`select * from ${sql.table(name)}`.execute(db)).rows,
  }));
  return { schema: schema.rows, rows: await Promise.all(rows) };
}
