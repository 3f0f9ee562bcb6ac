import type { ErrorCode } from "./error-codes.ts";

/** One fault, as the service writes it. */
export type Fault = {
  status: string;
  code: string;
  title: string;
  detail: string;
  source?: { pointer: string } | { parameter: string } | { header: string };
  meta?: Record<string, unknown>;
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

/** Whatever goes wrong between the shop and Latchkey. `code` is for programs, `message` for people. */
export class ApiError extends Error {
  override readonly name = "ApiError";
  readonly code: ErrorCode;
  /** Of the answer, if there was one. */
  readonly status: number | undefined;
  /** What a shopper can tell support: it finds the record of the sign-on. */
  readonly reference: string | undefined;
  /** Why a sign-on was refused, in a word of the service's: the same as in the record. */
  readonly reason: string | undefined;
  readonly requestId: string | undefined;
  /** Every fault that the service found; empty where it was not the service that said no. */
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
