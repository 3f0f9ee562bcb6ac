import type { Traces } from "../contract/traces.ts";
import type { EmailDigests } from "../customers/email-digest.ts";
import type { Clock } from "../lib/clock.ts";
import type { FairPlaces } from "../lib/fair-places.ts";
import type { Keyring } from "../lib/keyring.ts";
import { networkOf } from "../lib/source-address.ts";
import type { Metadata } from "../openid/discovery.ts";
import { exchangeCode, type IdpGrant } from "../openid/exchange.ts";
import type { ExpectedNonce } from "../openid/id-token.ts";
import { type Identity, identify } from "../openid/identify.ts";
import type { Calls } from "../profiles/calls.ts";
import type { Directory } from "../profiles/directory.ts";
import { noteAlgorithm } from "../profiles/id-token-alg.ts";
import type { Profile } from "../profiles/profile.ts";
import type { Storage } from "../storage/storage.ts";
import { signOnProblem, type Trail, timed } from "./refuse.ts";

export type AskDeps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  directory: Directory;
  calls: Calls;
  /** At each provider, shared between networks: anybody can bring a made-up code, and must not take all of them. */
  places: FairPlaces;
  emailDigests: EmailDigests;
  traces: Traces | undefined;
};

type Question = { grant: IdpGrant; nonce: ExpectedNonce; source: string };

/**
 * From an identity provider's code to a person: redeemed there, judged here, every check noted on the trail. One place is held
 * all the way, so that nobody who has begun is turned away half-way. A shopper who leaves meanwhile keeps theirs to the end,
 * which the limits on waiting and on each request make short; it is their own network that has one less.
 */
export async function askIdp(
  deps: AskDeps,
  profile: Profile,
  metadata: Metadata,
  { grant, nonce, source }: Question,
  trail: Trail,
): Promise<Identity> {
  const leave = await timed(deps, trail, "wait", () => deps.places.enter(profile.id, networkOf(source)));
  if (!leave) throw signOnProblem("source_busy");
  try {
    const exchanged = await timed(deps, trail, "token", () => exchangeCode(deps, profile, metadata, grant));
    if ("reason" in exchanged) {
      trail.idpAnswer = exchanged.answer;
      trail.checks.push(...(exchanged.checks ?? []));
      throw signOnProblem(exchanged.reason);
    }
    const { tokens } = exchanged;
    const identified = await timed(deps, trail, "identify", () =>
      identify({ ...deps, calls: deps.calls.aboutCodes }, profile, metadata, tokens, nonce),
    );
    trail.checks.push(...identified.checks);
    const email = "identity" in identified ? identified.identity.email : identified.email;
    // A fact for the record: no sign-on fails for want of it.
    if (email !== undefined)
      trail.facts.emailDigest = await deps.emailDigests.of(trail.storeId, email).catch(() => null);
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
