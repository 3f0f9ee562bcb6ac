import type * as contract from "../contract/integrations.ts";
import { limits } from "../contract/limits.ts";
import type { Input, Output } from "../contract/operation.ts";
import { type Fault, Problem } from "../contract/problem.ts";
import { isAllowedUrl } from "../egress/address-rules.ts";
import { changesOf } from "../events/changes.ts";
import type { By } from "../events/event.ts";
import { readHead } from "../events/head.ts";
import { noteEvents } from "../events/note.ts";
import { originsFor } from "../lib/allowed-origins.ts";
import type { Clock } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { atMost } from "../storage/at-most.ts";
import { laterThan } from "../storage/later-than.ts";
import type { Storage, Trx } from "../storage/storage.ts";
import { changeStore } from "../stores/store.ts";
import { BEHIND } from "./due.ts";
import { type IntegrationRow, isEnabled, lockIntegration, typesOf } from "./integration.ts";
import {
  answerToAdministrator,
  answerWithSecret,
  type IntegrationChange,
  integrationResource,
  toColumns,
} from "./resource.ts";
import { newSigningSecret, openSecretKey, rotatedOut, sealSecret } from "./secret.ts";

type Deps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  allowedOrigins: readonly string[];
  publicUrl: string;
};
type WithSecret = Output<typeof contract.createIntegration>;
type NewIntegration = Omit<Input<typeof contract.createIntegration>["body"]["data"], "type">;

const NEW_INTEGRATION = { description: "", format: "cloudevents", lease_until: 0, is_slow: 0 };

export async function createIntegration(deps: Deps, by: By, data: NewIntegration): Promise<WithSecret> {
  refuseFaults(deps, by, data);
  const { url } = data.configuration;
  // The contract requires a URL for webhooks, and other types were refused above.
  if (url === undefined) throw new Problem("integration_type_unsupported");
  const { storeId } = by;
  const id = newId();
  const signingSecret = newSigningSecret();
  // Under the store's lock, so that of two requests at the limit only one creates an integration.
  const row = await changeStore(deps, storeId, async (trx) => {
    await refuseTooMany(trx, storeId);
    const now = deps.clock.now();
    const created = await trx
      .insertInto("integrations")
      .values({
        ...NEW_INTEGRATION,
        name: data.name,
        url,
        observes: JSON.stringify(data.observes),
        ...toColumns(deps, id, data),
        id,
        store_id: storeId,
        enabled: data.enabled === false ? 0 : 1,
        sealed_secret: sealSecret(deps, id, signingSecret),
        // The integration starts at the end of the log. Its own event is numbered later, and makes it due.
        sequence: (await readHead(trx, storeId)).last_sequence,
        created_at: now,
        updated_at: now,
      })
      .returningAll()
      .executeTakeFirstOrThrow();
    const resource = integrationResource(deps, created);
    await noteEvents(trx, deps, by, [{ type: "integration.created", subject: id, resource }]);
    return created;
  });
  if (!row) throw new Problem("token_invalid");
  return answerWithSecret(deps, row, signingSecret);
}

async function refuseTooMany(trx: Trx, storeId: string): Promise<void> {
  const { count } = await trx
    .selectFrom("integrations")
    .select(({ fn }) => fn.countAll<number>().as("count"))
    .where("store_id", "=", storeId)
    .executeTakeFirstOrThrow();
  if (count >= limits.integrations)
    throw new Problem("too_many_integrations", { meta: { integrations: limits.integrations } });
}

/** Reports all faults in one answer. */
function refuseFaults({ allowedOrigins }: Deps, { storeId }: By, data: IntegrationChange): void {
  const faults: Fault[] = [];
  const type = data.integration_type;
  if (type !== undefined && type !== "webhook")
    faults.push({ code: "integration_type_unsupported", source: { pointer: "/data/integration_type" } });
  const url = data.configuration?.url;
  const origins = originsFor(allowedOrigins, { purpose: "webhook", storeId });
  if (url !== undefined && !isAllowedUrl(url, origins))
    faults.push({ code: "webhook_url_not_allowed", source: { pointer: "/data/configuration/url" } });
  for (const [at, pattern] of (data.observes ?? []).entries())
    if (typesOf([pattern]).length === 0)
      faults.push({ code: "event_type_unknown", source: { pointer: `/data/observes/${at}` } });
  const [first, ...others] = faults;
  if (first) throw Problem.of([first, ...others]);
}

export async function updateIntegration(deps: Deps, by: By, id: string, data: IntegrationChange) {
  refuseFaults(deps, by, data);
  const { url, secret_key } = data.configuration ?? {};
  const row = await changeIntegration(deps, by, id, {
    secrets: (before) => [
      ...(isAnother(secret_key, openSecretKey(deps, before)) ? ["configuration.secret_key"] : []),
      ...(isAnother(url, before.url) ? ["configuration.url"] : []),
    ],
    columns: async (trx, before) => ({
      ...toColumns(deps, id, data),
      ...(data.observes && { sequence: await passedOver(trx, before) }),
      // A new URL is another receiver, which has not failed yet.
      ...(isAnother(url, before.url) && { failing_since: null, is_slow: 0 }),
      ...(await switched(trx, deps, before, data.enabled)),
    }),
  });
  return answerToAdministrator(deps, row);
}

const isAnother = <T>(given: T | undefined, before: T): boolean => given !== undefined && given !== before;

/**
 * Events from before the change are not sent: the integration continues with the first event that matches the old
 * patterns, or from the end of this range. An integration further behind than the range loses nothing.
 */
async function passedOver(trx: Trx, before: IntegrationRow): Promise<number> {
  const { store_id, sequence, observes } = before;
  // A disabled integration keeps its position, and enabling it moves the position to the end of the log.
  if (!isEnabled(before)) return sequence;
  const types = new Set(typesOf(JSON.parse(observes)));
  const next = await trx
    .selectFrom("events")
    .select(["sequence", "type"])
    .where("store_id", "=", store_id)
    .where("sequence", ">", sequence)
    .orderBy("sequence")
    .limit(atMost(2 * BEHIND))
    .execute();
  const first = next.find(({ type }) => types.has(type));
  return first ? first.sequence - 1 : (next.at(-1)?.sequence ?? sequence);
}

/**
 * An integration that is enabled again gets its undelivered messages and new events, and no events from the time when
 * it was disabled.
 */
async function switched(
  trx: Trx,
  { clock }: Pick<Deps, "clock">,
  before: IntegrationRow,
  enabled: boolean | undefined,
): Promise<Partial<IntegrationRow>> {
  if (enabled === undefined || enabled === isEnabled(before)) return {};
  if (!enabled) return { enabled: 0, due_at: null, disabled_reason: null };
  return {
    enabled: 1,
    sequence: (await readHead(trx, before.store_id)).last_sequence,
    due_at: clock.now(),
    failing_since: null,
    disabled_reason: null,
    is_slow: 0,
  };
}

/** For the command line, which has no master key to open secrets. An enabled integration stays enabled. */
export function enableIntegration(deps: Pick<Deps, "storage" | "clock">, by: By, id: string) {
  return changeIntegration(deps, by, id, {
    secrets: () => [],
    columns: (trx, before) => switched(trx, deps, before, true),
  });
}

/** The new secret signs at once, and the previous secret signs beside it for a day. */
export async function rotateSigningSecret(deps: Deps, by: By, id: string): Promise<WithSecret> {
  const signingSecret = newSigningSecret();
  const row = await changeIntegration(deps, by, id, {
    secrets: () => ["signing_secret"],
    columns: async (_, before) => ({
      sealed_secret: sealSecret(deps, id, signingSecret),
      ...rotatedOut(deps, before, deps.clock.now()),
    }),
  });
  return answerWithSecret(deps, row, signingSecret);
}

type RowChange = {
  /** The changed members that `integrationResource` does not show. */
  secrets(before: IntegrationRow): readonly string[];
  columns(trx: Trx, before: IntegrationRow): Promise<Partial<IntegrationRow>>;
};

function changeIntegration(deps: Pick<Deps, "storage" | "clock">, by: By, id: string, change: RowChange) {
  const { storage, clock } = deps;
  return storage.transact(async (trx) => {
    const before = await lockIntegration(trx, { storeId: by.storeId, id });
    const after = await trx
      .updateTable("integrations")
      .set({ ...(await change.columns(trx, before)), updated_at: laterThan("updated_at", clock.now()) })
      .where("store_id", "=", by.storeId)
      .where("id", "=", id)
      .returningAll()
      .executeTakeFirstOrThrow();
    const resource = integrationResource(deps, after);
    const changes = changesOf(integrationResource(deps, before), resource, change.secrets(before));
    if (changes)
      await noteEvents(trx, deps, by, [{ type: "integration.updated", subject: id, resource, changes }]);
    return after;
  });
}

/** Its deliveries may be many, so forget.ts deletes them afterwards. */
export async function deleteIntegration(
  deps: Pick<Deps, "storage" | "clock">,
  by: By,
  id: string,
): Promise<undefined> {
  await deps.storage.transact(async (trx) => {
    const { numDeletedRows } = await trx
      .deleteFrom("integrations")
      .where("store_id", "=", by.storeId)
      .where("id", "=", id)
      .executeTakeFirst();
    if (numDeletedRows === 0n) throw new Problem("integration_not_found");
    await trx.insertInto("deleted_integrations").values({ id, store_id: by.storeId }).execute();
    const resource = { type: "integration", id };
    await noteEvents(trx, deps, by, [{ type: "integration.deleted", subject: id, resource }]);
  });
}
