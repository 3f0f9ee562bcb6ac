import type * as contract from "../contract/application-keys.ts";
import type { Input, Output } from "../contract/operation.ts";
import { pageOf } from "../contract/paging.ts";
import { type Clock, toIso, toIsoOrNull } from "../lib/clock.ts";
import type { Condition, Page } from "../lib/condition.ts";
import { type Given, given } from "../lib/given.ts";
import { readPage } from "../storage/lists/page.ts";
import type { Storage } from "../storage/storage.ts";
import type { Tables } from "../storage/tables.ts";
import { getStore } from "../stores/store.ts";
import { type ApplicationKey, getApplicationKey, withSecrets } from "./application-key.ts";

/** The members of a key that a request can write. */
export type KeyChange = Omit<Writable, "type" | "name"> & { name?: string | undefined };
type Writable = Input<typeof contract.updateApplicationKey>["body"]["data"];

type Deps = { publicUrl: string; storage: Storage; clock: Clock };

const URL_PATH = "/v2/application-keys";

export const keyUrl = ({ publicUrl }: Pick<Deps, "publicUrl">, keyId: string): string =>
  `${publicUrl}${URL_PATH}/${keyId}`;

export const toColumns = (data: KeyChange): Given<Tables["application_keys"]> =>
  given({
    name: data.name,
    reserved_rate_limit: data.reserved_rate_limit,
    role: data.role,
    openid_client: data.openid_client,
  });

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
      created_at: toIso(secret.created_at),
      last_used_at: toIsoOrNull(secret.last_used_at),
      expires_at: toIsoOrNull(secret.expires_at),
    })),
  },
});

export const keyAnswer = (
  deps: Pick<Deps, "publicUrl">,
  key: ApplicationKey,
): Output<typeof contract.getApplicationKey> => ({
  data: applicationKeyResource(key),
  links: { self: keyUrl(deps, key.id) },
});

/** The one answer that has the client secret. */
export const keyWithSecretAnswer = (
  deps: Pick<Deps, "publicUrl">,
  key: ApplicationKey,
  client_secret: string,
): Output<typeof contract.rotateApplicationKey> => ({
  data: { ...applicationKeyResource(key), client_secret },
  links: { self: keyUrl(deps, key.id) },
});

export const showApplicationKey = async (deps: Deps, storeId: string, keyId: string) =>
  keyAnswer(deps, await getApplicationKey(deps, storeId, keyId));

/** A page of keys, oldest first, with the limit of their store. */
export async function listApplicationKeys(
  deps: Deps,
  storeId: string,
  page: Page,
  conditions: readonly Condition[] = [],
): Promise<Output<typeof contract.listApplicationKeys>> {
  const of = { store_id: storeId };
  const { rows, place } = await readPage(deps.storage, "application_keys", of, page, { conditions });
  const { rate_limit, total_reserved_rate_limit } = await getStore(deps, storeId);
  const keys = (await withSecrets(deps, storeId, rows)).map(applicationKeyResource);
  const { meta, ...list } = pageOf(`${deps.publicUrl}${URL_PATH}`, keys, { page, place, conditions });
  return { ...list, meta: { ...meta, total_reserved_rate_limit, rate_limit } };
}
