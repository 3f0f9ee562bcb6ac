import type { BrowserAnswer, Shop } from "../contract/browser.ts";
import type { Caller } from "../contract/caller.ts";
import type { Gate } from "../contract/gate.ts";
import type { Operation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import type { Traces } from "../contract/traces.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { sourceOf, type TrustedProxies } from "../lib/source-address.ts";
import { type Answer, headerOf, type Pieces, type Received } from "./message.ts";
import { type PageReader, pageHeaders } from "./pages/frame.ts";
import { languageOf, uiLocalesOf } from "./pages/language.ts";
import { problemPage } from "./pages/shopper-pages.ts";
import { oauthProblemBody, problemBody, problemHeaders, toProblem } from "./problem-response.ts";
import { targetOf } from "./target.ts";

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
  inFlight: InFlight;
  traces: Traces | undefined;
};

/** How many requests are under way. */
export type InFlight = { requests: number };

/** Where a request has come to: how the log calls it, who comes there, and the fields that every answer from there has. */
export type Place = {
  route: string;
  access: Operation["access"] | undefined;
  headers: Record<string, string>;
};

/** What becomes known of a request on its way. `headers` belong on the answer whatever comes of it. */
export type Exchange = {
  requestId: string;
  caller: Caller | undefined;
  headers: Record<string, string>;
  source: string;
  failure?: BrowserAnswer["failure"];
  /** What a browser sent, where that is more than the query. */
  search?: string;
  /** Where a shopper came from, and the languages that the storefront asked for when the sign-on began. */
  cameFrom?: { shop: Shop; uiLocales: string | undefined };
};

type Work = (state: Exchange) => Promise<Answer>;

/** The frame around every request: an id, the common headers, the one place where a problem becomes JSON, the log. */
export function exchange(deps: ServeDeps, received: Received, place: Place, work: Work): Promise<Answer> {
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

/** Why a sign-on failed, or what else was wrong, in a word of ours. */
function reasonOf({ failure, problem }: Answered): string | undefined {
  const reason = failure?.reason ?? problem?.faults[0].meta?.reason;
  return typeof reason === "string" ? reason : problem?.code;
}

async function answer(
  deps: ServeDeps,
  received: Received,
  place: Place,
  work: Work,
  requestId: string,
): Promise<Answer> {
  const startedMs = deps.clock.monotonicMs();
  deps.inFlight.requests++;
  const source = sourceOf(received.peer, headerOf(received, "x-forwarded-for"), deps.proxies);
  const state: Exchange = { requestId, caller: undefined, headers: {}, source };
  let problem: Problem | undefined;
  let made: Answer;
  try {
    made = await work(state);
  } catch (error) {
    problem = toProblem(error);
    made = refuse(problem, received, state, place.access);
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

/** A failure picks its exit by where it happens: a page for a person, RFC 6749 5.2 for a client, JSON for the rest. */
function refuse(
  problem: Problem,
  received: Received,
  state: Exchange,
  access: Operation["access"] | undefined,
): Answer {
  const { requestId } = state;
  const headers = problemHeaders(problem, access === "client" ? "Basic" : "Bearer");
  if (access === "browser") {
    const reader = readerOf(received, state);
    const page = problemPage(problem, requestId, reader);
    return respond(problem.status, page, { ...headers, ...pageHeaders(reader) });
  }
  const body = access === "client" ? oauthProblemBody(problem, requestId) : problemBody(problem, requestId);
  return respond(problem.status, body, headers);
}

/** Who sees a page: in the language that the storefront asked for now or when the sign-on began, or the browser prefers. */
export function readerOf(received: Received, { cameFrom, search }: Exchange): PageReader {
  const language = languageOf({
    uiLocales: cameFrom?.uiLocales ?? uiLocalesOf(search ?? targetOf(received.target).query),
    acceptLanguage: headerOf(received, "accept-language"),
  });
  return { language, shop: cameFrom?.shop };
}

/** What is refused before anybody asked who it is counts against its source, like every request without a good token. */
export async function refuseUnread(
  { gate }: ServeDeps,
  { source }: Exchange,
  problem: Problem,
): Promise<never> {
  await gate.enterAnonymous(source);
  throw problem;
}

/** A text, and what comes in pieces, is sent as it is; anything else as JSON. */
export function respond(status: number, body: unknown, headers: Answer["headers"]): Answer {
  if (body === undefined) return { status, headers, body };
  return {
    status,
    headers: { "Content-Type": "application/json", ...headers },
    body: typeof body === "string" || isPieces(body) ? body : JSON.stringify(body),
  };
}

const isPieces = (body: unknown): body is Pieces =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body;
