import type { ErrorCode } from "./error-codes.ts";

/** A fault in the form of the service's `errors`. */
export type Fault = {
  status: string;
  code: string;
  title: string;
  detail: string;
  source?: { pointer: string } | { parameter: string } | { header: string };
  meta?: Record<string, unknown>;
  /** The page of this error at the service. */
  links: { about: string };
  /** The request id. */
  id: string;
};

type Details = {
  status?: number | undefined;
  reference?: string | undefined;
  reason?: string | undefined;
  requestId?: string | undefined;
  errors?: readonly Fault[] | undefined;
  cause?: unknown;
};

/** Every failure between the shop and Latchkey. `code` is for programs, `message` for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  /** HTTP status of the answer; undefined if no answer came. */
  readonly status: number | undefined;
  /** Finds the sign-on record. Show it to the shopper, for support. */
  readonly reference: string | undefined;
  /** Why the service refused a sign-on: `reason` of the sign-on record. */
  readonly reason: string | undefined;
  readonly requestId: string | undefined;
  /** Every fault that the service found; empty if the error did not come from the service. */
  readonly errors: readonly Fault[];

  constructor(code: ErrorCode, message: string, details: Details = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.reference = details.reference;
    this.reason = details.reason;
    this.requestId = details.requestId;
    this.errors = details.errors ?? [];
  }
}
