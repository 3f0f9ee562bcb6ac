import { expect, test } from "vitest";
import { directionOf, nextOrder, readOrder, readRows, withChange } from "./address.ts";

const changed = (before: string, change: Record<string, string | undefined>) =>
  withChange(new URLSearchParams(before), change).toString();

test("a change keeps the other parts of the address, and begins with the first rows", () => {
  expect(changed("q=Ada&sort=name&rows=75", { sort: "-name" })).toBe("q=Ada&sort=-name");
  expect(changed("q=Ada&sort=name", { q: undefined })).toBe("sort=name");
  expect(changed("q=Ada", { q: "" })).toBe("");
});

test("only an order that the list can have is read from the address", () => {
  const read = (search: string) =>
    readOrder(new URLSearchParams(search), ["name", "created_at"], "-created_at");
  expect(["sort=name", "sort=-name", "sort=role", "sort=--name", ""].map(read)).toEqual([
    "name",
    "-name",
    "-created_at",
    "-created_at",
    "-created_at",
  ]);
});

test.each([
  [undefined, "name", "none", "name"],
  ["name", "name", "ascending", "-name"],
  ["-name", "name", "descending", "name"],
  ["name", "-created_at", "none", "-created_at"],
  ["-created_at", "-created_at", "descending", "created_at"],
  ["created_at", "-created_at", "ascending", "-created_at"],
] as const)("sorted by %s, the heading of %s is %s, and a press sorts by %s", (order, first, now, next) => {
  expect([directionOf(order, first), nextOrder(order, first)]).toEqual([now, next]);
});

test.each([
  ["rows=75", 75],
  ["rows=100000", 1000],
  ["rows=-1", 0],
  ["rows=x", 0],
  ["", 0],
])("%j asks for %d rows", (search, rows) => {
  expect(readRows(new URLSearchParams(search))).toBe(rows);
});
