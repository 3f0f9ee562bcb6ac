/**
 * Loaded into every server before the server's own code (`node --import`). Sends the CPU time and memory of the process
 * over the IPC channel when the benchmark requests them, and ends the process with the benchmark. JavaScript, because
 * stripping types takes ten megabytes, which a server in an image does not use.
 */
process.on("message", (message) => {
  if (message !== "usage") return;
  const { user, system } = process.cpuUsage();
  process.send?.({ usage: { cpuUs: user + system, rssBytes: process.memoryUsage.rss() } });
});
process.on("disconnect", () => process.exit());
process.channel?.unref();
