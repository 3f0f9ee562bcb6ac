import type { IntegrationDelivery } from "@latchkey/sdk/admin";
import { expanded } from "./event-types.ts";

/** The filter of the list of deliveries. It is in the address, so a link shows another person the same list. */
export type DeliveryFilter = { status: string; type: string };

export const STATUSES = [
  "waiting",
  "delivered",
  "failed",
] as const satisfies readonly IntegrationDelivery["status"][];

/** An unknown status is dropped: the service would refuse no such text, and list nothing. */
export function readFilter(search: URLSearchParams): DeliveryFilter {
  const status = search.get("status") ?? "";
  return {
    status: (STATUSES as readonly string[]).includes(status) ? status : "",
    type: /^[a-z_]+\.[a-z_]+$/.exec(search.get("type") ?? "")?.[0] ?? "",
  };
}

/** The search of the address. */
export const searchOf = (filter: DeliveryFilter): Record<string, string> =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));

/** `eq(status,failed):eq(type,store.updated)`; undefined: everything. */
export const queryOf = (filter: DeliveryFilter): string | undefined =>
  Object.entries(searchOf(filter))
    .map(([field, value]) => `eq(${field},${value})`)
    .join(":") || undefined;

/** The types to choose from: those that the integration receives, and the chosen one. */
export const typesToChoose = (observes: readonly string[], chosen: string): string[] => {
  const types = expanded(observes);
  return chosen === "" || types.includes(chosen) ? types : [...types, chosen];
};
