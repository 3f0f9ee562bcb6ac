import { setImmediate } from "node:timers/promises";

/** How many entries are processed before other requests get the event loop: a few milliseconds. */
const AT_A_TIME = 2000;

/** Yields the event loop after that many entries. The argument is the number of entries processed next. */
export function createPauses(): (entries: number) => Promise<void> {
  let lookedAt = 0;
  return async (entries) => {
    lookedAt += entries;
    if (lookedAt < AT_A_TIME) return;
    lookedAt = 0;
    await setImmediate();
  };
}
