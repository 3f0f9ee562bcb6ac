import type { BrowserRequest } from "../contract/browser.ts";
import { isPassedOn, type SignOnReason } from "../contract/sign-on-reasons.ts";
import { findLinkedCustomerId, foreseeRefusal } from "../customers/identities/identity.ts";
import { readCookie } from "../lib/cookie.ts";
import type { Parameters } from "../lib/query-parameters.ts";
import { hashesEqual } from "../lib/secrets.ts";
import { show } from "../lib/show.ts";
import { foreseeMember } from "../members/sign-in.ts";
import type { Metadata } from "../openid/discovery.ts";
import type { Identity } from "../openid/identify.ts";
import { reasonOfRedirect, toIdpAnswer } from "../openid/idp-answer.ts";
import type { Profile } from "../profiles/profile.ts";
import type { Realm } from "../realms/realm.ts";
import { type Attempt, browserCookieNames, digest, idpSecretsOf } from "./attempt.ts";
import { unavailable } from "./authorize.ts";
import { callbackUrl } from "./idp-request.ts";
import { type AskDeps, askIdp } from "./redeem-idp-code.ts";
import { signOnProblem, type Trail, timed } from "./refuse.ts";

/** What the identity provider's redirect brings, from the browser that it must come in to the person that it stands for. */

type Deps = AskDeps & { publicUrl: string };

/** A sign-on ends in the browser in which it began: otherwise somebody could finish another's. */
export function isSameBrowser(
  { publicUrl }: Pick<Deps, "publicUrl">,
  { browserDigest }: Pick<Attempt, "browserDigest">,
  { cookie }: BrowserRequest,
): boolean {
  return browserCookieNames(publicUrl, browserDigest).some((name) => {
    const value = readCookie(cookie, name);
    return value !== undefined && hashesEqual(digest(value), browserDigest);
  });
}

type Returned = {
  attempt: Pick<Attempt, "id" | "idpIssuer">;
  idpState: string;
  answered: Parameters;
  source: string;
};

export async function identifyShopper(
  deps: Deps,
  profile: Profile,
  { attempt, idpState, answered, source }: Returned,
  trail: Trail,
): Promise<Identity> {
  const metadata = await timed(deps, trail, "discovery", () => deps.directory.metadataOf(profile));
  if (!metadata) throw unavailable(deps, profile, trail);
  // A sign-on is finished by whom it was begun with; a profile may have been pointed elsewhere meanwhile.
  if (metadata.issuer !== attempt.idpIssuer) throw signOnProblem("profile_disabled");
  const idpCode = readIdpAnswer(metadata, answered, trail);
  const { idpNonce, idpVerifier } = idpSecretsOf(deps.keyring, idpState, attempt.id);
  const grant = { idpCode, idpVerifier, idpRedirectUri: callbackUrl(deps, profile) };
  return askIdp(deps, profile, metadata, { grant, nonce: { value: idpNonce }, source }, trail);
}

const MAX_IDP_CODE_LENGTH = 4096;

/** The redirect's own parameters. Who answers is looked at first, also when the answer is an error (RFC 9207 2.4). */
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
  const said = { error, description: answered.get("error_description") };
  // Evidence also where it is not believed: some providers name their issuer beside a code, and not beside an error.
  if (error !== undefined) trail.idpAnswer = toIdpAnswer("authorize", {}, said);
  if (!isIssRight) throw signOnProblem(iss === undefined ? "response.iss_missing" : "response.iss_mismatch");
  if (error !== undefined)
    throw signOnProblem(reasonOfRedirect(said), { error: isPassedOn(error) ? error : "server_error" });
  const idpCode = answered.get("code");
  if (idpCode === undefined || idpCode.length > MAX_IDP_CODE_LENGTH)
    throw signOnProblem("response.code_missing");
  return idpCode;
}

/** Whether the customer is the one whom the client expects, where it has said whom. */
export const isHinted = async (
  { storage: { db } }: Pick<Deps, "storage">,
  profile: Profile,
  { hintedCustomerId }: Attempt,
  identity: Identity,
): Promise<boolean> =>
  hintedCustomerId === undefined || (await findLinkedCustomerId(db, profile, identity)) === hintedCustomerId;

/** Why the realm would not let this person in now. The decision that counts is made when the code is traded. */
export const foreseeUnwelcome = (
  { storage: { db } }: Pick<Deps, "storage">,
  profile: Profile,
  realm: Realm,
  identity: Identity,
): Promise<SignOnReason | undefined> =>
  realm.purpose === "members"
    ? foreseeMember(db, profile, identity)
    : foreseeRefusal(db, profile, realm, identity);
