import type { Storage } from "../../storage/storage.ts";
import type { Calls } from "../calls.ts";
import type { Directory } from "../directory.ts";
import { profileOf } from "../profile.ts";

type Deps = { storage: Storage; calls: Calls; directory: Directory };

/** A round asks so many: each is two requests to somebody else's server. */
const AT_ONCE = 20;

/**
 * Asks providers that gave no answer for their documents, without a shopper who needs them: so one that is dead is known to be
 * down before many were sent there, and one that is back is found within ten seconds, while fewer than a hundred are down.
 * However many are, one that shoppers want is asked at once when it has rested (authorize.ts). Nobody waits for the answers.
 */
export async function probeProviders({ storage, calls, directory }: Deps): Promise<void> {
  const ids = calls.toProbe().slice(0, AT_ONCE);
  if (ids.length === 0) return;
  const rows = await storage.db
    .selectFrom("oidc_profiles")
    .selectAll()
    .where("id", "in", ids)
    .where("enabled", "=", 1)
    .execute();
  // Nobody signs on through one that is not enabled, or gone.
  for (const id of ids) if (!rows.some((row) => row.id === id)) await calls.forget(id);
  for (const row of rows) void directory.probe(profileOf(row));
}
