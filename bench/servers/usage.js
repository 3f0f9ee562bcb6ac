/**
 * Loaded into every server before its own code (`node --import`): tells the benchmark over the channel between parent and
 * child what the process has used so far, all its threads together. Ends with the benchmark. It is JavaScript, because what strips
 * types takes ten megabytes, which an image does not have.
 */
process.on("message", (message) => {
  if (message !== "usage") return;
  const { user, system } = process.cpuUsage();
  process.send?.({ usage: { cpuUs: user + system, rssBytes: process.memoryUsage.rss() } });
});
process.on("disconnect", () => process.exit());
process.channel?.unref();
