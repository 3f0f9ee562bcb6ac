import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Condition } from "../lib/condition.ts";
import { choice, filterParameter, instant, pattern, sortParameter, text } from "./filter.ts";
import { presentPageLinks, toListParameters } from "./paging.ts";

const FIELDS = { email: pattern(254), external_ref: text, created_at: instant };
const parse = (given: string) => filterParameter(FIELDS).safeParse(given).data;

test.each<[string, Condition[]]>([
  ["eq(email,ada@shop.example)", [{ field: "email", operator: "eq", value: "ada@shop.example" }]],
  ["like(email,*@shop.example)", [{ field: "email", operator: "like", value: "*@shop.example" }]],
  ["eq(external_ref,a,b)", [{ field: "external_ref", operator: "eq", value: "a,b" }]],
  ["eq(external_ref,a:b)", [{ field: "external_ref", operator: "eq", value: "a:b" }]],
  ["eq(external_ref,f(x))", [{ field: "external_ref", operator: "eq", value: "f(x)" }]],
  ["eq(external_ref, spaced )", [{ field: "external_ref", operator: "eq", value: " spaced " }]],
  ["gt(created_at,1970-01-01)", [{ field: "created_at", operator: "gt", value: 0 }]],
  ["le(created_at,1970-01-01T00:00Z)", [{ field: "created_at", operator: "le", value: 0 }]],
  ["lt(created_at,1970-01-01T00:00:01Z)", [{ field: "created_at", operator: "lt", value: 1000 }]],
  ["ge(created_at,1970-01-01T00:00:00.001Z)", [{ field: "created_at", operator: "ge", value: 1 }]],
  [
    "eq(email,a@b.example):eq(external_ref,x:y):gt(created_at,1970-01-01)",
    [
      { field: "email", operator: "eq", value: "a@b.example" },
      { field: "external_ref", operator: "eq", value: "x:y" },
      { field: "created_at", operator: "gt", value: 0 },
    ],
  ],
  [
    "ge(created_at,1970-01-01):lt(created_at,1970-01-02)",
    [
      { field: "created_at", operator: "ge", value: 0 },
      { field: "created_at", operator: "lt", value: 86_400_000 },
    ],
  ],
  [`like(email,${"x".repeat(254)})`, [{ field: "email", operator: "like", value: "x".repeat(254) }]],
])("%s parses", (given, conditions) => {
  expect(parse(given)).toEqual(conditions);
});

test("a field with choices takes these alone, and names them", () => {
  const ofChoices = filterParameter({ test: choice("true", "false") });
  expect(ofChoices.safeParse("eq(test,true)").data).toEqual([
    { field: "test", operator: "eq", value: "true" },
  ]);
  for (const value of ["1", "TRUE", "true,false"])
    expect(ofChoices.safeParse(`eq(test,${value})`).error?.message).toContain("`test` takes true or false");
});

test("an empty filter is none", () => {
  expect(parse("")).toEqual([]);
});

test.each([
  ["no condition", "email"],
  ["an unknown field", "eq(password_hash,x)"],
  ["a field that every object has", "eq(constructor,x)"],
  ["an unknown operator", "ne(email,x)"],
  ["an operator that the field does not take", "like(external_ref,x)"],
  ["a comparison of text", "gt(email,x)"],
  ["like on an instant", "like(created_at,2026*)"],
  ["no value", "eq(email,)"],
  ["no comma", "eq(email)"],
  ["no end", "eq(email,x"],
  ["more after the end", "eq(email,x) "],
  ["a colon after the end", "eq(email,x):"],
  ["a colon before", ":eq(email,x)"],
  ["one good and one bad condition", "eq(email,x):eq(nope,x)"],
  ["capitals", "EQ(email,x)"],
  ["an instant in words", "gt(created_at,yesterday)"],
  ["an instant with an offset", "gt(created_at,2026-01-01T00:00:00+02:00)"],
  ["an instant without a zone", "gt(created_at,2026-01-01T00:00:00)"],
  ["a thirteenth month", "gt(created_at,2026-13-01)"],
  ["milliseconds since 1970", "gt(created_at,1767225600000)"],
  ["a text in two conditions", "eq(email,x):like(email,x*)"],
  ["two lower bounds", "gt(created_at,2026-01-01):ge(created_at,2026-01-02)"],
  ["an instant and a bound for it", "eq(created_at,2026-01-01):gt(created_at,2026-01-01)"],
  ["three bounds", "gt(created_at,2026-01-01):lt(created_at,2026-02-01):le(created_at,2026-03-01)"],
  ["a pattern longer than its field", `like(email,${"x".repeat(255)})`],
])("%s does not parse", (_, given) => {
  expect(parse(given)).toBeUndefined();
});

describe("for any text", () => {
  test("parsing gives conditions of the contract or nothing, and never throws", () => {
    const piece = fc.constantFrom(
      "eq",
      "like",
      "gt",
      "(",
      ")",
      ",",
      ":",
      "email",
      "created_at",
      "2026-01-01",
      "x",
    );
    const given = fc.oneof(
      fc.string(),
      fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join("")),
    );
    fc.assert(
      fc.property(given, (given) => {
        for (const { field, operator, value } of parse(given) ?? []) {
          const known = FIELDS[field as keyof typeof FIELDS];
          expect(known.operators).toContain(operator);
          expect(typeof value).toBe(known.kind === "instant" ? "number" : "string");
        }
      }),
    );
  });

  test("a parsed filter that is written again, as in page links, parses to the same", () => {
    const value = fc
      .string({ minLength: 1, maxLength: 20, unit: "grapheme" })
      .filter((given) => !given.includes("):"));
    const ofText = fc.record({
      field: fc.constantFrom("email", "external_ref"),
      operator: fc.constant("eq" as const),
      value,
    });
    const ofInstant = fc.record({
      field: fc.constant("created_at"),
      operator: fc.constantFrom("eq" as const, "gt" as const, "ge" as const, "lt" as const, "le" as const),
      value: fc.integer({ min: Date.parse("0000-01-01"), max: Date.parse("9999-12-31T23:59:59.999Z") }),
    });
    const conditions = fc.uniqueArray(fc.oneof(ofText, ofInstant), {
      minLength: 1,
      maxLength: 3,
      selector: ({ field }) => field,
    });
    const sort = fc.record({ field: fc.constantFrom("email", "created_at"), descending: fc.boolean() });
    fc.assert(
      fc.property(conditions, sort, (conditions, sort) => {
        const page = { limit: 1, offset: 0 };
        const place = { offset: 0, total: 2, isAtLeast: false, next: { after: "cursor", offset: 1 } };
        const { next } = presentPageLinks(
          "https://x.example/l",
          page,
          place,
          toListParameters(conditions, sort),
        );
        const query = new URL(next as string).searchParams;
        expect(parse(query.get("filter") as string)).toEqual(conditions);
        expect(sortParameter(["email", "created_at"], "any").parse(query.get("sort") as string)).toEqual(
          sort,
        );
      }),
    );
  });
});

test("the links of a list that was not narrowed name the page only", () => {
  const place = { offset: 0, total: 1, isAtLeast: false, next: undefined };
  const { current } = presentPageLinks("https://x.example/l", { limit: 25, offset: 0 }, place);
  expect(current).toBe("https://x.example/l?page%5Blimit%5D=25&page%5Boffset%5D=0");
  expect(toListParameters([])).toEqual({});
});

test("the parameter refuses what does not parse, and what is too long", () => {
  const parameter = filterParameter(FIELDS);
  expect(parameter.safeParse("eq(nope,x)").success).toBe(false);
  expect(parameter.safeParse(`eq(email,${"x".repeat(4096)})`).success).toBe(false);
  expect(parameter.safeParse(undefined).success).toBe(true);
});

test.each([
  ["created_at", { field: "created_at", descending: false }],
  ["-created_at", { field: "created_at", descending: true }],
])("sort %s parses", (given, sort) => {
  expect(sortParameter(["created_at", "name"], "any").parse(given)).toEqual(sort);
});

test.each(["", "-", "--name", "name,created_at", "NAME", "names", "password_hash", "name desc"])(
  "sort %j is refused",
  (given) => {
    expect(sortParameter(["created_at", "name"], "any").safeParse(given).success).toBe(false);
  },
);
