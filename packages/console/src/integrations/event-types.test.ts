import { expect, test } from "vitest";
import { EVENT_TYPES } from "../../../server/src/events/event.ts";
import {
  EVENT_GROUPS,
  expanded,
  isObserved,
  observesInWords,
  toggleResource,
  toggleType,
} from "./event-types.ts";

test("every event type of the service can be chosen, in the group of its resource, and has a sentence", () => {
  const offered = EVENT_GROUPS.flatMap(({ resource, types }) =>
    Object.entries(types).map(([type, says]) => {
      expect(type.startsWith(`${resource}.`), type).toBe(true);
      expect(says, type).toMatch(/^[A-Z].*\.$/);
      return type;
    }),
  );
  expect(offered.toSorted()).toEqual([...EVENT_TYPES].toSorted());
});

test("a whole resource is its pattern, which replaces the single types", () => {
  expect(toggleResource(["store.updated", "customer.created"], "customer")).toEqual([
    "store.updated",
    "customer.*",
  ]);
  expect(toggleResource(["store.updated", "customer.*"], "customer")).toEqual(["store.updated"]);
});

test("a type that is taken out of a pattern leaves the other types", () => {
  expect(toggleType(["customer_token.*", "store.updated"], "customer_token.created")).toEqual([
    "store.updated",
    "customer_token.revoked",
  ]);
  expect(toggleType(["store.updated"], "store.updated")).toEqual([]);
  expect(toggleType([], "store.updated")).toEqual(["store.updated"]);
});

test("a pattern matches its own resource only, not one whose name begins the same", () => {
  expect(isObserved(["customer.*"], "customer.created")).toBe(true);
  expect(isObserved(["customer.*"], "customer_token.created")).toBe(false);
});

test("types of a later release are kept and shown", () => {
  const observes = ["coupon.issued", "store.*"];
  expect(expanded(observes)).toEqual(["store.updated", "coupon.issued"]);
  expect(toggleType(observes, "customer.created")).toContain("coupon.issued");
  expect(observesInWords(observes)).toBe("Store (all), coupon.issued");
});

test("few single types are named, many are counted", () => {
  expect(observesInWords(["customer.*", "application_key.created"])).toBe(
    "Customers (all), application_key.created",
  );
  expect(observesInWords(["member.created", "member.updated", "member.deleted"])).toBe("Members (3 events)");
});
