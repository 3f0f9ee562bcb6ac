import { expect, test } from "vitest";
import { formatTable } from "./table.ts";

test("columns stand below each other also after letters that take two places, and marks that take none", () => {
  const names = ["A·B", "渋谷店", "서울", "カフェ", "ｶﾌｪ", "☕ Café", "Cafe\u0301", "👩‍🍳 Küche", "Ｗ、"];
  const rows = formatTable(
    ["name", "id"],
    names.map((name) => [name, "x"]),
  ).split("\n");
  expect(rows).toEqual([
    "name      id",
    "A·B       x",
    "渋谷店    x",
    "서울      x",
    "カフェ    x",
    "ｶﾌｪ       x",
    "☕ Café   x",
    "Cafe\u0301      x",
    "👩‍🍳 Küche  x",
    "Ｗ、      x",
  ]);
});
