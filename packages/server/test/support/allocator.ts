import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

const containerfile = fileURLToPath(new URL("../../../../deploy/container/Containerfile", import.meta.url));

/** The image's variables for its allocator, with the library that is installed here. `undefined`: there is none. */
export function allocatorOfImage(): Record<string, string> | undefined {
  const line = /^ENV (LD_PRELOAD=.*)$/m.exec(readFileSync(containerfile, "utf8"))?.[1];
  if (!line) throw new Error("the Containerfile loads no allocator");
  const env = Object.fromEntries(line.split(" ").map((part) => part.split("=", 2) as [string, string]));
  env.LD_PRELOAD = basename(env.LD_PRELOAD as string);
  return isLoaded(env) ? env : undefined;
}

/** The loader only warns about a missing library. */
function isLoaded(env: Record<string, string>): boolean {
  const look = `process.exitCode = require("node:fs").readFileSync("/proc/self/maps", "utf8").includes(process.env.LD_PRELOAD) ? 0 : 1`;
  return spawnSync(process.execPath, ["-e", look], { env, stdio: "ignore" }).status === 0;
}
