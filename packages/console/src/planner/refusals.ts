import type { Admin, ApplicationKey, ApplicationKeyDryRun } from "@latchkey/sdk/admin";
import type { Figure } from "../parts/forms/figures.tsx";
import { counted, sentence } from "../parts/text/counts.ts";

/** How many requests of the last hour this reservation would have refused. */
export const refusalsOf = (
  { applicationKeys }: Pick<Admin, "applicationKeys">,
  { id, name }: Pick<ApplicationKey, "id" | "name">,
  reserved_rate_limit: number,
): Figure => ({
  about: "requests with this key",
  read: async () =>
    refusalsInWords((await applicationKeys.dryRun(id, { name, reserved_rate_limit })).data, id),
});

type Played = { keys: readonly Pick<ApplicationKeyDryRun["keys"][number], "id" | "asked" | "refused">[] };

export function refusalsInWords({ keys }: Played, keyId: string): string {
  const played = keys.find(({ id }) => id === keyId);
  const asked = played?.asked ?? 0;
  if (!played || asked === 0) return "No request with this key in the last hour.";
  const { before, after } = played.refused;
  return sentence(
    `${counted(asked, "request")} with this key in the last hour: ${after.toLocaleString("en")} would have been refused, and ${before.toLocaleString("en")} ${before === 1 ? "was" : "were"}.`,
  );
}
