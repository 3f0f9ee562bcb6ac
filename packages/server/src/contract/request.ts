import type { BrowserRequest } from "./browser.ts";
import type { Caller } from "./caller.ts";
import type { GateResult } from "./gate.ts";
import type { Input, Operation } from "./operation.ts";

/** A validated request of an operation, with the facts that the operation's kind of access brings. */
export type RequestOf<O extends Operation> = Input<O> & AccessFacts<O>;

type AccessFacts<O extends Operation> = O["access"] extends "public"
  ? { requestId: string; source: string }
  : O["access"] extends "browser"
    ? { browser: BrowserRequest; requestId: string }
    : O["access"] extends "client" | "customer_token"
      ? {
          authorization: string | undefined;
          requestId: string;
          source: string;
          userAgent: string | undefined;
        }
      : {
          caller: Caller;
          source: string;
          userAgent: string | undefined;
          /** Whether the client has closed its connection. */
          isGone(): boolean;
          idempotencyKey: string | undefined;
          ifMatch: readonly string[] | undefined;
          lastEventId: string | undefined;
          /** The role of the access token now, for work that continues after the answer has begun. */
          roleNow: GateResult["roleNow"];
        };
