import { z } from "zod";
import type { Operation } from "../packages/server/src/contract/operation.ts";
import { id, timestamp } from "../packages/server/src/contract/shapes.ts";

/** TypeScript types of what operations take and answer, read from the contract's schemas. */

export type Type = { description?: string | undefined } & (
  | { kind: "text"; text: string }
  | { kind: "list"; of: Type }
  | { kind: "record"; of: Type }
  | { kind: "union"; of: Type[] }
  /** `open`: the object may have members beside these. */
  | { kind: "object"; members: TypeMember[]; open: boolean }
);

export type TypeMember = { name: string; optional: boolean; type: Type };

type Json = {
  $ref?: string;
  $defs?: Record<string, Json>;
  description?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Json[];
  oneOf?: Json[];
  type?: string | string[];
  items?: Json;
  properties?: Record<string, Json>;
  required?: string[];
  additionalProperties?: Json | boolean;
};

/** The part of an operation's answer at a path such as `data[].meta`. */
export function answerOf({ id: name, success }: Operation, path = ""): Type {
  if (!success.schema) throw new Error(`${name} answers without a body.`);
  return part(typeOf(success.schema), path);
}

/** `data` of the body that an operation takes, without `type`, which the SDK adds. */
export function bodyOf({ id: name, body }: Operation): Type {
  if (!body) throw new Error(`${name} takes no body.`);
  return without(part(typeOf(body.schema), "data"), ["type"]);
}

/** The query of an operation. */
export function queryOf({ id: name, query }: Operation): Type {
  if (!query) throw new Error(`${name} takes no query.`);
  return typeOf(query);
}

const part = (type: Type, path: string): Type =>
  path
    .split(".")
    .filter(Boolean)
    .reduce((within, step) => {
      const name = step.replace("[]", "");
      const member = membersOf(within).find((each) => each.name === name);
      if (!member) throw new Error(`There is no member ${name}.`);
      return step.endsWith("[]") ? itemOf(member.type) : structured(member.type);
    }, type);

function itemOf(type: Type): Type {
  if (type.kind !== "list") throw new Error(`A ${type.kind} has no items.`);
  return type.of;
}

/** The alternative of a union that is no text; the type itself where every alternative is one. */
const structured = (type: Type): Type =>
  type.kind === "union" ? (type.of.find(({ kind }) => kind !== "text") ?? type) : type;

/** One of the shapes that an answer may have. */
export function shapeAt(type: Type, index: number): Type {
  const shape = type.kind === "union" ? type.of[index] : undefined;
  if (!shape) throw new Error(`There is no shape ${index}.`);
  return shape;
}

export const only = (type: Type, names: string[]): Type => restrict(type, (name) => names.includes(name));
export const without = (type: Type, names: string[]): Type => restrict(type, (name) => !names.includes(name));

const restrict = (type: Type, isKept: (name: string) => boolean): Type => ({
  kind: "object",
  open: false,
  members: membersOf(type).filter(({ name }) => isKept(name)),
});

function membersOf(type: Type): TypeMember[] {
  if (type.kind !== "object") throw new Error(`A ${type.kind} has no members.`);
  return type.members;
}

/** What a caller sends and what the service answers are both the input of their schema: before any transformation. */
function typeOf(schema: z.ZodType): Type {
  const { $defs = {}, ...json } = z.toJSONSchema(schema, {
    io: "input",
    target: "draft-2020-12",
    unrepresentable: "any",
  }) as Json;
  return read(json, $defs);
}

/** Every id and every instant has these descriptions. They say nothing about the member. */
const GENERAL = new Set([id.meta()?.description, timestamp.meta()?.description]);

function read(json: Json, shared: Record<string, Json>): Type {
  if (json.$ref) return read(shared[json.$ref.replace("#/$defs/", "")] as Json, shared);
  const type = shapeOf(json, shared);
  const description = json.description ?? (isNullable(type) ? type.of[0]?.description : undefined);
  return GENERAL.has(description) ? type : { ...type, description };
}

const isNullable = (type: Type): type is Type & { kind: "union" } =>
  type.kind === "union" && type.of.length === 2 && type.of[1]?.kind === "text" && type.of[1].text === "null";

function shapeOf(json: Json, shared: Record<string, Json>): Type {
  const alternatives = json.anyOf ?? json.oneOf;
  if (alternatives) return { kind: "union", of: distinct(alternatives.map((each) => read(each, shared))) };
  if ("const" in json) return literal(json.const);
  if (json.enum) return { kind: "union", of: json.enum.map(literal) };
  if (Array.isArray(json.type))
    return { kind: "union", of: json.type.map((type) => shapeOf({ ...json, type }, shared)) };
  if (json.type === "array") return { kind: "list", of: read(json.items ?? {}, shared) };
  if (json.type === "object") return objectOf(json, shared);
  return { kind: "text", text: json.type ? (SCALARS[json.type] ?? json.type) : "unknown" };
}

const SCALARS: Record<string, string> = { integer: "number" };

const literal = (value: unknown): Type => ({ kind: "text", text: JSON.stringify(value) });

const distinct = (types: Type[]): Type[] => [
  ...new Map(types.map((type) => [JSON.stringify(type), type])).values(),
];

function objectOf({ properties, required, additionalProperties }: Json, shared: Record<string, Json>): Type {
  const isOpen = typeof additionalProperties === "object";
  if (!properties && isOpen) return { kind: "record", of: read(additionalProperties, shared) };
  const members = Object.entries(properties ?? {}).map(([name, json]) => ({
    name,
    optional: !required?.includes(name),
    type: read(json, shared),
  }));
  return { kind: "object", members, open: isOpen };
}
