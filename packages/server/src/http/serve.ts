import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import type { Operation } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { NO_PARAMETERS } from "../lib/percent-encoded.ts";
import { withoutPage } from "./downloads/csv.ts";
import { chooseCsv, type FileRequest, sendFile } from "./downloads/send-file.ts";
import { readIfMatch, toEntityTag } from "./entity-tag.ts";
import {
  type Exchange,
  exchange,
  type MatchedRoute,
  readerOf,
  refuseUnread,
  respond,
  type ServeDeps,
} from "./exchange.ts";
import { corsHeaders, preflightHeaders, securityHeaders } from "./headers.ts";
import { type HttpAnswer, headerOf, type Received, type Serve } from "./message.ts";
import { type PageReader, pageHeaders } from "./pages/frame.ts";
import { setupPage } from "./pages/setup-page.ts";
import { choicePage, signedOutPage, signOutPage } from "./pages/shopper-pages.ts";
import { testPage } from "./pages/test-page.ts";
import { createPaths } from "./paths.ts";
import { readForm } from "./read-body.ts";
import { readRequest } from "./read-request.ts";
import type { Route } from "./route.ts";
import { routedPath, type Target, targetOf } from "./target.ts";

/** A page of the service for people, with its own headers. */
export type ServicePage = {
  path: string;
  /** It also answers every path below that has no route of its own. */
  andBelow?: true;
  respond(received: Received, path: string): Promise<HttpAnswer>;
};

/** The entry of one path: a page, or an operation per method. */
type Stand = {
  place: MatchedRoute;
  page?: ServicePage;
  routes: Map<string, PathEntry>;
  everywhere?: PathEntry | undefined;
};
type PathEntry = { route: Route; place: MatchedRoute };

/** Serves the routes of the contract and the pages. Anything else is answered 404 or 405. */
export function serveRoutes(deps: ServeDeps, routes: readonly Route[], pages: readonly ServicePage[]): Serve {
  const security = securityHeaders(deps.publicUrl);
  const placeAt = (path: string, route = path, access?: Operation["access"]): MatchedRoute => ({
    route,
    access,
    headers: { ...security, ...corsHeaders(path) },
  });
  const paths = createPaths<Stand>();
  for (const page of pages)
    paths.add(page.path, { place: placeAt(page.path), page, routes: new Map() }, page.andBelow);
  for (const path of new Set(routes.flatMap(pathsOf))) {
    const here = routes.filter((route) => pathsOf(route).includes(path));
    // A 405 uses this path's error format: page, OAuth JSON (RFC 6749) or the service's JSON.
    const place = placeAt(path, path, here[0]?.operation.access);
    const placed = here.map((route): [string, PathEntry] => {
      const { method, path: name, access } = route.operation;
      return [method, { route, place: placeAt(path, name, access) }];
    });
    const everywhere = placed.find(([, { route }]) => route.operation.everywhereBelow)?.[1];
    paths.add(path, { place, routes: new Map(placed), everywhere }, everywhere !== undefined);
  }

  return (received) => {
    const { method } = received;
    const target = targetOf(received.target);
    const path = routedPath(target.path);
    const preflight = method === "OPTIONS" ? preflightHeaders(path) : undefined;
    if (preflight)
      return serveOpen(deps, received, placeAt(path, "preflight"), () => respond(204, undefined, preflight));
    const found = paths.find(path);
    const stand = found?.value;
    const page = isRead(method) ? stand?.page : undefined;
    if (stand && page) return serveOpen(deps, received, stand.place, () => page.respond(received, path));
    if (!found || !stand) return serveOpen(deps, received, placeAt(path, "unknown"), refuseUnknown);
    const asked =
      stand.everywhere ??
      stand.routes.get(method) ??
      (isLook(stand, method) ? stand.routes.get("GET") : undefined);
    if (!asked) return refuseMethod(deps, received, stand);
    const { route, place } = asked;
    const { parameters, isBelow } = found;
    const query = isBelow ? onlyWhatIsMeant(route.operation, target.query) : target.query;
    const routed = { received, route, target: { ...target, query }, parameters };
    return exchange(deps, received, place, (state) => serve(deps, routed, state));
  };
}

const pathsOf = ({ operation: { path, alias } }: Route): string[] => (alias ? [path, alias] : [path]);

const refuseUnknown = (): never => {
  throw new Problem("route_not_found");
};

const isRead = (method: string): boolean => method === "GET" || method === "HEAD";

/** HEAD runs as GET. Browser legs begin and end sign-ons, so they do not accept HEAD. */
const isLook = ({ place }: Stand, method: string): boolean => method === "HEAD" && place.access !== "browser";

/** The methods of a path. A page takes GET only. */
function methodsOf(stand: Stand): string[] {
  const declared = stand.page ? ["GET"] : [...stand.routes.keys()];
  return declared.flatMap((method) =>
    method === "GET" && isLook(stand, "HEAD") ? ["GET", "HEAD"] : [method],
  );
}

/**
 * Below a gateway operation's path the query belongs to the service behind the gateway, so only known names with valid
 * values are read. A name with several values keeps all of them and is refused, because the last value must not
 * override a stricter one of the gateway.
 */
function onlyWhatIsMeant({ query }: Operation, sent: string): string {
  const meant = [...new URLSearchParams(sent)].filter(
    ([name, value]) =>
      Object.hasOwn(query?.shape ?? {}, name) && query?.shape[name]?.safeParse(value).success,
  );
  const once = new Map(meant.map((pair) => [pair.join("="), pair]));
  return new URLSearchParams([...once.values()]).toString();
}

/** Serves what is no operation. The request counts against its source address. */
const serveOpen = (
  deps: ServeDeps,
  received: Received,
  place: MatchedRoute,
  answer: () => HttpAnswer | Promise<HttpAnswer>,
): Promise<HttpAnswer> =>
  exchange(deps, received, place, async ({ source }) => {
    await deps.gate.limitSource(source);
    return answer();
  });

function refuseMethod(deps: ServeDeps, received: Received, stand: Stand): Promise<HttpAnswer> {
  return exchange(deps, received, stand.place, (state) => {
    state.headers.Allow = methodsOf(stand).join(", ");
    return refuseUnread(deps, state, new Problem("method_not_allowed"));
  });
}

type Routed = {
  received: Received;
  route: Route;
  target: Target;
  parameters: Record<string, string>;
};

/** Serves one operation. The order is fixed: 401 and 429 are decided before the body is read or anything is changed. */
async function serve(
  deps: ServeDeps,
  { received, route, target, parameters }: Routed,
  state: Exchange,
): Promise<HttpAnswer> {
  const { operation } = route;
  const { requestId } = state;
  if (target.length > limits.urlBytes) return refuseUnread(deps, state, new Problem("url_too_long"));
  const access = await passGate(deps, operation, received, target.query, state);
  const storeId = state.caller?.storeId;
  const csvRow = chooseCsv(operation, received, state);
  const query = csvRow ? withoutPage(target.query) : target.query;
  const checked = await readRequest(operation, received, parameters, query, storeId);
  const userAgent = headerOf(received, "user-agent");
  if (operation.access === "browser") {
    const cookie = headerOf(received, "cookie");
    const search = operation.legForm ? `${target.query}&${await readForm(received)}` : target.query;
    state.search = search;
    const cameFrom: BrowserRequest["cameFrom"] = (shop, uiLocales) => {
      state.cameFrom = { shop, uiLocales };
    };
    const { source } = state;
    const isForm = operation.legForm === true;
    const browser: BrowserRequest = { search, isForm, cookie, source, userAgent, requestId, cameFrom };
    const answer = (await route.handle({ ...checked, browser, requestId })) as BrowserAnswer;
    return respondToBrowser(answer, received, state);
  }
  const request = { ...checked, ...access, isGone: received.isGone, requestId, userAgent };
  if (csvRow || operation.success.attachment) return sendFile(deps, route, request as FileRequest, csvRow);
  const result = await route.handle(request);
  const { fields, mediaType, cacheControl, version } = operation.success;
  const status = statusOf(operation.success, received);
  if (fields) return respond(status, undefined, result as Record<string, string>);
  return respond(status, result, {
    ...(version && { ETag: toEntityTag(version(result as never)) }),
    ...(mediaType && { "Content-Type": mediaType }),
    ...(cacheControl && { "Cache-Control": cacheControl }),
  });
}

const statusOf = ({ status, statusOnRequest }: Operation["success"], received: Received): number =>
  statusOnRequest && headerOf(received, "x-latchkey-answer") === String(statusOnRequest)
    ? statusOnRequest
    : status;

/** Always 303, which makes the browser send GET, whatever the method was (RFC 9700, section 4.12). */
function respondToBrowser(answer: BrowserAnswer, received: Received, state: Exchange): HttpAnswer {
  if (answer.failure) state.failure = answer.failure;
  const headers: HttpAnswer["headers"] = answer.setCookies ? { "Set-Cookie": answer.setCookies } : {};
  if ("location" in answer) return respond(303, undefined, { ...headers, Location: answer.location });
  const asked = readerOf(received, state);
  // The page of a test is for an administrator, so it does not look like the shop.
  const reader = "report" in answer ? { language: asked.language } : asked;
  return respond(200, pageOf(answer, reader), { ...headers, ...pageHeaders(reader, formTargetsOf(answer)) });
}

/** The form-action policy cannot list hosts, because a provider may redirect the shopper to any https host. */
function formTargetsOf(answer: BrowserAnswer): string | undefined {
  const form = "choice" in answer ? answer.choice : "question" in answer ? answer.question : undefined;
  if ("setup" in answer) return new URL(answer.setup.checkForm.action).origin;
  return form && [...new Set(["https:", ...form.httpOrigins])].join(" ");
}

function pageOf(answer: Exclude<BrowserAnswer, { location: string }>, reader: PageReader): string {
  if ("choice" in answer) return choicePage(answer.choice, reader);
  if ("question" in answer) return signOutPage(answer.question, reader);
  if ("report" in answer) return testPage(answer.report, reader);
  if ("setup" in answer) return setupPage(answer.setup, reader);
  return signedOutPage(answer.page, reader);
}

/** The facts that a handler gets besides its input. With an access token the caller is among them. */
type GateFacts = Record<string, unknown> & Partial<Pick<FileRequest, "caller" | "roleNow">>;

async function passGate(
  deps: ServeDeps,
  operation: Operation,
  received: Received,
  query: string,
  state: Exchange,
): Promise<GateFacts> {
  const { source, requestId } = state;
  if (operation.access === "public" || operation.access === "browser") {
    if (!operation.unlimited) await deps.gate.limitSource(source);
    return { source };
  }
  const authorization = headerOf(received, "authorization");
  const search = query === "" ? NO_PARAMETERS : new URLSearchParams(query);
  if (search.has("access_token")) {
    const misplaced = { source: { parameter: "access_token" } };
    return refuseUnread(deps, state, new Problem("token_misplaced", misplaced));
  }
  if (operation.access === "client" || operation.access === "customer_token") {
    await deps.gate.limitSource(source);
    if (operation.access === "client" && (search.has("client_id") || search.has("client_secret")))
      throw new Problem("credentials_in_url");
    return { authorization, source };
  }
  if (authorization === undefined && isForm(received) && !operation.everywhereBelow)
    return refuseUnread(deps, state, new Problem("token_misplaced"));
  const { caller, headers, refusal, roleNow } = await deps.gate.check(operation, {
    authorization,
    customerToken: customerTokenOf(received),
    source,
    requestId,
  });
  state.caller = caller;
  Object.assign(state.headers, headers);
  if (refusal) throw refusal;
  return {
    caller,
    source,
    idempotencyKey: operation.idempotent && idempotencyKeyOf(received),
    ifMatch: operation.conditional && readIfMatch(headerOf(received, "if-match")),
    lastEventId: operation.resumable && headerOf(received, "last-event-id"),
    roleNow,
  };
}

/** Existing clients send the second header name. An empty value counts as absent, because some proxies send it. */
const customerTokenOf = (received: Received): string | undefined =>
  headerOf(received, "x-customer-token") || headerOf(received, "x-moltin-customer-token") || undefined;

function idempotencyKeyOf(received: Received): string | undefined {
  const key = headerOf(received, "idempotency-key");
  if (key !== undefined && !/^[\x21-\x7e]{1,255}$/.test(key))
    throw new Problem("idempotency_key_invalid", { source: { header: "Idempotency-Key" } });
  return key;
}

/**
 * RFC 6750 section 2.2 allows a token in a form. The service accepts none there, and no bearer operation takes a form.
 */
const isForm = (received: Received): boolean =>
  headerOf(received, "content-type")?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false;
