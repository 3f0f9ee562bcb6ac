import { byOperator } from "../events/event.ts";
import { readHead } from "../events/head.ts";
import type { EventDraft } from "../events/note.ts";
import { deleteIntegration } from "../integrations/administer.ts";
import { type IntegrationRow, isEnabled } from "../integrations/integration.ts";
import { integrationResource } from "../integrations/resource.ts";
import type { Trx } from "../storage/storage.ts";
import {
  type Changed,
  carryDifferences,
  changeAndNote,
  type Deps,
  idsOf,
  listGone,
  pagesOf,
  type Replaced,
  readRestored,
} from "./replaced.ts";

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
    const gone = await listGone(replaced, "integrations", page);
    for (const { id, store_id } of gone) await deleteIntegration(deps, byOperator(store_id), id);
    webhooks += gone.length;
    webhooks += await carryDifferences(deps, replaced, "integrations", DECIDED, page, changeWebhook);
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
    const columns = { enabled: 0, disabled_reason: "restored" };
    for (const row of enabled)
      await deps.storage.transact((trx) => changeWebhook(trx, deps, { ...row, columns }));
    disabled += enabled.length;
  }
  return disabled;
}

async function changeWebhook(
  trx: Trx,
  deps: Deps,
  { id, store_id, columns }: Changed<Pick<IntegrationRow, (typeof DECIDED)[number]>>,
): Promise<void> {
  const all: Partial<IntegrationRow> = { ...columns };
  if (columns.enabled === 1) {
    all.due_at = deps.clock.now();
    all.sequence = (await readHead(trx, store_id)).last_sequence;
    all.failing_since = null;
  }
  if (columns.enabled === 0) all.due_at = null;
  const secrets = Object.entries(SECRETS).flatMap(([column, member]) => (column in columns ? [member] : []));
  const eventOf = (row: IntegrationRow): EventDraft => ({
    type: "integration.updated",
    subject: id,
    resource: integrationResource(deps, row),
  });
  await changeAndNote(trx, deps, "integrations", { id, store_id, columns: all }, eventOf, secrets);
}
