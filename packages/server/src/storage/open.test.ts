import { expect, test } from "vitest";
import { isSameDatabase } from "./open.ts";

test.each([
  ["postgres://a:x@db.internal/latchkey", "postgresql://b@db.internal:5432/latchkey?sslmode=require", true],
  ["postgres://db.internal/latchkey", "postgres://db.internal/latchkey_before", false],
  ["postgres://db.internal/latchkey", "postgres://db.internal:5433/latchkey", false],
  ["postgres:///latchkey?host=/run/one", "postgres:///latchkey?host=/run/two", false],
  ["sqlite:./data/latchkey.db", "sqlite:data/../data/latchkey.db", true],
  ["sqlite:data/latchkey.db", "sqlite:data/before.db", false],
  ["sqlite:data/latchkey.db", "postgres://db.internal/latchkey", false],
])("%s and %s are the same database: %s", (one, other, isSame) => {
  expect(isSameDatabase(one, other)).toBe(isSame);
});
