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

type Exporter = {
  add(spans: readonly OtlpSpan[]): void;
  counts(): { sent: number; dropped: number };
  stop(): Promise<void>;
};

const MAX_WAITING = 5000;
const BATCH = 500;
const EVERY_MS = 1000;
const MAX_PAUSE_MS = 30_000;
const ANSWER_MS = 5000;
const STOP_MS = 500;

type Options = { url: string; resource: Attribute[]; everyMs?: number };

/**
 * Spans wait in memory and are sent once a second, one request at a time. When the collector does not answer, the
 * pauses between tries grow; spans beyond the buffer are dropped and counted. No request waits for any of this.
 */
export function createExporter({ url, resource, everyMs = EVERY_MS }: Options): Exporter {
  const target = new URL(url);
  const isSecure = target.protocol === "https:";
  const agent = isSecure
    ? new HttpsAgent({ keepAlive: true, maxSockets: 1 })
    : new HttpAgent({ keepAlive: true, maxSockets: 1 });
  const waiting: OtlpSpan[] = [];
  let sent = 0;
  let dropped = 0;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let underWay: { done: Promise<void>; request: ClientRequest } | undefined;
  let isStopped = false;

  function plan(ms: number): void {
    if (isStopped || timer || underWay || waiting.length === 0) return;
    timer = setTimeout(() => {
      timer = undefined;
      void sendOnce();
    }, ms);
    timer.unref();
  }

  const pauseMs = () => (failures === 0 ? everyMs : Math.min(MAX_PAUSE_MS, everyMs * 2 ** failures));

  async function sendOnce(): Promise<void> {
    const batch = waiting.splice(0, BATCH);
    const { request, answered } = post(batch);
    const done = answered.then((verdict) => {
      if (verdict === "taken") sent += batch.length;
      if (verdict === "refused") dropped += batch.length;
      failures = verdict === "away" ? failures + 1 : 0;
      if (verdict !== "away") return;
      const room = Math.max(0, MAX_WAITING - waiting.length);
      dropped += Math.max(0, batch.length - room);
      waiting.unshift(...batch.slice(0, room));
    });
    underWay = { done, request };
    await done;
    underWay = undefined;
    // Spans that arrived during the request are sent at once.
    plan(failures === 0 && waiting.length >= BATCH ? 0 : pauseMs());
  }

  function post(batch: OtlpSpan[]): { request: ClientRequest; answered: Promise<Verdict> } {
    const body = JSON.stringify({
      resourceSpans: [
        { resource: { attributes: resource }, scopeSpans: [{ scope: { name: "latchkey" }, spans: batch }] },
      ],
    });
    // Node's own client follows no redirect and uses no proxy, so an answer from elsewhere counts as a failure.
    const request = (isSecure ? httpsRequest : httpRequest)(target, {
      method: "POST",
      agent,
      headers: { "Content-Type": "application/json", "Content-Length": Buffer.byteLength(body) },
      signal: AbortSignal.timeout(ANSWER_MS),
    });
    const answered = new Promise<Verdict>((resolve) => {
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

  return {
    add(spans) {
      const room = isStopped ? 0 : Math.max(0, MAX_WAITING - waiting.length);
      dropped += Math.max(0, spans.length - room);
      waiting.push(...spans.slice(0, room));
      plan(pauseMs());
    },
    counts: () => ({ sent, dropped }),
    async stop() {
      isStopped = true;
      clearTimeout(timer);
      const cut = setTimeout(() => underWay?.request.destroy(), STOP_MS);
      const endMs = performance.now() + STOP_MS;
      await underWay?.done;
      while (waiting.length > 0 && failures === 0 && performance.now() < endMs) await sendOnce();
      clearTimeout(cut);
      dropped += waiting.splice(0).length;
      agent.destroy();
    },
  };
}

type Verdict = "taken" | "refused" | "away";

/** The four statuses that OTLP/HTTP allows to retry. No other failure is retried. */
function verdictOf(status: number): Verdict {
  if (status >= 200 && status < 300) return "taken";
  return [429, 502, 503, 504].includes(status) ? "away" : "refused";
}
