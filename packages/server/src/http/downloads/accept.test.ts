import { expect, test } from "vitest";
import { preferenceOf } from "./accept.ts";

test.each([
  ["text/csv", "csv"],
  ["TEXT/CSV", "csv"],
  ["text/csv; charset=utf-8", "csv"],
  ["text/csv;header=present;q=0.5", "csv"],
  ["text/csv, */*;q=0.1", "csv"],
  ["text/csv, */*", "csv"],
  ["application/json;q=0.9, text/csv", "csv"],
  ["text/html, text/csv;q=0.2", "csv"],
  ["*/*;q=0, text/csv", "csv"],
])("%s is CSV", (accept) => {
  expect(preferenceOf(accept).wantsCsv).toBe(true);
});

test.each([
  [undefined],
  [""],
  ["*/*"],
  ["text/*"],
  ["application/json"],
  ["application/json, text/plain, */*"],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"],
  ["text/csv, application/json"],
  ["text/csv;q=0.5, */*"],
  ["text/csv;q=0"],
  ["text/csv;q=0, */*"],
  ["text/csv;q=2"],
  ["text/csv;q=x, application/json"],
  ["text/csvx"],
  ["application/xml"],
])("%s stays JSON", (accept) => {
  expect(preferenceOf(accept)).toEqual({ wantsCsv: false, takesJson: true });
});

test.each([
  ["text/csv", false],
  ["text/csv, text/html", false],
  ["text/csv, application/json;q=0", false],
  ["text/csv, */*;q=0.1", true],
  ["text/csv, application/*;q=0.5", true],
])("%s: JSON would do as well: %s", (accept, takesJson) => {
  expect(preferenceOf(accept)).toEqual({ wantsCsv: true, takesJson });
});
