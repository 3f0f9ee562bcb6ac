import type { Storage } from "../../storage/storage.ts";
import type { Calls } from "../calls.ts";
import type { Directory } from "../directory.ts";
import { profileOf } from "../profile.ts";

type Deps = { storage: Storage; calls: Calls; directory: Directory };

/** Providers per round: each gets two requests. */
const AT_ONCE = 20;

/**
 * Reads the documents of providers that gave no answer, although no shopper needs them now. So a dead provider is known
 * to be down before many shoppers are sent there, and a provider that answers again is found within ten seconds, while
 * fewer than a hundred are down. A provider that a shopper chooses gets a request at once when it has rested
 * (authorize.ts). The answers are not awaited.
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
  // No shopper signs on through a profile that is disabled or deleted.
  for (const id of ids) if (!rows.some((row) => row.id === id)) await calls.forget(id);
  for (const row of rows) void directory.probe(profileOf(row));
}
