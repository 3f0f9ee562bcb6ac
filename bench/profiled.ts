import { type Profiler, Session } from "node:inspector";

/**
 * Loaded into a server (`NODE_OPTIONS=--import`): told to over the channel to its parent, it samples its main thread, and then says how
 * many of the samples that were not idle had each of these parts of the sources on the stack.
 */
const INTERVAL_US = 200;
const IDLE = new Set(["(idle)", "(root)"]);
const PARTS = { writing: ["/events/note"], numbering: ["/events/", "/integrations/"] };

export type Shares = Record<keyof typeof PARTS, number>;

const session = new Session();

process.on("message", (message) => {
  if (message === "sample") {
    session.connect();
    session.post("Profiler.enable");
    session.post("Profiler.setSamplingInterval", { interval: INTERVAL_US });
    session.post("Profiler.start");
  }
  if (message === "shares")
    session.post("Profiler.stop", (_, { profile }) => {
      process.send?.({ shares: sharesOf(profile) });
      session.disconnect();
    });
});

function sharesOf({ nodes, samples = [] }: Profiler.Profile): Shares {
  const known = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])));
  const counts = { writing: 0, numbering: 0, other: 0 };
  for (const sample of samples) {
    const stack: (Profiler.ProfileNode | undefined)[] = [];
    for (let id: number | undefined = sample; id !== undefined; id = parents.get(id))
      stack.push(known.get(id));
    if (IDLE.has(stack[0]?.callFrame.functionName ?? "")) continue;
    // The profiler's own answer is no work of the server's.
    if (stack.some((node) => node?.callFrame.url === import.meta.url)) continue;
    const isIn = (paths: readonly string[]) =>
      stack.some((node) => paths.some((path) => node?.callFrame.url.includes(path)));
    const part = isIn(PARTS.writing) ? "writing" : isIn(PARTS.numbering) ? "numbering" : "other";
    counts[part]++;
  }
  const all = counts.writing + counts.numbering + counts.other;
  return { writing: counts.writing / all, numbering: counts.numbering / all };
}
