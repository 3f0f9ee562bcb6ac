import type { BrowserAnswer, BrowserRequest, TestReport } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import type { Output } from "../contract/operation.ts";
import { Problem } from "../contract/problem.ts";
import { remedyOf, type SignOnReason, signOnReasonEntry } from "../contract/sign-on-reasons.ts";
import type * as contract from "../contract/test-sign-on.ts";
import { toIso } from "../lib/clock.ts";
import { newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { type Parameters, readParameters, withParameters } from "../lib/query-parameters.ts";
import { seal, unseal } from "../lib/seal.ts";
import type { Identity } from "../openid/identify.ts";
import { judgeSignOn } from "../profiles/live-evidence.ts";
import { getProfile, type Profile, type ProfileKey } from "../profiles/profile.ts";
import { presentLinks } from "../profiles/resource.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import { referenceOf } from "../sign-on-records/reference.ts";
import { type Attempt, contextOf, isOver, type Place } from "./attempt.ts";
import { unavailable } from "./authorize.ts";
import { claimAttempt, failAttempt } from "./claim-attempt.ts";
import { foreseeUnwelcome, identifyShopper, isSameBrowser } from "./identify-shopper.ts";
import { idpRequest, knowBrowser } from "./idp-request.ts";
import type { AskDeps } from "./redeem-idp-code.ts";
import { type PageCode, reasonOf, recordOf, signOnProblem, startTrail, type Trail } from "./refuse.ts";
import { findPath, type SignOnPath } from "./sign-on-path.ts";

/**
 * A sign-on by an administrator, to see what a provider sends. It goes the way of every other, up to the person; then it ends on a page of
 * ours, and nothing comes of it but a record. Ticket and attempt are sealed for purposes of their own: neither can be taken for a
 * sign-on's, nor a sign-on's for these.
 */
type Deps = AskDeps & { publicUrl: string; recorder: Recorder };

/** `attemptId`: of the attempt that it begins, so that whoever asked can look for its record. Absent in one of the release before. */
type Ticket = { id: string; attemptId?: string; expiresAt: number };
type TestAttempt = Pick<Attempt, "id" | "startedAt" | "browserDigest" | "idpIssuer">;

/** The address holds all there is to it; which of them were used, the database knows from the first use on. */
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
  const place: Place = { storeId: ids.store, realmId: ids.realm, profileId: ids.profile };
  const found = await findPath(deps.storage.db, place);
  if (!found) throw new Problem("realm_not_found");
  if (!found.profile) throw new Problem("profile_not_found");
  const asked = readParameters(request.search);
  const text = unseal(deps.keyring, "test-sign-on", contextOf(place), asked.get("ticket") ?? "");
  const ticket: Ticket | undefined = text === undefined ? undefined : JSON.parse(text);
  if (!ticket || ticket.expiresAt <= deps.clock.now()) throw new Problem("test_sign_on_over");
  if (!(await claim(deps, place, ticket.id))) throw new Problem("test_sign_on_over");
  const begun = { id: ticket.attemptId ?? newId(), startedAt: deps.clock.now() };
  const trail = trailOf(place, found, request, begun);
  deps.traces?.join("authorize", trail.id);
  try {
    const profile = testable(found);
    const metadata = await deps.directory.metadataOf(profile);
    if (!metadata) throw unavailable(deps, profile, trail);
    const browser = knowBrowser(deps, request.cookie);
    const attempt: TestAttempt = {
      id: trail.id,
      startedAt: trail.startedAt,
      browserDigest: browser.digest,
      idpIssuer: metadata.issuer,
    };
    const idpState = seal(deps.keyring, "test-sign-on-attempt", contextOf(place), JSON.stringify(attempt));
    const to = { idpState, attemptId: attempt.id, scope: "openid email profile" };
    return { location: idpRequest(deps, profile, metadata, to), ...browser.answer };
  } catch (error) {
    return report(deps, trail, { reason: reasonOf(error), person: [] });
  }
}

/** Undefined: not of a test, or not of one that began under this path. */
export function openTestAttempt(
  { keyring }: { keyring: Keyring },
  place: Place,
  idpState: string,
): TestAttempt | undefined {
  const text = unseal(keyring, "test-sign-on-attempt", contextOf(place), idpState);
  return text === undefined ? undefined : JSON.parse(text);
}

type Returning = {
  place: Place;
  found: SignOnPath;
  attempt: TestAttempt;
  idpState: string;
  answered: Parameters;
  request: BrowserRequest;
  refusePage(code: PageCode): Promise<never>;
};

/** The same checks in the same order as of any sign-on; where that would give a code, this one ends. */
export async function finishTest(deps: Deps, returning: Returning): Promise<BrowserAnswer> {
  const { place, found, attempt, idpState, answered, request, refusePage } = returning;
  deps.traces?.join("callback", attempt.id);
  if (isOver(deps, attempt, found.endedBefore)) return refusePage("attempt_expired");
  if (!isSameBrowser(deps, attempt, request)) return refusePage("browser_changed");
  if (!(await claim(deps, place, attempt.id))) throw new Problem("test_sign_on_over");
  const trail = trailOf(place, found, request, attempt);
  let identity: Identity | undefined;
  try {
    const profile = testable(found);
    const { source } = request;
    identity = await identifyShopper(deps, profile, { attempt, idpState, answered, source }, trail);
    const refusal = await foreseeUnwelcome(deps, profile, found.realm, identity);
    return report(deps, trail, { reason: refusal ?? null, person: personOf(identity) });
  } catch (error) {
    return report(deps, trail, { reason: reasonOf(error), person: [], cause: error });
  } finally {
    await failAttempt(deps, place, attempt.id);
  }
}

/** One insert decides which of several visits goes on. */
const claim = (deps: Deps, place: Place, id: string): Promise<boolean> =>
  claimAttempt(deps, place, {
    id,
    clientId: "",
    codeChallenge: "",
    clientNonce: null,
    clientRedirectUri: "",
  });

function trailOf(
  place: Place,
  { profile }: SignOnPath,
  request: BrowserRequest,
  { id, startedAt }: Pick<Attempt, "id" | "startedAt">,
): Trail {
  const trail = startTrail(id, place, { ...request, startedAt });
  trail.profile = profile;
  return trail;
}

/** Also one that is not enabled yet: that is when it should be tested. */
function testable({ profile }: SignOnPath): Profile {
  if (!profile || profile.flow === "direct") throw signOnProblem("profile_disabled");
  return profile;
}

const personOf = ({ email, emailVerified, name, subject }: Identity): TestReport["person"] => [
  { name: "E-mail", value: `${email} (${emailVerified ? "verified" : "not verified"} by the provider)` },
  ...(name === null ? [] : [{ name: "Name", value: name }]),
  { name: "Subject", value: subject },
];

type Ended = { reason: SignOnReason | null; person: TestReport["person"]; cause?: unknown };

function report({ recorder }: Deps, trail: Trail, { reason, person, cause }: Ended): BrowserAnswer {
  const record = recordOf(trail);
  const { reference, checks, timings } = record;
  const entry = reason === null ? undefined : signOnReasonEntry(reason);
  recorder.note({
    ...record,
    isTest: true,
    outcome: reason === null ? "tested" : "failed",
    reason,
    error: entry?.error ?? null,
  });
  const shown: TestReport = {
    profileName: trail.profile?.name ?? "",
    reference,
    failure:
      reason !== null && entry ? { reason, means: entry.means, remedy: remedyOf(reason, checks) } : null,
    answer: trail.idpAnswer ?? null,
    person,
    requirements: judgeSignOn(person.length > 0 ? null : reason),
    checks,
    timings,
  };
  if (reason === null) return { report: shown };
  const isOurs = cause === undefined || cause instanceof Problem;
  return { report: shown, failure: { reference, reason, ...(isOurs ? {} : { cause }) } };
}
