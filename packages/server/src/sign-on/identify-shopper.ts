import { isPassedOn, type SignOnReason } from "../contract/sign-on-reasons.ts";
import { findLinkedCustomerId, foreseeRefusal } from "../customers/identities/settle-identity.ts";
import type { Parameters } from "../lib/query-parameters.ts";
import { show } from "../lib/show.ts";
import { foreseeMember } from "../members/sign-in.ts";
import type { Metadata } from "../openid/discovery.ts";
import type { Identity } from "../openid/identify.ts";
import { reasonOfRedirect, toIdpAnswer } from "../openid/idp-answer.ts";
import type { Profile } from "../profiles/profile.ts";
import type { Realm } from "../realms/realm.ts";
import { type Trail, timed } from "../sign-on-records/trail.ts";
import { idpSecretsOf, type SignOnAttempt } from "./attempt.ts";
import { callbackUrl, unavailable } from "./authorize.ts";
import { type IdpDeps, redeemIdpCode } from "./redeem-idp-code.ts";
import { signOnProblem } from "./refuse.ts";

type Deps = IdpDeps & { publicUrl: string };

type IdpResponse = {
  attempt: Pick<SignOnAttempt, "id" | "idpIssuer">;
  idpState: string;
  answered: Parameters;
  source: string;
};

export async function identifyShopper(
  deps: Deps,
  profile: Profile,
  { attempt, idpState, answered, source }: IdpResponse,
  trail: Trail,
): Promise<Identity> {
  const metadata = await timed(deps, trail, "discovery", () => deps.directory.metadataOf(profile));
  if (!metadata) throw unavailable(deps, profile, trail);
  // The profile may point to another provider since authorize.
  if (metadata.issuer !== attempt.idpIssuer) throw signOnProblem("profile_disabled");
  const idpCode = readIdpAnswer(metadata, answered, trail);
  const { idpNonce, idpVerifier } = idpSecretsOf(deps.keyring, idpState, attempt.id);
  const grant = { idpCode, idpVerifier, idpRedirectUri: callbackUrl(deps, profile) };
  return redeemIdpCode(deps, profile, metadata, { grant, nonce: { value: idpNonce }, source }, trail);
}

const MAX_IDP_CODE_LENGTH = 4096;

/** The parameters of the provider's redirect. `iss` is checked first, for errors too (RFC 9207 2.4). */
function readIdpAnswer(metadata: Metadata, answered: Parameters, trail: Trail): string {
  if (answered.isRepeated("code", "iss", "error")) throw signOnProblem("response.parameter_repeated");
  const iss = answered.get("iss");
  const isIssRight = iss === undefined ? !metadata.sendsIss : iss === metadata.issuer;
  if (iss !== undefined || metadata.sendsIss) {
    trail.checks.push({
      check: "response.iss",
      passed: isIssRight,
      expected: metadata.issuer,
      found: show(iss),
    });
  }
  const error = answered.get("error");
  const refusal = { error, description: answered.get("error_description") };
  // Recorded even if `iss` is wrong: some providers send `iss` with a code and not with an error.
  if (error !== undefined) trail.idpAnswer = toIdpAnswer("authorize", {}, refusal);
  if (!isIssRight) throw signOnProblem(iss === undefined ? "response.iss_missing" : "response.iss_mismatch");
  if (error !== undefined)
    throw signOnProblem(reasonOfRedirect(refusal), { error: isPassedOn(error) ? error : "server_error" });
  const idpCode = answered.get("code");
  if (idpCode === undefined || idpCode.length > MAX_IDP_CODE_LENGTH)
    throw signOnProblem("response.code_missing");
  return idpCode;
}

/** Whether the customer is the one that the client's `id_token_hint` named. True without a hint. */
export const isHinted = async (
  { storage: { db } }: Pick<Deps, "storage">,
  profile: Profile,
  { hintedCustomerId }: SignOnAttempt,
  identity: Identity,
): Promise<boolean> =>
  hintedCustomerId === undefined || (await findLinkedCustomerId(db, profile, identity)) === hintedCustomerId;

/** Why the realm would refuse this person now. The redeem decides again, in its transaction. */
export const foreseeRealmRefusal = (
  { storage: { db } }: Pick<Deps, "storage">,
  profile: Profile,
  realm: Realm,
  identity: Identity,
): Promise<SignOnReason | undefined> =>
  realm.purpose === "members"
    ? foreseeMember(db, profile, identity)
    : foreseeRefusal(db, profile, realm, identity);
