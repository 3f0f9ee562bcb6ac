import { type Clock, toIso } from "../lib/clock.ts";

/** A change of limits reaches this instance at once and every other one within a second. */
const IN_FORCE_WITHIN_MS = 1000;

export const inForceBy = ({ clock }: { clock: Clock }): string => toIso(clock.now() + IN_FORCE_WITHIN_MS);
