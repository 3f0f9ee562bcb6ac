import type { StorageLike } from "./types.ts";

/**
 * The state of an open sign-on. Each sign-on has its own slot, so several tabs can sign on at the same time.
 * `open` lists the slots, because `StorageLike` cannot list its keys and abandoned slots must be deleted.
 */
type Slot = {
  verifier: string;
  redirectUri: string;
  /** The expected `iss` of the answer; null if it is unknown. */
  issuer: string | null;
  /** Whether `iss` is required. Latchkey always sends it (RFC 9207); a direct provider may not. */
  namesIssuer: boolean;
  idempotencyKey: string;
  begunAt: number;
};

export const SLOT_MS = 15 * 60_000;
const PREFIX = "latchkey:";
const OPEN = "open";

export type Slots = ReturnType<typeof openSlots>;

export function openSlots(chosen: StorageLike | undefined, now: () => number) {
  /** Used if the storage is absent, full or forbidden. */
  const memory = new Map<string, string>();
  // Read on use, inside `try`: where storage is forbidden, reading `localStorage` throws.
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
      // If the storage throws here, it threw in `write` too, so the slot is only in memory.
    }
  }
  /** Adds `opened` to the list; deletes `closed` and the slots that are too old. */
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
