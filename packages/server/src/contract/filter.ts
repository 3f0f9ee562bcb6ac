import { z } from "zod";
import type { Condition, Operator, Sort } from "../lib/condition.ts";

/** `filter=eq(email,a@b.example):gt(created_at,2026-01-01T00:00:00.000Z)`: what a list is narrowed by. */

type Field = { kind: "text" | "instant"; operators: readonly Operator[] };
type Fields = Record<string, Field>;

const COMPARISONS = ["eq", "gt", "ge", "lt", "le"] as const;

export const text = (...operators: Operator[]): Field => ({ kind: "text", operators });
export const instant: Field = { kind: "instant", operators: COMPARISONS };

/** A filter that does not parse is refused: one that was ignored would show, or let delete, too much. */
export const filterParameter = (fields: Fields) =>
  z
    .string()
    .max(2048)
    .transform((given, context): Condition[] => {
      const conditions = parseFilter(given, fields);
      if (conditions) return conditions;
      context.addIssue({ code: "custom", message: "a filter" });
      return z.NEVER;
    })
    .optional()
    .meta({
      type: "string",
      description: `Conditions joined by \`:\`, all of which must hold: ${describeFields(fields)}.${describeLike(fields)} Instants are ISO 8601.`,
    });

/** An instant on its own, in the same form as in a filter. */
export const instantParameter = (description: string) =>
  z
    .string()
    .transform((given, context): number => {
      const at = parseInstant(given);
      if (at !== undefined) return at;
      context.addIssue({ code: "custom", message: "an instant" });
      return z.NEVER;
    })
    .optional()
    .meta({ type: "string", description, examples: ["2026-11-01T00:00:00.000Z"] });

/** `otherwise`: the order without it. */
export const sortParameter = (names: readonly [string, ...string[]], otherwise: string) =>
  z
    .string()
    .regex(new RegExp(`^-?(${names.join("|")})$`))
    .transform((given): Sort => ({ field: given.replace("-", ""), descending: given.startsWith("-") }))
    .optional()
    .meta({
      type: "string",
      description: `${names.join(", ")}; with \`-\` in front, the other way round. Without it: ${otherwise}`,
    });

const describeLike = (fields: Fields): string =>
  Object.values(fields).some(({ operators }) => operators.includes("like"))
    ? " `like` takes `*` for any text, and no notice of case: of the letters a to z on SQLite, of all letters on PostgreSQL."
    : "";

const describeFields = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, { operators }]) => `\`${name}\` (${operators.join(", ")})`)
    .join(", ");

/** Values may hold commas, colons and brackets, but not `):`, which ends a condition. */
function parseFilter(given: string, fields: Fields): Condition[] | undefined {
  const conditions = given.split(/(?<=\)):/).map((part) => parseCondition(part, fields));
  return conditions.every((condition) => condition !== undefined) ? conditions : undefined;
}

function parseCondition(part: string, fields: Fields): Condition | undefined {
  const [, operator, field, given] = /^([a-z]+)\(([a-z_]+),(.+)\)$/s.exec(part) ?? [];
  const known = field !== undefined && Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (!known || given === undefined || !known.operators.includes(operator as Operator)) return undefined;
  const value = known.kind === "instant" ? parseInstant(given) : given;
  if (value === undefined) return undefined;
  return { field: field as string, operator: operator as Operator, value };
}

function parseInstant(given: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(given)) return undefined;
  const at = Date.parse(given);
  // Date.parse reads 31 February as 3 March, so the day that comes out is compared with the one that was given.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(given.slice(0, 10)) ? at : undefined;
}
