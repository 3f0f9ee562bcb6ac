import { findClient } from "../access/client.ts";
import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import type { SignOnReason } from "../contract/sign-on-reasons.ts";
import type { Traces } from "../contract/traces.ts";
import type { Calls } from "../identity-provider/calls.ts";
import type { Directory } from "../identity-provider/directory.ts";
import { toIdpAnswer } from "../identity-provider/idp-answer.ts";
import { listBrokered, type Profile } from "../identity-provider/profile.ts";
import type { Clock } from "../lib/clock.ts";
import { isId, newId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { Realm } from "../realms/realm.ts";
import { isAllowedRedirectUri } from "../realms/redirect-uri.ts";
import { shopOf } from "../realms/shop.ts";
import type { Storage } from "../storage/storage.ts";
import { type Attempt, digest, isChallenge, sealAttempt } from "./attempt.ts";
import { redirectProblemsTo, refuseWithPage, signOnProblem, startTrail, type Trail } from "./exits.ts";
import { idpRequest, knowBrowser } from "./idp-request.ts";
import { type Parameters, readParameters, withParameters } from "./parameters.ts";
import type { Recorder } from "./record.ts";
import type { RecordLimiter } from "./record-limiter.ts";
import { grantedScope, LEAST_SCOPE } from "./scopes.ts";
import { type KnownPlaces, recallPlace, type SignOnPlace } from "./sign-on-place.ts";

type Deps = {
  publicUrl: string;
  storage: Storage;
  knownPlaces: KnownPlaces;
  clock: Clock;
  keyring: Keyring;
  directory: Directory;
  calls: Calls;
  recorder: Recorder;
  recordLimiter: RecordLimiter;
  traces: Traces | undefined;
};

type Ids = { store: string; realm: string };

/** Begins a sign-on. It writes nothing, so nobody can fill anything up, and any number of tabs can be open at once. */
export async function authorize(deps: Deps, ids: Ids, request: BrowserRequest): Promise<BrowserAnswer> {
  const asked = readParameters(request.search);
  const profileId = asked.get("profile")?.toLowerCase();
  const path = { storeId: ids.store, realmId: ids.realm };
  const place = await recallPlace(deps, { ...path, profileId: toId(profileId) });
  if (!place) throw new Problem("realm_not_found");
  const { realm } = place;
  request.cameFrom(shopOf(deps, realm));
  const trail = startTrail(newId(), path, { ...request, startedAt: deps.clock.now() });
  trail.facts.redirectUri = keepable(asked.get("redirect_uri"));
  deps.traces?.join("authorize", trail.id);
  const client = await trustClient(deps, place, asked);
  if (client instanceof Problem) return refuseWithPage(deps, trail, client);
  return redirectProblemsTo(deps, client, trail, async () => {
    const wanted = readWanted(asked);
    const profile = await chooseProfile(deps, place, profileId);
    if (Array.isArray(profile)) {
      // Nobody may be asked anything (OpenID Connect Core 3.1.2.1).
      if (asked.get("prompt") === "none")
        throw signOnProblem("profile_unchosen", { error: "interaction_required" });
      return offerChoice(deps, realm, asked, profile);
    }
    trail.profile = profile;
    refuseUnusable(profile);
    return sendToIdp(deps, profile, { ...client, ...wanted }, asked, request.cookie, trail);
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
  clientRedirectUri: string;
  clientState: string | undefined;
};

/** Nothing may be sent to a redirect URI before the client is ours and the URI one of its own, byte for byte. */
async function trustClient(
  { storage: { db } }: Deps,
  { realm, clientId: publicClientId }: SignOnPlace,
  asked: Parameters,
): Promise<TrustedClient | Problem> {
  const clientId = asked.isRepeated("client_id") ? undefined : asked.get("client_id");
  if (publicClientId === undefined || clientId === undefined) return new Problem("sign_on_client_unknown");
  const isConfidential = clientId !== publicClientId;
  // Members' codes are for the console alone: an application key could trade none.
  const mayBeKey = realm.purpose === "customers";
  if (isConfidential && !(mayBeKey && (await findClient(db, clientId))?.storeId === realm.storeId))
    return new Problem("sign_on_client_unknown");
  const clientRedirectUri = asked.get("redirect_uri");
  const isRegistered =
    clientRedirectUri !== undefined &&
    !asked.isRepeated("redirect_uri") &&
    realm.redirectUris.includes(clientRedirectUri) &&
    isAllowedRedirectUri(clientRedirectUri);
  if (!isRegistered) return new Problem("redirect_uri_unregistered");
  const clientState = asked.isRepeated("state") ? undefined : asked.get("state");
  return { clientId, isConfidential, clientRedirectUri, clientState };
}

const OURS = [
  "profile",
  "scope",
  "response_type",
  "state",
  "nonce",
  "code_challenge",
  "code_challenge_method",
  "display",
  "prompt",
  "ui_locales",
  "max_age",
];

/** OpenID Connect Core 6 and 7.2.1: parameters that must not be ignored, because they could say something else than the rest. */
const REFUSED = {
  request: "request_not_supported",
  request_uri: "request_uri_not_supported",
  registration: "registration_not_supported",
} as const satisfies Record<string, SignOnReason>;

type Wanted = {
  clientNonce: string | null;
  codeChallenge: string;
  clientScope: string;
  clientState: string;
  maxAge: number | undefined;
};

function readWanted(asked: Parameters): Wanted {
  for (const [name, reason] of Object.entries(REFUSED))
    if (asked.get(name) !== undefined) throw signOnProblem(reason);
  if (asked.isRepeated(...OURS)) throw signOnProblem("parameter_repeated");
  const clientState = asked.get("state");
  if (clientState === undefined || clientState.length > limits.clientStateLength)
    throw signOnProblem("state_missing");
  const responseType = asked.get("response_type");
  if (responseType === undefined) throw signOnProblem("response_type_missing");
  if (responseType !== "code") throw signOnProblem("response_type_unsupported");
  const scopes = asked.get("scope")?.split(" ") ?? [];
  if (!scopes.includes("openid") || !scopes.includes("email")) throw signOnProblem("scope_incomplete");
  const codeChallenge = asked.get("code_challenge") ?? "";
  if (asked.get("code_challenge_method") !== "S256" || !isChallenge(codeChallenge))
    throw signOnProblem("challenge_invalid");
  const clientNonce = asked.get("nonce") ?? null;
  if (clientNonce !== null && (clientNonce.length > limits.clientNonceLength || /\p{Cc}/u.test(clientNonce)))
    throw signOnProblem("nonce_invalid");
  const maxAge = asked.get("max_age");
  if (maxAge !== undefined && !/^\d{1,10}$/.test(maxAge)) throw signOnProblem("max_age_invalid");
  return {
    clientState,
    clientNonce,
    codeChallenge,
    clientScope: grantedScope(scopes),
    maxAge: maxAge === undefined ? undefined : Number(maxAge),
  };
}

/** The profile that was named, or the only one there is, or several to choose from. */
async function chooseProfile(
  { storage: { db } }: Deps,
  { realm, profile }: SignOnPlace,
  profileId: string | undefined,
): Promise<Profile | Profile[]> {
  if (profileId === undefined) {
    const enabled = await listBrokered(db, realm.storeId, realm.id);
    if (enabled.length === 0) throw signOnProblem("profile_none");
    return enabled.length === 1 ? (enabled[0] as Profile) : enabled;
  }
  if (!profile) throw signOnProblem("profile_unknown");
  return profile;
}

/** Asked wherever a sign-on goes on: at authorize, at the callback and at the exchange. */
export function refuseUnusable(profile: Profile | undefined): asserts profile is Profile {
  if (!profile?.enabled) throw signOnProblem("profile_disabled");
  if (profile.flow === "direct") throw signOnProblem("profile_direct");
}

/** Links to ourselves with the same request, and nothing in it that we do not read. */
function offerChoice(
  deps: Deps,
  realm: Realm,
  asked: Parameters,
  profiles: readonly Profile[],
): BrowserAnswer {
  const same = [...OURS, "client_id", "redirect_uri"].map((name) => [name, asked.get(name)]);
  const self = withParameters(
    `${issuerOf(deps, realm.storeId, realm.id)}/authorize`,
    Object.fromEntries(same),
  );
  const options = profiles.map(({ id, name }) => ({
    name,
    href: withParameters(self, { profile: id }),
    isDown: deps.calls.healthOf(id)?.status === "down",
  }));
  return { choice: { options } };
}

async function sendToIdp(
  deps: Deps,
  profile: Profile,
  client: TrustedClient & Wanted,
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
    ...keptLocales(asked.get("ui_locales")),
  };
  const place = { storeId: profile.storeId, realmId: profile.realmId, profileId: profile.id };
  const idpState = sealAttempt(deps.keyring, place, attempt);
  // It comes back in our own URL, beside the provider's code.
  if (idpState.length > MAX_IDP_STATE_LENGTH) throw signOnProblem("state_missing");
  deps.recorder.count("started");
  const to = { idpState, attemptId: attempt.id, scope: client.clientScope };
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

/** These, byte for byte, and nothing else that the storefront sends. */
const PASSED_ON = ["display", "prompt", "ui_locales", "max_age"];

const passedOn = (asked: Parameters): string =>
  PASSED_ON.map((name) => {
    const sent = asked.asSent(name);
    return sent === undefined ? "" : `&${name}=${sent}`;
  }).join("");
