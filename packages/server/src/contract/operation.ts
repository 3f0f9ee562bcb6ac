import type { z } from "zod";
import type { Prefix } from "../lib/secrets.ts";
import { rowOf } from "./columns.ts";
import { isPermitted, type Permission } from "./permissions.ts";
import { type ProblemCode, problemEntry } from "./problems.ts";
import type { Role } from "./roles.ts";

/**
 * One operation of the HTTP surface, as data. Request validation, handler types, the OpenAPI document and the tests'
 * checks are derived from it, so they cannot differ.
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
  /** A second path with the same answer, for existing clients. */
  alias?: string;
  /** Also served at every path below, for every method: a gateway forwards the path and method of its client. */
  everywhereBelow?: true;
  summary: string;
  description?: string;
  /** Exempt from rate limits: load balancers and monitors call it all the time. */
  unlimited?: true;
  /** Path parameters: each is an id, with the problem that an unknown id gives. */
  ids?: Record<string, ProblemCode>;
  /**
   * The path parameter `{token}` is a credential of this family; the problem is the answer to any other text. No log
   * has the path of a request, so it has no credential either.
   */
  credential?: { prefix: Prefix; problem: ProblemCode };
  /** The resource has the store's own id, which the path does not contain. */
  ofStore?: true;
  query?: z.ZodObject;
  /**
   * The query of a browser leg. The contract describes it and the leg validates it, because a fault may have to become
   * a redirect.
   */
  legQuery?: z.ZodObject;
  /** The leg also takes its parameters as a form. */
  legForm?: true;
  body?: {
    schema: z.ZodType;
    form?: true;
    optional?: true;
    /** The grant types of an OAuth endpoint. Any other `grant_type` is refused first, whatever else is wrong. */
    grants?: readonly string[];
  };
  /** Takes `Idempotency-Key`. */
  idempotent?: true;
  /** Takes `If-Match` with versions from earlier `ETag` headers. */
  conditional?: true;
  /** Takes `Last-Event-ID`. */
  resumable?: true;
  success: {
    status: 200 | 201 | 202 | 204 | 303;
    description: string;
    schema?: z.ZodType;
    /** The answer has no body; these headers carry its content. */
    fields?: z.ZodObject;
    /** The status for a caller that sends it in `X-Latchkey-Answer`. */
    statusOnRequest?: 200;
    /** The page of a browser leg that can end here with 200. */
    page?: string;
    mediaType?: string;
    /** An array in `data` that is no list: there is no CSV of it. */
    onlyJson?: true;
    /** The answer is saved as a file with this word, the id and the day as its name. It counts as an export. */
    attachment?: string;
    /** The version of the resource in the answer, sent as `ETag`. */
    version?: (answer: never) => string;
    /** Replaces the usual `no-store`. */
    cacheControl?: string;
  };
  /** Problems besides those that follow from the other members. */
  problems?: readonly ProblemCode[];
};

/**
 * `public`: everyone. `browser`: a person's browser, which gets a redirect or a page. `client`: an OAuth endpoint,
 * where the request itself authenticates the client. `customer_token`: a customer token as bearer token. Otherwise an
 * access token with this right; `role` is the lowest role of the back office that may call it. Implicit tokens have no
 * role, and their rights decide.
 */
type Access =
  | { access: "public" | "browser" | "client" | "customer_token"; role?: never }
  | { access: Permission; role: Role };

export const operation = <const O extends Operation>(definition: O): O => definition;

type Parsed<S> = S extends z.ZodType ? z.output<S> : undefined;

export type Input<O extends Operation> = {
  ids: O["ids"] extends Record<string, ProblemCode> ? { [K in keyof O["ids"]]: string } : undefined;
  credential: O["credential"] extends object ? string : undefined;
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

/** All problems of an operation: its own, and those that follow from its members. */
export function problemsOf(operation: Operation): ProblemCode[] {
  // The parser can refuse a header block before it knows the path.
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
  if (operation.success.attachment || rowOf(operation)) codes.push("exports_exceeded");
  if (rowOf(operation) && isForPublicTokens(operation)) codes.push("not_acceptable");
  if (operation.idempotent) codes.push("idempotency_key_invalid", "idempotency_key_reused");
  if (operation.ids) codes.push(...Object.values(operation.ids));
  if (operation.credential) codes.push(operation.credential.problem);
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

/** Whether an implicit token may call it, alone or with a customer token. */
const isForPublicTokens = ({ access }: Operation): boolean =>
  typeof access !== "string" && (isPermitted("implicit", access) || isPermitted("customer", access));
