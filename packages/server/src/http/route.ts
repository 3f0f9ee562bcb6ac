import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import type { Caller } from "../contract/caller.ts";
import type { Passage } from "../contract/gate.ts";
import type { Input, Operation, Output } from "../contract/operation.ts";

type Access<O extends Operation> = O["access"] extends "public"
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
          /** Whether the client has closed its connection, so that nobody hears the answer. */
          isGone(): boolean;
          idempotencyKey: string | undefined;
          ifMatch: readonly string[] | undefined;
          lastEventId: string | undefined;
          /** What the access token may do now: for what goes on after the answer has begun. */
          roleNow: Passage["roleNow"];
        };

/** A text stands for itself: JSON that was made once, or a body of another media type. So does what comes in pieces. */
type Answer<O extends Operation> = O["access"] extends "browser"
  ? BrowserAnswer
  : Output<O> | string | AsyncIterableIterator<string>;

type Handler<O extends Operation> = (request: Input<O> & Access<O>) => Promise<Answer<O>> | Answer<O>;

/** An operation of the contract, and the function of a slice that does it. */
export type Route = { operation: Operation; handle(request: unknown): unknown };

/** Here alone types are taken on trust: `serve` hands over what it has checked against this same operation. */
export const on = <O extends Operation>(operation: O, handle: Handler<O>): Route => ({
  operation,
  handle: (request) => handle(request as Input<O> & Access<O>),
});
