import type { ApplicationKeyDryRun } from "@latchkey/sdk/admin";

/** The sentence above the bars: the keys that gain and the keys that lose. */
export function inShort({ keys }: Pick<ApplicationKeyDryRun, "keys">): string {
  const worse = keys.filter(({ refused }) => refused.after > refused.before);
  const better = keys.filter(({ refused }) => refused.after < refused.before);
  const names = (list: typeof keys) => new Intl.ListFormat("en").format(list.map(({ name }) => name));
  if (worse.length === 0 && better.length === 0)
    return keys.some(({ refused }) => refused.before > 0)
      ? "The same requests would have been refused."
      : "No request was refused, and none would have been.";
  const gain = better.length > 0 ? `${names(better)} would have had fewer requests refused` : "";
  const loss = worse.length > 0 ? `${names(worse)} more` : "";
  if (gain && loss) return `${gain}, ${loss}.`;
  return gain ? `${gain}.` : `${names(worse)} would have had more requests refused.`;
}
