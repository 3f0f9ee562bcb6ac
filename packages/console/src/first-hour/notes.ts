import type { Keeper } from "../session/keeper.ts";
import { firstStepsOf } from "../session/places.ts";

/**
 * A browser's note about the first steps of a store. `open`: they were shown, so Home keeps their place while they
 * load. `closed`: they are done, or the person has hidden them. `recalled`: the person wants to see them, done or not.
 */
export type Note = "open" | "closed" | "recalled";

const NOTES: readonly unknown[] = ["open", "closed", "recalled"] satisfies Note[];

export const openNotes = (device: Keeper) => ({
  read(store: string): Note | undefined {
    const kept = device.getItem(firstStepsOf(store));
    return NOTES.includes(kept) ? (kept as Note) : undefined;
  },
  write: (store: string, note: Note): void => device.setItem(firstStepsOf(store), note),
});
