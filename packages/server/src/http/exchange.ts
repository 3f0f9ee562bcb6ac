import type { BrowserAnswer, Shop } from "../contract/browser.ts";
import type { Caller } from "../contract/caller.ts";
import type { Exports } from "../contract/exports.ts";
import type { Gate } from "../contract/gate.ts";
import type { Operation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import type { Traces } from "../contract/traces.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { sourceOf, type TrustedProxies } from "../lib/source-address.ts";
import { type HttpAnswer, headerOf, type Pieces, type Received } from "./message.ts";
import { type PageReader, pageHeaders } from "./pages/frame.ts";
import { languageOf, uiLocalesOf } from "./pages/language.ts";
import { problemPage } from "./pages/shopper-pages.ts";
import { oauthProblemBody, problemBody, problemHeaders, toProblem } from "./problem-response.ts";
import { targetOf } from "./target.ts";

/** The facts of an answered request, for the log and the metrics. */
export type Answered = {
  requestId: string;
  method: string;
  /** The path as the contract writes it. The path of the caller is never logged. */
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
  exports: Exports;
  onAnswered(answered: Answered): void;
  inFlight: InFlight;
  traces: Traces | undefined;
};

/** The number of requests under way. */
export type InFlight = { requests: number };

/** The matched route: its name in the log, its kind of caller, and the fields of all its answers. */
export type MatchedRoute = {
  route: string;
  access: Operation["access"] | undefined;
  headers: Record<string, string>;
};

/** Facts that become known while a request is served. `headers` are added to the answer, whatever it is. */
export type Exchange = {
  requestId: string;
  caller: Caller | undefined;
  headers: Record<string, string>;
  source: string;
  failure?: BrowserAnswer["failure"];
  /** The parts of a browser request that are more than the query. */
  search?: string;
  /**
   * The shop that the shopper came from, and the languages that the storefront requested at the start of the sign-on.
   */
  cameFrom?: { shop: Shop; uiLocales: string | undefined };
};

type Work = (state: Exchange) => Promise<HttpAnswer>;

/**
 * The frame of every request: an id, the common headers, the one place where a problem becomes JSON, and the log line.
 */
export function exchange(
  deps: ServeDeps,
  received: Received,
  place: MatchedRoute,
  work: Work,
): Promise<HttpAnswer> {
  const requestId = newId();
  const { traces } = deps;
  if (!traces) return answer(deps, received, place, work, requestId);
  let answered: Answered | undefined;
  const onAnswered = (found: Answered) => {
    answered = found;
    deps.onAnswered(found);
  };
  const { method } = received;
  return traces.request(
    { method, route: place.route, requestId, traceparent: headerOf(received, "traceparent") },
    () => answer({ ...deps, onAnswered }, received, place, work, requestId),
    () => ({
      status: answered?.status ?? 0,
      storeId: answered?.caller?.storeId,
      reason: answered && reasonOf(answered),
    }),
  );
}

/** Why a sign-on failed, or which problem was answered, as a code. */
function reasonOf({ failure, problem }: Answered): string | undefined {
  const reason = failure?.reason ?? problem?.faults[0].meta?.reason;
  return typeof reason === "string" ? reason : problem?.code;
}

async function answer(
  deps: ServeDeps,
  received: Received,
  place: MatchedRoute,
  work: Work,
  requestId: string,
): Promise<HttpAnswer> {
  const startedMs = deps.clock.monotonicMs();
  deps.inFlight.requests++;
  const source = sourceOf(received.peer, headerOf(received, "x-forwarded-for"), deps.proxies);
  const state: Exchange = { requestId, caller: undefined, headers: {}, source };
  let problem: Problem | undefined;
  let made: HttpAnswer;
  try {
    made = await work(state);
  } catch (error) {
    problem = toProblem(error);
    made = refuse(deps, problem, received, state, place.access);
  } finally {
    deps.inFlight.requests--;
  }
  deps.onAnswered({
    requestId,
    method: received.method,
    route: place.route,
    status: made.status,
    durationMs: deps.clock.monotonicMs() - startedMs,
    source,
    caller: state.caller,
    problem,
    ...(state.failure && { failure: state.failure }),
  });
  const headers = { ...place.headers, ...state.headers, ...made.headers, "X-Request-Id": requestId };
  return { status: made.status, headers, body: made.body };
}

/**
 * The format of a failure follows its place: a page for people, RFC 6749 section 5.2 for OAuth clients, JSON for the
 * rest.
 */
function refuse(
  deps: ServeDeps,
  problem: Problem,
  received: Received,
  state: Exchange,
  access: Operation["access"] | undefined,
): HttpAnswer {
  const { requestId } = state;
  const headers = problemHeaders(problem, access === "client" ? "Basic" : "Bearer");
  if (access === "browser") {
    const reader = readerOf(received, state);
    const page = problemPage(problem, requestId, reader);
    return respond(problem.status, page, { ...headers, ...pageHeaders(reader) });
  }
  const body =
    access === "client" ? oauthProblemBody(deps, problem, requestId) : problemBody(deps, problem, requestId);
  return respond(problem.status, body, headers);
}

/** The language of a page: the storefront's request now or at the start of the sign-on, otherwise the browser's. */
export function readerOf(
  received: Received,
  { cameFrom, search }: Pick<Exchange, "cameFrom" | "search"> = {},
): PageReader {
  const language = languageOf({
    uiLocales: cameFrom?.uiLocales ?? uiLocalesOf(search ?? targetOf(received.target).query),
    acceptLanguage: headerOf(received, "accept-language"),
  });
  return { language, shop: cameFrom?.shop };
}

/**
 * A request refused before authentication counts against its source address, as does every request without a valid
 * token.
 */
export async function refuseUnread(
  { gate }: ServeDeps,
  { source }: Exchange,
  problem: Problem,
): Promise<never> {
  await gate.limitSource(source);
  throw problem;
}

/** Text and streams are sent as they are; other values as JSON. */
export function respond(status: number, body: unknown, headers: HttpAnswer["headers"]): HttpAnswer {
  if (body === undefined) return { status, headers, body };
  return {
    status,
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || isPieces(body) ? body : JSON.stringify(body),
  };
}

const isPieces = (body: unknown): body is Pieces =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;
