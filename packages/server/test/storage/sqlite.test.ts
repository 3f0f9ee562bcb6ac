import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { statement } from "../../src/storage/statement.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import { latchkey as run } from "../support/command.ts";

let folder: string;
let path: string;
let latchkey: TestApp;
let storage: Storage;
let shop: TestStore;
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-sqlite-"));
  path = join(folder, "latchkey.db");
  latchkey = await createTestApp({ databaseUrl: `sqlite:${path}` });
  storage = latchkey.storage;
  shop = await latchkey.createStore();
});
afterEach(async () => {
  await latchkey.close();
  rmSync(folder, { recursive: true, force: true });
});

const findKey = statement((db, of: { storeId: string; id: string }) =>
  db
    .selectFrom("application_keys as key")
    .innerJoin("stores as store", "store.id", "key.store_id")
    .selectAll("key")
    .select("store.name as store_name")
    .where("key.store_id", "=", of.storeId)
    .where("key.id", "=", of.id),
);
const renameKey = statement((db, to: { storeId: string; id: string; name: string }) =>
  db
    .updateTable("application_keys")
    .set({ name: to.name })
    .where("store_id", "=", to.storeId)
    .where("id", "=", to.id)
    .returning("name"),
);
const of = () => ({ storeId: shop.store.id, id: shop.key.id });

describe("a statement on SQLite", () => {
  test("finds each value under its name, also after another process has added a column", async () => {
    const before = await findKey.first(storage.db, of());
    expect(before).toMatchObject({ id: shop.key.id, store_id: shop.store.id, store_name: "Test store" });
    const other = new DatabaseSync(path);
    other.exec("alter table application_keys add column pages integer default 474");
    other.close();
    expect(await findKey.first(storage.db, of())).toEqual({ ...before, pages: 474 });
    await storage.transact(async (trx) =>
      expect(await findKey.first(trx, of())).toEqual({ ...before, pages: 474 }),
    );
  });

  test("that reads waits for no transaction, and does not see uncommitted changes", async () => {
    const before = await findKey.first(storage.db, of());
    const held = Promise.withResolvers<void>();
    const written = Promise.withResolvers<void>();
    const transaction = storage.transact(async (trx) => {
      await renameKey.first(trx, { ...of(), name: "Persuasion" });
      expect(await findKey.first(trx, of())).toMatchObject({ name: "Persuasion" });
      written.resolve();
      await held.promise;
    });
    await written.promise;
    expect(await findKey.first(storage.db, of())).toEqual(before);
    held.resolve();
    await transaction;
    expect(await findKey.first(storage.db, of())).toMatchObject({ name: "Persuasion" });
  });

  test("that writes waits for a transaction", async () => {
    const order: string[] = [];
    const transaction = storage.transact(async (trx) => {
      await renameKey.first(trx, { ...of(), name: "first" });
      order.push("transaction");
    });
    const alone = renameKey.first(storage.db, { ...of(), name: "second" }).then(() => order.push("alone"));
    await Promise.all([transaction, alone]);
    expect(order).toEqual(["transaction", "alone"]);
    expect(await findKey.first(storage.db, of())).toMatchObject({ name: "second" });
  });
});

test("closing the storage leaves no other file beside the database", async () => {
  await findKey.first(storage.db, of());
  await latchkey.close();
  expect([path, `${path}-wal`, `${path}-shm`].map((file) => existsSync(file))).toEqual([true, false, false]);
  latchkey = await createTestApp({ databaseUrl: `sqlite:${path}` });
});

test("a file that another process locks, while it creates or closes the file, is waited for", async () => {
  const other = join(folder, "other.db");
  const maker = new DatabaseSync(other);
  maker.exec("begin exclusive");
  const running = run(["migrate"], { LATCHKEY_DATABASE_URL: `sqlite:${other}` });
  // Shorter than the wait, longer than another process needs to reach the file.
  await Promise.race([running, sleep(1500)]);
  maker.exec("rollback");
  maker.close();
  expect(await running).toMatchObject({ code: 0, stdout: expect.stringContaining("applied: ") });
});

test("no database is created beside the log of a database that was moved away", async () => {
  const moved = join(folder, "moved.db");
  copyFileSync(`${path}-wal`, `${moved}-wal`);
  const { code, stderr } = await run(["migrate"], { LATCHKEY_DATABASE_URL: `sqlite:${moved}` });
  expect([code, stderr]).toEqual([1, expect.stringContaining("Put the database back beside it")]);
  expect(readFileSync(`${moved}-wal`)).toEqual(readFileSync(`${path}-wal`));
});

test("an opened database and its files become readable by their owner alone; another file stays unchanged", async () => {
  const modeOf = (file: string) => statSync(file).mode & 0o777;
  const ours = [path, `${path}-wal`, `${path}-shm`];
  const notes = join(folder, "notes.txt");
  writeFileSync(notes, "longer than the header of a database: ".repeat(10));
  for (const file of [...ours, notes]) chmodSync(file, 0o644);
  await run(["store", "list"], { LATCHKEY_DATABASE_URL: `sqlite:${path}` });
  expect(ours.map(modeOf)).toEqual([0o600, 0o600, 0o600]);
  const { code, stderr } = await run(["store", "list"], { LATCHKEY_DATABASE_URL: `sqlite:${notes}` });
  expect([code, stderr]).toEqual([1, expect.stringContaining("file is not a database")]);
  expect(modeOf(notes)).toBe(0o644);
});
