import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { handClock } from "../../test/support/clock.ts";
import type { Condition, Sort } from "../lib/condition.ts";
import type { Columns } from "./filter.ts";
import { openStorage } from "./open.ts";
import { readPage } from "./page.ts";
import type { Storage } from "./storage.ts";

const COLUMNS: Columns = {
  name: { column: "name" },
  upper: { column: "name", transform: (text, operator) => (operator === "eq" ? text.toUpperCase() : text) },
  ref: { column: "external_ref" },
  created_at: { column: "created_at" },
};

/** In the order in which they were made; two in the same millisecond. */
const NAMES = ["Ada", "ADA", "100%", "100 percent", "a_b", "axb", "back\\slash", "star*", "Élodie", "Bea"];

let storage: Storage;

beforeAll(async () => {
  storage = await openStorage({ clock: handClock() }, "sqlite::memory:");
  for (const [index, id] of ["one", "two"].entries()) {
    const times = { created_at: index, updated_at: index };
    await storage.db
      .insertInto("stores")
      .values({ id, name: id, rate_limit: 1, revision: 0, total_reserved_rate_limit: 0, ...times })
      .execute();
    for (const [place, name] of NAMES.entries()) {
      await storage.db
        .insertInto("customers")
        .values({
          id: `${id}-${String(place).padStart(2, "0")}`,
          store_id: id,
          name,
          email: "a@shop.example",
          email_key: "a@shop.example",
          email_verified: 0,
          password_hash: null,
          external_ref: place === 0 ? "ref" : null,
          authentication_mechanism: "password",
          created_at: 1000 + Math.floor(place / 2),
          updated_at: 0,
        })
        .execute();
    }
  }
});
afterAll(() => storage.close());

async function names(conditions: Condition[], sort?: Sort): Promise<string[]> {
  const narrowing = { conditions, sort, columns: COLUMNS };
  const page = { limit: 100, offset: 0 };
  const { rows, total } = await readPage(storage.db, "customers", { store_id: "one" }, page, narrowing);
  expect(total).toBe(rows.length);
  expect(new Set(rows.map((row) => row.store_id))).toEqual(new Set(rows.length > 0 ? ["one"] : []));
  return rows.map((row) => row.name);
}

const where = (field: string, operator: Condition["operator"], value: string | number): Condition[] => [
  { field, operator, value },
];

describe("a condition", () => {
  test.each<[Condition["operator"], number, string[]]>([
    ["eq", 1001, ["100%", "100 percent"]],
    ["gt", 1003, ["Élodie", "Bea"]],
    ["ge", 1004, ["Élodie", "Bea"]],
    ["lt", 1001, ["Ada", "ADA"]],
    ["le", 1000, ["Ada", "ADA"]],
  ])("%s compares", async (operator, value, found) => {
    expect(await names(where("created_at", operator, value))).toEqual(found);
  });

  test("eq is exact, also where the column has nothing", async () => {
    expect(await names(where("name", "eq", "Ada"))).toEqual(["Ada"]);
    expect(await names(where("name", "eq", "A*"))).toEqual([]);
    expect(await names(where("ref", "eq", "ref"))).toEqual(["Ada"]);
  });

  test.each<[string, string[]]>([
    ["ada", ["Ada", "ADA"]],
    ["a*", ["Ada", "ADA", "a_b", "axb"]],
    ["*A", ["Ada", "ADA", "Bea"]],
    ["*d*", ["Ada", "ADA", "Élodie"]],
    ["Él*", ["Élodie"]],
    ["100%", ["100%"]],
    ["100*", ["100%", "100 percent"]],
    ["a_b", ["a_b"]],
    ["back\\slash", ["back\\slash"]],
    ["back\\*", ["back\\slash"]],
    ["star**", ["star*"]],
    ["%", []],
    ["_*", []],
    ["nobody", []],
  ])("like %s takes * for any text, and everything else for itself", async (value, found) => {
    expect(await names(where("name", "like", value))).toEqual(found);
  });

  test("with * alone finds everything", async () => {
    expect(await names(where("name", "like", "*"))).toEqual(NAMES);
  });

  test("asks for the value in the column's form, which may depend on the operator", async () => {
    expect(await names(where("upper", "eq", "ada"))).toEqual(["ADA"]);
    expect(await names(where("upper", "like", "ad*"))).toEqual(["Ada", "ADA"]);
  });

  test("on a field that has no column is our own slip, and not a list of everything", async () => {
    await expect(names(where("password_hash", "eq", "x"))).rejects.toThrow("no column");
    await expect(names(where("constructor", "eq", "x"))).rejects.toThrow("no column");
    await expect(names([], { field: "email", descending: false })).rejects.toThrow("no column");
  });
});

test("several conditions must all hold", async () => {
  const both = [...where("name", "like", "a*"), ...where("created_at", "gt", 1000)];
  expect(await names(both)).toEqual(["a_b", "axb"]);
});

test("whatever is asked for is a value and never SQL", async () => {
  const value = fc.oneof(
    fc.string(),
    fc.string({ unit: fc.constantFrom("'", '"', "\\", "%", "_", "*", ";", "-") }),
  );
  await fc.assert(
    fc.asyncProperty(value, fc.constantFrom("eq", "like"), async (text, operator) => {
      const found = await names(where("name", operator as "eq", text));
      const pattern = text.replaceAll("*", "").toLowerCase();
      if (operator === "eq") expect(found).toEqual(NAMES.filter((name) => name === text));
      if (!text.includes("*")) expect(found.every((name) => name.toLowerCase() === pattern)).toBe(true);
    }),
  );
});

describe("the order", () => {
  test("is oldest first, or what the table's reader says, with the id for what is equal", async () => {
    const ids = async (descending: boolean) => {
      const order = { column: "created_at", descending };
      const page = { limit: 100, offset: 0 };
      const { rows } = await readPage(storage.db, "customers", { store_id: "one" }, page, { order });
      return rows.map((row) => row.id);
    };
    expect(await names([])).toEqual(NAMES);
    expect(await ids(true)).toEqual((await ids(false)).reverse());
  });

  test("is the asked one, in both directions", async () => {
    const up = await names([], { field: "name", descending: false });
    expect(up).toEqual([...NAMES].sort((a, b) => (a < b ? -1 : 1)));
    expect(await names([], { field: "name", descending: true })).toEqual(up.reverse());
  });

  test("holds from page to page, also where the rows are equal in what they are ordered by", async () => {
    for (const descending of [false, true]) {
      const seen: string[] = [];
      for (let offset = 0; offset < NAMES.length; offset += 3) {
        const narrowing = { columns: COLUMNS, sort: { field: "created_at", descending } };
        const page = { limit: 3, offset };
        const answer = await readPage(storage.db, "customers", { store_id: "two" }, page, narrowing);
        expect(answer.total).toBe(NAMES.length);
        seen.push(...answer.rows.map((row) => row.name));
      }
      expect(seen).toEqual(descending ? [...NAMES].reverse() : NAMES);
    }
  });
});
