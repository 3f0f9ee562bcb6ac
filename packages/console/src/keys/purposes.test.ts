import { expect, test } from "vitest";
import { PURPOSES, roleFor } from "./purposes.ts";

test("only a key for administration gets the role administrator", () => {
  expect(Object.fromEntries(PURPOSES.map(({ value }) => [value, roleFor(value)]))).toEqual({
    storefront: "viewer",
    reads: "viewer",
    support: "support",
    administers: "administrator",
  });
});

test("a key without a known purpose is a viewer", () => {
  expect(roleFor(undefined)).toBe("viewer");
});

test("each purpose names its role", () => {
  for (const { role, why } of PURPOSES) expect(why).toContain(`(${role})`);
});
