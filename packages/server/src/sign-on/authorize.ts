import { findClient } from "../access/authenticate-client.ts";
import { CLI_CLIENT_ID } from "../contract/access-tokens.ts";
import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { Traces } from "../contract/traces.ts";
import { readIdTokenHint } from "../customers/tokens/id-token-hint.ts";
import type { Clock } from "../lib/clock.ts";
import { isId, newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { type Parameters, readParameters, withParameters } from "../lib/query-parameters.ts";
import type { Metadata } from "../openid/discovery.ts";
import { toIdpAnswer } from "../openid/idp-answer.ts";
import type { Calls } from "../profiles/calls.ts";
import type { Directory } from "../profiles/directory.ts";
import { keyOf, type Profile } from "../profiles/profile.ts";
import { issuerOf } from "../realms/issuer.ts";
import { loopbackPortOf } from "../realms/loopback-uri.ts";
import type { Realm } from "../realms/realm.ts";
import { isAllowedRedirectUri } from "../realms/redirect-uri.ts";
import { idpScope, LEAST_SCOPE } from "../realms/scopes.ts";
import { shopOf } from "../realms/shop.ts";
import type { RecordLimiter } from "../sign-on-records/record-limiter.ts";
import type { Recorder } from "../sign-on-records/recorder.ts";
import type { StartedCounts } from "../sign-on-records/started.ts";
import { startTrail, type Trail } from "../sign-on-records/trail.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Storage } from "../storage/storage.ts";
import { challengeOf, digest, idpSecretsOf, type SignOnAttempt, sealAttempt } from "./attempt.ts";
import { passedOn, readSignOnRequest, type SignOnRequest } from "./authorization-request.ts";
import { knowBrowser } from "./browser-tie.ts";
import { chooseProfile, offerChoice } from "./choose-provider.ts";
import { redirectProblemsTo, refuseWithPage, signOnProblem } from "./refuse.ts";
import { cachedPath, type PathCache, type SignOnPath } from "./sign-on-path.ts";

type Deps = {
  publicUrl: string;
  storage: Storage;
  signOnPaths: PathCache;
  clock: Clock;
  keyring: Keyring;
  directory: Directory;
  calls: Calls;
  recorder: Recorder;
  started: StartedCounts;
  recordLimiter: RecordLimiter;
  traces: Traces | undefined;
  signingKeys: SigningKeys;
};

type Ids = { store: string; realm: string };

/** Begins a sign-on. Writes nothing, so strangers cannot fill the database, and tabs do not disturb each other. */
export async function authorize(deps: Deps, ids: Ids, request: BrowserRequest): Promise<BrowserAnswer> {
  const asked = readParameters(request.search);
  const profileId = asked.get("profile")?.toLowerCase();
  const key = { storeId: ids.store, realmId: ids.realm };
  const path = await cachedPath(deps, { ...key, profileId: toId(profileId) });
  if (!path) throw new Problem("realm_not_found");
  const { realm } = path;
  request.cameFrom(shopOf(deps, realm));
  const place = { ...key, isOfMembers: realm.purpose === "members" };
  const trail = startTrail(newId(), place, { ...request, startedAt: deps.clock.now() });
  trail.facts.redirect_uri = storable(asked.get("redirect_uri"));
  deps.traces?.join("authorize", trail.id);
  const client = await trustClient(deps, path, asked);
  if (client instanceof Problem) return refuseWithPage(deps, trail, client);
  trail.keyId = client.keyId ?? null;
  return redirectProblemsTo(deps, client, trail, async () => {
    const wanted = readSignOnRequest(asked, client);
    const hintedCustomerId = client.isStandard ? await readHint(deps, realm, asked) : undefined;
    const profile = await chooseProfile(deps, path, profileId);
    if (Array.isArray(profile)) {
      // The shopper may see no page (OpenID Connect Core 3.1.2.1).
      if (asked.get("prompt") === "none")
        throw signOnProblem("profile_unchosen", { error: "interaction_required" });
      return offerChoice(deps, realm, profile, { asked, scope: wanted.clientScope });
    }
    trail.profile = profile;
    refuseUnusable(profile);
    return sendToIdp(deps, profile, { ...client, ...wanted, hintedCustomerId }, asked, request.cookie, trail);
  });
}

/** A stranger's text for the record: cut to length, without characters that a database refuses. */
const storable = (sent: string | undefined): string | null =>
  sent
    ?.slice(0, limits.redirectUriLength)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, "\ufffd") ?? null;

/** Text that is not an id is not sent to the database. */
const toId = (text = ""): string => (isId(text) ? text : "");

type TrustedClient = {
  clientId: string;
  isConfidential: boolean;
  /** The application key that is the client. */
  keyId: string | undefined;
  /** An application key whose `openid_client` is `standard`. */
  isStandard: boolean;
  clientRedirectUri: string;
  /** The port of the command line's redirect URI. */
  loopbackPort: number | undefined;
  clientState: string | undefined;
};

/**
 * The store must have this client, and the realm this redirect URI, byte for byte. Only then may it redirect. In the
 * realm for members the client is the console, or the command line, whose redirect URIs are loopback addresses alone.
 */
async function trustClient(
  { storage: { db } }: Deps,
  { realm, clientId: publicClientId }: SignOnPath,
  asked: Parameters,
): Promise<TrustedClient | Problem> {
  const clientId = asked.isRepeated("client_id") ? undefined : asked.get("client_id");
  if (publicClientId === undefined || clientId === undefined) return new Problem("sign_on_client_unknown");
  const isCli = realm.purpose === "members" && clientId === CLI_CLIENT_ID;
  const isConfidential = clientId !== publicClientId && !isCli;
  // An application key cannot redeem a member's code, so it may not begin a member's sign-on.
  const mayBeKey = realm.purpose === "customers";
  const key = isConfidential && mayBeKey ? await findClient(db, clientId) : undefined;
  if (isConfidential && key?.storeId !== realm.store_id) return new Problem("sign_on_client_unknown");
  const clientRedirectUri = asked.get("redirect_uri");
  if (clientRedirectUri === undefined || asked.isRepeated("redirect_uri"))
    return new Problem("redirect_uri_unregistered");
  const loopbackPort = isCli ? loopbackPortOf(clientRedirectUri) : undefined;
  const isRegistered = isCli
    ? loopbackPort !== undefined
    : realm.redirect_uris.includes(clientRedirectUri) && isAllowedRedirectUri(clientRedirectUri);
  if (!isRegistered) return new Problem("redirect_uri_unregistered");
  const clientState = asked.isRepeated("state") ? undefined : asked.get("state");
  const isStandard = key?.openidClient === "standard";
  const client = { clientId, isConfidential, keyId: key?.keyId, isStandard };
  return { ...client, clientRedirectUri, loopbackPort, clientState };
}

/** The customer that the client expects (OpenID Connect Core 3.1.2.1). An invalid hint ends the sign-on. */
async function readHint(deps: Deps, realm: Realm, asked: Parameters): Promise<string | undefined> {
  const text = asked.get("id_token_hint");
  if (text === undefined) return undefined;
  const hint = await readIdTokenHint(deps, realm, text);
  if (!hint) throw signOnProblem("hint_unmatched");
  return hint.customerId;
}

/** Checked at authorize and at the callback. The redeem checks the same in SQL (burn-code.ts). */
export function refuseUnusable(profile: Profile | undefined): asserts profile is Profile {
  if (!profile?.enabled) throw signOnProblem("profile_disabled");
  if (profile.flow === "direct") throw signOnProblem("profile_direct");
}

async function sendToIdp(
  deps: Deps,
  profile: Profile,
  {
    clientRedirectUri,
    clientScope,
    isStandard: _,
    ...client
  }: TrustedClient & SignOnRequest & Pick<SignOnAttempt, "hintedCustomerId">,
  asked: Parameters,
  cookieHeader: string | undefined,
  trail: Trail,
): Promise<BrowserAnswer> {
  // A provider that is down gets probes and no shoppers, who would end on an error page of their browser.
  if (deps.calls.healthOf(profile.id)?.status === "down") {
    if (deps.calls.hasRested(profile.id)) void deps.directory.probe(profile);
    throw unavailable(deps, profile, trail);
  }
  const metadata = await deps.directory.metadataAtHand(profile);
  if (!metadata) throw unavailable(deps, profile, trail);
  const browser = knowBrowser(deps, cookieHeader);
  const uiLocales = asked.get("ui_locales");
  const attempt: SignOnAttempt = {
    ...client,
    id: trail.id,
    startedAt: trail.startedAt,
    clientRedirectDigest: digest(clientRedirectUri),
    clientScope: clientScope === LEAST_SCOPE ? undefined : clientScope,
    browserDigest: browser.digest,
    idpIssuer: metadata.issuer,
    // So that a page at the callback has the same language. A long list is left out.
    uiLocales: uiLocales && uiLocales.length <= MAX_KEPT_LOCALES ? uiLocales : undefined,
  };
  const idpState = sealAttempt(deps.keyring, keyOf(profile), attempt);
  // The state comes back in the callback's URL, beside the provider's code.
  if (idpState.length > MAX_IDP_STATE_LENGTH) throw signOnProblem("state_missing");
  deps.recorder.count("started");
  deps.started.note(trail);
  const to = { idpState, attemptId: attempt.id, scope: idpScope(clientScope) };
  return { location: `${idpRequest(deps, profile, metadata, to)}${passedOn(asked)}`, ...browser.answer };
}

/** The URL of the provider's authorization endpoint. The provider sends `idpState` back. */
export function idpRequest(
  deps: Pick<Deps, "publicUrl" | "keyring">,
  profile: Profile,
  metadata: Metadata,
  { idpState, attemptId, scope }: { idpState: string; attemptId: string; scope: string },
): string {
  const { idpNonce, idpVerifier } = idpSecretsOf(deps.keyring, idpState, attemptId);
  return withParameters(metadata.authorizationEndpoint, {
    scope,
    response_type: "code",
    client_id: profile.client_id,
    redirect_uri: callbackUrl(deps, profile),
    state: idpState,
    nonce: idpNonce,
    code_challenge_method: "S256",
    code_challenge: challengeOf(idpVerifier),
  });
}

/** The redirect URI to register at the provider. Each profile has its own, so providers cannot be mixed up. */
export const callbackUrl = (
  deps: Pick<Deps, "publicUrl">,
  { store_id: storeId, realm_id: realmId, id }: Pick<Profile, "store_id" | "realm_id" | "id">,
): string => `${issuerOf(deps, storeId, realmId)}/profiles/${id}/callback`;

/** Notes on the trail why the last request for the provider's document failed. */
export function unavailable({ directory }: Pick<Deps, "directory">, profile: Profile, trail: Trail): Problem {
  const unread = directory.failureOf(profile);
  if (unread) trail.idpAnswer = toIdpAnswer("discovery", { status: unread.status, fault: unread.reason });
  return signOnProblem("idp_unavailable");
}

const MAX_IDP_STATE_LENGTH = 6000;
const MAX_KEPT_LOCALES = 64;
