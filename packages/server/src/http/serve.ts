import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import type { Caller } from "../contract/caller.ts";
import type { Gate } from "../contract/gate.ts";
import { limits } from "../contract/limits.ts";
import type { Input, Operation, Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { sourceOf, type TrustedProxies } from "../lib/source-address.ts";
import { readIfMatch, toEntityTag } from "./entity-tag.ts";
import { corsHeaders, preflightHeaders, securityHeaders } from "./headers.ts";
import { choicePage, pageHeaders, problemPage } from "./pages.ts";
import { oauthProblemBody, problemBody, problemHeaders, toProblem } from "./problem-response.ts";
import { type CheckedRequest, readRequest } from "./read-request.ts";

type Access<O extends Operation> = O["access"] extends "public"
  ? object
  : O["access"] extends "browser"
    ? { browser: BrowserRequest }
    : O["access"] extends "client"
      ? { authorization: string | undefined }
      : {
          caller: Caller;
          source: string;
          idempotencyKey: string | undefined;
          ifMatch: readonly string[] | undefined;
        };

/** A text stands for itself: JSON that was made once, or a body of another media type. */
type Answer<O extends Operation> = O["access"] extends "browser" ? BrowserAnswer : Output<O> | string;

type Handler<O extends Operation> = (request: Input<O> & Access<O>) => Promise<Answer<O>> | Answer<O>;

/** An operation of the contract, and the function of a slice that does it. */
export type Route = { operation: Operation; handle: (request: never) => unknown };

export const on = <O extends Operation>(operation: O, handle: Handler<O>): Route => ({
  operation,
  handle: handle as Route["handle"],
});

/** What is known of a request when it has been answered, for the log and the metrics. */
export type Answered = {
  requestId: string;
  method: string;
  /** The path as the contract writes it: what the caller sent is never logged. */
  route: string;
  status: number;
  durationMs: number;
  source: string;
  caller: Caller | undefined;
  problem: Problem | undefined;
  /** A sign-on that ended in a redirect with an error. */
  failure?: BrowserAnswer["failure"];
};

export type ServeDeps = {
  publicUrl: string;
  proxies: TrustedProxies;
  clock: Clock;
  gate: Gate;
  onAnswered(answered: Answered): void;
};

/** In one process there is no socket behind a request, so nothing of it is taken for granted. */
type Env = { Bindings: Partial<HttpBindings> };
type Exchange = {
  caller: Caller | undefined;
  headers: Record<string, string>;
  source: string;
  failure?: BrowserAnswer["failure"];
};

/** A page of ours for people, with its own headers. */
export type Page = { path: string; respond(): Promise<Response> };

/** Every route of the contract, and our pages, on one Hono application; what is neither answers 404 or 405. */
export function serveRoutes(deps: ServeDeps, routes: readonly Route[], pages: readonly Page[]): Hono<Env> {
  const app = new Hono<Env>({ strict: false });
  for (const page of pages) {
    app.on("GET", page.path, (context) =>
      exchange(deps, context, page.path, ({ source }) => {
        deps.gate.enterAnonymous(source);
        return page.respond();
      }),
    );
  }
  for (const route of routes) {
    for (const path of pathsOf(route)) {
      app.on(route.operation.method, honoPath(path), (context) =>
        exchange(deps, context, route.operation, (state) => serve(deps, context, route, state)),
      );
    }
  }
  app.on("OPTIONS", "*", (context, next) => {
    const headers = preflightHeaders(context.req.path);
    if (!headers) return next();
    return exchange(deps, context, "preflight", async ({ source }) => {
      deps.gate.enterAnonymous(source);
      return respond(204, undefined, headers);
    });
  });
  for (const path of new Set(routes.flatMap(pathsOf))) {
    const Allow = routes
      .filter((route) => pathsOf(route).includes(path))
      .map((route) => route.operation.method)
      .join(", ");
    const forPeople = routes.find(
      (route) => route.operation.access === "browser" && pathsOf(route).includes(path),
    );
    app.all(honoPath(path), (context) =>
      exchange(deps, context, forPeople?.operation ?? path, async (state) => {
        state.headers.Allow = Allow;
        throw refusedUnread(deps, state, new Problem("method_not_allowed"));
      }),
    );
  }
  app.notFound((context) =>
    exchange(deps, context, "unknown", async (state) => {
      throw refusedUnread(deps, state, new Problem("route_not_found"));
    }),
  );
  return app;
}

const pathsOf = ({ operation: { path, alias } }: Route): string[] => (alias ? [path, alias] : [path]);

const honoPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");

/** The frame around every request: an id, the common headers, the one place where a problem becomes JSON, the log. */
async function exchange(
  deps: ServeDeps,
  context: Context<Env>,
  of: Operation | string,
  work: (state: Exchange) => Promise<Response>,
): Promise<Response> {
  const startedMs = deps.clock.monotonicMs();
  const requestId = newId();
  const state: Exchange = { caller: undefined, headers: {}, source: sourceOfRequest(deps, context) };
  let problem: Problem | undefined;
  let response: Response;
  try {
    response = await work(state);
  } catch (error) {
    problem = toProblem(error);
    response = refuse(problem, requestId, typeof of === "string" ? undefined : of.access);
  }
  const common = { ...securityHeaders(deps.publicUrl), ...corsHeaders(context.req.path), ...state.headers };
  for (const [name, value] of Object.entries(common)) {
    if (!response.headers.has(name)) response.headers.set(name, value);
  }
  response.headers.set("X-Request-Id", requestId);
  deps.onAnswered({
    requestId,
    method: context.req.method,
    route: typeof of === "string" ? of : of.path,
    status: response.status,
    durationMs: deps.clock.monotonicMs() - startedMs,
    source: state.source,
    caller: state.caller,
    problem,
    ...(state.failure && { failure: state.failure }),
  });
  return response;
}

/** A failure picks its exit by where it happens: a page for a person, RFC 6749 5.2 for a client, JSON for the rest. */
function refuse(problem: Problem, requestId: string, access: Operation["access"] | undefined): Response {
  const headers = problemHeaders(problem, access === "client" ? "Basic" : "Bearer");
  if (access === "browser")
    return respond(problem.status, problemPage(problem, requestId), { ...headers, ...pageHeaders });
  const body = access === "client" ? oauthProblemBody(problem, requestId) : problemBody(problem, requestId);
  return respond(problem.status, body, headers);
}

/** One operation. The order is law: 401 and 429 are decided before the body is read or anything is touched. */
async function serve(
  deps: ServeDeps,
  context: Context<Env>,
  route: Route,
  state: Exchange,
): Promise<Response> {
  const { operation } = route;
  const request = context.req.raw;
  const target = targetOf(context.req.url);
  if (target.length > limits.urlBytes) throw refusedUnread(deps, state, new Problem("url_too_long"));
  const query = target.includes("?") ? target.slice(target.indexOf("?") + 1) : "";
  const search = new URLSearchParams(query);
  const access = await passGate(deps, operation, request, search, state);
  const checked: CheckedRequest = await readRequest(operation, request, context.req.param(), search);
  if (operation.access === "browser") {
    const cookie = request.headers.get("cookie") ?? undefined;
    const browser: BrowserRequest = { search: query, cookie, source: state.source };
    return respondToBrowser((await route.handle({ ...checked, browser } as never)) as BrowserAnswer, state);
  }
  const result = await route.handle({ ...checked, ...access } as never);
  const { status, mediaType, cacheControl, version } = operation.success;
  return respond(status, result, {
    ...(version && { ETag: toEntityTag(version(result as never)) }),
    ...(mediaType && { "Content-Type": mediaType }),
    ...(cacheControl && { "Cache-Control": cacheControl }),
  });
}

/** 303 and no other: a browser then asks with GET, whatever it came with (RFC 9700 4.12). */
function respondToBrowser(answer: BrowserAnswer, state: Exchange): Response {
  if (answer.failure) state.failure = answer.failure;
  const headers: Record<string, string> = answer.setCookie ? { "Set-Cookie": answer.setCookie } : {};
  if ("choice" in answer) return respond(200, choicePage(answer.choice), { ...headers, ...pageHeaders });
  return respond(303, undefined, { ...headers, Location: answer.location });
}

async function passGate(
  deps: ServeDeps,
  operation: Operation,
  request: Request,
  search: URLSearchParams,
  state: Exchange,
): Promise<object> {
  if (operation.access === "public" || operation.access === "browser") {
    if (!operation.unlimited) deps.gate.enterAnonymous(state.source);
    return {};
  }
  const authorization = request.headers.get("authorization") ?? undefined;
  if (search.has("access_token")) {
    const source = { parameter: "access_token" };
    throw refusedUnread(deps, state, new Problem("token_misplaced", { source }));
  }
  if (operation.access === "client") {
    deps.gate.enterAnonymous(state.source);
    if (search.has("client_id") || search.has("client_secret")) throw new Problem("credentials_in_url");
    return { authorization };
  }
  if (authorization === undefined && isForm(request))
    throw refusedUnread(deps, state, new Problem("token_misplaced"));
  const { caller, headers, refusal } = await deps.gate.enter(operation, {
    authorization,
    customerToken: customerTokenOf(request),
    source: state.source,
  });
  state.caller = caller;
  Object.assign(state.headers, headers);
  if (refusal) throw refusal;
  return {
    caller,
    source: state.source,
    idempotencyKey: operation.idempotent && idempotencyKeyOf(request),
    ifMatch: operation.conditional && readIfMatch(request),
  };
}

/** The second name is the one that existing clients send. */
const customerTokenOf = ({ headers }: Request): string | undefined =>
  (headers.get("x-customer-token") ?? headers.get("x-moltin-customer-token")) || undefined;

function idempotencyKeyOf({ headers }: Request): string | undefined {
  const key = headers.get("idempotency-key") ?? undefined;
  if (key !== undefined && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Problem("idempotency_key_invalid", { source: { header: "Idempotency-Key" } });
  return key;
}

/** What is refused before anybody asked who it is counts against its source, like every request without a good token. */
function refusedUnread({ gate }: ServeDeps, { source }: Exchange, problem: Problem): Problem {
  gate.enterAnonymous(source);
  return problem;
}

/** Path and query. What stands before them came from the Host header, and is nothing to go by. */
const targetOf = (url: string): string => url.slice(url.indexOf("/", url.indexOf("//") + 2));

/** RFC 6750 2.2 lets a token come in a form. We take none there, and no operation behind a bearer token takes a form. */
const isForm = (request: Request): boolean =>
  request.headers.get("content-type")?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false;

function respond(status: number, body: unknown, headers: Record<string, string>): Response {
  if (body === undefined) return new Response(null, { status, headers });
  return new Response(typeof body === "string" ? body : JSON.stringify(body), {
    status,
    headers: { "Content-Type": "application/json", ...headers },
  });
}

function sourceOfRequest({ proxies }: ServeDeps, context: Context<Env>): string {
  const peer = context.env?.incoming?.socket?.remoteAddress ?? "";
  return sourceOf(peer, context.req.header("x-forwarded-for"), proxies);
}
