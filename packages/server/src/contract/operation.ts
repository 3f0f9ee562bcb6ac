import type { z } from "zod";
import { isPermitted, type Permission } from "./permissions.ts";
import { type ProblemCode, problemEntry } from "./problems.ts";
import type { Role } from "./roles.ts";

/**
 * One operation of the HTTP surface, as data. Request checks, handler types, the OpenAPI document and the tests' own
 * checks are all made from it, so none of them can say something else.
 */
export type Operation = Access & {
  id: string;
  tag:
    | "Access tokens"
    | "Customer tokens"
    | "Customers"
    | "Sign-on"
    | "Sign-on records"
    | "Realms"
    | "Identity providers"
    | "Application keys"
    | "Members"
    | "Events"
    | "Integrations"
    | "Store"
    | "Gateway"
    | "Service";
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  /** A second path with the same answer, where existing clients look. */
  alias?: string;
  /** Also at every path below it, and whatever the method: a gateway asks with what its client has sent. */
  everywhereBelow?: true;
  summary: string;
  description?: string;
  /** Answered however often it is asked: what balancers and monitors depend on. */
  unlimited?: true;
  /** Path parameters: each an id, with the problem that an id nobody has gives. */
  ids?: Record<string, ProblemCode>;
  /** What it is about has the store's own id, which the path does not name. */
  ofStore?: true;
  query?: z.ZodObject;
  /** What a browser's leg reads from its query. It is described here and judged there: a fault may have to become a redirect. */
  legQuery?: z.ZodObject;
  /** The leg's parameters may come as a form too, beside what the query has. */
  legForm?: true;
  body?: {
    schema: z.ZodType;
    form?: true;
    optional?: true;
    /** Of an OAuth endpoint: any other `grant_type` is refused as that, whatever else is wrong. */
    grants?: readonly string[];
  };
  /** Takes `Idempotency-Key`. */
  idempotent?: true;
  /** Takes `If-Match`, with versions that earlier answers named in `ETag`. */
  conditional?: true;
  /** Takes `Last-Event-ID`. */
  resumable?: true;
  success: {
    status: 200 | 201 | 202 | 204 | 303;
    description: string;
    schema?: z.ZodType;
    /** The answer has no body: these fields of its head are what it says. */
    fields?: z.ZodObject;
    /** The status instead, for who names it in `X-Latchkey-Answer`. */
    statusOnRequest?: 200;
    /** A browser's leg that may end here instead: when it answers 200 with a page. */
    page?: string;
    mediaType?: string;
    /** Which version of the thing the answer shows; sent as `ETag`. */
    version?: (answer: never) => string;
    /** Unless it is `no-store`, as almost everything is. */
    cacheControl?: string;
  };
  /** What can go wrong beyond what follows from the members above. */
  problems?: readonly ProblemCode[];
};

/**
 * `public`: anybody. `browser`: a person's browser, which is answered with a redirect or a page. `client`: an OAuth
 * endpoint, where the client says in the request itself who it is. `customer_token`: a customer token as bearer token. Otherwise
 * an access token with this right, and `role` is the least that one of the back office must have; implicit tokens have none, and
 * their rights alone count.
 */
type Access =
  | { access: "public" | "browser" | "client" | "customer_token"; role?: never }
  | { access: Permission; role: Role };

export const operation = <const O extends Operation>(definition: O): O => definition;

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

export type Input<O extends Operation> = {
  ids: O["ids"] extends Record<string, ProblemCode> ? { [K in keyof O["ids"]]: string } : undefined;
  query: Parsed<O["query"]>;
  body: O["body"] extends { schema: infer S }
    ? O["body"] extends { optional: true }
      ? Parsed<S> | undefined
      : Parsed<S>
    : undefined;
};

export type Output<O extends Operation> = O["success"] extends { schema: infer S extends z.ZodType }
  ? z.input<S>
  : O["success"] extends { fields: infer F extends z.ZodObject }
    ? z.input<F>
    : undefined;

/** Every problem an operation can answer with: its own, and those that follow from what it is. */
export function problemsOf(operation: Operation): ProblemCode[] {
  // The parser refuses a header block before it knows the path, so any operation may answer so.
  const codes: ProblemCode[] = [...(operation.problems ?? []), "headers_too_large"];
  const isService = operation.tag === "Service";
  if (!operation.unlimited) codes.push("rate_limit_exceeded");
  const isOpen = operation.access === "public" || operation.access === "browser";
  if (operation.access === "customer_token") codes.push("token_missing", "token_invalid");
  if (operation.legForm) codes.push("body_broke_off", "body_too_large", "media_type_unsupported");
  if (operation.body?.grants) codes.push("grant_unsupported");
  if (!isService) codes.push("url_too_long", "storage_unavailable");
  if (!isOpen) codes.push("token_misplaced");
  if (typeof operation.access !== "string") {
    codes.push("token_missing", "token_invalid");
    if (operation.role !== "viewer") codes.push("role_insufficient");
    if (!isPermitted("implicit", operation.access)) {
      codes.push("not_permitted");
      if (isPermitted("customer", operation.access)) codes.push("customer_token_invalid");
    }
  }
  if (operation.idempotent) codes.push("idempotency_key_invalid", "idempotency_key_reused");
  if (operation.ids) codes.push(...Object.values(operation.ids));
  if (operation.query) codes.push("parameter_invalid");
  if (operation.body) {
    codes.push(
      "body_not_json",
      "body_broke_off",
      "member_missing",
      "member_invalid",
      "body_too_large",
      "media_type_unsupported",
    );
  }
  if (operation.body && (operation.ids?.id || operation.ofStore)) codes.push("id_mismatch");
  if (!isService) codes.push("internal_error");
  return [...new Set(codes)].sort(
    (a, b) => problemEntry(a).status - problemEntry(b).status || a.localeCompare(b),
  );
}
