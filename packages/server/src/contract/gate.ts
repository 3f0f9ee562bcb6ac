import type { Caller } from "./caller.ts";
import type { Operation } from "./operation.ts";
import type { Problem } from "./problem.ts";
import type { Role } from "./roles.ts";

/** Decides whether a request is served, before its query or body is read. `http/` calls it, `access/` implements it. */
export type Gate = {
  check(operation: Operation, request: GateRequest): Promise<GateResult>;
  /**
   * Takes one request from the limit of a source address, or throws the 429. For requests without a valid access token.
   */
  limitSource(source: string): Promise<void>;
};

export type GateRequest = {
  authorization: string | undefined;
  customerToken: string | undefined;
  source: string;
  requestId: string;
};

/** The answer has `headers` in either case. `refusal` is the answer's problem, if the request is refused. */
export type GateResult = {
  caller: Caller;
  headers: Record<string, string>;
  refusal?: Problem;
  /** Reads the role that the access token has now. `unknown` while the database does not answer. */
  roleNow(): Promise<Role | null | "ended" | "unknown">;
};
