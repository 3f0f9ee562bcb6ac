import { createEgress } from "../../src/egress/egress.ts";
import type { IdpClient } from "../../src/openid/client.ts";
import type { Metadata } from "../../src/openid/discovery.ts";
import { createCalls } from "../../src/profiles/calls.ts";
import { Directory } from "../../src/profiles/directory.ts";
import { type Profile, profileOf } from "../../src/profiles/profile.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { HandClock } from "./clock.ts";
import type { HostileIdp } from "./hostile-idp.ts";

type Given = { idp: HostileIdp; storage: Storage; clock: HandClock; callMs?: number };

/**
 * Latchkey as a client of the hostile provider, by the given metadata; without it, the provider's document is read when
 * it is old.
 */
export type ReadyClient = (metadata?: Metadata) => Promise<IdpClient>;

export function newIdpClient({ idp, storage, clock, callMs }: Given): ReadyClient {
  const allowedOrigins = [idp.origin];
  const calls = createCalls({
    egress: createEgress({ allowedOrigins, ...(callMs !== undefined && { callMs }) }),
    clock,
  });
  const directory = new Directory({ storage, clock, calls, allowedOrigins });
  const profile = unstoredProfile(idp);
  return async (metadata) =>
    directory.clientOf(profile, metadata ?? ((await directory.metadataOf(profile)) as Metadata));
}

const unstoredProfile = (idp: HostileIdp): Profile =>
  profileOf({
    id: "profile",
    store_id: "store",
    realm_id: "realm",
    purpose: "customers",
    name: "n",
    discovery_url: idp.discoveryUrl,
    client_id: idp.clientId,
    sealed_client_secret: "",
    sealed_client_secret_next: null,
    enabled: 1,
    flow: "brokered",
    provisioning: "create",
    propagate_logout: 0,
    metadata: null,
    pending_metadata: null,
    pending_since: null,
    former_profile_ids: "[]",
    former_issuers: null,
    issuer_found: null,
    issuer_found_at: null,
    read_at: null,
    told_health: null,
    tokens_from: null,
    refused_logout: null,
    id_token_alg: null,
    created_at: 0,
    updated_at: 0,
  });
