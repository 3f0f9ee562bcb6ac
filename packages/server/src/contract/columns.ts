import { z } from "zod";

/** A list as a table, read from the contract: its rows, and the columns of its CSV. */

type Answering = { method: string; success: { schema?: z.ZodType; onlyJson?: true } };

/** The shape of an item, where the operation answers a list. */
export function rowOf({ method, success: { schema, onlyJson } }: Answering): z.ZodObject | undefined {
  if (method !== "GET" || onlyJson || !(schema instanceof z.ZodObject)) return undefined;
  const { data } = schema.shape;
  return data instanceof z.ZodArray && data.element instanceof z.ZodObject ? data.element : undefined;
}

/** `hasParts`: other columns have the members of the value, if it is an object. */
type Column = { name: string; path: readonly string[]; hasParts: boolean };

/**
 * A column for each member that is no object, named by its path. An object whose members are not fixed, and an array,
 * are one column each.
 */
export const columnsOf = (row: z.ZodObject): Column[] => columnsAt(row, []);

function columnsAt(shape: unknown, path: readonly string[]): Column[] {
  const alternatives = alternativesOf(shape);
  const parts = alternatives
    .filter(hasFixedMembers)
    .flatMap((object) =>
      Object.entries(object.shape).flatMap(([name, member]) => columnsAt(member, [...path, name])),
    );
  const isOnlyParts = parts.length > 0 && alternatives.every(hasFixedMembers);
  return isOnlyParts ? parts : [{ name: path.join("."), path, hasParts: parts.length > 0 }, ...parts];
}

function alternativesOf(shape: unknown): unknown[] {
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional) return alternativesOf(shape.unwrap());
  return shape instanceof z.ZodUnion ? shape.options.flatMap(alternativesOf) : [shape];
}

const hasFixedMembers = (shape: unknown): shape is z.ZodObject =>
  shape instanceof z.ZodObject && !(shape.def.catchall instanceof z.ZodUnknown);

/** The texts of a row, in the order of the columns. An absent value and `null` are empty, an array is JSON. */
export const cellsOf = (columns: readonly Column[], row: unknown): string[] =>
  columns.map(({ path, hasParts }) => {
    const value = path.reduce<unknown>((part, name) => (Object(part) as Record<string, unknown>)[name], row);
    if (value === null || value === undefined) return "";
    if (typeof value !== "object") return String(value);
    return hasParts ? "" : JSON.stringify(value);
  });
