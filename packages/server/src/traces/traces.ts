import { AsyncLocalStorage } from "node:async_hooks";
import { randomBytes } from "node:crypto";
import { issueCustomerToken } from "../contract/customer-tokens.ts";
import { authorize, callback, realmToken } from "../contract/sign-on.ts";
import type { SignOnPart, Traces } from "../contract/traces.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import { type Bucket, draw, fullBucket } from "../rate-limit/bucket.ts";
import { type Attribute, Exporter, type OtlpSpan } from "./otlp.ts";
import { type Parent, readTraceparent } from "./traceparent.ts";

type TraceSpan = {
  spanId: string;
  name: string;
  kind: number;
  startMs: number;
  endMs: number;
  parent: TraceSpan | undefined;
  isFailed: boolean;
  attributes: Attribute[];
};

/** The trace of one request: its span first, then its steps. */
type Request = {
  span: TraceSpan;
  steps: TraceSpan[];
  part: SignOnPart | undefined;
  attemptId: string | undefined;
  caller: Parent | undefined;
};

const INTERNAL = 1;
const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;
const MAX_STEPS = 40;

/**
 * How many requests per second are traced, counted for each kind. Anyone can call authorize or send a `traceparent`,
 * and must not crowd out the sign-ons that came back or flood the collector.
 */
const RATES = { authorize: 50, signOn: 200, other: 10 };

/** Requests that may become part of a sign-on. For all others the decision is known at once. */
const SIGN_ON_ROUTES = new Set<string>(
  [authorize, callback, issueCustomerToken, realmToken].map(({ path }) => path),
);

/** Load balancers and monitors call these all the time. */
const isUntraced = (route: string): boolean => route.startsWith("/health/") || route === "/metrics";

type Options = { clock: Clock; url: string; version: string; everyMs?: number };

export function createTraces({ clock, url, version, everyMs }: Options): Traces {
  const current = new AsyncLocalStorage<{ request: Request; span: TraceSpan }>();
  const exporter = new Exporter({ url, resource: resourceOf(version), everyMs });
  const bucketOf = (rate: number) => fullBucket(rate, 2 * rate, clock.monotonicMs());
  const buckets = {
    authorize: bucketOf(RATES.authorize),
    signOn: bucketOf(RATES.signOn),
    other: bucketOf(RATES.other),
  };

  const open = (name: string, kind: number, parent?: TraceSpan): TraceSpan => {
    const startMs = clock.monotonicMs();
    const spanId = newSpanId();
    return { spanId, name, kind, startMs, endMs: startMs, parent, isFailed: false, attributes: [] };
  };
  const isDrawn = (bucket: Bucket) => draw(bucket, clock.monotonicMs());
  // A caller that declines tracing gets none. A caller that asks for it counts against the limit like every other.
  const isOther = (caller: Parent | undefined) => (caller?.isSampled ?? true) && isDrawn(buckets.other);

  function addStep({ request }: { request: Request }, span: TraceSpan): void {
    if (request.steps.length < MAX_STEPS) request.steps.push(span);
  }

  return {
    async request(asked, work, answered) {
      if (isUntraced(asked.route)) return work();
      const caller = readTraceparent(asked.traceparent);
      const mayJoin = SIGN_ON_ROUTES.has(asked.route);
      if (!mayJoin && !isOther(caller)) return work();
      const span = open(`${asked.method} ${asked.route}`, SERVER);
      const request: Request = { span, steps: [], part: undefined, attemptId: undefined, caller };
      const result = await current.run({ request, span }, work);
      const answer = answered();
      span.endMs = clock.monotonicMs();
      span.isFailed = answer.status >= 500 || (request.part !== undefined && answer.reason !== undefined);
      span.attributes.push(...attributesOf(asked, answer));
      const { part } = request;
      const isKept = part ? isDrawn(bucketFor(buckets, part)) : !mayJoin || isOther(caller);
      if (isKept) exporter.add(toOtlp(request, clock.now() - clock.monotonicMs()));
      return result;
    },
    join(part, attemptId) {
      const request = current.getStore()?.request;
      if (!request) return;
      request.part = part;
      request.attemptId = attemptId;
      request.span.name = part === "direct" ? "redeem" : part;
      if (isFirst(part)) request.span.spanId = firstSpanIdOf(attemptId);
    },
    async step(name, work) {
      const here = current.getStore();
      if (!here) return work();
      const span = open(name, INTERNAL, here.span);
      addStep(here, span);
      try {
        return await current.run({ request: here.request, span }, work);
      } catch (error) {
        span.isFailed = true;
        throw error;
      } finally {
        span.endMs = clock.monotonicMs();
      }
    },
    note(name, elapsedMs, isFailed) {
      const here = current.getStore();
      if (!here) return;
      const span = open(name, CLIENT, here.span);
      addStep(here, { ...span, startMs: span.endMs - elapsedMs, isFailed });
    },
    counts: () => exporter.counts(),
    stop: () => exporter.stop(),
  };
}

const text = (key: string, stringValue: string): Attribute => ({ key, value: { stringValue } });

const resourceOf = (version: string): Attribute[] => [
  text("service.name", "latchkey"),
  text("service.version", version),
  text("service.instance.id", newId()),
];

type Traced = Parameters<Traces["request"]>;

const attributesOf = (
  { method, route, requestId }: Traced[0],
  { status, storeId, reason }: ReturnType<Traced[2]>,
): Attribute[] => [
  text("http.request.method", method),
  text("http.route", route),
  { key: "http.response.status_code", value: { intValue: String(status) } },
  text("latchkey.request_id", requestId),
  ...(storeId === undefined ? [] : [text("latchkey.store_id", storeId)]),
  ...(reason === undefined ? [] : [text("latchkey.reason", reason)]),
];

const newSpanId = (): string => randomBytes(8).toString("hex");

const isFirst = (part: SignOnPart): boolean => part === "authorize" || part === "direct";

const traceIdOf = (attemptId: string): string => attemptId.replaceAll("-", "");

/**
 * The id of the first span is derived from the attempt's id, so that later parts on other instances know their parent.
 */
const firstSpanIdOf = (attemptId: string): string => traceIdOf(attemptId).slice(16);

const bucketFor = (buckets: Record<keyof typeof RATES, Bucket>, part: SignOnPart): Bucket =>
  part === "authorize" ? buckets.authorize : buckets.signOn;

function toOtlp({ span, steps, part, attemptId, caller }: Request, offsetMs: number): OtlpSpan[] {
  const isOfSignOn = part !== undefined && attemptId !== undefined;
  const traceId = isOfSignOn ? traceIdOf(attemptId) : (caller?.traceId ?? randomBytes(16).toString("hex"));
  const first = isOfSignOn && !isFirst(part) ? firstSpanIdOf(attemptId) : undefined;
  const parentOf = (of: TraceSpan) => of.parent?.spanId ?? (isOfSignOn ? first : caller?.spanId);
  return [span, ...steps].map((one): OtlpSpan => {
    const parentSpanId = parentOf(one);
    return {
      traceId,
      spanId: one.spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name: one.name,
      kind: one.kind,
      startTimeUnixNano: toNanos(one.startMs + offsetMs),
      endTimeUnixNano: toNanos(one.endMs + offsetMs),
      attributes: one.attributes,
      // A sign-on is a trace of its own, linked to the storefront's trace if there was one.
      ...(one === span &&
        isOfSignOn &&
        caller && { links: [{ traceId: caller.traceId, spanId: caller.spanId }] }),
      status: one.isFailed ? { code: ERROR } : {},
    };
  });
}

/** Nanoseconds since 1970 exceed a JavaScript number. */
function toNanos(ms: number): string {
  const whole = Math.floor(ms);
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, "0")}`;
}
