import { expect, test } from "vitest";
import { nextPage } from "../src/next-page.ts";

test("the next page is at the link's cursor, or at its offset for older services", () => {
  const link = (query: string) => nextPage(`https://keys.example/v2/customers?page%5Blimit%5D=2&${query}`);
  expect(link("page%5Bafter%5D=abc-_1")).toEqual({ after: "abc-_1" });
  expect(link("page[offset]=4&sort=name")).toEqual({ offset: 4 });
  expect(nextPage(null)).toBeUndefined();
});
