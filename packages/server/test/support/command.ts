import { spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const LATCHKEY = fileURLToPath(new URL("../../bin/latchkey.js", import.meta.url));

export type Finished = { code: number | null; stdout: string; stderr: string };

/**
 * Records the statements of a child process, too, for scripts/check-plans.ts. The compiled imports are cached, like the
 * program's: without the cache each process takes a quarter of a second longer.
 */
export const WATCHED = {
  NODE_OPTIONS: `--import=${new URL("statements-watch-process.ts", import.meta.url)}`,
  NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"),
};

/** Runs `latchkey <args>` as a process of its own, with PATH alone of this environment. */
export function latchkey(
  args: string[],
  env: Record<string, string>,
  cwd?: string,
  program = LATCHKEY,
): Promise<Finished> {
  const child = spawn(process.execPath, [program, ...args], {
    cwd,
    env: { PATH: process.env.PATH, ...WATCHED, ...env },
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, stdout, stderr })));
}
