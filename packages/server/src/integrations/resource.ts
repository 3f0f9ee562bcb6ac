import type { Caller } from "../contract/caller.ts";
import type * as contract from "../contract/integrations.ts";
import type { Input, Output } from "../contract/operation.ts";
import { pageOf } from "../contract/paging.ts";
import { type Clock, toIso, toIsoOrNull } from "../lib/clock.ts";
import type { Page } from "../lib/condition.ts";
import { type Given, given } from "../lib/given.ts";
import type { Keyring } from "../lib/keyring.ts";
import { withoutPath } from "../lib/without-path.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import { getIntegration, type IntegrationRow, isEnabled, type LastDelivery } from "./integration.ts";
import { hasPrevious, openSecretKey, sealSecret } from "./secret.ts";

type Deps = { publicUrl: string; clock: Clock; keyring: Keyring };
type Integration = Output<typeof contract.getIntegration>["data"];

/** The members of an integration that a request can write. */
export type IntegrationChange = Omit<Input<typeof contract.updateIntegration>["body"]["data"], "type">;

const URL_PATH = "/v2/integrations";

export const integrationUrl = ({ publicUrl }: { publicUrl: string }, id: string): string =>
  `${publicUrl}${URL_PATH}/${id}`;

/** The columns that a request writes. `enabled` is missing, because more columns follow from it. */
export const toColumns = (
  deps: { keyring: Keyring },
  id: string,
  { configuration = {}, ...data }: IntegrationChange,
): Given<IntegrationRow> => {
  const { url, format, secret_key: secretKey } = configuration;
  return given({
    name: data.name,
    description: data.description === null ? "" : data.description,
    observes: data.observes && JSON.stringify(data.observes),
    url,
    format,
    sealed_secret_key: secretKey && sealSecret(deps, id, secretKey),
  });
};

const statusOf = (row: IntegrationRow): Integration["meta"]["status"] => {
  if (!isEnabled(row)) return "disabled";
  return row.failing_since === null ? "healthy" : "failing";
};

function lastDeliveryOf({ last_delivery }: IntegrationRow): Integration["meta"]["last_delivery"] {
  if (last_delivery === null) return null;
  const { at, status, reason }: LastDelivery = JSON.parse(last_delivery);
  return { at: toIso(at), delivered: reason === null, status, reason };
}

/**
 * The resource without secrets, for the event log. The URL has no path and query, because these may contain a secret.
 */
export const integrationResource = ({ clock }: { clock: Clock }, row: IntegrationRow) => ({
  id: row.id,
  type: "integration" as const,
  name: row.name,
  description: row.description,
  enabled: isEnabled(row),
  integration_type: "webhook" as const,
  observes: JSON.parse(row.observes) as string[],
  configuration: { url: withoutPath(row.url), format: row.format as Integration["configuration"]["format"] },
  meta: {
    timestamps: { created_at: toIso(row.created_at), updated_at: toIso(row.updated_at) },
    status: statusOf(row),
    failing_since: toIsoOrNull(row.failing_since),
    disabled_reason: row.disabled_reason as Integration["meta"]["disabled_reason"],
    last_delivery: lastDeliveryOf(row),
    previous_secret_until: hasPrevious(row, clock.now()) ? toIsoOrNull(row.previous_until) : null,
    replay:
      row.replay_after === null || row.replay_before === null
        ? null
        : { after: String(row.replay_after), before: String(row.replay_before) },
  },
});

type IntegrationReader = Pick<Caller, "role">;

export const seesSecrets = ({ role }: IntegrationReader): boolean => role === "administrator";

/** Administrators also see the receiver's secret key and the path of its URL. */
const resourceFor = (deps: Deps, reader: IntegrationReader, row: IntegrationRow): Integration => {
  const { configuration, ...members } = integrationResource(deps, row);
  const secrets = seesSecrets(reader)
    ? { url: row.url, secret_key: openSecretKey(deps, row) }
    : { secret_key: null };
  return { ...members, configuration: { ...configuration, ...secrets } };
};

const integrationAnswer = (
  deps: Deps,
  reader: IntegrationReader,
  row: IntegrationRow,
): Output<typeof contract.getIntegration> => ({
  data: resourceFor(deps, reader, row),
  links: { self: integrationUrl(deps, row.id) },
});

/** For operations that only administrators may call. */
export const answerToAdministrator = (deps: Deps, row: IntegrationRow) =>
  integrationAnswer(deps, { role: "administrator" }, row);

export function answerWithSecret(
  deps: Deps,
  row: IntegrationRow,
  signing_secret: string,
): Output<typeof contract.createIntegration> {
  const { data, links } = answerToAdministrator(deps, row);
  return { data: { ...data, signing_secret }, links };
}

type ShowDeps = Deps & { storage: Storage };
type KnownReader = Pick<Caller, "role" | "storeId">;

export const showIntegration = async (deps: ShowDeps, caller: KnownReader, id: string) =>
  integrationAnswer(deps, caller, await getIntegration(deps, caller.storeId, id));

export async function listIntegrations(deps: ShowDeps, caller: KnownReader, page: Page) {
  const { rows, place } = await readPage(deps.storage, "integrations", { store_id: caller.storeId }, page);
  const data = rows.map((row) => resourceFor(deps, caller, row));
  return pageOf(`${deps.publicUrl}${URL_PATH}`, data, { page, place });
}
