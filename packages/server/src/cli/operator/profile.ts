import { readOpenConfig } from "../../config.ts";
import { steadyClock } from "../../lib/clock.ts";
import { getRealmOf, profileKey } from "../../profiles/profile.ts";
import { readProfile, readProfileList } from "../../profiles/read-profiles.ts";
import { presentAtRest } from "../../profiles/resource.ts";
import { getSettings } from "../../realms/settings.ts";
import { type FromStore, fromStore } from "./require-store.ts";
import { listFromStore, type PageGiven, printOne } from "./show-list.ts";

const BACK_OFFICE = { grant: "client_credentials" } as const;

export async function list(given: FromStore & PageGiven & { realm: string | undefined }): Promise<void> {
  const where = { ...readOpenConfig(process.env), clock: steadyClock() };
  await listFromStore(
    given,
    async (deps, storeId, page) => {
      const wanted = given.realm ?? (await getSettings(deps, storeId)).realm_id;
      const reader = { storeId, ...BACK_OFFICE };
      const { profiles, place, realmId } = await readProfileList(deps, reader, wanted, page);
      return {
        rows: profiles.map((profile) => presentAtRest(where, profile)),
        next: place.next?.after,
        empty: `the realm ${realmId} has no identity provider; POST /v2/authentication-realms/${realmId}/oidc-profiles adds one`,
      };
    },
    {
      name: "oidc_profiles",
      head: ["id", "name", "enabled", "flow", "discovery"],
      toCells: ({ id, name, enabled, flow, discovery_url: discoveryUrl }) => [
        id,
        name,
        enabled ? "yes" : "no",
        flow,
        discoveryUrl,
      ],
    },
  );
}

export async function show({ argument, store, json }: FromStore & { argument: string }): Promise<void> {
  const where = { ...readOpenConfig(process.env), clock: steadyClock() };
  const profile = await fromStore(store, async (deps, storeId) => {
    const ids = { realm: await getRealmOf(deps, storeId, argument), id: argument };
    return readProfile(deps, profileKey({ storeId }, ids), BACK_OFFICE);
  });
  const shown = presentAtRest(where, profile);
  const { pending_change: pending } = shown.meta;
  printOne(
    json,
    { oidc_profile: shown },
    {
      id: shown.id,
      name: shown.name,
      realm: profile.realm_id,
      enabled: shown.enabled ? "yes" : "no",
      flow: shown.flow,
      provisioning: shown.provisioning,
      discovery: shown.discovery_url,
      "client id": shown.client_id,
      issuer: shown.meta.issuer ?? "not known yet",
      hosts: shown.meta.endpoint_hosts.join(", ") || "not known yet",
      "next secret": shown.meta.has_next_client_secret ? "there is one" : "none",
      waits: pending ? `a changed document waits for approval since ${pending.since}` : undefined,
      created: shown.meta.created_at,
      updated: shown.meta.updated_at,
      callback: shown.links["callback-endpoint"],
      logout: shown.links["backchannel-logout-endpoint"],
      authorize: shown.links["authorization-endpoint"],
    },
  );
}
