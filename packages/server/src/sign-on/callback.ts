import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { isPassedOn } from "../contract/sign-on-reasons.ts";
import { foreseeRefusal } from "../customers/identity.ts";
import type { Metadata } from "../identity-provider/discovery.ts";
import type { Identity } from "../identity-provider/identify.ts";
import { reasonOfRedirect, toIdpAnswer } from "../identity-provider/idp-answer.ts";
import type { Profile } from "../identity-provider/profile.ts";
import { readCookie } from "../lib/cookie.ts";
import { newId } from "../lib/ids.ts";
import { hashesEqual } from "../lib/secrets.ts";
import { show } from "../lib/show.ts";
import { foreseeMember } from "../members/sign-in.ts";
import type { Realm } from "../realms/realm.ts";
import { type AskDeps, askIdp } from "./ask-idp.ts";
import { type Attempt, browserCookieName, digest, idpSecretsOf, openAttempt, type Place } from "./attempt.ts";
import { callbackUrl, refuseUnusable, unavailable } from "./authorize.ts";
import { claimAttempt, failAttempt, issueCode } from "./code.ts";
import {
  headOf,
  redirectProblemsTo,
  redirectToClient,
  refuseWithPage,
  signOnProblem,
  startTrail,
  type Trail,
  timed,
  unrecordedPage,
} from "./exits.ts";
import { type Parameters, readParameters } from "./parameters.ts";
import type { Recorder } from "./record.ts";
import type { RecordLimiter } from "./record-limiter.ts";
import { findPlace } from "./sign-on-place.ts";

type Deps = AskDeps & {
  publicUrl: string;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  codeSeconds: number;
};

type Ids = { store: string; realm: string; profile: string };

/**
 * The identity provider has sent the shopper back. Path, sealed state and browser must agree before anything is done;
 * then the attempt is claimed by its id, so that of any number of callbacks one goes on.
 */
export async function callback(deps: Deps, ids: Ids, request: BrowserRequest): Promise<BrowserAnswer> {
  const answered = readParameters(request.search);
  const place: Place = { storeId: ids.store, realmId: ids.realm, profileId: ids.profile };
  const found = await findPlace(deps.storage.db, place);
  if (!found) throw new Problem("realm_not_found");
  const { realm, profile, endedBefore } = found;
  const idpState = answered.get("state") ?? "";
  const opened = answered.isRepeated("state") ? undefined : openAttempt(deps, place, idpState);
  // What belongs to no attempt of ours leaves no record. Any other page has one of its own: whoever comes without the
  // browser, or too late, must not write over what became of the attempt.
  const { source } = request;
  const pageTrail = startTrail(newId(), place, { startedAt: deps.clock.now(), source });
  const refusePage = (code: PageCode) => refuseWithPage(deps, pageTrail, new Problem(code));
  if (!opened) {
    deps.recorder.count("failed", "attempt_invalid");
    throw unrecordedPage(pageTrail, new Problem("attempt_invalid"));
  }
  const { attempt } = opened;
  deps.traces?.join("callback", attempt.id);
  if (opened.isExpired || attempt.startedAt < endedBefore) return refusePage("attempt_expired");
  if (!isSameBrowser(deps, attempt, request)) return refusePage("browser_changed");
  // The URI is still registered, or there is nowhere to go back to.
  const clientRedirectUri = realm.redirectUris.find((uri) => digest(uri) === attempt.clientRedirectDigest);
  if (clientRedirectUri === undefined) return refusePage("redirect_uri_unregistered");

  const client = { clientRedirectUri, clientState: attempt.clientState };
  const trail = startTrail(attempt.id, place, { startedAt: attempt.startedAt, source });
  const work = async (): Promise<BrowserAnswer> => {
    if (!(await claimAttempt(deps, place, attempt, clientRedirectUri)))
      throw signOnProblem("callback_replay");
    try {
      trail.profile = profile;
      refuseUnusable(profile);
      const returned = { attempt, idpState, answered, source };
      const identity = judgeAge(deps, attempt, await identifyShopper(deps, profile, returned, trail), trail);
      await refuseUnwelcome(deps, profile, realm, identity);
      const clientCode = await timed(deps, trail, "write", () =>
        issueCode(deps, place, attempt.id, identity),
      );
      const { checks, timings } = trail;
      deps.recorder.count("code_issued");
      deps.recorder.note({
        ...headOf(trail),
        outcome: "code_issued",
        reason: null,
        error: null,
        checks,
        timings,
      });
      return { location: redirectToClient(deps, place, client, { code: clientCode }) };
    } catch (error) {
      await failAttempt(deps, place, attempt.id);
      throw error;
    }
  };
  return redirectProblemsTo(deps, client, trail, work);
}

type PageCode = "attempt_expired" | "browser_changed" | "redirect_uri_unregistered";

/** A sign-on ends in the browser in which it began: otherwise somebody could finish another's. */
function isSameBrowser({ publicUrl }: Deps, attempt: Attempt, { cookie }: BrowserRequest): boolean {
  const value = readCookie(cookie, browserCookieName(publicUrl));
  return value !== undefined && hashesEqual(digest(value), attempt.browserDigest);
}

type Returned = { attempt: Attempt; idpState: string; answered: Parameters; source: string };

async function identifyShopper(
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

/**
 * With `max_age` the shopper must have shown who they are no longer ago than that when the sign-on began, by the provider's own
 * word (Core 3.1.2.1). Without it that word plays no part (requirement 9), and is forgotten here.
 */
function judgeAge(
  { clock }: Deps,
  { maxAge, startedAt }: Attempt,
  { authTime, ...identity }: Identity,
  trail: Trail,
): Identity {
  if (maxAge === undefined) return identity;
  const [earliestMs, latestMs] = [startedAt - maxAge * 1000 - SKEW_MS, clock.now() + SKEW_MS];
  const atMs = (authTime ?? Number.NaN) * 1000;
  const passed = atMs >= earliestMs && atMs <= latestMs;
  trail.checks.push({
    check: "id_token.auth_time",
    passed,
    expected: `at most ${maxAge} seconds before the sign-on`,
    found: authTime === undefined ? "absent" : `${Math.round((startedAt - atMs) / 1000)} seconds before`,
  });
  if (authTime === undefined) throw signOnProblem("id_token.auth_time_missing");
  if (!passed) throw signOnProblem("id_token.auth_time");
  return { ...identity, authTime };
}

const SKEW_MS = limits.clockSkewSeconds * 1000;
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
  if (!isIssRight) throw signOnProblem(iss === undefined ? "response.iss_missing" : "response.iss_mismatch");
  const error = answered.get("error");
  if (error !== undefined) {
    const said = { error, description: answered.get("error_description") };
    trail.idpAnswer = toIdpAnswer("authorize", {}, said);
    throw signOnProblem(reasonOfRedirect(said), { idpError: isPassedOn(error) ? error : "server_error" });
  }
  const idpCode = answered.get("code");
  if (idpCode === undefined || idpCode.length > MAX_IDP_CODE_LENGTH)
    throw signOnProblem("response.code_missing");
  return idpCode;
}

/** Whom the exchange would refuse is told at once, while there is a storefront's page to tell it on. */
async function refuseUnwelcome(
  { storage }: Deps,
  profile: Profile,
  realm: Realm,
  identity: Identity,
): Promise<void> {
  const reason =
    realm.purpose === "members"
      ? await foreseeMember(storage.db, profile, identity)
      : await foreseeRefusal(storage.db, profile, realm, identity);
  if (reason) throw signOnProblem(reason);
}
