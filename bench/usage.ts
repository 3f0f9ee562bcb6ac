/**
 * Loaded into every server before its own code (`node --import`): tells the benchmark over the channel between parent and
 * child what the process has used so far, all its threads together. Ends with the benchmark.
 */
export type Usage = { cpuUs: number; rssBytes: number };

process.on("message", (message) => {
  if (message !== "usage") return;
  const { user, system } = process.cpuUsage();
  process.send?.({ usage: { cpuUs: user + system, rssBytes: process.memoryUsage.rss() } satisfies Usage });
});
process.on("disconnect", () => process.exit());
process.channel?.unref();
