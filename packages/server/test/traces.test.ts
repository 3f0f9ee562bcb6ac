import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { issueCustomerToken } from "../src/contract/customer-tokens.ts";
import { metrics } from "../src/contract/service.ts";
import { authorize, callback } from "../src/contract/sign-on.ts";
import { getStore } from "../src/contract/store.ts";
import type { Traces } from "../src/contract/traces.ts";
import { steadyClock } from "../src/lib/clock.ts";
import { createTraces } from "../src/traces/traces.ts";
import { createTestApp, type TestApp } from "./support/app.ts";
import { call } from "./support/call.ts";
import { sqliteEngine } from "./support/engines.ts";
import { readExposition } from "./support/exposition.ts";
import { COOKIE, createFederation, type Federation, newPkce, SHOP } from "./support/federation.ts";
import { until } from "./support/until.ts";

type Span = {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  startTimeUnixNano: string;
  endTimeUnixNano: string;
  attributes: { key: string; value: { stringValue?: string; intValue?: string } }[];
  links?: { traceId: string; spanId: string }[];
  status: { code?: number };
  instance: string;
};

/** A collector on loopback that stores the received spans. */
type Collector = {
  url: string;
  spans: Span[];
  requests: { method: string; path: string; headers: IncomingMessage["headers"]; body: string }[];
  answer: (response: ServerResponse) => void;
};

async function startCollector(): Promise<Collector> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const { method = "", url = "", headers } = request;
    collector.requests.push({ method, path: url, headers, body });
    for (const { resource, scopeSpans } of JSON.parse(body).resourceSpans) {
      const instance = resource.attributes.find(({ key }: { key: string }) => key === "service.instance.id");
      for (const { spans } of scopeSpans)
        collector.spans.push(
          ...spans.map((span: Span) => ({ ...span, instance: instance.value.stringValue })),
        );
    }
    collector.answer(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as { port: number };
  const collector: Collector = {
    url: `http://127.0.0.1:${port}/v1/traces`,
    spans: [],
    requests: [],
    answer: (response) => response.writeHead(200, { "Content-Type": "application/json" }).end("{}"),
  };
  return collector;
}

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

const tracesTo = (url: string): Traces => {
  const traces = createTraces({ clock: steadyClock(), url, version: "1.2.3", everyMs: 20 });
  closing.push(() => traces.stop());
  return traces;
};

async function federationTo(collector: Collector): Promise<Federation> {
  const f = await createFederation({ traces: tracesTo(collector.url) });
  closing.push(() => f.close());
  return f;
}

const named = (spans: readonly Span[], name: string): Span[] => spans.filter((span) => span.name === name);
const attributeOf = ({ attributes }: Span, key: string) => {
  const value = attributes.find((attribute) => attribute.key === key)?.value;
  return value?.stringValue ?? value?.intValue;
};

describe("a sign-on", () => {
  test("is one trace, though each part was served by another instance", async () => {
    const collector = await startCollector();
    const database = await sqliteEngine.create();
    closing.push(() => database.drop());
    const f = await createFederation({ databaseUrl: database.url, traces: tracesTo(collector.url) });
    closing.push(() => f.close());
    const instance = async (): Promise<TestApp> => {
      const { keyring, clock } = f.latchkey;
      const allowedOrigins = [f.idp.origin];
      const options = {
        databaseUrl: database.url,
        keyring,
        clock,
        allowedOrigins,
        traces: tracesTo(collector.url),
      };
      const other = await createTestApp(options);
      closing.push(() => other.close());
      return other;
    };
    const [a, b, c] = [f.latchkey, await instance(), await instance()];
    f.idp.hooks.claims = ({ email: _, ...claims }) => claims;
    f.idp.hooks.userinfo = (claims) => ({ ...claims, ...f.idp.person });

    const pkce = newPkce();
    const ids = { store: f.store.store.id, realm: f.realmId };
    const query = new URLSearchParams(f.parameters({ code_challenge: pkce.challenge })).toString();
    const begun = await call(a.app, authorize, { ids, query });
    const cookie = `${COOKIE}=${/^[^=]+=([^;]+)/.exec(begun.headers.get("set-cookie") ?? "")?.[1]}`;
    const back = f.idp.signIn(begun.headers.get("location") ?? "");
    const returned = await call(b.app, callback, {
      ids: { ...ids, profile: f.profileId },
      query: back.slice(back.indexOf("?") + 1),
      headers: { cookie },
    });
    const code = new URL(returned.headers.get("location") ?? "").searchParams.get("code") ?? "";
    const caller = `00-${"a".repeat(32)}-${"b".repeat(16)}-01`;
    const redeemed = await call(c.app, issueCustomerToken, {
      token: f.implicit,
      headers: { traceparent: caller },
      json: {
        data: {
          type: "token",
          authentication_mechanism: "oidc",
          oauth_authorization_code: code,
          oauth_redirect_uri: SHOP,
          oauth_code_verifier: pkce.verifier,
        },
      },
    });
    expect(redeemed.status).toBe(200);
    await until(() =>
      ["authorize", "callback", "redeem"].every((name) => named(collector.spans, name).length > 0),
    );

    const [first] = named(collector.spans, "authorize") as [Span];
    const ofSignOn = collector.spans.filter(({ traceId }) => traceId === first.traceId);
    const parts = ["authorize", "callback", "redeem"].map((name) => named(ofSignOn, name)[0] as Span);
    expect(new Set(parts.map(({ instance }) => instance)).size).toBe(3);
    expect(parts.map(({ parentSpanId }) => parentSpanId)).toEqual([undefined, first.spanId, first.spanId]);
    expect(parts[2]?.links).toEqual([{ traceId: "a".repeat(32), spanId: "b".repeat(16) }]);

    // The record of the sign-on has the same id.
    await b.app.tidy();
    const [record] = await f.records();
    expect(record.id.replaceAll("-", "")).toBe(first.traceId);

    // The spans of the callback's work are below the callback's.
    const byId = new Map(ofSignOn.map((span) => [span.spanId, span]));
    const pathOf = (span: Span): string => {
      const parent = byId.get(span.parentSpanId ?? "");
      return parent ? `${pathOf(parent)} > ${span.name}` : span.name;
    };
    const paths = ofSignOn.map(pathOf);
    for (const path of [
      "authorize > callback > discovery > identity provider: discovery",
      "authorize > callback > discovery > identity provider: keys",
      "authorize > callback > wait",
      "authorize > callback > token > identity provider: token",
      "authorize > callback > identify > identity provider: userinfo",
      "authorize > callback > write",
      "authorize > redeem > database transaction",
    ])
      expect(paths).toContain(path);
  });

  test("that failed has the reason of the table, and is marked as failed", async () => {
    const collector = await startCollector();
    const f = await federationTo(collector);
    f.idp.hooks.redirect = ({ state = "" }) => ({ state, error: "access_denied" });
    await f.signOn();
    await until(() => named(collector.spans, "callback").length > 0);
    const [failed] = named(collector.spans, "callback") as [Span];
    expect(attributeOf(failed, "latchkey.reason")).toBe("idp_error");
    expect(failed.status).toEqual({ code: 2 });
  });

  test("leaves nothing secret or personal in its trace", async () => {
    const collector = await startCollector();
    const f = await federationTo(collector);
    const signedOn = await f.signOn();
    const redeemed = await f.redeem(signedOn);
    await until(() => named(collector.spans, "redeem").length > 0);
    const sent = collector.requests.map(({ body }) => body).join("\n");
    const { customer_id: customerId, token } = redeemed.body.data;
    const state = new URL(signedOn.callback).searchParams.get("state") as string;
    for (const secret of [
      ...[signedOn.code, signedOn.pkce.verifier, signedOn.pkce.challenge, signedOn.browser.cookie as string],
      ...[
        state,
        token,
        customerId,
        f.implicit,
        "ada@shop.example",
        "Ada",
        "subject",
        f.idp.origin,
        "127.0.0.1",
      ],
    ])
      expect(sent).not.toContain(secret);
  });
});

describe("any other request", () => {
  test("is a trace of its own, below the caller's span where the request has one", async () => {
    const collector = await startCollector();
    const f = await federationTo(collector);
    await f.store.call(getStore);
    const traceparent = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
    const { headers } = await f.store.call(getStore, { headers: { traceparent } });
    await until(() => named(collector.spans, "GET /v2/store").length === 2);
    const [own, called] = named(collector.spans, "GET /v2/store") as [Span, Span];
    expect(own.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(own.parentSpanId).toBeUndefined();
    expect([called.traceId, called.parentSpanId]).toEqual(["c".repeat(32), "d".repeat(16)]);
    expect(attributeOf(called, "http.response.status_code")).toBe("200");
    expect(attributeOf(called, "latchkey.request_id")).toBe(headers.get("x-request-id"));
    expect(BigInt(called.endTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(called.startTimeUnixNano));
  });

  test("whose caller opts out has no trace", async () => {
    const collector = await startCollector();
    const f = await federationTo(collector);
    await f.store.call(getStore, { headers: { traceparent: `00-${"c".repeat(32)}-${"d".repeat(16)}-00` } });
    await f.store.call(getStore);
    await until(() => named(collector.spans, "GET /v2/store").length > 0);
    expect(collector.spans.map(({ traceId }) => traceId)).not.toContain("c".repeat(32));
  });

  test("is traced at a limited rate, whatever the callers request", async () => {
    const collector = await startCollector();
    const clock = { ...steadyClock(), monotonicMs: () => 1000 };
    const traces = createTraces({ clock, url: collector.url, version: "0", everyMs: 20 });
    closing.push(() => traces.stop());
    const latchkey = await createTestApp({ traces });
    closing.push(() => latchkey.close());
    const store = await latchkey.createStore(100_000);
    const traceparent = `00-${"c".repeat(32)}-${"d".repeat(16)}-01`;
    for (let i = 0; i < 200; i++) await store.call(getStore, { headers: { traceparent } });
    await until(() => traces.counts().sent > 0);
    await traces.stop();
    expect([traces.counts(), collector.spans.length]).toEqual([{ sent: 20, dropped: 0 }, 20]);
  });

  test("of balancers and monitors has no trace", async () => {
    const collector = await startCollector();
    const f = await federationTo(collector);
    await call(f.latchkey.app, metrics);
    await f.store.call(getStore);
    await until(() => named(collector.spans, "GET /v2/store").length > 0);
    expect(named(collector.spans, "GET /metrics")).toEqual([]);
  });
});

describe("a collector", () => {
  test("gets JSON at its path for traces", async () => {
    const collector = await startCollector();
    const f = await federationTo(collector);
    await f.store.call(getStore);
    await until(() => collector.requests.length > 0);
    const [{ method, path, headers }] = collector.requests as [Collector["requests"][0]];
    expect([method, path, headers["content-type"]]).toEqual(["POST", "/v1/traces", "application/json"]);
  });

  test("that redirects is not followed, and refused spans are counted as lost", async () => {
    const [collector, elsewhere] = [await startCollector(), await startCollector()];
    collector.answer = (response) => response.writeHead(307, { Location: elsewhere.url }).end();
    const f = await federationTo(collector);
    await f.store.call(getStore);
    await until(async () => (await dropped(f)) > 0);
    expect(elsewhere.requests).toEqual([]);
  });

  test("that is away delays no request; a limited number of spans waits, and the rest is counted as lost", async () => {
    const traces = createTraces({
      clock: steadyClock(),
      url: "http://127.0.0.1:9/v1/traces",
      version: "0",
      everyMs: 5,
    });
    const work = async () => 1;
    const answered = () => ({ status: 200, storeId: undefined, reason: undefined });
    const asked = { method: "GET", route: callback.path, requestId: "r", traceparent: undefined };
    const joined = async () => {
      traces.join("callback", "01890000-0000-7000-8000-000000000000");
      for (let step = 0; step < 40; step++) await traces.step("step", work);
      return 1;
    };
    for (let i = 0; i < 300; i++) expect(await traces.request(asked, joined, answered)).toBe(1);
    expect(traces.counts().sent).toBe(0);
    expect(traces.counts().dropped).toBeGreaterThan(0);
    await traces.stop();
    expect(traces.counts().dropped).toBe(300 * 41);
  });

  test("that comes back gets the waiting spans", async () => {
    const collector = await startCollector();
    collector.answer = (response) => response.writeHead(503).end();
    const f = await federationTo(collector);
    await f.store.call(getStore);
    await until(() => collector.requests.length >= 2);
    collector.answer = (response) => response.writeHead(200).end("{}");
    await until(async () => (await sent(f)) > 0);
    expect(await dropped(f)).toBe(0);
  });

  test("gets the waiting spans when the service stops", async () => {
    const collector = await startCollector();
    const traces = createTraces({ clock: steadyClock(), url: collector.url, version: "0", everyMs: 600_000 });
    const f = await createFederation({ traces });
    await f.store.call(getStore);
    await f.close();
    expect(collector.spans).toEqual([]);
    await traces.stop();
    expect(named(collector.spans, "GET /v2/store")).toHaveLength(1);
  });
});

async function exposed(f: Federation) {
  f.latchkey.clock.advance(1000);
  return readExposition((await call(f.latchkey.app, metrics)).body);
}
const dropped = async (f: Federation) => (await exposed(f)).sumOf("latchkey_trace_spans_dropped_total");
const sent = async (f: Federation) => (await exposed(f)).sumOf("latchkey_trace_spans_sent_total");
