import { createGate } from "./access/gate.ts";
import { type AppOptions, createDeps } from "./deps.ts";
import { consolePages } from "./http/console.ts";
import { toFetch } from "./http/fetch.ts";
import { createObserver } from "./http/observe.ts";
import { errorPages } from "./http/pages/error-pages.ts";
import { frontPage } from "./http/pages/front-page.ts";
import { referencePages } from "./http/reference/pages.ts";
import { serveRoutes } from "./http/serve.ts";
import type { OnRefused } from "./http/server.ts";
import { canonicalSource, trustedProxies } from "./lib/source-address.ts";
import { describeBuild, measureConnections, measureMemory } from "./observe/metrics.ts";
import { routes } from "./routes.ts";
import { createTidying } from "./tidy.ts";

export type App = ReturnType<typeof createApp>;

/**
 * The composition root: joins deps.ts, routes.ts, tidy.ts, observe/metrics.ts and the HTTP server. Does not close the
 * storage: the caller opened it, and closes it.
 */
export function createApp(options: AppOptions) {
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
    exports: deps.exports,
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
    ...errorPages(publicUrl),
    consolePages(publicUrl),
  ]);
  /** Logs and counts connections that are refused before a request can be routed. */
  const onRefused: OnRefused = (problem, requestId, peer) =>
    onAnswered({
      requestId,
      method: "other",
      route: "unknown",
      status: problem.status,
      durationMs: 0,
      source: canonicalSource(peer),
      caller: undefined,
      problem,
    });
  return {
    ...createTidying(deps),
    publicUrl,
    serve,
    /** Serves health and metrics only, for LATCHKEY_OPERATIONS_PORT. */
    serveOperations: serveRoutes(serving, forOperators, []),
    /** The same as `serve`, as a function for callers in this process. */
    fetch: toFetch(serve),
    readiness: deps.readiness,
    /** Ends the event streams, which would otherwise keep their connections open until the drain is over. */
    endStreams: () => deps.streams.close(),
    /** Begins no new webhook delivery, and waits at most three seconds for those under way. */
    endDeliveries: () => deps.deliverer.stop(),
    /** Resolves when no webhook delivery is under way. */
    delivered: () => deps.deliverer.idle(),
    onRefused,
  };
}
