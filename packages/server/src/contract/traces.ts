/**
 * Spans of a request for an operator's collector. Without a configured collector there is no `deps.traces`, and the
 * code for it is not loaded.
 */
export type Traces = {
  /** Runs one request. All spans begun within `work` belong to it. */
  request<T>(asked: Asked, work: () => Promise<T>, answered: () => TracedAnswer): Promise<T>;
  /**
   * Makes the present request a part of this sign-on. The attempt's id is the trace's id, so both legs and the exchange
   * are one trace on whichever instances, and no state passes between them.
   */
  join(part: SignOnPart, attemptId: string): void;
  /** Runs a step of a request. Spans begun within `work` belong to it. */
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Records a step that has just ended, with its duration. */
  note(name: string, elapsedMs: number, isFailed: boolean): void;
  counts(): { sent: number; dropped: number };
  /** Sends the waiting spans and then stops. */
  stop(): Promise<void>;
};

/** `direct`: a provider's code, exchanged in one request without an earlier leg. */
export type SignOnPart = "authorize" | "callback" | "redeem" | "direct";

type Asked = { method: string; route: string; requestId: string; traceparent: string | undefined };
type TracedAnswer = { status: number; storeId: string | undefined; reason: string | undefined };
