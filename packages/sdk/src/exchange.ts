import { ApiError, type Fault } from "./api-error.ts";
import type { ErrorCode } from "./error-codes.ts";

/** Sends a request and reads its answer. */

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** The purpose of a request. */
export type Step =
  | "access_token"
  | "settings"
  | "providers"
  | "discovery"
  | "customer_token"
  | "register"
  | "customer"
  | "sessions"
  | "sign_out";

/** A request and its status, without secrets. `status` is undefined if no answer came. */
export type Exchange = { method: string; url: string; status: number | undefined; step?: Step };

export type Call = {
  method: "GET" | "POST" | "PUT" | "DELETE";
  path: string;
  step?: Step;
  data?: object;
  form?: Record<string, string>;
  customerToken?: string;
  idempotencyKey?: string;
  /** The `ETag` on which a change is based. */
  ifMatch?: string;
  /** The member that every answer of this operation has; null if the answer is `{}`. Default: `data`. */
  expects?: string | null;
};

export type Wire = {
  baseUrl: string;
  fetch: Fetch;
  onExchange: ((exchange: Exchange) => void) | undefined;
  /** Makes the message of an error: for shoppers or for developers. */
  tell: (code: ErrorCode, detail: string) => string;
};

type Outcome =
  | { body: Body; error?: undefined }
  /** `waitSeconds`: from `Retry-After`. */
  | { error: ApiError; waitSeconds: number };

export type Body = Record<string, unknown>;

export async function exchange(wire: Wire, call: Call, bearer: string | undefined): Promise<Outcome> {
  const { method } = call;
  const url = wire.baseUrl + call.path;
  let response: Response | undefined;
  let text: string | undefined;
  let cause: unknown;
  try {
    const body = call.form
      ? new URLSearchParams(call.form)
      : call.data && JSON.stringify({ data: call.data });
    response = await wire.fetch(url, {
      method,
      headers: headersOf(call, bearer),
      ...withoutCookies(),
      ...(body && { body }),
    });
    text = await response.text();
  } catch (error) {
    cause = error;
  }
  try {
    wire.onExchange?.({ method, url, status: response?.status, ...(call.step && { step: call.step }) });
  } catch {
    // An error of the observer must not lose the answer, which may contain a token that is issued once.
  }
  return judge(wire, call, response, text, cause);
}

/** `accept`: the media type of the answer. */
export type StreamOptions = { signal?: AbortSignal | undefined; accept?: string };

/** The body of a long or endless answer as a stream, and the headers of the answer. */
export type StreamAnswer = { stream: ReadableStream<Uint8Array>; headers: Headers };

/** Gives the body of a long or endless answer as a stream. */
export async function openStream(
  wire: Wire,
  call: Call,
  bearer: string | undefined,
  { signal, accept }: StreamOptions,
): Promise<(StreamAnswer & { error?: undefined }) | { error: ApiError }> {
  const { method } = call;
  const url = wire.baseUrl + call.path;
  let response: Response | undefined;
  let text: string | undefined;
  let cause: unknown;
  try {
    const headers = { ...headersOf(call, bearer), ...(accept && { Accept: accept }) };
    response = await wire.fetch(url, { method, headers, ...withoutCookies(), ...(signal && { signal }) });
    if (response.ok && response.body) return { stream: response.body, headers: response.headers };
    text = await response.text();
  } catch (error) {
    cause = error;
  }
  const outcome = judge(wire, call, response, text, cause);
  return { error: outcome.error ?? new ApiError("answer_unreadable", "The answer is not a stream.") };
}

/**
 * Never sends the page's cookies to the service. Cloudflare Workers have no cookies, and throw at
 * `credentials`.
 */
const withoutCookies = (): RequestInit =>
  globalThis.navigator?.userAgent === "Cloudflare-Workers" ? {} : { credentials: "omit" };

function headersOf(call: Call, bearer: string | undefined): Record<string, string> {
  return {
    ...(bearer && { Authorization: `Bearer ${bearer}` }),
    ...(call.data && { "Content-Type": "application/json" }),
    ...(call.customerToken && { "X-Customer-Token": call.customerToken }),
    ...(call.idempotencyKey && { "Idempotency-Key": call.idempotencyKey }),
    ...(call.ifMatch && { "If-Match": `"${call.ifMatch}"` }),
  };
}

function judge(
  { tell }: Wire,
  { expects = "data" }: Call,
  response: Response | undefined,
  text: string | undefined,
  cause: unknown,
): Outcome {
  const status = response?.status;
  const refuse = (code: ErrorCode, detail: string, errors?: readonly Fault[]): Outcome => {
    const { reference, reason } = (errors?.[0]?.meta ?? {}) as { reference?: string; reason?: string };
    const requestId = errors?.[0]?.id ?? response?.headers.get("X-Request-Id") ?? undefined;
    return {
      error: new ApiError(code, tell(code, detail), {
        status,
        reference,
        reason,
        requestId,
        errors,
        cause,
      }),
      waitSeconds: Number(response?.headers.get("Retry-After") || 1) || 1,
    };
  };
  if (!response || text === undefined)
    return refuse("network_failed", "The service could not be reached, or its answer was lost.");
  const body = status === 204 ? {} : parse(text);
  const isOurs = status === 204 || (expects ? body[expects] : text === "{}");
  if (response.ok && isOurs) return { body };
  const errors = body.errors as Fault[] | undefined;
  const [fault] = Array.isArray(errors) ? errors : [];
  return !response.ok && fault?.code
    ? refuse(fault.code as ErrorCode, fault.detail, errors)
    : refuse("answer_unreadable", `The answer, with status ${status}, is not one of this service.`);
}

function parse(text: string): Body {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}
