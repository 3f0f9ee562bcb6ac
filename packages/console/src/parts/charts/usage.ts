import type { StoreUsage } from "@latchkey/sdk/admin";
import { useQuery } from "@tanstack/react-query";
import { useAdmin } from "../../session/session.ts";

const SECONDS = 90;
/** The figures are up to two seconds old, so more frequent requests would show the same figures. */
const EVERY_MS = 2000;

export function useUsage() {
  const admin = useAdmin();
  return useQuery({
    queryKey: ["usage"],
    queryFn: async () => (await admin.store.usage({ seconds: SECONDS })).data,
    refetchInterval: EVERY_MS,
  });
}

type Totals = { asked: number[]; refused: number[] };

/** The sum over all keys, per second. */
export function totalsOf({ keys, other_keys }: StoreUsage): Totals {
  const all = other_keys ? [...keys, other_keys] : keys;
  const sum = (part: "asked" | "refused") => {
    const length = Math.max(0, ...all.map((key) => key[part].length));
    return Array.from({ length }, (_, at) => all.reduce((total, key) => total + (key[part][at] ?? 0), 0));
  };
  return { asked: sum("asked"), refused: sum("refused") };
}

/** The average rate of served requests over the last seconds. The rate of a single second varies too much. */
export function servedLately({ asked, refused }: Totals, seconds = 5): number {
  const served = asked.map((count, at) => count - (refused[at] ?? 0)).slice(-seconds);
  return served.length === 0 ? 0 : served.reduce((a, b) => a + b, 0) / served.length;
}
