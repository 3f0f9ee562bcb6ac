import type { ApplicationKey, StoreUsage } from "@latchkey/sdk/admin";
import { servedLately } from "../parts/charts/usage.ts";

/**
 * A part of the bar of the store's limit: a key's reserved rate or, at the end, the shared pool, with its
 * use.
 */
export type Share = {
  id: string;
  name: string;
  /** The number of the colour, 1 to 6; undefined for the shared pool. */
  colour: number | undefined;
  reserved: number;
  /** Requests served per second: within the reserved rate or, for the pool, above all reserved rates. */
  used: number;
};

const COLOURS = 6;

export function sharesOf(usage: StoreUsage): Share[] {
  const withFloor = usage.keys.filter(({ reserved_rate_limit }) => reserved_rate_limit > 0);
  let fromPool = usage.other_keys ? servedLately(usage.other_keys) : 0;
  const used = new Map<string, number>();
  for (const key of usage.keys) {
    const served = servedLately(key);
    used.set(key.id, Math.min(served, key.reserved_rate_limit));
    fromPool += Math.max(0, served - key.reserved_rate_limit);
  }
  const shares = withFloor
    .toSorted((a, b) => b.reserved_rate_limit - a.reserved_rate_limit || a.name.localeCompare(b.name))
    .map(({ id, name, reserved_rate_limit }, at) => ({
      id,
      name,
      colour: (at % COLOURS) + 1,
      reserved: reserved_rate_limit,
      used: used.get(id) ?? 0,
    }));
  return [
    ...shares,
    {
      id: "pool",
      name: "Shared by all keys",
      colour: undefined,
      reserved: usage.shared_pool,
      used: fromPool,
    },
  ];
}

export const reservedInWords = ({ reserved_rate_limit: reserved }: ApplicationKey): string =>
  reserved === 0 ? "nothing reserved" : `${reserved.toLocaleString("en")} a second reserved`;
