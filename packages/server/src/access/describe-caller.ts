import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/members.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage } from "../storage/storage.ts";
import { getStore } from "../stores/store.ts";

export async function describeCaller(
  deps: { publicUrl: string; storage: Storage; clock: Clock },
  { storeId, holder, role }: Caller,
): Promise<Output<typeof contract.getMe>> {
  // Only public tokens have no role, and the gate refuses those.
  if (role === null) throw new Problem("not_permitted");
  const store = await getStore(deps, storeId);
  return {
    data: {
      id: holder.id,
      type: "caller",
      kind: holder.type,
      name: holder.name,
      ...(holder.type === "member" && { email: holder.email }),
      role,
      store: { id: store.id, name: store.name },
    },
    links: { self: `${deps.publicUrl}/v2/me` },
  };
}
