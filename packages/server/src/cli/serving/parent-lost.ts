import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 250;

/**
 * npm (`npx latchkey …`, `npm start`) starts a command through a shell and sends signals to that shell, which ends and
 * leaves the service running. So under npm only, the loss of an ancestor up to npm is a signal to stop. A service
 * started in the background on purpose outlives its parent.
 */
export function onParentLost(env: NodeJS.ProcessEnv, stop: () => void): void {
  if (env.npm_execpath === undefined) return;
  const startedBy = lineage();
  const timer = setInterval(() => {
    if (lineage() === startedBy) return;
    clearInterval(timer);
    stop();
  }, LOOK_EVERY_MS);
  timer.unref();
}

/** The name of a shell, or of bin/launch.js. */
const BETWEEN_NPM_AND_US = /sh$|^latchkey$/;

/** The parent and, where the system shows them (Linux), the ancestors past shells and bin/launch.js, up to npm. */
function lineage(): string {
  const pids = [process.ppid];
  try {
    for (;;) {
      // `pid (name) state parent …`, where the name may contain anything.
      const [, name = "", parent] =
        /^\d+ \((.*)\) \w (\d+)/s.exec(readFileSync(`/proc/${pids.at(-1)}/stat`, "utf8")) ?? [];
      if (!BETWEEN_NPM_AND_US.test(name)) break;
      pids.push(Number(parent));
    }
  } catch {
    // The process is gone, or there is no /proc: the processes found so far are compared.
  }
  return pids.join(" ");
}
