/**
 * A request and its answer, as plain values. On a port they are made of Node's own (server.ts), in one process of a web
 * Request (fetch.ts); what is between knows neither.
 */
export type Received = {
  method: string;
  /** What the request line asks for (RFC 9112 3.2), neither decoded nor resolved. */
  target: string;
  /** By their names in lower case. A field that came twice is joined by commas, so neither half passes for the whole. */
  headers: { readonly [name: string]: string | string[] | undefined };
  peer: string;
  /** Whether the client has closed its connection, so that nobody hears the answer. */
  isGone(): boolean;
  /** The whole body. Rejects with a Problem when it is too large or breaks off. */
  readBytes(): Promise<Uint8Array>;
};

/** A body that comes piece by piece: the next one is asked for when the last one was taken, and `return` when nobody wants more. */
export type Pieces = AsyncIterableIterator<string>;

export type Answer = {
  status: number;
  /** A field with several values is sent as often: cookies cannot be joined. */
  headers: Record<string, string | string[]>;
  body: string | Buffer<ArrayBuffer> | Pieces | undefined;
};

export type Serve = (received: Received) => Promise<Answer>;

/** Only fields that Node never splits into a list are asked for. */
export const headerOf = ({ headers }: Received, name: string): string | undefined => {
  const value = headers[name];
  return typeof value === "string" ? value : undefined;
};
