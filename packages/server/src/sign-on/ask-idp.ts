import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Calls } from "../identity-provider/calls.ts";
import type { Directory } from "../identity-provider/directory.ts";
import type { Metadata } from "../identity-provider/discovery.ts";
import { type ExchangeReason, exchangeCode, type IdpGrant } from "../identity-provider/exchange.ts";
import type { ExpectedNonce } from "../identity-provider/id-token.ts";
import { type Identity, identify } from "../identity-provider/identify.ts";
import type { Profile } from "../identity-provider/profile.ts";
import type { Clock } from "../lib/clock.ts";
import type { InFlight } from "../lib/in-flight.ts";
import type { Keyring } from "../lib/keyring.ts";
import type { Storage } from "../storage/storage.ts";
import { signOnProblem, type Trail, timed } from "./exits.ts";

export type AskDeps = {
  storage: Storage;
  clock: Clock;
  keyring: Keyring;
  directory: Directory;
  calls: Calls;
  /** How many of one source wait for one provider: anybody can bring a made-up code, and must not take all places. */
  perSource: InFlight;
};

type Question = { grant: IdpGrant; nonce: ExpectedNonce; source: string };

/** From an identity provider's code to a person: redeemed there, judged here, every check noted on the trail. */
export async function askIdp(
  deps: AskDeps,
  profile: Profile,
  metadata: Metadata,
  { grant, nonce, source }: Question,
  trail: Trail,
): Promise<Identity> {
  const answer = deps.perSource.run(`${profile.id} ${source}`, async () => {
    const exchanged = await timed(deps, trail, "token", () => exchangeCode(deps, profile, metadata, grant));
    if ("reason" in exchanged) throw signOnProblem(toSignOnReason(exchanged.reason));
    return timed(deps, trail, "identify", () => identify(deps, profile, metadata, exchanged.tokens, nonce));
  });
  if (!answer) throw signOnProblem("source_busy");
  const identified = await answer;
  trail.checks.push(...identified.checks);
  if ("reason" in identified) throw signOnProblem(identified.reason);
  return identified.identity;
}

function toSignOnReason(reason: ExchangeReason): SignOnReason {
  if (reason === "refused") return "token.refused";
  return reason === "client_refused" ? "token.client_refused" : "token.unavailable";
}
