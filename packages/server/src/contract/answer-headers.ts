import { rowOf } from "./columns.ts";
import type { Operation } from "./operation.ts";
import type { ProblemCode } from "./problems.ts";

type SchemaField = { description: string; required: boolean; schema: { type: string; format?: string } };

export const field = (description: string, required = true): SchemaField => ({
  description,
  required,
  schema: { type: "string" },
});

/** The headers of an answer besides the usual ones of HTTP. */
export function fieldsOf(
  operation: Operation,
  status: number,
  codes: readonly ProblemCode[],
): Record<string, SchemaField> {
  const isOfBearer = typeof operation.access !== "string";
  const isCounted = isOfBearer ? status !== 401 : codes.includes("rate_limit_exceeded");
  const isRefusedByToken =
    status === 401 || codes.includes("not_permitted") || codes.includes("role_insufficient");
  return {
    "X-Request-Id": field("Names this request in Latchkey's log"),
    ...(isCounted && {
      // Not for requests refused before their access token is checked.
      RateLimit: field("What is left of the limits (draft-ietf-httpapi-ratelimit-headers)", status < 400),
      "RateLimit-Policy": field("The limits: requests per second", status < 400),
    }),
    ...((status === 429 || status === 503) && {
      "Retry-After": field("Seconds to wait before the next try"),
    }),
    ...(rowOf(operation) && status === 200 && { Vary: field("`Accept`: JSON and CSV have the same URL") }),
    ...((operation.success.attachment || rowOf(operation)) &&
      status === 200 && {
        "Content-Disposition": field("A file, with its name", operation.success.attachment !== undefined),
      }),
    ...(isRefusedByToken && { "WWW-Authenticate": field("How to authenticate", status === 401) }),
    ...(status === 303 && {
      Location: { ...field("Where the browser goes"), schema: { type: "string", format: "uri" } },
    }),
    ...(status === 303 &&
      /\/(authorize|test)$/.test(operation.path) && {
        "Set-Cookie": field("Ties the sign-on to the browser, if it has no such cookie yet", false),
      }),
    ...((status === 303 || status === 200) &&
      operation.path.endsWith("/end-session") && {
        "Set-Cookie": field("Ties the question to the browser; deleted after a Yes", false),
      }),
  };
}
