import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { handClock } from "../../../test/support/clock.ts";
import type { Condition, Sort } from "../../lib/condition.ts";
import { openStorage } from "../open.ts";
import type { Storage } from "../storage.ts";
import { readPage } from "./page.ts";

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
  const page = { limit: 100, offset: 0 };
  const { rows, place } = await readPage(storage, "customers", { store_id: "one" }, page, {
    conditions,
    sort,
  });
  expect(place).toEqual({ offset: 0, total: rows.length, isAtLeast: false, next: undefined });
  expect(new Set(rows.map((row) => row.store_id))).toEqual(new Set(rows.length > 0 ? ["one"] : []));
  return rows.map((row) => row.name);
}

const where = (field: string, operator: Condition["operator"], value: string | number): Condition[] => [
  { field, operator, value },
];

describe("a condition", () => {
  test.each<[Condition["operator"], number, string[]]>([
    ["eq", 1001, ["100 percent", "100%"]],
    ["gt", 1003, ["Bea", "Élodie"]],
    ["ge", 1004, ["Bea", "Élodie"]],
    ["lt", 1001, ["ADA", "Ada"]],
    ["le", 1000, ["ADA", "Ada"]],
  ])("%s compares", async (operator, value, found) => {
    expect(await names(where("created_at", operator, value))).toEqual(found);
  });

  test("eq is exact, also for an empty column", async () => {
    expect(await names(where("name", "eq", "Ada"))).toEqual(["Ada"]);
    expect(await names(where("name", "eq", "A*"))).toEqual([]);
    expect(await names(where("external_ref", "eq", "ref"))).toEqual(["Ada"]);
  });

  test.each<[string, string[]]>([
    ["ada", ["ADA", "Ada"]],
    ["a*", ["a_b", "ADA", "Ada", "axb"]],
    ["*A", ["Bea", "ADA", "Ada"]],
    ["*d*", ["Élodie", "ADA", "Ada"]],
    ["Él*", ["Élodie"]],
    ["100%", ["100%"]],
    ["100*", ["100 percent", "100%"]],
    ["a_b", ["a_b"]],
    ["back\\slash", ["back\\slash"]],
    ["back\\*", ["back\\slash"]],
    ["star**", ["star*"]],
    ["%", []],
    ["_*", []],
    ["nobody", []],
  ])("like %s: * matches any text, and every other character matches itself", async (value, found) => {
    expect(await names(where("name", "like", value))).toEqual(found);
  });

  test("with * alone finds everything", async () => {
    expect(await names(where("name", "like", "*"))).toEqual(NAMES.toReversed());
  });

  test("eq finds a text that is longer than its part in the index, and no other text with the same beginning", async () => {
    const long = "x".repeat(300);
    const change = storage.db.updateTable("customers").where("id", "=", "one-01");
    await change.set({ external_ref: `${long}1` }).execute();
    expect(await names(where("external_ref", "eq", `${long}1`))).toEqual(["ADA"]);
    expect(await names(where("external_ref", "eq", `${long}2`))).toEqual([]);
    expect(await names(where("external_ref", "eq", long.slice(0, 255)))).toEqual([]);
    await change.set({ external_ref: null }).execute();
  });

  test("a filter on an unknown column throws", async () => {
    await expect(names(where("password_hash", "eq", "x"))).rejects.toThrow("no column");
    await expect(names(where("constructor", "eq", "x"))).rejects.toThrow("no column");
    await expect(names([], { field: "external_ref", descending: false })).rejects.toThrow("no index");
  });
});

test("several conditions must all hold", async () => {
  const both = [...where("name", "like", "a*"), ...where("created_at", "gt", 1000)];
  expect(await names(both)).toEqual(["axb", "a_b"]);
});

test("a value and bounds of one field must all hold", async () => {
  const bounded = (ge: number, le: number) => [
    ...where("created_at", "eq", 1001),
    ...where("created_at", "le", le),
    ...where("created_at", "ge", ge),
  ];
  for (const sort of [undefined, { field: "updated_at", descending: true }]) {
    expect(await names(bounded(1001, 1001), sort)).toEqual(["100 percent", "100%"]);
    expect(await names(bounded(1002, 1003), sort)).toEqual([]);
  }
  expect(await names([...where("created_at", "eq", 1001), ...where("created_at", "eq", 1002)])).toEqual([]);
});

test("a filter's text is a value and never SQL", async () => {
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
  test("newest first; equal times are ordered by id", async () => {
    expect(await names([])).toEqual(NAMES.toReversed());
    expect(await names([], { field: "created_at", descending: false })).toEqual(NAMES);
  });

  test("a prefix filter: order of the index; an exact filter: newest first", async () => {
    expect(await names(where("name", "like", "b*"))).toEqual(["back\\slash", "Bea"]);
    expect(await names(where("email", "eq", "a@shop.example"))).toEqual(NAMES.toReversed());
    expect(await names(where("name", "like", "b*"), { field: "created_at", descending: true })).toEqual([
      "Bea",
      "back\\slash",
    ]);
  });

  test("is the requested one, in both directions, without regard to case", async () => {
    const up = await names([], { field: "name", descending: false });
    const inOrder = [
      "100 percent",
      "100%",
      "a_b",
      "ADA",
      "Ada",
      "axb",
      "back\\slash",
      "Bea",
      "star*",
      "Élodie",
    ];
    expect(up).toEqual(inOrder);
    expect(await names([], { field: "name", descending: true })).toEqual(up.reverse());
  });

  test("holds from page to page, also for rows with equal keys", async () => {
    for (const descending of [false, true]) {
      const seen: string[] = [];
      for (let offset = 0; offset < NAMES.length; offset += 3) {
        const narrowed = { sort: { field: "created_at", descending } };
        const page = { limit: 3, offset };
        const answer = await readPage(storage, "customers", { store_id: "two" }, page, narrowed);
        expect(answer.place.total).toBe(NAMES.length);
        seen.push(...answer.rows.map((row) => row.name));
      }
      expect(seen).toEqual(descending ? [...NAMES].reverse() : NAMES);
    }
  });
});
