import type { Caller } from "./caller.ts";
import type { Operation } from "./operation.ts";
import type { Problem } from "./problem.ts";
import type { Role } from "./roles.ts";

/** What a request passes before anything of it is read. `http/` asks, `access/` decides. */
export type Gate = {
  enter(operation: Operation, request: Knock): Promise<Passage>;
  /** For requests that bring no bearer token: they count against their source. Throws when there are too many. */
  enterAnonymous(source: string): Promise<void>;
};

export type Knock = {
  authorization: string | undefined;
  customerToken: string | undefined;
  source: string;
  requestId: string;
};

/** `headers` belong on the answer whatever comes of it; `refusal` is that answer, if it is no. */
export type Passage = {
  caller: Caller;
  headers: Record<string, string>;
  refusal?: Problem;
  /** The role that the access token has now; `unknown` while the database does not answer. */
  roleNow(): Promise<Role | null | "ended" | "unknown">;
};
