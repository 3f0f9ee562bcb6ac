import type { SignOn, SignOnStatistics } from "@latchkey/sdk/admin";

/** Failures with the same reason at the same provider. */
export type Group = {
  reason: string;
  profileId: string | null;
  /** From the latest record, because the name of a removed provider is only in records. */
  profileName: string | null | undefined;
  count: number;
  /**
   * A record with this reason, of any provider, which explains the reason; undefined if `latest` has none.
   */
  example: SignOn | undefined;
};

/** The largest group comes first. `latest`: records that explain the reasons. */
export function groupFailures({ data }: SignOnStatistics, latest: readonly SignOn[]): Group[] {
  const groups = new Map<string, Group>();
  for (const { profile_id: profileId, reasons } of data)
    for (const [reason, count] of Object.entries(reasons)) {
      const key = `${reason} ${profileId}`;
      const group = groups.get(key);
      if (group) group.count += count;
      else {
        const example =
          latest.find((one) => one.reason === reason && one.profile_id === profileId) ??
          latest.find((one) => one.reason === reason);
        const profileName = latest.find((one) => one.profile_id === profileId)?.profile_name;
        groups.set(key, { reason, profileId, profileName, count, example });
      }
    }
  return [...groups.values()].sort((a, b) => b.count - a.count || a.reason.localeCompare(b.reason));
}
