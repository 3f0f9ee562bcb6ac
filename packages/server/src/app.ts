import { createGate } from "./access/gate.ts";
import { type AppOptions, createDeps } from "./deps.ts";
import { consolePages } from "./http/console.ts";
import { type Fetch, toFetch } from "./http/fetch.ts";
import type { Serve } from "./http/message.ts";
import { createObserver } from "./http/observe.ts";
import { frontPage } from "./http/pages/front-page.ts";
import { referencePages } from "./http/reference/pages.ts";
import { serveRoutes } from "./http/serve.ts";
import type { OnRefused } from "./http/server.ts";
import { canonicalSource, trustedProxies } from "./lib/source-address.ts";
import { describeBuild, measureConnections, measureMemory } from "./observe/metrics.ts";
import type { Readiness } from "./readiness.ts";
import { routes } from "./routes.ts";
import { createTidying, type Tidying } from "./tidy.ts";

/** The composition root. What an operation may need is in deps.ts, what is measured in metrics.ts, what is tidied in tidy.ts. */
export type App = Tidying & {
  serve: Serve;
  /** Health and metrics and nothing else, for a port of their own. */
  serveOperations: Serve;
  /** The same as `serve`, for who is in this process. */
  fetch: Fetch;
  readiness: Readiness;
  /** Streams of events have no end of their own: nothing else keeps a connection for longer than a request takes. */
  endStreams(): void;
  /** No webhook is begun any more; those under way have a moment. */
  endDeliveries(): Promise<void>;
  /** When no webhook is under way. */
  delivered(): Promise<void>;
  /** For what is refused before there is a request to route. */
  onRefused: OnRefused;
};

/** The storage is closed by whoever opened it. */
export function createApp(options: AppOptions): App {
  const { publicUrl, clock, log, proxies = trustedProxies([]) } = options;
  const { onAnswered, inFlight, registry } = createObserver({ log });
  const deps = createDeps(options, registry);
  describeBuild(registry, options.storage.engine);
  measureMemory({ ...deps, registry, lines: options.lines, traces: options.traces });
  measureConnections({ ...deps, registry });
  const serving = {
    publicUrl,
    proxies,
    clock,
    gate: createGate(deps),
    onAnswered,
    inFlight,
    traces: options.traces,
  };
  const all = routes(deps);
  const forOperators = all.filter(({ operation }) => operation.unlimited);
  const forAll = options.operationsApart ? all.filter((route) => !forOperators.includes(route)) : all;
  const serve = serveRoutes(serving, forAll, [
    frontPage(publicUrl, { hasHealth: !options.operationsApart }),
    ...referencePages(publicUrl),
    consolePages(publicUrl),
  ]);
  return {
    ...createTidying({ ...deps, log }),
    serve,
    serveOperations: serveRoutes(serving, forOperators, []),
    fetch: toFetch(serve),
    readiness: deps.readiness,
    endStreams: deps.streams.close,
    endDeliveries: deps.deliverer.stop,
    delivered: deps.deliverer.idle,
    onRefused: (problem, requestId, peer) =>
      onAnswered({
        requestId,
        method: "other",
        route: "unknown",
        status: problem.status,
        durationMs: 0,
        source: canonicalSource(peer),
        caller: undefined,
        problem,
      }),
  };
}
