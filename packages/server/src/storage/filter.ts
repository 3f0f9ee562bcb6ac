import { type RawBuilder, type SelectQueryBuilder, type SqlBool, sql } from "kysely";
import type { Condition, Operator } from "../lib/condition.ts";

/** Where a field is kept. `transform` brings a text that was asked for into the form that the column has. */
export type Columns = Record<
  string,
  { column: string; transform?: (text: string, operator: Operator) => string }
>;

const COMPARISONS = {
  eq: sql`=`,
  gt: sql`>`,
  ge: sql`>=`,
  lt: sql`<`,
  le: sql`<=`,
} as const satisfies Record<Exclude<Operator, "like">, RawBuilder<unknown>>;

/** Every condition must hold. */
export const narrow = <DB, TB extends keyof DB, O>(
  query: SelectQueryBuilder<DB, TB, O>,
  columns: Columns,
  conditions: readonly Condition[],
): SelectQueryBuilder<DB, TB, O> =>
  conditions.reduce((narrowed, condition) => narrowed.where(holds(columns, condition)), query);

/** A field without a column is a slip of ours: the contract lets through only the fields that it names. */
export function columnOf(columns: Columns, field: string): Columns[string] {
  const known = Object.hasOwn(columns, field) ? columns[field] : undefined;
  if (!known) throw new Error(`there is no column for the field ${field}`);
  return known;
}

function holds(columns: Columns, { field, operator, value: given }: Condition): RawBuilder<SqlBool> {
  const { column, transform } = columnOf(columns, field);
  const value = transform && typeof given === "string" ? transform(given, operator) : given;
  return operator === "like"
    ? sql`lower(${sql.ref(column)}) like lower(cast(${toPattern(String(value))} as text)) escape '\\'`
    : sql`${sql.ref(column)} ${COMPARISONS[operator]} ${value}`;
}

/** `*` stands for any text. What stands for something else in SQL stands for itself. */
const toPattern = (value: string): string => value.replaceAll(/[\\%_]/g, "\\$&").replaceAll("*", "%");
