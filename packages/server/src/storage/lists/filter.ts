import { type RawBuilder, type SqlBool, sql } from "kysely";
import type { Condition, Operator } from "../../lib/condition.ts";
import type { Storage } from "../storage.ts";
import { BEGINNING, bytes, type IndexKey, keySql, valueSql } from "./list-key.ts";
import { keyOf, type ListDefinition } from "./lists.ts";

/** A part of an index: the rows whose key equals the value, comes before or after it, or begins with it. */
export type KeyRange = {
  key: IndexKey;
  operator: Exclude<Operator, "like"> | "begins";
  value: string | number;
};

/** A condition as ranges of an index, and as a check of a row. `isExact`: all rows in the ranges fulfil it. */
export type Narrowing = { ranges: readonly KeyRange[]; isExact: boolean; check: RawBuilder<SqlBool> };

const COMPARISONS = {
  eq: sql`=`,
  gt: sql`>`,
  ge: sql`>=`,
  lt: sql`<`,
  le: sql`<=`,
} as const satisfies Record<Exclude<Operator, "like">, RawBuilder<unknown>>;

export function toNarrowing(list: ListDefinition, { field, operator, value }: Condition): Narrowing {
  const key = keyOf(list, field);
  const column = sql.ref(key.column);
  if (operator === "like") {
    const check = sql<SqlBool>`lower(${column}) like lower(cast(${toPattern(String(value))} as text)) escape '\\'`;
    return { ...toLikeRanges(key, String(value)), check };
  }
  const check = sql<SqlBool>`${column} ${COMPARISONS[operator]} ${value}`;
  const ranges: KeyRange[] = [{ key, operator, value }];
  if (key.form === "lower") ranges.push({ key: bytes(key.column), operator, value });
  return { ranges, isExact: key.form !== "beginning" || String(value).length < BEGINNING, check };
}

/** Up to its first `*` a pattern is a range of an index. The rest of the pattern needs a check of each row. */
function toLikeRanges(key: IndexKey, pattern: string): Omit<Narrowing, "check"> {
  const star = pattern.indexOf("*");
  if (star < 0) return { ranges: [{ key, operator: "eq", value: pattern }], isExact: true };
  const isExact = /^\**$/.test(pattern.slice(star));
  if (star === 0) return { ranges: [], isExact };
  return { ranges: [{ key, operator: "begins", value: pattern.slice(0, star) }], isExact };
}

/** `*` matches any text. The wildcards of SQL match themselves. */
const toPattern = (value: string): string => value.replaceAll(/[\\%_]/g, "\\$&").replaceAll(/\*+/g, "%");

const LAST_CHARACTER = "\u{10FFFF}";

/** `openAt`: leaves out the bound at that end, because a cursor lies within the range and is the closer bound. */
export function rangeSql(
  engine: Storage["engine"],
  { key, operator, value }: KeyRange,
  openAt?: "start" | "end",
): RawBuilder<SqlBool>[] {
  const [at, bound] = [keySql(engine, key), valueSql(key, value)];
  if (operator === "begins") {
    const from = sql<SqlBool>`${at} >= ${bound}`;
    const to = sql<SqlBool>`${at} < ${bound} || cast(${LAST_CHARACTER} as text)`;
    return openAt === "start" ? [to] : openAt === "end" ? [from] : [from, to];
  }
  const isOpen = openAt === "start" ? /^g/ : openAt === "end" ? /^l/ : undefined;
  return isOpen?.test(operator) ? [] : [sql<SqlBool>`${at} ${COMPARISONS[operator]} ${bound}`];
}
