import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import type { Caller } from "../contract/caller.ts";
import type { GateResult } from "../contract/gate.ts";
import type { Input, Operation, Output } from "../contract/operation.ts";

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

/** A string is sent as it is: JSON that was written once, or another media type. So is a stream. */
type HandlerAnswer<O extends Operation> = O["access"] extends "browser"
  ? BrowserAnswer
  : Output<O> | string | AsyncIterableIterator<string>;

type Handler<O extends Operation> = (
  request: Input<O> & AccessFacts<O>,
) => Promise<HandlerAnswer<O>> | HandlerAnswer<O>;

/** An operation of the contract and the function that serves it. */
export type Route = { operation: Operation; handle(request: unknown): unknown };

/** The only unchecked cast: `serve` passes a request that it has validated against this operation. */
export const on = <O extends Operation>(operation: O, handle: Handler<O>): Route => ({
  operation,
  handle: (request) => handle(request as Input<O> & AccessFacts<O>),
});
