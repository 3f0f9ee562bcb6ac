import { sql } from "kysely";
import { expect, test } from "vitest";
import { openStorage } from "../../src/storage/open.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { handClock } from "../support/clock.ts";
import { openMemory } from "../support/memory.ts";

test("a test's database has the tables, indexes, statistics and rows of one that the migrations made", async () => {
  const clock = handClock();
  const made = await openStorage({ clock }, "sqlite::memory:");
  const copied = await openMemory({ clock });
  expect(await contentOf(copied)).toEqual(await contentOf(made));
  await made.close();
  await copied.close();
});

async function contentOf({ db }: Storage): Promise<unknown> {
  const schema = await sql<{ name: string; type: string }>`
    select type, name, sql from sqlite_master order by type, name`.execute(db);
  const tables = schema.rows.filter(({ type }) => type === "table");
  const counts = tables.map(async ({ name }) => {
    const { rows } = await sql`select count(*) as rows from ${sql.table(name)}`.execute(db);
    return { name, ...(rows[0] as object) };
  });
  return { schema: schema.rows, counts: await Promise.all(counts) };
}
