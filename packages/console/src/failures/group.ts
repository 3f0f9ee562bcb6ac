import type { SignOn } from "@latchkey/sdk/admin";

/** Failures with the same reason at the same provider. */
export type Group = {
  reason: string;
  profileId: string | null;
  profileName: string | null;
  count: number;
  /** The newest of them, which says in words what it means. */
  example: SignOn;
};

/** What fails most comes first; of equals, what failed last. */
export function groupFailures(records: readonly SignOn[]): Group[] {
  const groups = new Map<string, Group>();
  for (const record of records) {
    const reason = record.reason ?? "unknown";
    const key = `${reason} ${record.profile_id}`;
    const group = groups.get(key);
    if (!group) {
      const { profile_id: profileId, profile_name: profileName } = record;
      groups.set(key, { reason, profileId, profileName, count: 1, example: record });
      continue;
    }
    group.count++;
    if (startOf(record) > startOf(group.example)) group.example = record;
  }
  return [...groups.values()].sort(
    (a, b) => b.count - a.count || startOf(b.example).localeCompare(startOf(a.example)),
  );
}

const startOf = (record: SignOn): string => record.meta.timestamps.started_at;
