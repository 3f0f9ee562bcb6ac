import { describe, expect, test } from "vitest";
import { z } from "zod";
import { cellsOf, columnsOf, rowOf } from "./columns.ts";
import { listEvents } from "./events.ts";
import { operations } from "./operations.ts";
import { getSignOnStatistics, listSignOns } from "./sign-ons.ts";

const namesOf = (row: z.ZodObject | undefined) => row && columnsOf(row).map(({ name }) => name);

test("an operation that answers an array of objects is a list, and has columns; figures have none", () => {
  const lists = operations.filter((operation) => rowOf(operation)).map(({ id }) => id);
  expect(lists).toEqual(operations.map(({ id }) => id).filter((id) => id.startsWith("list")));
  expect(lists.length).toBeGreaterThan(10);
  expect(rowOf(getSignOnStatistics)).toBeUndefined();
});

test("columns of one list have different names", () => {
  for (const operation of operations) {
    const names = namesOf(rowOf(operation)) ?? [];
    expect(new Set(names).size, operation.id).toBe(names.length);
  }
});

test("a nested member is a column by its path, an open object one column", () => {
  expect(namesOf(rowOf(listEvents))).toEqual([
    ...["specversion", "id", "source", "type", "subject", "time", "datacontenttype", "storeid", "sequence"],
    ...["salt", "digest", "previoushash", "hash", "data", "data.resource", "data.changes"],
    ...["data.actor.type", "data.actor.id", "data.actor.name", "data.request_id", "data.withheld"],
  ]);
  const signOns = namesOf(rowOf(listSignOns));
  expect(signOns).toContain("meta.timestamps.started_at");
  expect(signOns).toContain("idp_answer.status");
  expect(signOns).toEqual(expect.arrayContaining(["checks", "timings", "links.self"]));
});

describe("cells", () => {
  const row = z.strictObject({
    text: z.string(),
    flag: z.boolean(),
    count: z.int(),
    list: z.array(z.string()),
    part: z.strictObject({ at: z.string() }).nullable(),
    either: z.union([z.strictObject({ a: z.string() }), z.literal("(erased)")]),
    more: z.record(z.string(), z.int()).optional(),
  });
  const columns = columnsOf(row);
  const cells = (value: z.input<typeof row>) =>
    Object.fromEntries(cellsOf(columns, value).map((cell, at) => [columns[at]?.name, cell]));
  const value = { text: "", flag: false, count: 0, list: ["a", "b"], part: { at: "x" }, either: { a: "y" } };

  test("arrays and open objects are JSON; zero and false are written", () => {
    expect(cells({ ...value, more: { b: 1 } })).toEqual({
      text: "",
      flag: "false",
      count: "0",
      list: '["a","b"]',
      "part.at": "x",
      either: "",
      "either.a": "y",
      more: '{"b":1}',
    });
  });

  test("what is null, absent or an alternative without members is empty or stands in the column of the member", () => {
    expect(cells({ ...value, part: null, either: "(erased)" })).toMatchObject({
      "part.at": "",
      either: "(erased)",
      "either.a": "",
      more: "",
    });
  });
});
