import { setImmediate } from "node:timers/promises";

/** How many entries of the log of use are looked at before other requests have their turn: a few milliseconds. */
const AT_A_TIME = 2000;

/** To be told how many are looked at next. By entries: a second of a busy store has as many as a quiet one's hour. */
export function createRest(): (entries: number) => Promise<void> {
  let lookedAt = 0;
  return async (entries) => {
    lookedAt += entries;
    if (lookedAt < AT_A_TIME) return;
    lookedAt = 0;
    await setImmediate();
  };
}
