import { readFileSync } from "node:fs";

const LOOK_EVERY_MS = 250;

/**
 * npm (`npx latchkey …`, `npm start`) starts a command through a shell and passes signals on to the shell alone, which dies of
 * them and leaves us behind. So under npm, and only there, the loss of either is a signal to stop: a service that was
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

/** Our parent and, where that is a shell and the system shows it (Linux), the shell's own, which is npm. */
function lineage(): string {
  const parent = process.ppid;
  try {
    // `pid (name) state parent …`, where the name may hold anything.
    const [, name, grandparent] =
      /^\d+ \((.*)\) \w (\d+)/s.exec(readFileSync(`/proc/${parent}/stat`, "utf8")) ?? [];
    return name?.endsWith("sh") ? `${parent} ${grandparent}` : `${parent}`;
  } catch {
    return `${parent}`;
  }
}
