/** The parts of the OpenAPI document (contract/openapi.ts) that the reference uses. */
export type Document = {
  info: { title: string; description: string };
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, Shape> };
};

export type DocumentedOperation = {
  operationId: string;
  tags: [string];
  summary: string;
  description?: string;
  security: Record<string, unknown>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: Shape }> };
  responses: Record<string, Response>;
};

export type Parameter = {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: Shape;
};

export type Response = { description: string; content?: Record<string, { schema?: Shape }> };

export type Shape = {
  $ref?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  anyOf?: Shape[];
  oneOf?: Shape[];
  items?: Shape;
  properties?: Record<string, Shape>;
  required?: string[];
  description?: string;
  examples?: unknown[];
  default?: unknown;
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  minItems?: number;
  maxItems?: number;
};

/** An operation with its path and method. */
export type PlacedOperation = { method: string; path: string; operation: DocumentedOperation };

/** The operations in the document's order, under their tags. */
export function byTag({ paths }: Document): Map<string, PlacedOperation[]> {
  const groups = new Map<string, PlacedOperation[]>();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods)) {
      const [tag] = operation.tags;
      groups.set(tag, [...(groups.get(tag) ?? []), { method: method.toUpperCase(), path, operation }]);
    }
  return groups;
}

export const nameOf = ({ $ref = "" }: Shape): string => $ref.slice($ref.lastIndexOf("/") + 1);
