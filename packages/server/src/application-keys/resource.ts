import type * as contract from "../contract/application-keys.ts";
import type { Input, Output } from "../contract/operation.ts";
import { presentPage, presentPageLinks, toListParameters } from "../contract/paging.ts";
import type { getStoreUsage } from "../contract/store.ts";
import { type Clock, toIso, toIsoOrNull } from "../lib/clock.ts";
import { inForceBy } from "../rate-limit/in-force.ts";
import type { KeyChange } from "./administer.ts";
import type { ApplicationKey, KeyList, KeyWithSecret } from "./application-key.ts";
import type { Foresight } from "./dry-run.ts";
import type { Usage } from "./usage.ts";

type Where = { publicUrl: string };
type Writable = Input<typeof contract.updateApplicationKey>["body"];

export const toKeyChange = ({ data }: Writable): KeyChange => ({
  name: data.name,
  reserved_rate_limit: data.reserved_rate_limit,
  role: data.role,
  openid_client: data.openid_client,
});

const selfUrl = (publicUrl: string, keyId: string): string => `${publicUrl}/v2/application-keys/${keyId}`;

export const applicationKeyResource = (
  key: ApplicationKey,
): Output<typeof contract.getApplicationKey>["data"] => ({
  id: key.id,
  type: "application_key",
  name: key.name,
  client_id: key.client_id,
  reserved_rate_limit: key.reserved_rate_limit,
  role: key.role,
  openid_client: key.openid_client,
  meta: {
    timestamps: {
      last_used_at: toIsoOrNull(key.last_used_at),
      created_at: toIso(key.created_at),
      updated_at: toIso(key.updated_at),
    },
    secrets: key.secrets.map((secret) => ({
      created_at: toIso(secret.createdAt),
      last_used_at: toIsoOrNull(secret.lastUsedAt),
      expires_at: toIsoOrNull(secret.expiresAt),
    })),
  },
});

export const presentKey = (
  { publicUrl }: Where,
  key: ApplicationKey,
): Output<typeof contract.getApplicationKey> => ({
  data: applicationKeyResource(key),
  links: { self: selfUrl(publicUrl, key.id) },
});

/** After a change: also by when the new reservation is in force. */
export const presentChangedKey = (
  app: Where & { clock: Clock },
  key: ApplicationKey,
): Output<typeof contract.updateApplicationKey> => ({
  ...presentKey(app, key),
  meta: { effective_by: inForceBy(app) },
});

export const presentKeyWithSecret = (
  { publicUrl }: Where,
  { key, clientSecret }: KeyWithSecret,
): Output<typeof contract.rotateApplicationKey> => ({
  data: { ...applicationKeyResource(key), client_secret: clientSecret },
  links: { self: selfUrl(publicUrl, key.id) },
});

export const presentNewKey = (
  app: Where & { clock: Clock },
  created: KeyWithSecret,
): Output<typeof contract.createApplicationKey> => ({
  ...presentKeyWithSecret(app, created),
  meta: { effective_by: inForceBy(app) },
});

export const presentKeyList = (
  { publicUrl }: Where,
  { keys, place, page, conditions, store }: KeyList,
): Output<typeof contract.listApplicationKeys> => ({
  data: keys.map((key) => ({ ...applicationKeyResource(key), links: { self: selfUrl(publicUrl, key.id) } })),
  meta: {
    ...presentPage(page, place),
    total_reserved_rate_limit: store.total_reserved_rate_limit,
    rate_limit: store.rate_limit,
  },
  links: presentPageLinks(`${publicUrl}/v2/application-keys`, page, place, toListParameters(conditions)),
});

export const presentForesight = (
  { publicUrl }: Where,
  foresight: Foresight,
): Output<typeof contract.dryRunApplicationKey> => ({
  data: {
    type: "application_key_dry_run",
    observed: { from: toIso(foresight.fromMs), to: toIso(foresight.toMs), seconds: foresight.seconds },
    shared_rate_limit: foresight.shared,
    keys: foresight.keys.map(({ reserved, ...key }) => ({ ...key, reserved_rate_limit: reserved })),
  },
  links: { self: selfUrl(publicUrl, foresight.keyId) },
});

export const presentUsage = (
  { publicUrl }: Where,
  { fromMs, toMs, rateLimit, shared, keys, others }: Usage,
): Output<typeof getStoreUsage> => ({
  data: {
    type: "store-usage",
    from: toIso(fromMs),
    to: toIso(toMs),
    rate_limit: rateLimit,
    shared_pool: shared,
    keys: keys.map(({ keyId, name, reserved, asked, refused }) => ({
      id: keyId,
      name,
      reserved_rate_limit: reserved,
      asked,
      refused,
    })),
    ...(others && { other_keys: others }),
  },
  links: { self: `${publicUrl}/v2/store/usage` },
});
