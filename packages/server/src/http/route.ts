import type { BrowserAnswer } from "../contract/browser.ts";
import type { Operation, Output } from "../contract/operation.ts";
import type { RequestOf } from "../contract/request.ts";

/** A string is sent as it is: JSON that was written once, or another media type. So is a stream. */
type HandlerAnswer<O extends Operation> = O["access"] extends "browser"
  ? BrowserAnswer
  : Output<O> | string | AsyncIterableIterator<string>;

type Handler<O extends Operation> = (request: RequestOf<O>) => Promise<HandlerAnswer<O>> | HandlerAnswer<O>;

/** An operation of the contract and the function that serves it. */
export type Route = { operation: Operation; handle(request: unknown): unknown };

/** The only unchecked cast: `serve` passes a request that it has validated against this operation. */
export const on = <O extends Operation>(operation: O, handle: Handler<O>): Route => ({
  operation,
  handle: (request) => handle(request as RequestOf<O>),
});
