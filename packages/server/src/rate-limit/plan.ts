/**
 * How a store's rate limit is divided, in requests per second. Each key has its floor, which is its reservation and is
 * never lent. All keys share the rest, those with a floor included.
 */
type Reservation = { keyId: string; reserved: number };
export type Plan = { floors: ReadonlyMap<string, number>; shared: number };

/** Above the store's limit, so that a store that has reserved everything can still be administered. */
export const ADMINISTRATION_FLOOR = 2;

export function plan(rateLimit: number, reservations: readonly Reservation[]): Plan {
  const total = reservations.reduce((sum, { reserved }) => sum + reserved, 0);
  if (total > rateLimit) throw new RangeError("more is reserved than there is");
  return {
    floors: new Map(reservations.filter((r) => r.reserved > 0).map((r) => [r.keyId, r.reserved])),
    shared: rateLimit - total,
  };
}

export const mostReservable = (rateLimit: number, reservedByOthers: number): number =>
  Math.max(0, rateLimit - reservedByOthers);

export const fits = (rateLimit: number, reservedByOthers: number, reserved: number): boolean =>
  reserved <= mostReservable(rateLimit, reservedByOthers);
