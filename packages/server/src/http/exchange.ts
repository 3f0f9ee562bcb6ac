import type { Context } from "hono";
import type { BrowserAnswer } from "../contract/browser.ts";
import type { Caller } from "../contract/caller.ts";
import type { Gate } from "../contract/gate.ts";
import type { Operation } from "../contract/operation.ts";
import type { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { sourceOf, type TrustedProxies } from "../lib/source-address.ts";
import { corsHeaders, securityHeaders } from "./headers.ts";
import { pageHeaders, problemPage } from "./pages.ts";
import { oauthProblemBody, problemBody, problemHeaders, toProblem } from "./problem-response.ts";
import type { Incoming } from "./target.ts";

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

export type Env = { Bindings: { incoming?: Incoming } };

/** What becomes known of a request on its way. `headers` belong on the answer whatever comes of it. */
export type Exchange = {
  caller: Caller | undefined;
  headers: Record<string, string>;
  source: string;
  failure?: BrowserAnswer["failure"];
};

/** The frame around every request: an id, the common headers, the one place where a problem becomes JSON, the log. */
export async function exchange(
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

/** What is refused before anybody asked who it is counts against its source, like every request without a good token. */
export function refusedUnread({ gate }: ServeDeps, { source }: Exchange, problem: Problem): Problem {
  gate.enterAnonymous(source);
  return problem;
}

export function respond(status: number, body: unknown, headers: Record<string, string>): Response {
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
