import type { Caller } from "../contract/caller.ts";
import type * as deliveries from "../contract/deliveries.ts";
import type * as contract from "../contract/integrations.ts";
import type { Input, Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks, toListParameters } from "../contract/paging.ts";
import { type Clock, toIso, toIsoOrNull } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import { withoutPath } from "../lib/without-path.ts";
import type { IntegrationChange, NewIntegration } from "./administer.ts";
import type { Attempt } from "./attempt.ts";
import type { DeliveryList, DeliveryRow } from "./delivery.ts";
import {
  type Format,
  type IntegrationList,
  type IntegrationRow,
  isEnabled,
  type LastDelivery,
} from "./integration.ts";
import { hasPrevious, openSecretKey } from "./secret.ts";

type Deps = { publicUrl: string; clock: Clock; keyring: Keyring };
type Members = Output<typeof contract.getIntegration>["data"];

export const toNewIntegration = ({
  data,
}: Input<typeof contract.createIntegration>["body"]): NewIntegration => ({
  name: data.name,
  description: data.description ?? "",
  enabled: data.enabled ?? true,
  integrationType: data.integration_type,
  observes: data.observes,
  url: data.configuration.url,
  secretKey: data.configuration.secret_key ?? null,
  format: data.configuration.format ?? "cloudevents",
});

export const toIntegrationChange = ({
  data,
}: Input<typeof contract.updateIntegration>["body"]): IntegrationChange => ({
  name: data.name,
  description: data.description === null ? "" : data.description,
  enabled: data.enabled,
  integrationType: data.integration_type,
  observes: data.observes,
  url: data.configuration?.url,
  secretKey: data.configuration?.secret_key,
  format: data.configuration?.format,
});

const selfUrl = ({ publicUrl }: Pick<Deps, "publicUrl">, id: string) => `${publicUrl}/v2/integrations/${id}`;

const statusOf = (row: IntegrationRow): Members["meta"]["status"] => {
  if (!isEnabled(row)) return "disabled";
  return row.failing_since === null ? "healthy" : "failing";
};

function lastDeliveryOf({ last_delivery }: IntegrationRow): Members["meta"]["last_delivery"] {
  if (last_delivery === null) return null;
  const { at, status, reason }: LastDelivery = JSON.parse(last_delivery);
  return { at: toIso(at), delivered: reason === null, status, reason };
}

/**
 * The resource without secrets, for the event log. The URL has no path and query, because these may contain a secret.
 */
export const shown = ({ clock }: Pick<Deps, "clock">, row: IntegrationRow) => ({
  id: row.id,
  type: "integration" as const,
  name: row.name,
  description: row.description,
  enabled: isEnabled(row),
  integration_type: "webhook" as const,
  observes: JSON.parse(row.observes) as string[],
  configuration: { url: withoutPath(row.url), format: row.format as Format },
  meta: {
    timestamps: { created_at: toIso(row.created_at), updated_at: toIso(row.updated_at) },
    status: statusOf(row),
    failing_since: toIsoOrNull(row.failing_since),
    disabled_reason: row.disabled_reason as Members["meta"]["disabled_reason"],
    last_delivery: lastDeliveryOf(row),
    previous_secret_until: hasPrevious(row, clock.now()) ? toIsoOrNull(row.previous_until) : null,
    replay:
      row.replay_after === null || row.replay_before === null
        ? null
        : { after: String(row.replay_after), before: String(row.replay_before) },
  },
});

type Reader = Pick<Caller, "role">;

const seesSecrets = ({ role }: Reader): boolean => role === "administrator";

/** Administrators also see the receiver's secret key and the path of its URL. */
const presentMembers = (deps: Deps, reader: Reader, row: IntegrationRow): Members => {
  const members = shown(deps, row);
  const { configuration } = members;
  const secrets = seesSecrets(reader)
    ? { url: row.url, secret_key: openSecretKey(deps, row) }
    : { secret_key: null };
  return { ...members, configuration: { ...configuration, ...secrets } };
};

export const presentIntegration = (
  deps: Deps,
  reader: Reader,
  row: IntegrationRow,
): Output<typeof contract.getIntegration> => ({
  data: presentMembers(deps, reader, row),
  links: { self: selfUrl(deps, row.id) },
});

export const presentWithSecret = (
  deps: Deps,
  reader: Reader,
  { row, signingSecret }: { row: IntegrationRow; signingSecret: string },
): Output<typeof contract.createIntegration> => ({
  data: { ...presentMembers(deps, reader, row), signing_secret: signingSecret },
  links: { self: selfUrl(deps, row.id) },
});

export const presentIntegrationList = (
  deps: Deps,
  reader: Reader,
  { rows, place, page }: IntegrationList,
): Output<typeof contract.listIntegrations> => ({
  data: rows.map((row) => ({ ...presentMembers(deps, reader, row), links: { self: selfUrl(deps, row.id) } })),
  meta: presentPage(page, place),
  links: presentPageLinks(`${deps.publicUrl}/v2/integrations`, page, place),
});

/**
 * Administrators see a receiver's answer, because a receiver may echo what it was sent, in any spelling: the secret
 * key, and members' addresses. Other roles see the result and the duration.
 */
export const presentAttempt = (reader: Reader, { at, answer, ...attempt }: Attempt) => ({
  ...attempt,
  at: toIso(at),
  answer: seesSecrets(reader) ? answer : null,
});

type Delivery = Output<typeof deliveries.redeliver>["data"];

export const presentDelivery = (reader: Reader, row: DeliveryRow): Delivery => ({
  id: row.id,
  type: "integration-delivery",
  status: row.status as Delivery["status"],
  reason: row.reason as Delivery["reason"],
  event: { id: row.event_id, type: row.type, subject: row.subject, sequence: String(row.sequence) },
  attempts: (JSON.parse(row.attempts) as Attempt[]).map((attempt) => presentAttempt(reader, attempt)),
  next_attempt_at: row.next_attempt_at ? toIso(row.next_attempt_at) : null,
  meta: { timestamps: { created_at: toIso(row.created_at), updated_at: toIso(row.updated_at) } },
});

export const presentDeliveryList = (
  deps: Deps,
  reader: Reader,
  { integrationId, rows, place, page, conditions }: DeliveryList,
): Output<typeof deliveries.listDeliveries> => ({
  data: rows.map((row) => presentDelivery(reader, row)),
  meta: presentPage(page, place),
  links: presentPageLinks(
    `${selfUrl(deps, integrationId)}/deliveries`,
    page,
    place,
    toListParameters(conditions),
  ),
});
