import { type Context, Hono } from "hono";
import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import type { Operation } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { readIfMatch, toEntityTag } from "./entity-tag.ts";
import { type Env, type Exchange, exchange, refusedUnread, respond, type ServeDeps } from "./exchange.ts";
import { preflightHeaders } from "./headers.ts";
import { choicePage, pageHeaders } from "./pages.ts";
import { readRequest } from "./read-request.ts";
import type { Route } from "./route.ts";
import { routedPath, targetOf } from "./target.ts";

/** A page of ours for people, with its own headers. */
export type Page = { path: string; respond(): Promise<Response> };

/** Every route of the contract, and our pages, on one Hono application; what is neither answers 404 or 405. */
export function serveRoutes(deps: ServeDeps, routes: readonly Route[], pages: readonly Page[]): Hono<Env> {
  const app = new Hono<Env>({
    getPath: (request, options) => routedPath(targetOf(request, options?.env?.incoming).path),
  });
  for (const page of pages) {
    app.on("GET", page.path, (context) =>
      exchange(deps, context, page.path, ({ source }) => {
        deps.gate.enterAnonymous(source);
        return page.respond();
      }),
    );
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
    const here = routes.filter((route) => pathsOf(route).includes(path));
    const Allow = here.map(({ operation }) => operation.method).join(", ");
    const forPeople = here.find(({ operation }) => operation.access === "browser");
    const refuseMethod = (context: Context<Env>) =>
      exchange(deps, context, forPeople?.operation ?? path, async (state) => {
        state.headers.Allow = Allow;
        throw refusedUnread(deps, state, new Problem("method_not_allowed"));
      });
    for (const route of here) {
      app.on(route.operation.method, honoPath(path), (context) => {
        // Hono has HEAD carried out as GET. A browser's legs begin and end sign-ons, so there it is no mere look.
        if (forPeople && context.req.method === "HEAD") return refuseMethod(context);
        return exchange(deps, context, route.operation, (state) => serve(deps, context, route, state));
      });
    }
    app.all(honoPath(path), refuseMethod);
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

/** One operation. The order is law: 401 and 429 are decided before the body is read or anything is touched. */
async function serve(
  deps: ServeDeps,
  context: Context<Env>,
  route: Route,
  state: Exchange,
): Promise<Response> {
  const { operation } = route;
  const request = context.req.raw;
  const { path, query, length } = targetOf(request, context.env?.incoming);
  if (length > limits.urlBytes) throw refusedUnread(deps, state, new Problem("url_too_long"));
  const search = new URLSearchParams(query);
  const access = await passGate(deps, operation, request, search, state);
  // Hono decodes what stands for an id; one that is written with a percent sign is nobody's.
  const written = path.includes("%") ? {} : context.req.param();
  const checked = await readRequest(operation, request, written, query);
  if (operation.access === "browser") {
    const cookie = request.headers.get("cookie") ?? undefined;
    const browser: BrowserRequest = { search: query, cookie, source: state.source };
    return respondToBrowser((await route.handle({ ...checked, browser })) as BrowserAnswer, state);
  }
  const isGone = () => context.env?.incoming?.socket?.writable === false;
  const result = await route.handle({ ...checked, ...access, isGone });
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

/** RFC 6750 2.2 lets a token come in a form. We take none there, and no operation behind a bearer token takes a form. */
const isForm = (request: Request): boolean =>
  request.headers.get("content-type")?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false;
