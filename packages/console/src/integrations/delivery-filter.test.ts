import { expect, test } from "vitest";
import { queryOf, readFilter, searchOf, typesToChoose } from "./delivery-filter.ts";

const read = (search: string) => readFilter(new URLSearchParams(search));

test("the address holds the filter, and the service gets it as conditions", () => {
  const filter = read("status=failed&type=store.updated");
  expect(queryOf(filter)).toBe("eq(status,failed):eq(type,store.updated)");
  expect(searchOf(filter)).toEqual({ status: "failed", type: "store.updated" });
  expect(queryOf(read("type=store.updated"))).toBe("eq(type,store.updated)");
});

test("without a filter everything is listed", () => {
  expect([queryOf(read("")), searchOf(read(""))]).toEqual([undefined, {}]);
});

test("text of an address that is no status and no type is ignored", () => {
  expect(read("status=lost&type=a):eq(status,failed")).toEqual({ status: "", type: "" });
});

test("the chosen type can be seen, also if the integration no longer receives it", () => {
  expect(typesToChoose(["store.*"], "")).toEqual(["store.updated"]);
  expect(typesToChoose(["store.*"], "customer.created")).toEqual(["store.updated", "customer.created"]);
});
