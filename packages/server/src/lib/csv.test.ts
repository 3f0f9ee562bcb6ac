import { expect, test } from "vitest";
import { csvCell, csvLine } from "./csv.ts";

test.each([
  ["=1+1", "'=1+1"],
  ["+49 30 1234", "'+49 30 1234"],
  ["-1", "'-1"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["\t=1", "'\t=1"],
  ["\r=1", `"'\r=1"`],
  ['=HYPERLINK("https://evil.example","x")', `"'=HYPERLINK(""https://evil.example"",""x"")"`],
  ["=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"],
  ["'=1", "'=1"],
])("a cell that begins like a formula is text for a spreadsheet: %j", (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});

test.each([
  ["", ""],
  ["Ada Lovelace", "Ada Lovelace"],
  ["a=b", "a=b"],
  ["Reed, Ada", '"Reed, Ada"'],
  ['the "best"', '"the ""best"""'],
  ["two\nlines", '"two\nlines"'],
  ["two\r\nlines", '"two\r\nlines"'],
  ["Zoë 🔑", "Zoë 🔑"],
])("a cell is quoted only where RFC 4180 demands it: %j", (text, cell) => {
  expect(csvCell(text)).toBe(cell);
});

test("a line has commas between its cells and ends with CRLF", () => {
  expect(csvLine(["a", "", "b,c"])).toBe('a,,"b,c"\r\n');
});
