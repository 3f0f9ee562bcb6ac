import type { Traces } from "../contract/traces.ts";
import type { EmailDigests } from "../customers/email-digest.ts";
import type { Clock } from "../lib/clock.ts";
import type { FairPlaces } from "../lib/fair-places.ts";
import type { Keyring } from "../lib/keyring.ts";
import { networkOf } from "../lib/source-address.ts";
import type { Metadata } from "../openid/discovery.ts";
import type { IdpGrant } from "../openid/exchange.ts";
import type { ExpectedNonce } from "../openid/id-token.ts";
import { type Identity, identify } from "../openid/identify.ts";
import type { Calls } from "../profiles/calls.ts";
import { exchangeWithSecrets } from "../profiles/client-secret.ts";
import type { Directory } from "../profiles/directory.ts";
import type { Profile } from "../profiles/profile.ts";
import { noteAlgorithm } from "../profiles/save-documents.ts";
import { type Trail, timed } from "../sign-on-records/trail.ts";
import type { Storage } from "../storage/storage.ts";
import { signOnProblem } from "./refuse.ts";

export type IdpDeps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  directory: Directory;
  calls: Calls;
  /** Concurrent calls of a provider, shared fairly between networks: made-up codes must not take all places. */
  places: FairPlaces;
  emailDigests: EmailDigests;
  traces: Traces | undefined;
};

type IdpCodeRequest = { grant: IdpGrant; nonce: ExpectedNonce; source: string };

/**
 * Redeems a code at the identity provider and verifies the answer; every check is noted on the trail. The sign-on holds
 * one place in the provider's queue to the end, even if the shopper leaves: that place counts against the shopper's own
 * network.
 */
export async function redeemIdpCode(
  deps: IdpDeps,
  profile: Profile,
  metadata: Metadata,
  { grant, nonce, source }: IdpCodeRequest,
  trail: Trail,
): Promise<Identity> {
  const leave = await timed(deps, trail, "wait", () => deps.places.enter(profile.id, networkOf(source)));
  if (!leave) throw signOnProblem("source_busy");
  try {
    const client = deps.directory.clientOf(profile, metadata);
    const exchanged = await timed(deps, trail, "token", () =>
      exchangeWithSecrets(deps, profile, client, grant),
    );
    if ("reason" in exchanged) {
      trail.idpAnswer = exchanged.answer;
      trail.checks.push(...(exchanged.checks ?? []));
      throw signOnProblem(exchanged.reason);
    }
    const { tokens } = exchanged;
    const identified = await timed(deps, trail, "identify", () => identify(client, tokens, nonce));
    trail.checks.push(...identified.checks);
    const email = "identity" in identified ? identified.identity.email : identified.email;
    // For the record only: without the digest the sign-on continues.
    if (email !== undefined)
      trail.facts.email_digest = await deps.emailDigests.of(trail.storeId, email).catch(() => null);
    if ("reason" in identified) {
      trail.idpAnswer = identified.answer;
      throw signOnProblem(identified.reason);
    }
    await noteAlgorithm(deps, profile, identified.algorithm);
    return identified.identity;
  } finally {
    leave();
  }
}
