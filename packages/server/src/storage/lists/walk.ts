import type { RawBuilder, SqlBool } from "kysely";
import type { Sort } from "../../lib/condition.ts";
import type { KeyRange, Narrowing } from "./filter.ts";
import { type IndexKey, isSame } from "./list-key.ts";
import { keyOf, type ListDefinition, type ListIndex } from "./lists.ts";

/** A scan of an index: the range that the conditions leave, and the conditions that each row must be checked for. */
export type IndexWalk = {
  keys: readonly IndexKey[];
  /** The number of first keys with one value only; the rows come in the order of the other keys. */
  fixed: number;
  ranges: readonly KeyRange[];
  /** A partial index has only rows in which this column is not null, so the query must have that condition. */
  present: string | undefined;
  checks: readonly RawBuilder<SqlBool>[];
};

type ListRoute = {
  /** Reads the rows in the order of the list. */
  inOrder: IndexWalk;
  /** Reads fewer rows, in another order. */
  byFilter: IndexWalk | undefined;
};

/**
 * The indexes that a list is read along. They do not depend on statistics of the database, so a page and the next one
 * use the same index. Without `sort` the order is that of the index that leaves fewest checks.
 */
export function findRoute(
  list: ListDefinition,
  narrowings: readonly Narrowing[],
  sort: Sort | undefined,
): ListRoute {
  const walks = list.indexes.flatMap((index) => walkAlong(index, narrowings));
  const isIn = (walk: IndexWalk, { field }: Sort) => comesInOrder(walk, keyOf(list, field));
  const leastChecks = (these: readonly IndexWalk[]): IndexWalk | undefined =>
    these.toSorted(
      (a, b) => a.checks.length - b.checks.length || Number(b.fixed > 0) - Number(a.fixed > 0),
    )[0];
  const usual = walks.filter((walk) => isIn(walk, list.order));
  const inOrder = leastChecks(sort ? walks.filter((walk) => isIn(walk, sort)) : [...usual, ...walks]);
  if (!inOrder) throw new Error(`there is no index for the order by ${sort?.field}`);
  const isSlow = inOrder.checks.length > 0 && inOrder.fixed === 0;
  const others = walks.filter((walk) => walk.keys !== inOrder.keys && walk.ranges.length > 0);
  return { inOrder, byFilter: isSlow ? leastChecks(others) : undefined };
}

function walkAlong({ keys, partial }: ListIndex, narrowings: readonly Narrowing[]): IndexWalk[] {
  const ranges = narrowings.flatMap((narrowing) => narrowing.ranges);
  const on = (key: IndexKey | undefined) => ranges.filter((range) => key && isSame(range.key, key));
  const free = keys.findIndex((key) => !on(key).some(({ operator }) => operator === "eq"));
  const fixed = free < 0 ? keys.length : free;
  if (partial && fixed === 0) return [];
  // If a key has one value, its other bounds are checked row by row; SQLite could otherwise use them, and then has to
  // sort.
  const only = (key: IndexKey) =>
    on(key)
      .filter(({ operator }) => operator === "eq")
      .slice(0, 1);
  const used = [...keys.slice(0, fixed).flatMap(only), ...on(keys[fixed])];
  const isDone = (narrowing: Narrowing) =>
    narrowing.isExact && narrowing.ranges.every((range) => used.includes(range));
  const checks = narrowings.filter((narrowing) => !isDone(narrowing)).map(({ check }) => check);
  return [{ keys, fixed, ranges: used, present: partial && keys[0]?.column, checks }];
}

const comesInOrder = ({ keys, fixed }: IndexWalk, key: IndexKey): boolean =>
  keys.slice(0, fixed + 1).some((one) => isSame(one, key));
