import { type ProblemCode, problemEntry, type Status } from "./problems.ts";

/** Where in the request the fault is, as in JSON:API. */
export type Source = { pointer: string } | { parameter: string } | { header: string };

export type Fault = {
  code: ProblemCode;
  detail?: string;
  source?: Source;
  /** Figures that help the caller to decide what to do. */
  meta?: Record<string, unknown>;
};

type Options = Omit<Fault, "code"> & {
  cause?: unknown;
  retryAfterSeconds?: number;
  /** Headers of the answer. */
  headers?: Record<string, string>;
};

/** A refusal. `detail` and `meta` are for the caller and never repeat the caller's input; `cause` is for the log. */
export class Problem extends Error {
  readonly faults: readonly [Fault, ...Fault[]];
  readonly retryAfterSeconds: number | undefined;
  readonly headers: Record<string, string> | undefined;

  constructor(code: ProblemCode, options: Options = {}) {
    const { cause, retryAfterSeconds, headers, ...fault } = options;
    super(code, { cause });
    this.name = "Problem";
    this.faults = [{ code, ...fault }];
    this.retryAfterSeconds = retryAfterSeconds;
    this.headers = headers;
  }

  /** All faults of one request, so that a caller corrects them together. */
  static of(faults: readonly [Fault, ...Fault[]]): Problem {
    const problem = new Problem(faults[0].code);
    (problem as { faults: readonly [Fault, ...Fault[]] }).faults = faults;
    return problem;
  }

  get code(): ProblemCode {
    return this.faults[0].code;
  }

  get status(): Status {
    return problemEntry(this.code).status;
  }
}
