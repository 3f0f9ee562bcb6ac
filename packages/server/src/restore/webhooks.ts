import { changesOf } from "../events/changes.ts";
import { byOperator } from "../events/event.ts";
import { readHead } from "../events/head.ts";
import { noteEvents } from "../events/note.ts";
import { deleteIntegration } from "../integrations/administer.ts";
import { type IntegrationRow, isEnabled } from "../integrations/integration.ts";
import { integrationResource } from "../integrations/resource.ts";
import type { Clock } from "../lib/clock.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import {
  changeRow,
  idsOf,
  listDifferent,
  listGone,
  type Owned,
  pagesOf,
  type Replaced,
  readRestored,
} from "./replaced.ts";

type Deps = { storage: Storage; clock: Clock };

/** The columns for receiver, event types and secrets. */
const DECIDED = [
  "enabled",
  "disabled_reason",
  "url",
  "observes",
  "sealed_secret",
  "sealed_secret_key",
] as const;
const SECRETS = { sealed_secret: "signing_secret", sealed_secret_key: "configuration.secret_key" } as const;

/** Deleted webhooks are deleted again. The others get their last receiver, event types and state. */
export async function carryWebhooks(deps: Deps, replaced: Replaced): Promise<{ webhooks: number }> {
  let webhooks = 0;
  for await (const page of pagesOf(deps.storage, "integrations")) {
    const gone = await listGone(replaced, "integrations", "integration.deleted", page);
    for (const { id, store_id } of gone) await deleteIntegration(deps, byOperator(store_id), id);
    const changed = await listDifferent(deps.storage, replaced, "integrations", DECIDED, page);
    for (const webhook of changed)
      await deps.storage.transact((trx) => changeWebhook(trx, deps, webhook, webhook.columns));
    webhooks += gone.length + changed.length;
  }
  return { webhooks };
}

/**
 * Without the replaced database it is unknown which webhooks were deleted or had a stolen secret, so all are disabled
 * and an administrator enables them one by one.
 */
export async function disableWebhooks(deps: Deps): Promise<number> {
  let disabled = 0;
  for await (const page of pagesOf(deps.storage, "integrations")) {
    const rows = await readRestored(deps.storage, "integrations", ["enabled"], idsOf(page));
    const enabled = rows.filter(isEnabled);
    for (const row of enabled)
      await deps.storage.transact((trx) =>
        changeWebhook(trx, deps, row, { enabled: 0, disabled_reason: "restored" }),
      );
    disabled += enabled.length;
  }
  return disabled;
}

async function changeWebhook(
  trx: Trx,
  deps: Deps,
  { id, store_id }: Owned,
  columns: Partial<Pick<IntegrationRow, (typeof DECIDED)[number]>>,
): Promise<void> {
  const switched: Partial<IntegrationRow> =
    columns.enabled === 1
      ? {
          due_at: deps.clock.now(),
          sequence: (await readHead(trx, store_id)).last_sequence,
          failing_since: null,
        }
      : columns.enabled === 0
        ? { due_at: null }
        : {};
  const rows = await changeRow(trx, deps, "integrations", { id, store_id }, { ...columns, ...switched });
  const secrets = Object.entries(SECRETS).flatMap(([column, member]) => (column in columns ? [member] : []));
  const resource = integrationResource(deps, rows.after);
  const changes = changesOf(integrationResource(deps, rows.before), resource, secrets);
  if (changes)
    await noteEvents(trx, deps, byOperator(store_id), [
      { type: "integration.updated", subject: id, resource, changes },
    ]);
}
