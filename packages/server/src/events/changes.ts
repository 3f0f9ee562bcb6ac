import { canonicalJson } from "../lib/canonical-json.ts";

type ShownMembers = Readonly<Record<string, unknown>>;
type ChangedMember = { before: unknown; after: unknown } | typeof CHANGED;

/** Stands for the old and the new value of a secret. */
const CHANGED = "(changed)";

/**
 * The members that an update has changed, as the API shows them; undefined if it changed none. `meta` is ignored,
 * because it follows from other members. `secrets` names members that were written and are never shown.
 */
export function changesOf(
  before: ShownMembers,
  after: ShownMembers,
  secrets: readonly string[] = [],
): Record<string, ChangedMember> | undefined {
  const changes: Record<string, ChangedMember> = {};
  for (const name of new Set([...Object.keys(before), ...Object.keys(after)])) {
    if (name === "meta") continue;
    const [was, is] = [before[name] ?? null, after[name] ?? null];
    if (canonicalJson(was) !== canonicalJson(is)) changes[name] = { before: was, after: is };
  }
  for (const name of secrets) changes[name] = CHANGED;
  return Object.keys(changes).length > 0 ? changes : undefined;
}
