import { existsSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { openSqlite } from "./sqlite.ts";
import { statement } from "./statement.ts";
import type { Storage } from "./storage.ts";

let storage: Storage;
let path: string;
beforeEach(async () => {
  path = join(tmpdir(), `latchkey-${crypto.randomUUID()}.db`);
  storage = openSqlite(path);
  await sql`create table shelves (id integer primary key, label text)`.execute(storage.db);
  await sql`create table books (id integer primary key, title text, shelf_id integer)`.execute(storage.db);
  await sql`insert into shelves values (1, 'green')`.execute(storage.db);
  await sql`insert into books values (7, 'Emma', 1)`.execute(storage.db);
});
afterEach(async () => {
  await storage.close();
  for (const end of ["", "-wal", "-shm"]) rmSync(`${path}${end}`, { force: true });
});

const findBook = statement(
  (_, of: { id: number }) =>
    sql<object>`select books.*, label from books join shelves on shelves.id = shelf_id where books.id = ${of.id}`,
);
const rename = statement(
  (_, to: { title: string }) => sql`update books set title = ${to.title} where id = 7 returning title`,
);
const emma = { id: 7, title: "Emma", shelf_id: 1, label: "green" };

describe("a statement on SQLite", () => {
  test("finds each value under its name, also after another process has added a column", async () => {
    expect(await findBook.first(storage.db, { id: 7 })).toEqual(emma);
    const other = new DatabaseSync(path);
    other.exec("alter table books add column pages integer default 474");
    other.close();
    expect(await findBook.first(storage.db, { id: 7 })).toEqual({ ...emma, pages: 474 });
    await storage.transact(async (trx) =>
      expect(await findBook.first(trx, { id: 7 })).toEqual({ ...emma, pages: 474 }),
    );
  });

  test("that reads waits for no transaction, and sees nothing of it before its commit", async () => {
    const held = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const transaction = storage.transact(async (trx) => {
      await rename.first(trx, { title: "Persuasion" });
      expect(await findBook.first(trx, { id: 7 })).toMatchObject({ title: "Persuasion" });
      written.resolve();
      await held.promise;
    });
    await written.promise;
    expect(await findBook.first(storage.db, { id: 7 })).toEqual(emma);
    held.resolve();
    await transaction;
    expect(await findBook.first(storage.db, { id: 7 })).toMatchObject({ title: "Persuasion" });
  });

  test("leaves nothing beside the file when the storage is closed", async () => {
    expect(await findBook.first(storage.db, { id: 7 })).toEqual(emma);
    await storage.close();
    expect([existsSync(path), existsSync(`${path}-wal`), existsSync(`${path}-shm`)]).toEqual([
      true,
      false,
      false,
    ]);
    storage = openSqlite(path);
  });

  test("that writes stands behind a transaction", async () => {
    const order: string[] = [];
    const transaction = storage.transact(async (trx) => {
      await rename.first(trx, { title: "first" });
      order.push("transaction");
    });
    const alone = rename.first(storage.db, { title: "second" }).then(() => order.push("alone"));
    await Promise.all([transaction, alone]);
    expect(order).toEqual(["transaction", "alone"]);
    expect(await findBook.first(storage.db, { id: 7 })).toMatchObject({ title: "second" });
  });
});
