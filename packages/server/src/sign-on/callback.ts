import { CLI_CLIENT_ID } from "../contract/access-tokens.ts";
import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { newId } from "../lib/ids.ts";
import { readParameters } from "../lib/query-parameters.ts";
import { newCredential } from "../lib/secrets.ts";
import type { Identity } from "../openid/identify.ts";
import type { ProfileKey } from "../profiles/profile.ts";
import { loopbackUri } from "../realms/loopback-uri.ts";
import type { Realm } from "../realms/realm.ts";
import { shopOf } from "../realms/shop.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { startTrail, type Trail, timed } from "../sign-on-records/trail.ts";
import { digest, isOver, openAttempt, type SignOnAttempt } from "./attempt.ts";
import { refuseUnusable } from "./authorize.ts";
import { isSameBrowser } from "./browser-tie.ts";
import { claimAttempt, failAttempt, hasRecord, issueCode } from "./claim-attempt.ts";
import { foreseeRealmRefusal, identifyShopper, isHinted } from "./identify-shopper.ts";
import type { IdpDeps } from "./redeem-idp-code.ts";
import {
  type PageCode,
  redirectProblemsTo,
  redirectToClient,
  refuseWithPage,
  signOnProblem,
} from "./refuse.ts";
import { cachedPath, type PathCache } from "./sign-on-path.ts";
import { finishTest, openTestAttempt } from "./test-sign-on.ts";

type Deps = IdpDeps & {
  publicUrl: string;
  signOnPaths: PathCache;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  codeSeconds: number;
};

type Ids = { store: string; realm: string; profile: string };

/**
 * The identity provider has sent the shopper back. Path, sealed state and browser must agree first. Then the attempt is
 * claimed by its id, so that only the first of several callbacks continues.
 */
export async function callback(deps: Deps, ids: Ids, request: BrowserRequest): Promise<BrowserAnswer> {
  const answered = readParameters(request.search);
  const key: ProfileKey = { storeId: ids.store, realmId: ids.realm, profileId: ids.profile };
  const path = await cachedPath(deps, key);
  if (!path) throw new Problem("realm_not_found");
  const { realm, profile, endedBefore } = path;
  request.cameFrom(shopOf(deps, realm));
  const idpState = answered.isRepeated("state") ? "" : (answered.get("state") ?? "");
  const attempt = openAttempt(deps.keyring, key, idpState);
  const place = { ...key, isOfMembers: realm.purpose === "members" };
  // A new id: a late callback, or one from another browser, must not overwrite the attempt's record.
  const refusePage = (code: PageCode) => {
    const begun = { startedAt: deps.clock.now(), keyId: attempt?.keyId };
    const pageTrail = startTrail(newId(), place, { ...request, ...begun });
    return refuseWithPage(deps, pageTrail, new Problem(code));
  };
  if (!attempt) {
    const test = openTestAttempt(deps.keyring, key, idpState);
    if (test) return finishTest(deps, { key, path, attempt: test, idpState, answered, request, refusePage });
    // A callback without an attempt leaves no record, so the page has no reference.
    deps.recorder.count("failed", "attempt_invalid");
    throw new Problem("attempt_invalid");
  }
  request.cameFrom(shopOf(deps, realm), attempt.uiLocales);
  deps.traces?.join("callback", attempt.id);
  if (isOver(deps, attempt, endedBefore)) return refusePage("attempt_expired");
  if (!isSameBrowser(deps, attempt, request)) return refusePage("browser_changed");
  // The URI may have been taken off the realm since authorize.
  const clientRedirectUri = redirectUrisOf(realm, attempt).find(
    (uri) => digest(uri) === attempt.clientRedirectDigest,
  );
  if (clientRedirectUri === undefined) return refusePage("redirect_uri_unregistered");

  const client = { clientRedirectUri, clientState: attempt.clientState };
  const { startedAt, keyId } = attempt;
  const trail = startTrail(attempt.id, place, { ...request, startedAt, keyId });
  trail.facts.redirect_uri = clientRedirectUri;
  return redirectProblemsTo(deps, client, trail, async () => {
    const clientCode = newCredential("lkac");
    const isFirst = await claimAttempt(deps, key, { ...attempt, clientRedirectUri, clientCode });
    if (!isFirst) {
      // A second callback gets the reference of the first callback's record, if there is a record.
      const isFound = deps.recorder.isWaiting(attempt.id) || (await hasRecord(deps, key, attempt.id));
      throw signOnProblem("callback_replay", isFound ? { reference: referenceOf(attempt.id) } : {});
    }
    try {
      trail.profile = profile;
      refuseUnusable(profile);
      const returned = { attempt, idpState, answered, source: request.source };
      const identity = judgeAge(deps, attempt, await identifyShopper(deps, profile, returned, trail), trail);
      // Refuses now what the redeem would refuse later, because a redirect can tell the shopper why.
      if (!(await isHinted(deps, profile, attempt, identity))) throw signOnProblem("hint_unmatched");
      const refusal = await foreseeRealmRefusal(deps, profile, realm, identity);
      if (refusal) throw signOnProblem(refusal);
      await timed(deps, trail, "write", () => issueCode(deps, key, attempt.id, identity));
      deps.recorder.count("code_issued");
      deps.recorder.note(trail, { outcome: "code_issued", reason: null });
      return { location: redirectToClient(deps, key, client, { code: clientCode }) };
    } catch (error) {
      await failAttempt(deps, key, attempt.id);
      throw error;
    }
  });
}

const redirectUrisOf = (
  { purpose, redirect_uris }: Realm,
  { clientId, loopbackPort }: SignOnAttempt,
): string[] =>
  purpose === "members" && clientId === CLI_CLIENT_ID && loopbackPort !== undefined
    ? [loopbackUri(loopbackPort)]
    : redirect_uris;

/**
 * With `max_age` the provider's `auth_time` must be at most that many seconds before the sign-on began (Core 3.1.2.1).
 * Without `max_age` the claim is not used (requirement 9) and is dropped here.
 */
function judgeAge(
  { clock }: Deps,
  { maxAge, startedAt }: SignOnAttempt,
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
