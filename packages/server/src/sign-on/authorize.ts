import { findClient } from "../access/client.ts";
import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Traces } from "../contract/traces.ts";
import { readIdTokenHint } from "../customers/tokens/id-token-hint.ts";
import type { Clock } from "../lib/clock.ts";
import { isId, newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { type Parameters, readParameters } from "../lib/query-parameters.ts";
import { toIdpAnswer } from "../openid/idp-answer.ts";
import type { Calls } from "../profiles/calls.ts";
import type { Directory } from "../profiles/directory.ts";
import type { Profile } from "../profiles/profile.ts";
import type { Realm } from "../realms/realm.ts";
import { isAllowedRedirectUri } from "../realms/redirect-uri.ts";
import { idpScope, LEAST_SCOPE } from "../realms/scopes.ts";
import { shopOf } from "../realms/shop.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Storage } from "../storage/storage.ts";
import { type Attempt, digest, sealAttempt } from "./attempt.ts";
import { passedOn, readWanted, type Wanted } from "./authorization-request.ts";
import { chooseProfile, offerChoice } from "./choose-provider.ts";
import { idpRequest, knowBrowser } from "./idp-request.ts";
import { redirectProblemsTo, refuseWithPage, signOnProblem, startTrail, type Trail } from "./refuse.ts";
import { type KnownPaths, recallPath, type SignOnPath } from "./sign-on-path.ts";

type Deps = {
  publicUrl: string;
  storage: Storage;
  knownPlaces: KnownPaths;
  clock: Clock;
  keyring: Keyring;
  directory: Directory;
  calls: Calls;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  traces: Traces | undefined;
  signingKeys: SigningKeys;
};

type Ids = { store: string; realm: string };

/** Begins a sign-on. It writes nothing, so nobody can fill anything up, and any number of tabs can be open at once. */
export async function authorize(deps: Deps, ids: Ids, request: BrowserRequest): Promise<BrowserAnswer> {
  const asked = readParameters(request.search);
  const profileId = asked.get("profile")?.toLowerCase();
  const path = { storeId: ids.store, realmId: ids.realm };
  const place = await recallPath(deps, { ...path, profileId: toId(profileId) });
  if (!place) throw new Problem("realm_not_found");
  const { realm } = place;
  request.cameFrom(shopOf(deps, realm));
  const trail = startTrail(newId(), path, { ...request, startedAt: deps.clock.now() });
  trail.facts.redirectUri = keepable(asked.get("redirect_uri"));
  deps.traces?.join("authorize", trail.id);
  const client = await trustClient(deps, place, asked);
  if (client instanceof Problem) return refuseWithPage(deps, trail, client);
  return redirectProblemsTo(deps, client, trail, async () => {
    const wanted = readWanted(asked, client);
    const hintedCustomerId = client.isStandard ? await readHint(deps, realm, asked) : undefined;
    const profile = await chooseProfile(deps, place, profileId);
    if (Array.isArray(profile)) {
      // Nobody may be asked anything (OpenID Connect Core 3.1.2.1).
      if (asked.get("prompt") === "none")
        throw signOnProblem("profile_unchosen", { error: "interaction_required" });
      return offerChoice(deps, realm, profile, { asked, scope: wanted.clientScope });
    }
    trail.profile = profile;
    refuseUnusable(profile);
    return sendToIdp(deps, profile, { ...client, ...wanted, hintedCustomerId }, asked, request.cookie, trail);
  });
}

/** What a stranger may have sent, for the record: so much of it, and nothing that a database cannot keep. */
const keepable = (sent: string | undefined): string | null =>
  sent
    ?.slice(0, limits.redirectUriLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "\ufffd") ?? null;

/** What is no id is the id of no profile, and is not shown to the database. */
const toId = (text = ""): string => (isId(text) ? text : "");

type TrustedClient = {
  clientId: string;
  isConfidential: boolean;
  /** An application key whose `openid_client` is `standard`. */
  isStandard: boolean;
  clientRedirectUri: string;
  clientState: string | undefined;
};

/** Nothing may be sent to a redirect URI before the client is ours and the URI one of its own, byte for byte. */
async function trustClient(
  { storage: { db } }: Deps,
  { realm, clientId: publicClientId }: SignOnPath,
  asked: Parameters,
): Promise<TrustedClient | Problem> {
  const clientId = asked.isRepeated("client_id") ? undefined : asked.get("client_id");
  if (publicClientId === undefined || clientId === undefined) return new Problem("sign_on_client_unknown");
  const isConfidential = clientId !== publicClientId;
  // Members' codes are for the console alone: an application key could trade none.
  const mayBeKey = realm.purpose === "customers";
  const key = isConfidential && mayBeKey ? await findClient(db, clientId) : undefined;
  if (isConfidential && key?.storeId !== realm.store_id) return new Problem("sign_on_client_unknown");
  const clientRedirectUri = asked.get("redirect_uri");
  const isRegistered =
    clientRedirectUri !== undefined &&
    !asked.isRepeated("redirect_uri") &&
    realm.redirect_uris.includes(clientRedirectUri) &&
    isAllowedRedirectUri(clientRedirectUri);
  if (!isRegistered) return new Problem("redirect_uri_unregistered");
  const clientState = asked.isRepeated("state") ? undefined : asked.get("state");
  const isStandard = key?.openidClient === "standard";
  return { clientId, isConfidential, isStandard, clientRedirectUri, clientState };
}

/** Whom the client expects to sign on (OpenID Connect Core 3.1.2.1). A hint that names nobody is met by nobody. */
async function readHint(deps: Deps, realm: Realm, asked: Parameters): Promise<string | undefined> {
  const text = asked.get("id_token_hint");
  if (text === undefined) return undefined;
  const hint = await readIdTokenHint(deps, realm, text);
  if (!hint) throw signOnProblem("hint_unmatched");
  return hint.customerId;
}

/** Asked wherever a sign-on goes on: at authorize, at the callback and at the exchange. */
export function refuseUnusable(profile: Profile | undefined): asserts profile is Profile {
  if (!profile?.enabled) throw signOnProblem("profile_disabled");
  if (profile.flow === "direct") throw signOnProblem("profile_direct");
}

async function sendToIdp(
  deps: Deps,
  profile: Profile,
  client: TrustedClient & Wanted & { hintedCustomerId: string | undefined },
  asked: Parameters,
  cookieHeader: string | undefined,
  trail: Trail,
): Promise<BrowserAnswer> {
  // Who is down is asked by a probe, not by shoppers: theirs would be an error page of nobody's.
  if (deps.calls.healthOf(profile.id)?.status === "down") {
    if (deps.calls.hasRested(profile.id)) void deps.directory.probe(profile);
    throw unavailable(deps, profile, trail);
  }
  const metadata = await deps.directory.metadataAtHand(profile);
  if (!metadata) throw unavailable(deps, profile, trail);
  const browser = knowBrowser(deps, cookieHeader);
  const attempt: Attempt = {
    id: trail.id,
    startedAt: trail.startedAt,
    clientId: client.clientId,
    clientState: client.clientState,
    clientNonce: client.clientNonce,
    clientRedirectDigest: digest(client.clientRedirectUri),
    codeChallenge: client.codeChallenge,
    browserDigest: browser.digest,
    idpIssuer: metadata.issuer,
    isConfidential: client.isConfidential,
    ...(client.clientScope !== LEAST_SCOPE && { clientScope: client.clientScope }),
    ...(client.maxAge !== undefined && { maxAge: client.maxAge }),
    ...(client.hintedCustomerId !== undefined && { hintedCustomerId: client.hintedCustomerId }),
    ...keptLocales(asked.get("ui_locales")),
  };
  const place = { storeId: profile.store_id, realmId: profile.realm_id, profileId: profile.id };
  const idpState = sealAttempt(deps.keyring, place, attempt);
  // It comes back in our own URL, beside the provider's code.
  if (idpState.length > MAX_IDP_STATE_LENGTH) throw signOnProblem("state_missing");
  deps.recorder.count("started");
  const to = { idpState, attemptId: attempt.id, scope: idpScope(client.clientScope) };
  return { location: `${idpRequest(deps, profile, metadata, to)}${passedOn(asked)}`, ...browser.answer };
}

/** Sealed into the attempt, so that a page at the callback has the language that was asked for here. A long list is left out. */
const keptLocales = (uiLocales: string | undefined) =>
  uiLocales !== undefined && uiLocales.length <= MAX_KEPT_LOCALES && { uiLocales };
const MAX_KEPT_LOCALES = 64;

/** With what the last reading of its document came to. */
export function unavailable({ directory }: Pick<Deps, "directory">, profile: Profile, trail: Trail): Problem {
  const unread = directory.unreadOf(profile);
  if (unread) trail.idpAnswer = toIdpAnswer("discovery", { status: unread.status, fault: unread.reason });
  return signOnProblem("idp_unavailable");
}

const MAX_IDP_STATE_LENGTH = 6000;
