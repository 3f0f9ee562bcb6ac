import {
  type Document,
  type DocumentedOperation,
  nameOf,
  type Parameter,
  type PlacedOperation,
  type Shape,
} from "./document.ts";

/** A sample request, from the examples in the contract. */
export type Example = { mediaType?: string; body?: string };

const JSON_TYPE = "application/json";

export function exampleOf({ requestBody }: DocumentedOperation, { components }: Document): Example {
  const [first] = Object.entries(requestBody?.content ?? {});
  if (!first) return {};
  const [mediaType, { schema }] = first;
  const value = sampleOf(schema, components.schemas);
  if (mediaType === JSON_TYPE) return { mediaType, body: JSON.stringify(value, null, 2) };
  return { mediaType, body: new URLSearchParams(value as Record<string, string>).toString() };
}

/** For alternatives the first one; for an object the required members and those with an example. */
function sampleOf(shape: Shape, shapes: Record<string, Shape>): unknown {
  if (shape.$ref) return sampleOf(shapes[nameOf(shape)] ?? {}, shapes);
  if (shape.const !== undefined) return shape.const;
  if (shape.examples) return shape.examples[0];
  if (shape.default !== undefined) return shape.default;
  if (shape.enum) return shape.enum[0];
  const [alternative] = shape.anyOf ?? shape.oneOf ?? [];
  if (alternative) return sampleOf(alternative, shapes);
  if (shape.properties) {
    const shown = Object.entries(shape.properties).filter(
      ([name, member]) => shape.required?.includes(name) || member.examples,
    );
    return Object.fromEntries(shown.map(([name, member]) => [name, sampleOf(member, shapes)]));
  }
  const type = Array.isArray(shape.type) ? shape.type[0] : shape.type;
  if (type === "array") return [];
  if (type === "object") return {};
  if (type === "boolean") return true;
  if (type === "integer" || type === "number") return shape.minimum ?? 0;
  return "…";
}

/** The credentials in a sample. `asBearer`: the customer token itself, as a client library sends it. */
export const needs = ({ security }: DocumentedOperation) => ({
  client: security.some((way) => "client" in way),
  bearer: security.some((way) => "bearer" in way),
  customer: security.some((way) => "customer" in way),
  asBearer: security.some((way) => "customerToken" in way),
});

export const placeholderOf = ({ name }: Pick<Parameter, "name">): string => name.toUpperCase();

/** The sample before the reader has entered values. page.js makes the same text with the entered values. */
export function curlOf(
  { method, path, operation }: PlacedOperation,
  { mediaType, body }: Example,
  baseUrl: string,
): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => placeholderOf({ name }));
  const { client, bearer, customer, asBearer } = needs(operation);
  const parts = [
    `curl ${method === "GET" ? "" : `-X ${method} `}'${baseUrl}${filled}'`,
    ...(client ? ["-u 'CLIENT_ID:CLIENT_SECRET'"] : []),
    ...(asBearer ? ["-H 'Authorization: Bearer CUSTOMER_TOKEN'"] : []),
    ...(bearer ? ["-H 'Authorization: Bearer ACCESS_TOKEN'"] : []),
    ...(customer ? ["-H 'X-Customer-Token: CUSTOMER_TOKEN'"] : []),
    ...(mediaType ? [`-H 'Content-Type: ${mediaType}'`] : []),
    ...(body === undefined ? [] : [`-d '${body.replaceAll("'", "'\\''")}'`]),
  ];
  return parts.join(" \\\n  ");
}
