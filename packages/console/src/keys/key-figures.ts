import type { Admin, ApplicationKey, ApplicationKeyDryRun } from "@latchkey/sdk/admin";
import type { Figure } from "../parts/forms/figures.tsx";
import { counted, sentence } from "../parts/text/counts.ts";

/**
 * The requests of a key in the last hour. A dry run that changes nothing counts them in one short answer; the
 * usage of the store would answer with a number for each second of each key.
 */
export const requestsOf = (
  { applicationKeys }: Pick<Admin, "applicationKeys">,
  key: ApplicationKey,
): Figure => ({
  about: "requests with this key",
  read: async () => {
    const { id, name, reserved_rate_limit } = key;
    return requestsInWords((await applicationKeys.dryRun(id, { name, reserved_rate_limit })).data, id);
  },
});

type Played = {
  observed: Pick<ApplicationKeyDryRun["observed"], "from" | "to">;
  keys: readonly Pick<ApplicationKeyDryRun["keys"][number], "id" | "asked">[];
};

/** A service that started less than an hour ago has counted since then only. */
export function requestsInWords({ observed: { from, to }, keys }: Played, keyId: string): string {
  const asked = keys.find(({ id }) => id === keyId)?.asked ?? 0;
  const minutes = Math.round((Date.parse(to) - Date.parse(from)) / 60_000);
  const when =
    minutes >= 59
      ? "in the last hour"
      : minutes > 1
        ? `in the last ${minutes} minutes`
        : "in the last minute";
  return sentence(`${counted(asked, "request")} with this key ${when}.`);
}
