import type { z } from "zod";
import type { Operation } from "../contract/operation.ts";
import { type Fault, Problem, type Source } from "../contract/problem.ts";
import { isId } from "../lib/ids.ts";
import { readPercentEncoded } from "../lib/percent-encoded.ts";
import { isWellFormed } from "../lib/secrets.ts";
import type { Received } from "./message.ts";
import { readBody } from "./read-body.ts";

/** A request validated against its operation. Handlers rely on it. */
type CheckedRequest = {
  ids: Record<string, string>;
  credential: string | undefined;
  query: unknown;
  body: unknown;
};

export async function readRequest(
  operation: Operation,
  received: Received,
  pathParameters: Record<string, string>,
  search: string,
  storeId: string | undefined,
): Promise<CheckedRequest> {
  const ids = readIds(operation, pathParameters);
  const credential = readCredential(operation, pathParameters);
  const query = operation.query && readQuery(operation.query, search);
  if (!operation.body) return { ids, credential, query, body: undefined };
  const sent = await readBody(received, operation.body);
  refuseOtherGrant(operation.body, sent);
  const body = checkBody(operation.body, sent);
  refuseOtherId(operation.ofStore ? storeId : ids.id, sent);
  return { ids, credential, query, body };
}

/**
 * A path parameter that cannot be an id gets the same answer as an unknown id. Upper-case UUIDs, as some languages
 * write them, are accepted (RFC 9562, section 4).
 */
function readIds(operation: Operation, pathParameters: Record<string, string>): Record<string, string> {
  const ids: Record<string, string> = {};
  for (const [name, notFound] of Object.entries(operation.ids ?? {})) {
    const id = (pathParameters[name] ?? "").toLowerCase();
    if (!isId(id)) throw new Problem(notFound);
    ids[name] = id;
  }
  return ids;
}

/** A text that is no credential gets the same answer as an unknown credential, without the database. */
function readCredential(
  { credential }: Operation,
  { token = "" }: Record<string, string>,
): string | undefined {
  if (credential && !isWellFormed(credential.prefix, token)) throw new Problem(credential.problem);
  return credential && token;
}

function readQuery(shape: z.ZodObject, search: string): unknown {
  const sent = readPercentEncoded(search);
  if (!sent)
    throw new Problem("parameter_invalid", { detail: "The query holds a NUL, or bytes that are not UTF-8." });
  const known: Record<string, string> = {};
  const faults: Fault[] = [];
  for (const name of Object.keys(shape.shape)) {
    const values = sent.getAll(name);
    if (values.length > 1) {
      faults.push({
        code: "parameter_invalid",
        detail: `\`${name}\` is given twice.`,
        source: { parameter: name },
      });
    }
    if (values[0] !== undefined) known[name] = values[0];
  }
  const isStrict = shape.def.catchall !== undefined;
  for (const name of isStrict ? new Set(sent.keys()) : []) {
    if (Object.hasOwn(shape.shape, name)) continue;
    const detail = `There is no parameter of one of these names; known are ${Object.keys(shape.shape).join(", ")}.`;
    faults.push({ code: "parameter_invalid", detail, source: { parameter: name } });
  }
  const checked = shape.safeParse(known);
  const issues = checked.error?.issues ?? [];
  throwAny([
    ...faults,
    ...issues.map((issue): Fault => {
      const parameter = String(issue.path[0]);
      return {
        code: "parameter_invalid",
        detail: `\`${parameter}\`: ${said(issue) ?? `expected ${expected(issue)}`}.`,
        source: { parameter },
      };
    }),
  ]);
  return checked.data;
}

function checkBody({ schema, optional }: NonNullable<Operation["body"]>, sent: unknown): unknown {
  if (sent === undefined && optional) return undefined;
  const checked = schema.safeParse(sent);
  throwAny((checked.error?.issues ?? []).map((issue) => memberFault(issue, sent)));
  return checked.data;
}

/**
 * RFC 6749 section 5.2 has an error code for an unknown grant type, and members that another grant needs are not
 * reported.
 */
function refuseOtherGrant({ grants }: NonNullable<Operation["body"]>, sent: unknown): void {
  const given = (sent as { grant_type?: unknown } | null | undefined)?.grant_type;
  if (!grants || typeof given !== "string" || grants.includes(given)) return;
  const detail = `This endpoint takes the grant ${grants.join(" or ")}.`;
  throw new Problem("grant_unsupported", { detail, source: { pointer: "/grant_type" } });
}

/** The most faults per answer. Each is an entry of the answer and a word of the log line, and both are bounded. */
const MAX_FAULTS = 100;

function throwAny(faults: Fault[]): void {
  const [first, ...others] = faults.slice(0, MAX_FAULTS);
  if (first) throw Problem.of([first, ...others]);
}

function memberFault(issue: z.core.$ZodIssue, body: unknown): Fault {
  const source: Source = { pointer: issue.path.map((step) => `/${String(step)}`).join("") };
  const value = issue.path.reduce<unknown>(
    (part, step) => (part as Record<PropertyKey, unknown> | null)?.[step],
    body,
  );
  const name = nameOf(issue.path);
  if (value === undefined) return { code: "member_missing", detail: `\`${name}\` is missing.`, source };
  return { code: "member_invalid", detail: `\`${name}\`: expected ${expected(issue)}.`, source };
}

/** A member's path as people write it: `redirect_uris[6]`, without `data`. */
function nameOf(path: readonly PropertyKey[]): string {
  const within = path[0] === "data" && path.length > 1 ? path.slice(1) : path;
  const written = within
    .map((step) => (typeof step === "number" ? `[${step}]` : `.${String(step)}`))
    .join("");
  return written.replace(/^\./, "") || "the body";
}

/** The fault of a text that a format refuses. */
const said = (issue: z.core.$ZodIssue): string | undefined =>
  (issue.code === "custom" || issue.code === "invalid_format") && !issue.message.startsWith("Invalid")
    ? issue.message
    : undefined;

/** Describes a fault from the contract's own bounds, without the caller's value. */
function expected(issue: z.core.$ZodIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return `a value of type ${issue.expected === "int" ? "integer" : issue.expected}`;
    case "too_small":
      return issue.origin === "string"
        ? `at least ${issue.minimum} character${issue.minimum === 1 ? "" : "s"}`
        : `at least ${issue.minimum}${issue.origin === "array" ? " of them" : ""}`;
    case "too_big":
      return issue.origin === "string" ? `at most ${issue.maximum} characters` : `at most ${issue.maximum}`;
    case "invalid_value":
      return anyOf(issue.values);
    case "invalid_union":
      // For a shape that depends on a member: the values that this member may have.
      return "options" in issue && issue.options ? anyOf(issue.options) : "another value";
    case "invalid_format":
    case "custom":
      return issue.message;
    default:
      return "another value";
  }
}

/** `undefined` among the alternatives is not mentioned. */
const anyOf = (values: readonly unknown[]): string =>
  values
    .filter((value) => value !== undefined)
    .map((value) => JSON.stringify(value))
    .join(" or ");

/**
 * Refuses a body whose id is another one, because it was meant for another resource. Clients with form-like bodies send
 * empty ids.
 */
function refuseOtherId(id: string | undefined, sent: unknown): void {
  const given = (sent as { data?: { id?: unknown } } | undefined)?.data?.id ?? "";
  const bodyId = typeof given === "string" ? given.toLowerCase() : given;
  if (id !== undefined && bodyId !== "" && bodyId !== id) {
    throw new Problem("id_mismatch", { source: { pointer: "/data/id" } });
  }
}
