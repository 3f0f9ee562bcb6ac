import { z } from "zod";
import { field, fieldsOf } from "./answer-headers.ts";
import { columnsOf, rowOf } from "./columns.ts";
import { INSTANT } from "./filter.ts";
import { headerParameters } from "./header-parameters.ts";
import { type Operation, problemsOf } from "./operation.ts";
import { operations } from "./operations.ts";
import { pathParameters } from "./path-parameters.ts";
import { isPermitted } from "./permissions.ts";
import { type ProblemCode, problemEntry, problems } from "./problems.ts";
import { oauthProblemBody, problemBody } from "./shapes.ts";

/** The OpenAPI 3.1 document, made from the operations only. */
export function openapiDocument(publicUrl: string) {
  const components = gatherComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  const add = (path: string, operation: Operation) => {
    const ofPath = paths[path] ?? {};
    paths[path] = ofPath;
    ofPath[operation.method.toLowerCase()] = describe(operation, components);
  };
  for (const operation of operations) {
    add(operation.path, operation);
    if (operation.alias) add(operation.alias, { ...operation, id: `${operation.id}ByAlias` });
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "Latchkey",
      version: "2",
      description:
        "The sign-on and key service behind storefronts. Unknown members of a request are ignored; within /v2 changes " +
        "only add. A removal is announced by the headers `Deprecation` and `Sunset` and in the changelog, " +
        "at least 180 days before. Limits: body 16 KB, header block 16 KB, URL 8 KB, JSON depth 8. No text may contain NUL or half a surrogate pair.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: publicUrl }],
    paths,
    components: {
      securitySchemes: {
        bearer: { type: "http", scheme: "bearer", description: "From POST /oauth/access_token" },
        customer: {
          type: "apiKey",
          in: "header",
          name: "X-Customer-Token",
          description:
            "From POST /v2/customers/tokens, sent with an implicit token. With the token of a program or a member it is ignored, except by the gateway check",
        },
        customerToken: {
          type: "http",
          scheme: "bearer",
          description: "The customer token itself, as the access token of a client library",
        },
        client: {
          type: "http",
          scheme: "basic",
          description: "Client id and secret; or both as form fields",
        },
      },
      schemas: components.schemas,
    },
  };
}

type Schema = {
  type?: unknown;
  const?: unknown;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  format?: string;
  additionalProperties?: unknown;
};

/** Unicode classes of patterns, written out, because tools of other languages do not read `\p{…}`. */
const CLASSES = /\\[pP]\{/;
const CONTROL = "\\x00-\\x1f\\x7f-\\x9f\u2028\u2029";
const BLANK = " \u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\ufeff";
/**
 * A text with a visible character, as `name` in shapes.ts. Its parts share no character, so a match takes linear time.
 */
const NAME = `^[${BLANK}]*[^${CONTROL}\\s][^${CONTROL}]*$`;

/**
 * Removes what the contract does not promise: zod's bounds of safe integers, a pattern beside a format that means the
 * same, and `additionalProperties: false` in answers, because answers get new members within /v2 and generated clients
 * must accept them.
 */
function override({ jsonSchema }: { jsonSchema: Schema }): void {
  const isOfFormat = jsonSchema.format === "date-time" || jsonSchema.format === "uuid";
  if (isOfFormat && jsonSchema.pattern !== INSTANT) delete jsonSchema.pattern;
  if (CLASSES.test(jsonSchema.pattern ?? "")) jsonSchema.pattern = NAME;
  // Tools of other languages generate code from it that does not compile.
  if (jsonSchema.type === "boolean") delete jsonSchema.const;
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties;
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

type Components = {
  schemas: Record<string, unknown>;
  refer(shape: z.ZodType, io: "input" | "output"): unknown;
};

/** Collects the named shapes, so that the document contains each once. */
function gatherComponents(): Components {
  const schemas: Record<string, unknown> = {};
  const rewrite = (part: unknown): unknown =>
    JSON.parse(JSON.stringify(part).replaceAll('"#/$defs/', '"#/components/schemas/'));

  function refer(shape: z.ZodType, io: "input" | "output"): unknown {
    const {
      $schema: _,
      $defs,
      ...schema
    } = z.toJSONSchema(shape, {
      io,
      target: "draft-2020-12",
      override,
      // A text that the service parses is a text for the caller; its description says so.
      unrepresentable: "any",
    });
    for (const [name, definition] of Object.entries($defs ?? {})) {
      const { id: _id, ...rest } = definition as Record<string, unknown>;
      schemas[name] = rewrite(rest);
    }
    const { id, ...rest } = schema as Record<string, unknown>;
    if (typeof id !== "string") return rewrite(rest);
    schemas[id] = rewrite(rest);
    return { $ref: `#/components/schemas/${id}` };
  }

  return { schemas, refer };
}

function describe(operation: Operation, components: Components): unknown {
  const { success, body } = operation;
  return {
    operationId: operation.id,
    tags: [operation.tag],
    summary: operation.summary,
    ...(operation.description && { description: operation.description + aboutCsv(operation) }),
    security: security(operation),
    ...(operation.role && { "x-latchkey-role": operation.role }),
    parameters: parameters(operation, components),
    ...(body && { requestBody: requestBody(body, components) }),
    ...(operation.legForm && { requestBody: legForm(operation, components) }),
    responses: {
      [success.status]: successResponse(operation, components),
      ...(success.statusOnRequest && { [success.statusOnRequest]: successResponse(operation, components) }),
      ...(success.page && {
        200: { description: success.page, headers: fieldsOf(operation, 200, []), ...PAGE },
      }),
      ...problemResponses(operation, components),
    },
  };
}

function successResponse(operation: Operation, components: Components): unknown {
  const { status, description, schema, fields, version, mediaType = "application/json" } = operation.success;
  return {
    description,
    headers: {
      ...fieldsOf(operation, status, []),
      ...(version && { ETag: field("The version of the resource, for `If-Match`") }),
      ...(fields && headers(fields, components)),
    },
    ...(schema && {
      content: {
        [mediaType]: { schema: components.refer(schema, "input") },
        ...(rowOf(operation) && CSV),
      },
    }),
  };
}

const CSV = { "text/csv": { schema: { type: "string" } } };

function aboutCsv(operation: Operation): string {
  const row = rowOf(operation);
  if (!row) return "";
  const names = columnsOf(row).map(({ name }) => `\`${name}\``);
  return ` The back office gets the whole list as CSV with \`Accept: text/csv\`, by the same parameters but those of the page: ${names.join(", ")}.`;
}

const PAGE = { content: { "text/html": { schema: { type: "string" } } } };

const headers = (fields: z.ZodObject, components: Components): object =>
  Object.fromEntries(
    Object.entries(fields.shape).map(([name, shape]) => [
      name,
      {
        required: !(shape as z.ZodType).isOptional(),
        schema: components.refer(shape as z.ZodType, "output"),
      },
    ]),
  );

function security({ access }: Operation): object[] {
  if (access === "public" || access === "browser") return [];
  if (access === "customer_token") return [{ customerToken: [] }];
  if (access === "client") return [{ client: [] }, {}];
  return isPermitted("implicit", access) || !isPermitted("customer", access)
    ? [{ bearer: [] }]
    : [{ bearer: [] }, { bearer: [], customer: [] }];
}

function parameters(operation: Operation, components: Components): unknown[] {
  const shapes = { ...operation.query?.shape, ...operation.legQuery?.shape };
  const query = Object.entries(shapes).map(([name, shape]) => ({
    name,
    in: "query",
    // A leg's parameters can also be in its form.
    required:
      name in (operation.legQuery?.shape ?? {}) && !operation.legForm && !(shape as z.ZodType).isOptional(),
    description: (shape as z.ZodType).meta()?.description,
    schema: parameterSchema(shape as z.ZodType, components),
  }));
  return [...pathParameters(operation), ...query, ...headerParameters(operation)];
}

/** A number is described as a number, and a text by its format, whatever the service parses it into. */
function parameterSchema(shape: z.ZodType, components: Components): unknown {
  const read = components.refer(shape, "output") as { type?: string };
  return read.type === "string" ? { ...(components.refer(shape, "input") as object), ...read } : read;
}

/**
 * An operation that takes a form also takes JSON. JSON is not listed, because generated Java clients would send it
 * empty.
 */
function requestBody(body: NonNullable<Operation["body"]>, components: Components): unknown {
  const mediaType = body.form ? "application/x-www-form-urlencoded" : "application/json";
  return {
    required: !body.optional,
    content: { [mediaType]: { schema: components.refer(body.schema, "input") } },
  };
}

const legForm = ({ legQuery }: Operation, components: Components): unknown => ({
  required: true,
  content: {
    "application/x-www-form-urlencoded": {
      schema: legQuery ? components.refer(legQuery, "input") : { type: "object" },
    },
  },
});

function problemResponses(operation: Operation, components: Components): Record<string, unknown> {
  // The parser refuses these before the operation is known.
  const isPage = (status: number) => operation.access === "browser" && status !== 431;
  const shapeOf = (status: number) =>
    operation.access === "client" && status !== 431 ? oauthProblemBody : problemBody;
  const byStatus = Map.groupBy(problemsOf(operation), (code: ProblemCode) => problems[code].status);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${problemEntry(code).means}`).join("\n\n"),
        headers: fieldsOf(operation, status, codes),
        ...(isPage(status)
          ? PAGE
          : { content: { "application/json": { schema: components.refer(shapeOf(status), "output") } } }),
      },
    ]),
  );
}
