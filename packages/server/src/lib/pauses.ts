import { setImmediate } from "node:timers/promises";

/** How many entries are looked at before other requests have their turn: a few milliseconds. */
const AT_A_TIME = 2000;

/** Lets other requests have a turn of the event loop after so many entries; to be told how many are looked at next. */
export function createPauses(): (entries: number) => Promise<void> {
  let lookedAt = 0;
  return async (entries) => {
    lookedAt += entries;
    if (lookedAt < AT_A_TIME) return;
    lookedAt = 0;
    await setImmediate();
  };
}
