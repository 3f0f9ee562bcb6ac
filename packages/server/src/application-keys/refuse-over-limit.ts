import { Problem } from "../contract/problem.ts";
import { fits, mostReservable } from "../rate-limit/plan.ts";

export function refuseOverLimit(rateLimit: number, reservedByOthers: number, reserved: number): void {
  if (fits(rateLimit, reservedByOthers, reserved)) return;
  const most = mostReservable(rateLimit, reservedByOthers);
  throw new Problem("reservation_exceeds_store_limit", {
    source: { pointer: "/data/reserved_rate_limit" },
    detail: `The store's limit is ${rateLimit} requests per second and other keys have reserved ${reservedByOthers}: this key can have at most ${most}.`,
    meta: { rate_limit: rateLimit, reserved_by_others: reservedByOthers, most_reservable: most },
  });
}
