import { describe, expect, test } from "vitest";
import { openapiDocument } from "../src/contract/openapi.ts";

/** Properties of the document on which people and tools of other languages rely. */

type Response = { headers?: Record<string, unknown> };
type Parameter = { name: string; in: string; required: boolean; description?: string; schema: Schema };
type Schema = { pattern?: string; format?: string; examples?: unknown[]; description?: string };
type Described = {
  operationId: string;
  summary: string;
  description?: string;
  security: object[];
  parameters: Parameter[];
  requestBody?: { content: Record<string, unknown> };
  responses: Record<string, Response>;
};

const document = openapiDocument("https://keys.example");
const operations = Object.values(document.paths).flatMap((path) =>
  Object.values(path as Record<string, Described>).map((one): [string, Described] => [one.operationId, one]),
);
const get = (id: string): Described => operations.find(([name]) => name === id)?.[1] as Described;

/** Every object of the document, with its name. */
function* within(value: unknown, name = ""): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) yield [name, value as Record<string, unknown>];
  for (const [key, part] of Object.entries(value)) yield* within(part, Array.isArray(value) ? name : key);
}
const all = [...within(document)];

describe.each(operations)("%s", (_, operation) => {
  test("has a description that is longer than its summary", () => {
    expect(operation.description ?? "").toMatch(/^.{15,}$/s);
    expect(operation.description).not.toBe(operation.summary);
  });

  test("declares the fields of its answers", () => {
    for (const [status, { headers = {} }] of Object.entries(operation.responses)) {
      const names = Object.keys(headers);
      expect(names).toContain("X-Request-Id");
      if (status === "401") expect(names).toContain("WWW-Authenticate");
      if (status === "429" || status === "503") expect(names).toContain("Retry-After");
      if (status === "303") expect(names).toContain("Location");
      const isOfBearer = operation.security.some((one) => "bearer" in one);
      if (isOfBearer && status !== "401")
        expect(names).toEqual(expect.arrayContaining(["RateLimit", "RateLimit-Policy"]));
    }
  });

  test("describes every parameter, and ids are UUIDs", () => {
    for (const { name, schema, description, in: place } of operation.parameters) {
      // Only the credential of a page is another path parameter.
      if (place === "path" && name === "token") expect(schema.pattern).toMatch(/^\^lk/);
      else if (place === "path") expect(schema.format, name).toBe("uuid");
      else expect(description ?? ("const" in schema ? "one value" : ""), name).not.toBe("");
    }
  });
});

test("every body has one media type, a form at the OAuth endpoints: Java generators prefer JSON, and send nothing", () => {
  for (const [id, { requestBody }] of operations)
    if (requestBody) expect(Object.keys(requestBody.content), id).toHaveLength(1);
  for (const id of ["issueAccessToken", "introspectToken", "revokeToken", "realmToken"])
    expect(Object.keys(get(id).requestBody?.content ?? {})).toEqual(["application/x-www-form-urlencoded"]);
});

test("no boolean allows one value only: generators for Java make code of it that does not compile", () => {
  expect(
    all.filter(([, { type, ...part }]) => type === "boolean" && ("const" in part || "enum" in part)),
  ).toEqual([]);
});

test("objects are open to members of later releases (wire 14)", () => {
  expect(all.filter(([, part]) => part.additionalProperties === false)).toEqual([]);
});

test("a parameter that the service converts is declared with its pattern", () => {
  const schemaOf = (id: string, name: string) => get(id).parameters.find((one) => one.name === name)?.schema;
  expect(schemaOf("listEvents", "after")).toMatchObject({ type: "string", pattern: "^\\d{1,15}$" });
  expect(schemaOf("listEvents", "types")).toMatchObject({ pattern: expect.any(String), maxLength: 1024 });
  expect(schemaOf("listCustomers", "filter")).toMatchObject({ maxLength: 4096 });
  expect(schemaOf("listSignOns", "sort")).toMatchObject({ pattern: "^-?(started_at)$" });
  expect(schemaOf("listCustomers", "page[limit]")).toMatchObject({
    type: "integer",
    minimum: 1,
    maximum: 100,
  });
});

test("a request that the service refuses for its shape is invalid by the document too", () => {
  const bodyOf = (id: string) => JSON.stringify(get(id).requestBody);
  const schemaOf = (id: string, name: string) => get(id).parameters.find((one) => one.name === name)?.schema;
  const key = JSON.parse(bodyOf("createApplicationKey")).content["application/json"].schema;
  const name = new RegExp(key.properties.data.properties.name.pattern);
  for (const good of ["Warehouse", " Zoë ", "倉庫"]) expect(good).toMatch(name);
  for (const bad of ["", "  ", "a\u0085b", "a\u009fb", "a\u2028b", "a\nb"]) expect(bad).not.toMatch(name);
  for (const bound of ["from", "to"]) {
    const schema = schemaOf("getSignOnStatistics", bound);
    expect(schema?.format).toBe("date-time");
    const pattern = new RegExp(schema?.pattern ?? "");
    expect("2026-01-31T09:30:00.000Z").toMatch(pattern);
    for (const bad of ["2026-01-31T09:30:00+02:00", "2026-01-31T23:59:60Z"]) expect(bad).not.toMatch(pattern);
  }
  expect(schemaOf("streamEvents", "Last-Event-ID")).toMatchObject({ pattern: "^\\d{0,15}$" });
  expect(schemaOf("issueCustomerToken", "Idempotency-Key")).toMatchObject({ pattern: "^[!-~]{1,255}$" });
  expect(bodyOf("backchannelLogout")).toContain('"maxLength":8192');
  expect(bodyOf("createProfile")).toContain('"else":{"required":["client_secret"]}');
});

test("every operation declares 431, in the format of the HTTP parser", () => {
  const schema = { $ref: "#/components/schemas/Problem" };
  for (const [id, { responses }] of operations)
    expect(responses[431], id).toMatchObject({ content: { "application/json": { schema } } });
});

test("authorize declares every parameter, the required ones as required, and its cookie", () => {
  const { parameters, responses } = get("authorize");
  const query = parameters.filter((one) => one.in === "query");
  expect(query.filter(({ required }) => required).map(({ name }) => name)).toEqual([
    "scope",
    "response_type",
    "client_id",
    "redirect_uri",
    "state",
    "code_challenge_method",
    "code_challenge",
  ]);
  expect(query.filter(({ required }) => !required).map(({ name }) => name)).toEqual([
    "profile",
    "nonce",
    "max_age",
    "id_token_hint",
    "display",
    "prompt",
    "login_hint",
    "ui_locales",
  ]);
  expect(Object.keys(responses["303"]?.headers ?? {})).toContain("Set-Cookie");
});

test("the gateway check declares the 200 of Envoy, and its request", () => {
  const { parameters, responses } = get("checkAtGateway");
  expect(responses[200]).toEqual(responses[204]);
  expect(parameters.find(({ name }) => name === "X-Latchkey-Answer")).toMatchObject({
    in: "header",
    required: false,
    schema: { type: "string", enum: ["200"] },
  });
});

test("patterns work in every language: no Unicode classes, no lookbehind, and anchored at both ends", () => {
  const patterns = all.flatMap(([, { pattern }]) => (typeof pattern === "string" ? [pattern] : []));
  expect(patterns.length).toBeGreaterThan(3);
  for (const pattern of patterns) {
    expect(pattern).not.toMatch(/\\[pP]\{|\(\?<|\\u/);
    expect(pattern).toMatch(/^\^.*\$$/s);
    expect(() => new RegExp(pattern)).not.toThrow();
  }
});

test("no value is a union of any text and one certain text: a generated client cannot distinguish them", () => {
  const isText = ({ type }: Record<string, unknown>) => type === "string";
  for (const [name, { anyOf = [] }] of all) {
    const texts = (anyOf as Record<string, unknown>[]).filter(isText);
    const certain = texts.filter((text) => "const" in text);
    expect(certain.length === 0 || certain.length === texts.length, name).toBe(true);
  }
});

test("a member named as a URI or URL has the format of one", () => {
  const named = all.filter(
    ([name, { type }]) => type === "string" && /(_ur[il]|_endpoint|-endpoint|-discovery-url)$/.test(name),
  );
  expect(named.length).toBeGreaterThan(5);
  for (const [name, { format }] of named) expect([name, format]).toEqual([name, "uri"]);
});

test("dates are of this decade, and every example fits its own schema", () => {
  const dates = JSON.stringify(document).match(/\b\d{4}-\d\d-\d\dT/g) ?? [];
  expect(dates.length).toBeGreaterThan(0);
  for (const date of dates) expect(date).toMatch(/^202\d/);
  for (const [name, { examples, type, pattern, maxLength, minLength, enum: values }] of all)
    for (const example of Array.isArray(examples) ? examples : []) {
      if (type === "string") expect(typeof example, name).toBe("string");
      if (type === "boolean") expect(typeof example, name).toBe("boolean");
      if (type === "integer") expect(Number.isInteger(example), name).toBe(true);
      if (typeof pattern === "string") expect(example).toMatch(new RegExp(pattern));
      if (Array.isArray(values)) expect(values).toContain(example);
      if (typeof maxLength === "number") expect(String(example).length).toBeLessThanOrEqual(maxLength);
      if (typeof minLength === "number") expect(String(example).length).toBeGreaterThanOrEqual(minLength);
    }
});
