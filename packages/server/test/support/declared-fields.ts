import { expect } from "vitest";
import { openapiDocument } from "../../src/contract/openapi.ts";
import type { Operation } from "../../src/contract/operation.ts";

type Fields = Record<string, { required: boolean }>;
type Described = { operationId: string; responses: Record<string, { headers?: Fields }> };

const described = new Map(
  Object.values(openapiDocument("https://keys.example").paths).flatMap((path) =>
    Object.values(path as Record<string, Described>).map((one) => [one.operationId, one.responses] as const),
  ),
);

/** Fields that are instructions for a client; the others are the same for every answer. */
const TELLING = [
  "RateLimit",
  "RateLimit-Policy",
  "Retry-After",
  "WWW-Authenticate",
  "Location",
  "Set-Cookie",
  "ETag",
];

/**
 * Checks that the header fields of an answer include every required field of the document, and no undeclared one that a
 * client acts on.
 */
export function expectDeclaredFields({ id }: Operation, { status, headers }: Response, what: string): void {
  const declared = described.get(id)?.[status]?.headers;
  if (!declared) return;
  for (const [name, { required }] of Object.entries(declared))
    if (required) expect(headers.has(name), `${what}; ${name} is missing`).toBe(true);
  for (const name of TELLING)
    if (headers.has(name)) expect(Object.keys(declared), `${what}; ${name} is not declared`).toContain(name);
}
