import { keyAnswer as answerOfKey } from "../../packages/server/src/application-keys/resource.ts";
import { customerOf } from "../../packages/server/src/customers/customer.ts";
import { customerAnswer as answerOfCustomer } from "../../packages/server/src/customers/resource.ts";
import { steadyClock } from "../../packages/server/src/lib/clock.ts";
import type { Metadata } from "../../packages/server/src/openid/discovery.ts";
import { profileOf } from "../../packages/server/src/profiles/profile.ts";
import { presentProfileList } from "../../packages/server/src/profiles/resource.ts";
import { settingsAnswer as answerOfSettings } from "../../packages/server/src/realms/settings-resource.ts";
import type { Tables } from "../../packages/server/src/storage/tables.ts";

/** The answers of a yardstick, made with Latchkey's own functions, so that they have the same bytes. */

type Where = { publicUrl: string };

export const settingsAnswer = (where: Where, row: Tables["customer_authentication_settings"]) =>
  answerOfSettings(where, { store_id: row.store_id, client_id: row.client_id, realm_id: row.realm_id });

const READER = { grant: "implicit" } as const;
const PAGE = { limit: 25, offset: 0 };
const PLACE = { offset: 0, total: 1, isAtLeast: false, next: undefined };
const calls = { healthOf: () => ({ status: "up", since: 0 }) as const };
const clock = steadyClock();

export const profilesAnswer = ({ publicUrl }: Where, row: Tables["oidc_profiles"]) =>
  presentProfileList({ publicUrl, calls, clock }, READER, {
    profiles: [profileOf(row)],
    place: PLACE,
    page: PAGE,
    realmId: row.realm_id,
  });

/** The saved metadata of the identity provider. */
export const metadataOf = (idp: string): string =>
  JSON.stringify({
    issuer: idp,
    authorizationEndpoint: `${idp}/authorize`,
    tokenEndpoint: `${idp}/token`,
    jwksUri: `${idp}/jwks`,
    userinfoEndpoint: null,
    signingAlgorithms: ["RS256"],
    sendsIss: false,
    supportsS256: true,
  } satisfies Metadata);

/** A key with its secret. */
type KeyRow = Tables["application_keys"] & {
  secret_created_at: number;
  secret_last_used_at: number | null;
};

export const keyAnswer = (where: Where, row: KeyRow) =>
  answerOfKey(where, {
    id: row.id,
    store_id: row.store_id,
    name: row.name,
    client_id: row.client_id,
    reserved_rate_limit: row.reserved_rate_limit,
    role: row.role as "administrator",
    openid_client: row.openid_client as "pkce",
    last_used_at: row.last_used_at,
    created_at: row.created_at,
    updated_at: row.updated_at,
    secrets: [{ created_at: row.secret_created_at, last_used_at: row.secret_last_used_at, expires_at: null }],
  });

export const customerAnswer = (where: Where, row: Tables["customers"]) =>
  answerOfCustomer(where, customerOf(row));
