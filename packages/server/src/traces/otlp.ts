import type { ClientRequest, IncomingMessage } from "node:http";
import { Agent as HttpsAgent, request as httpsRequest } from "node:https";
import { Agent as HttpAgent, request as httpRequest } from "../lib/node-http.ts";

/** OTLP over HTTP with JSON (opentelemetry-proto 1, trace service): ids in hex, times in nanoseconds as text. */
export type OtlpSpan = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: Attribute[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number };
};

export type Attribute = { key: string; value: { stringValue: string } | { intValue: string } };

const MAX_WAITING = 5000;
const BATCH = 500;
const EVERY_MS = 1000;
const MAX_PAUSE_MS = 30_000;
const ANSWER_MS = 5000;
const STOP_MS = 500;

type Options = { url: string; resource: Attribute[]; everyMs?: number | undefined };

/**
 * Spans wait in memory and are sent once a second, one request at a time. When the collector does not answer, the
 * pauses between tries grow; spans beyond the buffer are dropped and counted. No request waits for any of this.
 */
export class Exporter {
  readonly #target: URL;
  readonly #resource: Attribute[];
  readonly #everyMs: number;
  readonly #agent: InstanceType<typeof HttpAgent> | HttpsAgent;
  readonly #waiting: OtlpSpan[] = [];
  #sent = 0;
  #dropped = 0;
  #failures = 0;
  #timer: NodeJS.Timeout | undefined;
  #underWay: { done: Promise<void>; request: ClientRequest } | undefined;
  #isStopped = false;

  constructor({ url, resource, everyMs = EVERY_MS }: Options) {
    this.#target = new URL(url);
    this.#resource = resource;
    this.#everyMs = everyMs;
    const kept = { keepAlive: true, maxSockets: 1 };
    this.#agent = this.#isSecure() ? new HttpsAgent(kept) : new HttpAgent(kept);
  }

  add(spans: readonly OtlpSpan[]): void {
    if (this.#isStopped) this.#dropped += spans.length;
    else this.#waiting.push(...this.#fitting(spans));
    this.#plan(this.#pauseMs());
  }

  counts(): { sent: number; dropped: number } {
    return { sent: this.#sent, dropped: this.#dropped };
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearTimeout(this.#timer);
    const cut = setTimeout(() => this.#underWay?.request.destroy(), STOP_MS);
    const endMs = performance.now() + STOP_MS;
    await this.#underWay?.done;
    while (this.#waiting.length > 0 && this.#failures === 0 && performance.now() < endMs)
      await this.#sendOnce();
    clearTimeout(cut);
    this.#dropped += this.#waiting.splice(0).length;
    this.#agent.destroy();
  }

  /** The spans for which the buffer has room. The others are counted as dropped. */
  #fitting(spans: readonly OtlpSpan[]): OtlpSpan[] {
    const room = Math.max(0, MAX_WAITING - this.#waiting.length);
    this.#dropped += Math.max(0, spans.length - room);
    return spans.slice(0, room);
  }

  #isSecure(): boolean {
    return this.#target.protocol === "https:";
  }

  #pauseMs(): number {
    return this.#failures === 0 ? this.#everyMs : Math.min(MAX_PAUSE_MS, this.#everyMs * 2 ** this.#failures);
  }

  #plan(ms: number): void {
    if (this.#isStopped || this.#timer || this.#underWay || this.#waiting.length === 0) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      void this.#sendOnce();
    }, ms);
    this.#timer.unref();
  }

  async #sendOnce(): Promise<void> {
    const batch = this.#waiting.splice(0, BATCH);
    const { request, answered } = this.#post(batch);
    const done = answered.then((verdict) => {
      if (verdict === "taken") this.#sent += batch.length;
      if (verdict === "refused") this.#dropped += batch.length;
      this.#failures = verdict === "away" ? this.#failures + 1 : 0;
      if (verdict === "away") this.#waiting.unshift(...this.#fitting(batch));
    });
    this.#underWay = { done, request };
    await done;
    this.#underWay = undefined;
    // Spans that arrived during the request are sent at once.
    this.#plan(this.#failures === 0 && this.#waiting.length >= BATCH ? 0 : this.#pauseMs());
  }

  #post(spans: OtlpSpan[]): { request: ClientRequest; answered: Promise<SendResult> } {
    const scopeSpans = [{ scope: { name: "latchkey" }, spans }];
    const body = JSON.stringify({
      resourceSpans: [{ resource: { attributes: this.#resource }, scopeSpans }],
    });
    // Node's own client follows no redirect and uses no proxy, so an answer from elsewhere counts as a failure.
    const request = (this.#isSecure() ? httpsRequest : httpRequest)(this.#target, {
      method: "POST",
      agent: this.#agent,
      headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const answered = new Promise<SendResult>((resolve) => {
      request.once("response", (answer: IncomingMessage) => {
        answer.resume();
        answer.on("error", () => resolve("away"));
        answer.once("end", () => resolve(verdictOf(answer.statusCode ?? 0)));
      });
      request.on("error", () => resolve("away"));
    });
    request.end(body);
    return { request, answered };
  }
}

type SendResult = "taken" | "refused" | "away";

/** The four statuses that OTLP/HTTP allows to retry. No other failure is retried. */
function verdictOf(status: number): SendResult {
  if (status >= 200 && status < 300) return "taken";
  return [429, 502, 503, 504].includes(status) ? "away" : "refused";
}
