import { Problem } from "../contract/problem.ts";
import { errorUrl, problemEntry, titles } from "../contract/problems.ts";
import { isCrowded, isUnavailable } from "../storage/failures.ts";
import { ListRefused } from "../storage/lists/page.ts";

const RETRY_WHEN_DOWN_SECONDS = 2;

/** Turns a thrown value into a Problem that a caller may see. Unexpected errors become a 500 without details. */
export function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (isUnavailable(error))
    return new Problem("storage_unavailable", { cause: error, ...(isCrowded(error) && CROWDED) });
  if (error instanceof ListRefused) return LIST_REFUSED[error.reason]();
  return new Problem("internal_error", { cause: error });
}

const CROWDED = { detail: "The database has more requests at once than it can answer in time." };

const LIST_REFUSED = {
  cursor_unfit: () =>
    new Problem("parameter_invalid", {
      detail: "The cursor does not belong to this list with this filter and this sort.",
      source: { parameter: "page[after]" },
    }),
  filter_too_wide: () => new Problem("filter_too_wide", { source: { parameter: "filter" } }),
} as const satisfies Record<ListRefused["reason"], () => Problem>;

export function problemBody({ publicUrl }: { publicUrl: string }, problem: Problem, requestId: string) {
  return {
    errors: problem.faults.map((fault) => {
      const { status, means } = problemEntry(fault.code);
      return {
        status: String(status),
        code: fault.code,
        title: titles[status],
        detail: fault.detail ?? means,
        ...(fault.source && { source: fault.source }),
        ...(fault.meta && { meta: fault.meta }),
        links: { about: errorUrl(publicUrl, fault.code) },
        id: requestId,
      };
    }),
  };
}

/** An OAuth error (RFC 6749, section 5.2), with the service's own members beside it. */
export function oauthProblemBody(deps: { publicUrl: string }, problem: Problem, requestId: string) {
  const { errors } = problemBody(deps, problem, requestId);
  return {
    error: problemEntry(problem.code).oauth ?? "invalid_request",
    error_description: errors.map((error) => error.detail).join(" "),
    error_uri: errorUrl(deps.publicUrl, problem.code),
    errors,
  };
}

/** Headers that a status requires. `scheme` is the authentication scheme of this operation. */
export function problemHeaders(problem: Problem, scheme: "Bearer" | "Basic"): Record<string, string> {
  const headers: Record<string, string> = { ...problem.headers };
  if (problem.status === 401) headers["WWW-Authenticate"] = challenge(problem, scheme);
  if (scheme === "Bearer" && (problem.code === "not_permitted" || problem.code === "role_insufficient"))
    headers["WWW-Authenticate"] = 'Bearer realm="latchkey", error="insufficient_scope"';
  const wait = problem.retryAfterSeconds ?? (problem.status === 503 ? RETRY_WHEN_DOWN_SECONDS : undefined);
  if (wait !== undefined) headers["Retry-After"] = String(wait);
  return headers;
}

/** A request without credentials gets no error code (RFC 6750, section 3.1). */
function challenge(problem: Problem, scheme: "Bearer" | "Basic"): string {
  if (scheme === "Basic") return 'Basic realm="latchkey", charset="UTF-8"';
  return problem.code === "token_missing"
    ? 'Bearer realm="latchkey"'
    : 'Bearer realm="latchkey", error="invalid_token"';
}
