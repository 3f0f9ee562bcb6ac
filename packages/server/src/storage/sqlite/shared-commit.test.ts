import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Storage, Trx } from "../storage.ts";
import { openSqlite } from "./sqlite.ts";

let folder: string;
let storage: Storage;
/** As another process sees the file. */
let outside: DatabaseSync;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), "latchkey-commits-"));
  storage = openSqlite(join(folder, "latchkey.db"));
  await sql`create table written (id integer primary key)`.execute(storage.db);
  outside = new DatabaseSync(join(folder, "latchkey.db"));
});
afterEach(async () => {
  outside.close();
  await storage.close();
  rmSync(folder, { recursive: true });
});

const write = (id: number) => async (trx: Trx) => {
  await sql`insert into written values (${id})`.execute(trx);
  return id;
};
const seenOutside = () =>
  outside
    .prepare("select id from written order by id")
    .all()
    .map(({ id }) => id);
const allOf = (count: number) => Array.from({ length: count }, (_, at) => at + 1);

/** How many ids an onlooker saw each time that somebody was told. */
async function watchTold(told: readonly Promise<unknown>[]): Promise<number[]> {
  const seen: number[] = [];
  await Promise.allSettled(told.map((one) => one.finally(() => seen.push(seenOutside().length))));
  return seen;
}

test("transactions of one turn share a commit, and none resolves before it", async () => {
  const told = allOf(5).map((id) => storage.transact(write(id)));
  expect(await watchTold(told)).toEqual([5, 5, 5, 5, 5]);
  expect(await Promise.all(told)).toEqual(allOf(5));
});

test("no more than 32 share a commit", async () => {
  const seen = await watchTold(allOf(40).map((id) => storage.transact(write(id))));
  expect([seen[0], seen.at(-1)]).toEqual([32, 40]);
});

test("a transaction that throws is rolled back alone, with all its writes", async () => {
  const failing = storage.transact(async (trx) => {
    await write(2)(trx);
    throw new Error("no");
  });
  await Promise.all([
    storage.transact(write(1)),
    expect(failing).rejects.toThrow("no"),
    storage.transact(write(3)),
  ]);
  expect(seenOutside()).toEqual([1, 3]);
});

test("a transaction that breaks a constraint is rolled back alone", async () => {
  const told = [1, 1, 2].map((id) => storage.transact(write(id)));
  const endings = await Promise.allSettled(told);
  expect(endings.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(seenOutside()).toEqual([1, 2]);
});

const turns = async (count: number) => {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
};

test("transactions are committed together as long as every second turn brings another one", async () => {
  const told = [0, 1, 3, 5].map(async (after, at) => {
    await turns(after);
    return storage.transact(write(at + 1));
  });
  expect(await watchTold(told)).toEqual([4, 4, 4, 4]);
});

test("a transaction after two empty turns has a commit of its own", async () => {
  const first = storage.transact(write(1));
  const second = turns(3).then(() => storage.transact(write(2)));
  expect(await watchTold([first, second])).toEqual([1, 2]);
});

test("a transaction that waits for another one has a commit of its own", async () => {
  const first = storage.transact(write(1));
  const second = first.then(() => storage.transact(write(2)));
  expect(await watchTold([first, second])).toEqual([1, 2]);
});

test("no more than 32 share a commit, also if they come turn by turn", async () => {
  const told = allOf(40).map(async (id) => {
    await turns(id);
    return storage.transact(write(id));
  });
  const seen = await watchTold(told);
  expect([seen[0], seen.at(-1)]).toEqual([32, 40]);
});

test("a single statement is committed with those of the same turn, and its caller resolves with theirs", async () => {
  const single = storage.write((db) => sql`insert into written values (1)`.execute(db));
  expect(await watchTold([single, storage.transact(write(2))])).toEqual([2, 2]);
});

test("a read outside a transaction sees committed data", async () => {
  const written = storage.transact(async (trx) => {
    await write(1)(trx);
    throw new Error("no");
  });
  const { rows } = await sql`select id from written`.execute(storage.db);
  await expect(written).rejects.toThrow("no");
  expect(rows).toEqual([]);
});

test("if the commit fails, all of its transactions fail", async () => {
  await sql`create table child (id integer references written (id) deferrable initially deferred)`.execute(
    storage.db,
  );
  const orphan = storage.transact((trx) => sql`insert into child values (7)`.execute(trx));
  const endings = await Promise.allSettled([storage.transact(write(1)), orphan]);
  expect(endings.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  expect(seenOutside()).toEqual([]);
  await storage.transact(write(2));
  expect(seenOutside()).toEqual([2]);
});
