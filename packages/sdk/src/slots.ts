import type { StorageLike } from "./types.ts";

/**
 * What must be remembered while the shopper is away, one slot for each sign-on: tabs do not get in each other's way, and
 * whichever comes back finds its own. `open` lists the slots, so that those that nobody came back to can be cleared from a
 * storage that does not tell what it holds.
 */
type Slot = {
  verifier: string;
  redirectUri: string;
  /** Who must answer; null where that is not known. */
  issuer: string | null;
  /** Whether the answer must name it. Ours always does (RFC 9207); another provider may not. */
  namesIssuer: boolean;
  idempotencyKey: string;
  begunAt: number;
};

export const SLOT_MS = 15 * 60_000;
const PREFIX = "latchkey:";
const OPEN = "open";

export type Slots = ReturnType<typeof openSlots>;

export function openSlots(chosen: StorageLike | undefined, now: () => number) {
  /** For a storage that is not there, or is full, or is forbidden. */
  const memory = new Map<string, string>();
  // Asked for late: where it is forbidden, already its name throws.
  const storage = () => chosen ?? (globalThis as { localStorage?: StorageLike }).localStorage;

  function read<T>(name: string): T | undefined {
    try {
      return JSON.parse(memory.get(name) ?? storage()?.getItem(PREFIX + name) ?? "") as T;
    } catch {
      return undefined;
    }
  }
  function write(name: string, value: object): void {
    const text = JSON.stringify(value);
    try {
      (storage() as StorageLike).setItem(PREFIX + name, text);
      memory.delete(name);
    } catch {
      memory.set(name, text);
    }
  }
  function clear(name: string): void {
    memory.delete(name);
    try {
      storage()?.removeItem(PREFIX + name);
    } catch {
      // A storage that throws here threw at `write` too, so the slot was only in memory.
    }
  }
  /** Forgets what is too old, and `closed`; adds `opened`. */
  function list(opened: Record<string, number>, closed?: string): void {
    const open = Object.entries({ ...read<Record<string, number>>(OPEN), ...opened });
    const isOver = ([state, begunAt]: [string, number]) => state === closed || begunAt + SLOT_MS <= now();
    for (const entry of open) if (isOver(entry)) clear(entry[0]);
    const left = open.filter((entry) => !isOver(entry));
    if (left.length) write(OPEN, Object.fromEntries(left));
    else clear(OPEN);
  }

  return {
    keep(state: string, slot: Slot): void {
      write(state, slot);
      list({ [state]: slot.begunAt });
    },
    find(state: string): Slot | undefined {
      const slot = read<Slot>(state);
      return slot?.verifier && slot.begunAt + SLOT_MS > now() ? slot : undefined;
    },
    remove(state: string): void {
      clear(state);
      list({}, state);
    },
  };
}
