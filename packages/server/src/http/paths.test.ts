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
paths.add("/gateway/check", "/gateway/check", true);
paths.add("/gateway/check/own", "/gateway/check/own");

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
  expect(paths.find(path)).toEqual({ value, parameters, isBelow: false });
});

test.each(["", "/", "//x", "/a/b", "/../docs", "/%2e%2e", "/own/x"])(
  "what stands there and below is found at /gateway/check%s, unless something of its own does",
  (path) => {
    const isBelow = path !== "";
    const found = { value: "/gateway/check", parameters: {}, isBelow };
    expect(paths.find(`/gateway/check${path}`)).toEqual(found);
    expect(paths.find("/gateway/check/own")?.value).toBe("/gateway/check/own");
  },
);

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
  "/gateway",
  "/gateway/checks",
])("nothing is found at %s", (path) => {
  expect(paths.find(path)).toBeUndefined();
});
