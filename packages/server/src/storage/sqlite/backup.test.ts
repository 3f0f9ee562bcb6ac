import {
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { takePlace } from "./backup.ts";

test("a database that can be neither opened nor renamed stays unchanged, with its log", () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-test-"));
  const at = (name: string) => join(folder, name);
  new DatabaseSync(at("copy.db")).close();
  for (const name of ["latchkey.db", "taken.db"]) writeFileSync(at(name), "damaged".repeat(1000));
  // A log that SQLite cannot open.
  mkdirSync(at("latchkey.db-wal"));
  const before = readdirSync(folder);
  expect(() => takePlace(at("copy.db"), at("latchkey.db"), at("taken.db"))).toThrow("EEXIST");
  expect(readdirSync(folder)).toEqual(before);
  rmSync(folder, { recursive: true });
});

test("files left by a deleted database are not read into its replacement", () => {
  const folder = mkdtempSync(join(tmpdir(), "latchkey-test-"));
  const at = (name: string) => join(folder, name);
  const gone = new DatabaseSync(at("latchkey.db"));
  gone.exec("pragma journal_mode = wal; create table gone (id text)");
  copyFileSync(at("latchkey.db-wal"), at("log"));
  gone.close();
  rmSync(at("latchkey.db"));
  renameSync(at("log"), at("latchkey.db-wal"));
  const copy = new DatabaseSync(at("copy.db"));
  copy.exec("create table restored (id text)");
  copy.close();
  takePlace(at("copy.db"), at("latchkey.db"), at("kept.db"));
  expect(readdirSync(folder)).toEqual(["kept.db-wal", "latchkey.db"]);
  const restored = new DatabaseSync(at("latchkey.db"));
  expect(restored.prepare("select name from sqlite_master").all()).toEqual([{ name: "restored" }]);
  restored.close();
  rmSync(folder, { recursive: true });
});
