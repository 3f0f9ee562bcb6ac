// The command line. bin/latchkey.js runs this file on the right Node.
import { existsSync } from "node:fs";
import { enableCompileCache } from "node:module";
import { availableParallelism } from "node:os";

// Passwords are hashed on libuv's threads, one for each core; four more go on resolving names and writing files. The
// pool reads its size once, when it is first used, so it is set before anything else is loaded.
const threads = availableParallelism() + 4;
if (!(Number(process.env.UV_THREADPOOL_SIZE) > threads)) process.env.UV_THREADPOOL_SIZE = String(threads);
enableCompileCache();
// An image and the published package have the sources in fewer files (bundle.ts), which name their libraries' files
// themselves.
const service = new URL("../bundled/service/cli.js", import.meta.url);
const isBundled = existsSync(service);
if (!isBundled) await import("./bundled.ts");
const { run } = isBundled ? await import(service.href) : await import("../src/cli/cli.ts");
await run(process.argv.slice(2));
