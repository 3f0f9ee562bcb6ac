import { expect, test } from "vitest";
import { createPaths } from "./paths.ts";

const paths = createPaths<string>();
for (const pattern of [
  "/docs",
  "/v2/customers",
  "/v2/customers/tokens",
  "/v2/customers/{id}",
  "/v2/customers/{customer}/tokens/{id}",
])
  paths.add(pattern, pattern);

test.each([
  ["/docs", "/docs", {}],
  ["/v2/customers", "/v2/customers", {}],
  ["/v2/customers/7", "/v2/customers/{id}", { id: "7" }],
  ["/v2/customers/7/tokens/8", "/v2/customers/{customer}/tokens/{id}", { customer: "7", id: "8" }],
  // A literal goes before a parameter.
  ["/v2/customers/tokens", "/v2/customers/tokens", {}],
  // What was sent is not decoded.
  ["/v2/customers/%37", "/v2/customers/{id}", { id: "%37" }],
  ["/v2/customers/__proto__", "/v2/customers/{id}", { id: "__proto__" }],
])("%s is found at %s", (path, value, parameters) => {
  expect(paths.find(path)).toEqual({ value, parameters });
});

test.each([
  "",
  "/",
  "docs",
  "//docs",
  "/docs/",
  "/v2",
  "/v2/customers/7/tokens",
  "/v2/customers/",
  "/v2/customers//tokens/8",
  "/v2/%63ustomers",
  "/constructor",
])("nothing is found at %s", (path) => {
  expect(paths.find(path)).toBeUndefined();
});
