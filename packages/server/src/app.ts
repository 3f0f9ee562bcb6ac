import { createGate } from "./access/gate.ts";
import { type AppOptions, createDeps } from "./deps.ts";
import { createObserver } from "./http/observe.ts";
import { referencePages } from "./http/reference.ts";
import { serveRoutes } from "./http/serve.ts";
import type { Fetch, OnRefused } from "./http/server.ts";
import { canonicalSource, trustedProxies } from "./lib/source-address.ts";
import { measureMemory } from "./metrics.ts";
import type { Readiness } from "./readiness.ts";
import { routes } from "./routes.ts";
import { createTidying, type Tidying } from "./tidy.ts";

/** The composition root. What an operation may need is in deps.ts, what is measured in metrics.ts, what is tidied in tidy.ts. */
export type App = Tidying & {
  fetch: Fetch;
  /** Health and metrics and nothing else, for a port of their own. */
  operations: Fetch;
  readiness: Readiness;
  /** For what is refused before there is a request to route. */
  onRefused: OnRefused;
};

/** The storage is closed by whoever opened it. */
export function createApp(options: AppOptions): App {
  const { publicUrl, clock, log, proxies = trustedProxies([]), droppedLogLines = () => 0 } = options;
  const { onAnswered, registry } = createObserver({ log });
  const deps = createDeps(options, registry);
  measureMemory({ ...deps, registry }, droppedLogLines);
  const serving = { publicUrl, proxies, clock, gate: createGate(deps), onAnswered };
  const all = routes(deps);
  const forOperators = all.filter(({ operation }) => operation.unlimited);
  const forAll = options.operationsApart ? all.filter((route) => !forOperators.includes(route)) : all;
  return {
    ...createTidying({ ...deps, log }),
    fetch: serveRoutes(serving, forAll, referencePages).fetch,
    operations: serveRoutes(serving, forOperators, []).fetch,
    readiness: deps.readiness,
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
