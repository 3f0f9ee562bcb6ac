import type { BrowserAnswer, BrowserRequest, TestReport } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import type * as contract from "../contract/oidc-profiles.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { remedyOf, type SignOnReason, signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import { toIso } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { type Parameters, readParameters, withParameters } from "../lib/query-parameters.ts";
import { seal } from "../lib/seal.ts";
import type { Identity } from "../openid/identify.ts";
import { judgeSignOn } from "../profiles/live-evidence.ts";
import { getProfile, type Profile, type ProfileKey } from "../profiles/profile.ts";
import { presentLinks } from "../profiles/resource.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { startTrail, type Trail } from "../sign-on-records/trail.ts";
import { contextOf, isOver, openAtPath, type SignOnAttempt } from "./attempt.ts";
import { idpRequest, unavailable } from "./authorize.ts";
import { isSameBrowser, knowBrowser } from "./browser-tie.ts";
import { claimAttempt, failAttempt } from "./claim-attempt.ts";
import { foreseeRealmRefusal, identifyShopper } from "./identify-shopper.ts";
import type { IdpDeps } from "./redeem-idp-code.ts";
import { type PageCode, reasonOf, signOnProblem } from "./refuse.ts";
import { findPath, type SignOnPath } from "./sign-on-path.ts";

/**
 * A test sign-on by an administrator. It runs every check of a real sign-on, then ends on a page; it makes a record,
 * and no code, customer or token. Ticket and attempt are sealed for purposes of their own, so neither can be used in a
 * real sign-on, nor the reverse.
 */
type Deps = IdpDeps & { publicUrl: string; recorder: Recorder };

/** `attemptId`: the id that the attempt will have, to find its record. Tickets of the last release have none. */
type Ticket = { id: string; attemptId?: string; expiresAt: number };
type TestAttempt = Pick<SignOnAttempt, "id" | "startedAt" | "browserDigest" | "idpIssuer">;

/** The URL has the whole ticket. The database gets a row only when the ticket is used. */
export async function offerTest(
  deps: Pick<Deps, "publicUrl" | "storage" | "clock" | "keyring" | "calls">,
  key: ProfileKey,
): Promise<Output<typeof contract.testSignOn>> {
  const profile = await getProfile(deps, key);
  if (profile.flow === "direct") throw new Problem("test_sign_on_direct");
  const expiresAt = deps.clock.now() + limits.attemptSeconds * 1000;
  const attemptId = newId();
  const ticket: Ticket = { id: newId(), attemptId, expiresAt };
  const sealed = seal(deps.keyring, "test-sign-on", contextOf(key), JSON.stringify(ticket));
  const begin = `${issuerOf(deps, key.storeId, key.realmId)}/profiles/${key.profileId}/test`;
  return {
    data: {
      type: "test-sign-on",
      url: withParameters(begin, { ticket: sealed }),
      expires_at: toIso(expiresAt),
      reference: referenceOf(attemptId),
    },
    links: presentLinks(deps, profile),
  };
}

type Ids = { store: string; realm: string; profile: string };

export async function beginTest(deps: Deps, ids: Ids, request: BrowserRequest): Promise<BrowserAnswer> {
  const key: ProfileKey = { storeId: ids.store, realmId: ids.realm, profileId: ids.profile };
  const path = await findPath(deps.storage.db, key);
  if (!path) throw new Problem("realm_not_found");
  if (!path.profile) throw new Problem("profile_not_found");
  const asked = readParameters(request.search);
  const ticket = openAtPath<Ticket>(deps.keyring, "test-sign-on", key, asked.get("ticket") ?? "");
  if (!ticket || ticket.expiresAt <= deps.clock.now()) throw new Problem("test_sign_on_over");
  if (!(await claim(deps, key, ticket.id))) throw new Problem("test_sign_on_over");
  const begun = { startedAt: deps.clock.now(), profile: path.profile };
  const trail = startTrail(ticket.attemptId ?? newId(), placeOf(key, path), { ...request, ...begun });
  deps.traces?.join("authorize", trail.id);
  try {
    const profile = testable(path);
    const metadata = await deps.directory.metadataOf(profile);
    if (!metadata) throw unavailable(deps, profile, trail);
    const browser = knowBrowser(deps, request.cookie);
    const attempt: TestAttempt = {
      id: trail.id,
      startedAt: trail.startedAt,
      browserDigest: browser.digest,
      idpIssuer: metadata.issuer,
    };
    const idpState = seal(deps.keyring, "test-sign-on-attempt", contextOf(key), JSON.stringify(attempt));
    const to = { idpState, attemptId: attempt.id, scope: "openid email profile" };
    return { location: idpRequest(deps, profile, metadata, to), ...browser.answer };
  } catch (error) {
    return report(deps, trail, { reason: reasonOf(error), person: null });
  }
}

/** Undefined: the state is not of a test, or of a test that began under another path. */
export const openTestAttempt = (
  keyring: Keyring,
  key: ProfileKey,
  idpState: string,
): TestAttempt | undefined => openAtPath(keyring, "test-sign-on-attempt", key, idpState);

type ReturnedTest = {
  key: ProfileKey;
  path: SignOnPath;
  attempt: TestAttempt;
  idpState: string;
  answered: Parameters;
  request: BrowserRequest;
  refusePage(code: PageCode): Promise<never>;
};

/** The checks of `callback` in the same order, up to the code. */
export async function finishTest(deps: Deps, returned: ReturnedTest): Promise<BrowserAnswer> {
  const { key, path, attempt, idpState, answered, request, refusePage } = returned;
  deps.traces?.join("callback", attempt.id);
  if (isOver(deps, attempt, path.endedBefore)) return refusePage("attempt_expired");
  if (!isSameBrowser(deps, attempt, request)) return refusePage("browser_changed");
  if (!(await claim(deps, key, attempt.id))) throw new Problem("test_sign_on_over");
  const { startedAt } = attempt;
  const trail = startTrail(attempt.id, placeOf(key, path), { ...request, startedAt, profile: path.profile });
  let identity: Identity | undefined;
  try {
    const profile = testable(path);
    const { source } = request;
    identity = await identifyShopper(deps, profile, { attempt, idpState, answered, source }, trail);
    const refusal = await foreseeRealmRefusal(deps, profile, path.realm, identity);
    return report(deps, trail, { reason: refusal ?? null, person: personOf(identity) });
  } catch (error) {
    return report(deps, trail, { reason: reasonOf(error), person: null, cause: error });
  } finally {
    await failAttempt(deps, key, attempt.id);
  }
}

/** One insert decides which of several visits continues. */
const claim = (deps: Deps, key: ProfileKey, id: string): Promise<boolean> =>
  claimAttempt(deps, key, { id, clientId: "", codeChallenge: "", clientRedirectUri: "" });

const placeOf = (key: ProfileKey, { realm }: SignOnPath) => ({
  ...key,
  isOfMembers: realm.purpose === "members",
});

/** A disabled profile can be tested, too: a new profile should be tested before it is enabled. */
function testable({ profile }: SignOnPath): Profile {
  if (!profile || profile.flow === "direct") throw signOnProblem("profile_disabled");
  return profile;
}

const personOf = ({ email, emailVerified, name, subject }: Identity): TestReport["person"] => ({
  email,
  isEmailVerified: emailVerified,
  name,
  subject,
});

type TestOutcome = { reason: SignOnReason | null; person: TestReport["person"]; cause?: unknown };

function report({ recorder }: Deps, trail: Trail, { reason, person, cause }: TestOutcome): BrowserAnswer {
  const { checks, timings } = trail;
  const reference = referenceOf(trail.id);
  const entry = reason === null ? undefined : signOnReasonEntry(reason);
  const outcome = reason === null ? "tested" : "failed";
  recorder.note(trail, { outcome, reason, error: entry?.error ?? null, isTest: true });
  const shown: TestReport = {
    profileName: trail.profile?.name ?? "",
    reference,
    failure:
      reason !== null && entry ? { reason, means: entry.means, remedy: remedyOf(reason, checks) } : null,
    answer: trail.idpAnswer ?? null,
    person,
    requirements: judgeSignOn(person ? null : reason),
    checks,
    timings,
  };
  if (reason === null) return { report: shown };
  const isExpected = cause === undefined || cause instanceof Problem;
  return { report: shown, failure: { reference, reason, ...(isExpected ? {} : { cause }) } };
}
