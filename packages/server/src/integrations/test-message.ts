import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/deliveries.ts";
import { limits } from "../contract/limits.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { byCaller } from "../events/event.ts";
import { toIso } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Log } from "../lib/log.ts";
import { statement } from "../storage/statement.ts";
import type { Storage } from "../storage/storage.ts";
import { type AttemptDeps, attemptOnce } from "./attempt.ts";
import { attemptResource } from "./delivery.ts";
import { getIntegration } from "./integration.ts";
import { messageOf } from "./message.ts";
import { integrationResource } from "./resource.ts";

type Deps = AttemptDeps & {
  storage: Storage;
  publicUrl: string;
  testsUnderWay: Map<string, number>;
  log: Log;
};
type Tested = Output<typeof contract.testIntegration>;

/** Sends one message that is in no log, while the caller waits. */
export async function testIntegration(deps: Deps, caller: Caller, id: string): Promise<Tested> {
  const { clock, testsUnderWay: underWay } = deps;
  const { storeId, actor, requestId } = byCaller(caller);
  const integration = await getIntegration(deps, storeId, id);
  const count = underWay.get(storeId) ?? 0;
  // Limited per store, because each test can wait ten seconds for its receiver.
  if (count >= limits.webhookTestsAtOnce)
    throw new Problem("tests_exceeded", { retryAfterSeconds: limits.webhookCallMs / 1000 });
  underWay.set(storeId, count + 1);
  try {
    const event = {
      specversion: "1.0",
      id: newId(),
      source: `${deps.publicUrl}/v2/store`,
      type: "integration.test",
      subject: id,
      time: toIso(clock.now()),
      datacontenttype: "application/json",
      storeid: storeId,
      data: { resource: integrationResource(deps, integration), actor, request_id: requestId },
    };
    const { attempt } = await attemptOnce(deps, integration, messageOf(integration, event, 1));
    const delivered = attempt.reason === null;
    if (delivered && integration.failing_since !== null) {
      const ended = await endFailing.all(deps.storage.db, { storeId, id, url: integration.url });
      if (ended.length > 0)
        deps.log.info({ event: "integration_recovered", integration_id: id, store_id: storeId });
    }
    return {
      data: { type: "integration-test", id: event.id, delivered, attempt: attemptResource(caller, attempt) },
    };
  } finally {
    const left = (underWay.get(storeId) ?? 1) - 1;
    if (left > 0) underWay.set(storeId, left);
    else underWay.delete(storeId);
  }
}

/**
 * A delivered test ends `failing_since`, because five days of failures only would disable the integration. A test of an
 * earlier URL does not count.
 */
const endFailing = statement((db, of: { storeId: string; id: string; url: string }) =>
  db
    .updateTable("integrations")
    .set({ failing_since: null })
    .where("store_id", "=", of.storeId)
    .where("id", "=", of.id)
    .where("url", "=", of.url)
    .where("failing_since", "is not", null)
    .returning("id"),
);
