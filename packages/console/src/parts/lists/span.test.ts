import { expect, test } from "vitest";
import { fromField, readSpan, spanConditions, toField } from "./span.ts";

test("a span is read from the address, without what is no instant", () => {
  const read = (search: string) => readSpan(new URLSearchParams(search));
  const from = "2026-11-19T08:00:00.000Z";
  expect(read(`from=${from}&to=yesterday`)).toEqual({ from, to: "" });
  expect(read("from=2026-13-45T08:00:00Z&to=2026-11-19T08:00Z")).toEqual({
    from: "",
    to: "2026-11-19T08:00Z",
  });
});

test("the end of a span is not part of it, so that spans side by side share no row", () => {
  const [from, to] = ["2026-11-19T08:00:00.000Z", "2026-11-19T09:00:00.000Z"];
  expect(spanConditions("started_at", { from, to })).toEqual([
    `ge(started_at,${from})`,
    `lt(started_at,${to})`,
  ]);
  expect(spanConditions("started_at", { from: "", to: "" })).toEqual([]);
});

test.each(["2026-03-29T01:30:00.000Z", "2026-11-19T23:05:07.000Z", "2026-07-01T00:00:00.000Z"])(
  "%s comes back from the field of the reader's time zone",
  (instant) => {
    expect(fromField(toField(instant))).toBe(instant);
  },
);

test("an empty field is no instant, and a field has seconds only if there are some", () => {
  expect([toField(""), fromField("")]).toEqual(["", ""]);
  expect(toField("2026-11-19T23:05:00.000Z")).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
  expect(toField("2026-11-19T23:05:07.250Z")).toMatch(/:07$/);
});
