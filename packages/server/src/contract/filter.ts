import { z } from "zod";
import type { Condition, Operator, Sort } from "../lib/condition.ts";
import { limits } from "./limits.ts";

/** A list's filter: `filter=eq(email,a@b.example):gt(created_at,2026-01-01T00:00:00.000Z)`. */

type Field = {
  kind: "text" | "id" | "instant";
  operators: readonly Operator[];
  /** For a field with `like`: the length of its longest value, and so of the longest pattern. */
  patternLength?: number;
  /** The only values that the field takes. */
  choices?: readonly string[];
};
type Fields = Record<string, Field>;

const COMPARISONS = ["eq", "gt", "ge", "lt", "le"] as const;

export const text: Field = { kind: "text", operators: ["eq"] };
export const pattern = (patternLength: number): Field => ({
  kind: "text",
  operators: ["eq", "like"],
  patternLength,
});
export const choice = (...choices: [string, ...string[]]): Field => ({
  kind: "text",
  operators: ["eq"],
  choices,
});
export const ofId: Field = { kind: "id", operators: ["eq"] };
export const instant: Field = { kind: "instant", operators: COMPARISONS };

/**
 * An empty filter matches everything. A filter that does not parse is refused: ignoring it would show, or delete, more
 * than requested.
 */
export const filterParameter = (fields: Fields) =>
  z
    .string()
    // Room for the longest `external_ref` and further conditions.
    .max(4096)
    .transform((given, context): Condition[] => {
      const read = parseFilter(given, fields);
      if (Array.isArray(read)) return read;
      context.addIssue({ code: "custom", message: read.fault });
      return z.NEVER;
    })
    .optional()
    .meta({
      type: "string",
      description: `Conditions joined by \`:\`, all of which must hold: ${describeFields(fields)}. ${describeBounds(fields)}${describeLike(fields)} Instants are ISO 8601. An empty filter is ignored. The whole URL can have 8 KB; a letter beyond ASCII takes 6 to 12 bytes.`,
    });

/** The document describes full instants only. Shorter forms, such as a day, are accepted as well. */
export const INSTANT = "^\\d{4}-\\d\\d-\\d\\dT([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d{1,3})?Z$";

/** A single instant, in the same form as in a filter. */
export const instantParameter = (description: string) =>
  z
    .string()
    .transform((given, context): number => {
      const at = parseInstant(given);
      if (at !== undefined) return at;
      context.addIssue({ code: "custom", message: "expected an instant, such as 2026-01-31T09:30:00Z" });
      return z.NEVER;
    })
    .optional()
    .meta({
      type: "string",
      format: "date-time",
      pattern: INSTANT,
      description,
      examples: ["2026-11-01T00:00:00.000Z"],
    });

/** `otherwise` is the default order. */
export const sortParameter = (names: readonly [string, ...string[]], otherwise: string) =>
  z
    .string()
    .regex(new RegExp(`^-?(${names.join("|")})$`), {
      error: `expected one of ${names.join(", ")}, with - in front for the other way round`,
    })
    .transform((given): Sort => ({ field: given.replace("-", ""), descending: given.startsWith("-") }))
    .optional()
    .meta({
      type: "string",
      description: `${names.join(", ")}; with \`-\` in front, in reverse order. Without it: ${otherwise}`,
    });

function describeBounds(fields: Fields): string {
  const isTimed = Object.values(fields).some(({ kind }) => kind === "instant");
  const most = `At most ${limits.filterConditions} conditions, one for each field`;
  return isTimed ? `${most}; two for an instant: \`gt\` or \`ge\` with \`lt\` or \`le\`.` : `${most}.`;
}

function describeLike(fields: Fields): string {
  const lengths = Object.entries(fields).flatMap(([name, { patternLength }]) =>
    patternLength === undefined ? [] : [`${patternLength} characters for \`${name}\``],
  );
  if (lengths.length === 0) return "";
  return ` In \`like\`, \`*\` matches any text. It ignores case: of the letters a to z on SQLite, of all letters on PostgreSQL. A pattern has at most ${lengths.join(", ")}.`;
}

const describeFields = (fields: Fields): string =>
  Object.entries(fields)
    .map(([name, { operators, choices }]) => {
      const values = choices ? ` with ${choices.join(" or ")}` : "";
      return `\`${name}\` (${operators.join(", ")}${values})`;
    })
    .join(", ");

type Unread = { fault: string };

/** Values can contain commas, colons and brackets, but not `):`, which ends a condition. */
function parseFilter(given: string, fields: Fields): Condition[] | Unread {
  if (given === "") return [];
  const parts = given.split(/(?<=\)):/);
  if (parts.length > limits.filterConditions)
    return { fault: `expected at most ${limits.filterConditions} conditions, not ${parts.length}` };
  const conditions: Condition[] = [];
  for (const part of parts) {
    const read = parseCondition(part, fields);
    if ("fault" in read) return read;
    const isSecond = conditions.some((other) => other.field === read.field && !isOtherEnd(read, other));
    if (isSecond) return { fault: describeSecond(read.field, fields[read.field]) };
    conditions.push(read);
  }
  return conditions;
}

/** `gt` and `le` are the two ends of a range. Every other pair on one field is redundant or contradictory. */
const isOtherEnd = (one: Condition, other: Condition): boolean =>
  [one.operator, other.operator]
    .sort()
    .join()
    .match(/^g[te],l[te]$/) !== null;

const describeSecond = (field: string, known: Field | undefined): string =>
  known?.kind === "instant"
    ? `\`${field}\` may be in one condition, or in two: \`gt\` or \`ge\` with \`lt\` or \`le\``
    : `\`${field}\` may be in one condition only`;

/** An error repeats known names, and words of letters only. */
function parseCondition(part: string, fields: Fields): Condition | Unread {
  const [, operator = "", field = "", given = ""] = /^([a-z]+)\(([a-z_]+),(.+)\)$/s.exec(part) ?? [];
  if (field === "") return { fault: "expected operator(field,value), several joined by a colon" };
  const known = Object.hasOwn(fields, field) ? fields[field] : undefined;
  if (!known)
    return { fault: `unknown field \`${shown(field)}\`; known are ${Object.keys(fields).join(", ")}` };
  if (!known.operators.includes(operator as Operator))
    return { fault: `\`${field}\` takes ${known.operators.join(", ")}, not \`${shown(operator)}\`` };
  if (operator === "like" && given.length > (known.patternLength ?? 0))
    return { fault: `a pattern for \`${field}\` has at most ${known.patternLength} characters` };
  if (known.choices && !known.choices.includes(given))
    return { fault: `\`${field}\` takes ${known.choices.join(" or ")}` };
  const value = READ[known.kind](given);
  if (value === undefined) return { fault: `\`${field}\` takes an instant, such as 2026-01-31T09:30:00Z` };
  return { field, operator: operator as Operator, value };
}

const READ = {
  text: (given: string) => given,
  id: (given: string) => given.toLowerCase(),
  instant: parseInstant,
} as const;

const shown = (word: string): string => word.slice(0, 40);

function parseInstant(given: string): number | undefined {
  if (!/^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,3})?)?Z)?$/.test(given)) return undefined;
  const at = Date.parse(given);
  // Date.parse reads 31 February as 3 March, so the resulting day is compared with the given one.
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(given.slice(0, 10)) ? at : undefined;
}
