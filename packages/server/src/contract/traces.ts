/**
 * Where the time of a request goes, for an operator's collector. There are none unless one is configured: whoever has
 * something to tell asks `deps.traces?.`, and nothing of it is loaded otherwise.
 */
export type Traces = {
  /** One request, from its first to its last word. What happens within `work` belongs to it. */
  request<T>(asked: Asked, work: () => Promise<T>, answered: () => Answered): Promise<T>;
  /**
   * The request under way is a part of this sign-on. The attempt's id is the trace's id, so both legs and the exchange
   * are one trace, whichever instances serve them, and nothing has to be carried from one to the next.
   */
  join(part: SignOnPart, attemptId: string): void;
  /** A piece of a request's work. What happens within it belongs to it. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Something that has just ended, and how long it took. */
  note(name: string, elapsedMs: number, isFailed: boolean): void;
  counts(): { sent: number; dropped: number };
  /** Sends what waits, and no more after that. */
  stop(): Promise<void>;
};

/** `direct`: a provider's own code, exchanged in one request: there was nothing of ours before it. */
export type SignOnPart = "authorize" | "callback" | "redeem" | "direct";

type Asked = { method: string; route: string; requestId: string; traceparent: string | undefined };
type Answered = { status: number; storeId: string | undefined; reason: string | undefined };
