// The command line. bin/latchkey.js runs this file on the right Node.
import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";

// libuv's threads hash passwords, one per core; four more resolve names and write files. libuv reads the size of its pool
// once, at first use, so the size is set before anything else is loaded.
const threads = availableParallelism() + 4;
if (!(Number(process.env.UV_THREADPOOL_SIZE) > threads)) process.env.UV_THREADPOOL_SIZE = String(threads);
enableCompileCache();
await import("./bundled.ts");
const { run } = await import("../src/cli/cli.ts");
await run(process.argv.slice(2));
