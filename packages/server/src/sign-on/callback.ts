import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { newId } from "../lib/ids.ts";
import { readParameters } from "../lib/query-parameters.ts";
import { newCredential } from "../lib/secrets.ts";
import type { Identity } from "../openid/identify.ts";
import { shopOf } from "../realms/shop.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { type Attempt, digest, isOver, openAttempt, type Place } from "./attempt.ts";
import { refuseUnusable } from "./authorize.ts";
import { claimAttempt, failAttempt, hasRecord, issueCode } from "./claim-attempt.ts";
import { foreseeUnwelcome, identifyShopper, isHinted, isSameBrowser } from "./identify-shopper.ts";
import type { AskDeps } from "./redeem-idp-code.ts";
import {
  type PageCode,
  recordOf,
  redirectProblemsTo,
  redirectToClient,
  refuseWithPage,
  signOnProblem,
  startTrail,
  type Trail,
  timed,
} from "./refuse.ts";
import { type KnownPaths, recallPath } from "./sign-on-path.ts";
import { finishTest, openTestAttempt } from "./test-sign-on.ts";

type Deps = AskDeps & {
  publicUrl: string;
  knownPlaces: KnownPaths;
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
  const found = await recallPath(deps, place);
  if (!found) throw new Problem("realm_not_found");
  const { realm, profile, endedBefore } = found;
  request.cameFrom(shopOf(deps, realm));
  const idpState = answered.isRepeated("state") ? "" : (answered.get("state") ?? "");
  const attempt = openAttempt(deps.keyring, place, idpState);
  // A page has a record of its own: whoever comes without the browser, or too late, must not write over what became of
  // the attempt.
  const refusePage = (code: PageCode) => {
    const pageTrail = startTrail(newId(), place, { ...request, startedAt: deps.clock.now() });
    return refuseWithPage(deps, pageTrail, new Problem(code));
  };
  if (!attempt) {
    const test = openTestAttempt(deps, place, idpState);
    if (test)
      return finishTest(deps, { place, found, attempt: test, idpState, answered, request, refusePage });
    // What belongs to no attempt of ours leaves no record, and so has no reference.
    deps.recorder.count("failed", "attempt_invalid");
    throw new Problem("attempt_invalid");
  }
  request.cameFrom(shopOf(deps, realm), attempt.uiLocales);
  deps.traces?.join("callback", attempt.id);
  if (isOver(deps, attempt, endedBefore)) return refusePage("attempt_expired");
  if (!isSameBrowser(deps, attempt, request)) return refusePage("browser_changed");
  // The URI is still registered, or there is nowhere to go back to.
  const clientRedirectUri = realm.redirect_uris.find((uri) => digest(uri) === attempt.clientRedirectDigest);
  if (clientRedirectUri === undefined) return refusePage("redirect_uri_unregistered");

  const client = { clientRedirectUri, clientState: attempt.clientState };
  const trail = startTrail(attempt.id, place, { ...request, startedAt: attempt.startedAt });
  trail.facts.redirectUri = clientRedirectUri;
  const work = async (): Promise<BrowserAnswer> => {
    const clientCode = newCredential("lkac");
    const isFirst = await claimAttempt(deps, place, { ...attempt, clientRedirectUri, clientCode });
    if (!isFirst) {
      // Coming back twice is not another sign-on: the record of the first time is the one to look at, where there is one.
      const isFound = deps.recorder.isWaiting(attempt.id) || (await hasRecord(deps, place, attempt.id));
      throw signOnProblem("callback_replay", isFound ? { reference: referenceOf(attempt.id) } : {});
    }
    try {
      trail.profile = profile;
      refuseUnusable(profile);
      const returned = { attempt, idpState, answered, source: request.source };
      const identity = judgeAge(deps, attempt, await identifyShopper(deps, profile, returned, trail), trail);
      // Whom the exchange would refuse is told at once, while there is a storefront's page to tell it on.
      if (!(await isHinted(deps, profile, attempt, identity))) throw signOnProblem("hint_unmatched");
      const refusal = await foreseeUnwelcome(deps, profile, realm, identity);
      if (refusal) throw signOnProblem(refusal);
      await timed(deps, trail, "write", () => issueCode(deps, place, attempt.id, identity));
      deps.recorder.count("code_issued");
      deps.recorder.note({ ...recordOf(trail), outcome: "code_issued", reason: null, error: null });
      return { location: redirectToClient(deps, place, client, { code: clientCode }) };
    } catch (error) {
      await failAttempt(deps, place, attempt.id);
      throw error;
    }
  };
  return redirectProblemsTo(deps, client, trail, work);
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
