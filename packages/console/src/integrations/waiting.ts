import type { Admin } from "@latchkey/sdk/admin";
import type { Figure } from "../parts/forms/figures.tsx";
import { countedList } from "../parts/text/counts.ts";

/** The deliveries that wait. `what`: what becomes of several of them, with its verb. */
export const waitingFor = (
  { integrations }: Pick<Admin, "integrations">,
  id: string,
  what: string,
): Figure => ({
  about: "waiting deliveries",
  read: async () =>
    waitingInWords(await integrations.deliveries(id, { filter: "eq(status,waiting)", limit: 1 }), what),
});

export function waitingInWords(found: { total: number; totalIsAtLeast: boolean }, what: string): string {
  if (found.total === 0) return "No delivery waits now.";
  const one = what.replace("wait ", "waits ").replace("are ", "is ");
  return `${countedList(found, "delivery", "deliveries")} ${found.total === 1 ? one : what}.`;
}
