import type * as contract from "../contract/deliveries.ts";
import type { Input } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { readHead } from "../events/head.ts";
import { startAfter } from "../events/read.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { Storage } from "../storage/storage.ts";
import { markDue } from "./due.ts";
import { isEnabled, lockIntegration } from "./integration.ts";
import { answerToAdministrator } from "./resource.ts";

type Deps = { storage: Storage; clock: Clock; publicUrl: string; keyring: Keyring };
type Replay = Input<typeof contract.replayEvents>["body"]["data"];

/** Stores the range to send again. The integration's turns send it page by page, so its length does not matter. */
export function replayEvents(deps: Deps, storeId: string, id: string, { after, before }: Replay) {
  const { storage, clock } = deps;
  return storage.transact(async (trx) => {
    const integration = await lockIntegration(trx, { storeId, id });
    if (!isEnabled(integration)) throw new Problem("integration_disabled");
    if (integration.replay_before !== null) throw new Problem("replay_under_way");
    const from = startAfter(await readHead(trx, storeId), after);
    // Later events are sent without a replay.
    const to = Math.min(before ?? integration.sequence, integration.sequence);
    if (from >= to) return answerToAdministrator(deps, integration);
    const replayed = await trx
      .updateTable("integrations")
      .set({ replay_after: from, replay_before: to })
      .where("store_id", "=", storeId)
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    await markDue.all(trx, { storeId, id, now: clock.now() });
    return answerToAdministrator(deps, replayed);
  });
}
