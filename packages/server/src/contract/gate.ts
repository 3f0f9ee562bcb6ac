import type { Caller } from "./caller.ts";
import type { Operation } from "./operation.ts";
import type { Problem } from "./problem.ts";
import type { Role } from "./roles.ts";

/** The check that a request passes before anything of it is read. `http/` calls it, `access/` decides. */
export type Gate = {
  enter(operation: Operation, request: Knock): Promise<Passage>;
  /** For requests without a bearer token, which count against their source address. Throws when there are too many. */
  enterAnonymous(source: string): Promise<void>;
};

export type Knock = {
  authorization: string | undefined;
  customerToken: string | undefined;
  source: string;
  requestId: string;
};

/** `headers` are added to the answer in every case. `refusal`, if present, is that answer. */
export type Passage = {
  caller: Caller;
  headers: Record<string, string>;
  refusal?: Problem;
  /** The present role of the access token; `unknown` while the database does not answer. */
  roleNow(): Promise<Role | null | "ended" | "unknown">;
};
