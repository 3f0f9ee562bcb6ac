import type { Clock } from "../lib/clock.ts";
import type { Calls } from "./calls.ts";
import type { HealthStatus } from "./health/health.ts";
import type { Profile } from "./profile.ts";

/** A document that was read longer ago does not show that its provider is up. Readings are noted every six hours. */
const KNOWN_FOR_MS = 30 * 3_600_000;

/**
 * How a provider is known to be: as this instance, or with Valkey any, has seen it; else as the log was last told; else up, if
 * its document was read within the last day. Of any other nothing is known.
 */
export function shownHealth(
  calls: Pick<Calls, "healthOf">,
  clock: Clock,
  { id, enabled, told_health: toldHealth, read_at: readAt, updated_at: updatedAt, metadata }: Profile,
): { status: HealthStatus | "unknown"; since: number } {
  const toldIll = toldHealth === "down" || toldHealth === "degraded" ? toldHealth : undefined;
  const seen = calls.healthOf(id, enabled && toldIll !== undefined);
  if (seen) return seen;
  if (toldIll) return { status: toldIll, since: updatedAt };
  // A document from before readings were noted was read when it was accepted.
  const knownAt = readAt ?? (metadata ? updatedAt : null);
  const isKnown = knownAt !== null && clock.now() - knownAt < KNOWN_FOR_MS;
  return isKnown ? { status: "up", since: updatedAt } : { status: "unknown", since: knownAt ?? updatedAt };
}
