import type { Caller } from "./caller.ts";
import type { Operation } from "./operation.ts";
import type { Problem } from "./problem.ts";

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
  /** Whether the access token is still good. */
  isGood(): Promise<boolean>;
};
