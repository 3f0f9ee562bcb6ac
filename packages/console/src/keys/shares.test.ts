import type { StoreUsage } from "@latchkey/sdk/admin";
import { expect, test } from "vitest";
import { sharesOf } from "./shares.ts";

const key = (name: string, reserved: number, asked: number[], refused = asked.map(() => 0)) => ({
  id: name,
  name,
  reserved_rate_limit: reserved,
  asked,
  refused,
});

const usage = (keys: StoreUsage["keys"], more: Partial<StoreUsage> = {}): StoreUsage => ({
  type: "store-usage",
  from: "",
  to: "",
  rate_limit: 100,
  shared_pool: 50,
  keys,
  ...more,
});

test("reserved rates come first, the largest first, then the shared pool; together they are the limit", () => {
  const shares = sharesOf(usage([key("small", 10, [0]), key("large", 40, [0]), key("none", 0, [0])]));
  expect(shares.map(({ name }) => name)).toEqual(["large", "small", "Shared by all keys"]);
  expect(shares.reduce((sum, { reserved }) => sum + reserved, 0)).toBe(100);
});

test("use fills a key's reserved rate first, then the pool; refused requests do not count", () => {
  const shares = sharesOf(
    usage([key("busy", 10, [30, 30], [5, 5]), key("free", 0, [4, 4])], {
      other_keys: { count: 2, asked: [2, 2], refused: [0, 0] },
    }),
  );
  expect(shares.map(({ used }) => used)).toEqual([10, 15 + 4 + 2]);
});
