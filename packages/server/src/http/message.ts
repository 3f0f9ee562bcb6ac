/** A request and its answer as plain values. server.ts makes them from Node's objects, fetch.ts from a web Request. */
export type Received = {
  method: string;
  /** The request target (RFC 9112, section 3.2), neither decoded nor resolved. */
  target: string;
  /** Headers by lower-case name. A repeated header is joined with commas, so neither value passes for the whole. */
  headers: { readonly [name: string]: string | string[] | undefined };
  peer: string;
  /** Whether the client has closed its connection. */
  isGone(): boolean;
  /** The whole body. Rejects with a Problem when the body is too large or incomplete. */
  readBytes(): Promise<Uint8Array>;
};

/**
 * A body in pieces. The server requests the next piece when the client has taken the last, and calls `return` when the
 * client has gone.
 */
export type Pieces = AsyncIterableIterator<string>;

export type HttpAnswer = {
  status: number;
  /** A header with several values is sent as several headers, because cookies cannot be joined. */
  headers: Record<string, string | string[]>;
  body: string | Buffer<ArrayBuffer> | Pieces | undefined;
};

export type Serve = (received: Received) => Promise<HttpAnswer>;

/** For headers that Node never splits into a list. */
export const headerOf = ({ headers }: Received, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
};
