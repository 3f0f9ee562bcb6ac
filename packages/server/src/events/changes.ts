import { canonicalJson } from "../lib/canonical-json.ts";

type Members = Readonly<Record<string, unknown>>;
type Change = { before: unknown; after: unknown } | typeof CHANGED;

/** What is said of a secret. */
const CHANGED = "(changed)";

/**
 * Which members an update has changed, as the API shows them; nothing when it changed none. `meta` holds what follows from the
 * others, and times. `secrets`: members that were set and are never shown.
 */
export function changesOf(
  before: Members,
  after: Members,
  secrets: readonly string[] = [],
): Record<string, Change> | undefined {
  const changes: Record<string, Change> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (name === "meta") continue;
    const [was, is] = [before[name] ?? null, after[name] ?? null];
    if (canonicalJson(was) !== canonicalJson(is)) changes[name] = { before: was, after: is };
  }
  for (const name of secrets) changes[name] = CHANGED;
  return Object.keys(changes).length > 0 ? changes : undefined;
}
