import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { deleteToken } from "../customers/tokens/customer-token.ts";
import { readIdTokenHint } from "../customers/tokens/id-token-hint.ts";
import { byCustomer } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import { type Parameters, readParameters, withParameters } from "../lib/query-parameters.ts";
import { seal, unseal } from "../lib/seal.ts";
import { findProfile, type Profile } from "../profiles/profile.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getRealm, type Realm } from "../realms/realm.ts";
import { isAllowedRedirectUri } from "../realms/redirect-uri.ts";
import { shopOf } from "../realms/shop.ts";
import { contextOf, digest } from "../sign-on/attempt.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Storage } from "../storage/storage.ts";
import { askToSignOut } from "./confirm-sign-out.ts";

type Deps = { publicUrl: string; storage: Storage; clock: Clock; keyring: Keyring; signingKeys: SigningKeys };
type Ids = { store: string; realm: string };

const PURPOSE = "sign-out";
const READ = ["id_token_hint", "post_logout_redirect_uri", "state", "client_id", "confirmation"];

/**
 * A storefront signs a shopper out (OpenID Connect RP-Initiated Logout). The ID token says whose sign-on ends: we have signed
 * it, so nobody else can have made it. Without one the shopper is asked: a page that only knows our address ends nothing by itself.
 */
export async function endSession(
  deps: Deps,
  ids: Ids,
  request: BrowserRequest,
  requestId: string,
): Promise<BrowserAnswer> {
  const realm = await getRealm(deps, ids.store, ids.realm);
  request.cameFrom(shopOf(deps, realm));
  const asked = readParameters(request.search);
  if (asked.isRepeated(...READ))
    throw new Problem("parameter_invalid", { detail: "A parameter is given twice." });
  const text = asked.get("id_token_hint");
  // Members have no ID tokens: their console ends their sessions.
  if (text === undefined && realm.purpose === "customers") {
    const goal = readGoal(realm, asked, { signed_out: false });
    return askToSignOut(deps, realm, asked, request, goal && toGoal(goal));
  }
  const hint = await readIdTokenHint(deps, realm, text ?? "");
  if (!hint || hint.clientId !== (asked.get("client_id") ?? hint.clientId))
    throw new Problem("logout_hint_invalid");
  await deleteToken(deps, byCustomer(realm.store_id, hint.customerId, requestId), hint.tokenId);
  // Ended before the address is looked at: whoever wants to sign out is signed out, wherever they go then.
  const goal = readGoal(realm, asked);
  const key = { storeId: realm.store_id, realmId: realm.id, profileId: hint.profileId };
  const profile = await findProfile(deps.storage.db, key);
  if (profile?.propagate_logout && profile.metadata?.endSessionEndpoint)
    return { location: toProvider(deps, profile, profile.metadata.endSessionEndpoint, goal) };
  return toGoal(goal);
}

/** Where the shopper goes in the end. */
type Goal = { uri: string; state: string | undefined } | undefined;

/** `meta` goes with a refusal. */
function readGoal(realm: Realm, asked: Parameters, meta?: { signed_out: false }): Goal {
  const uri = asked.get("post_logout_redirect_uri");
  const state = asked.get("state");
  if (uri === undefined) return undefined;
  const isRegistered = realm.redirect_uris.includes(uri) && isAllowedRedirectUri(uri);
  if (!isRegistered || (state?.length ?? 0) > limits.clientStateLength)
    throw new Problem("logout_uri_unregistered", meta && { meta });
  return { uri, state };
}

const toGoal = (goal: Goal): BrowserAnswer =>
  goal
    ? { location: goal.state === undefined ? goal.uri : withParameters(goal.uri, { state: goal.state }) }
    : { page: "signed_out" };

/** We keep no token of the provider's that could say who it is: it asks the shopper, or knows them by its own cookie. */
function toProvider(deps: Deps, profile: Profile, endpoint: string, goal: Goal): string {
  const { store_id: storeId, realm_id: realmId, id: profileId } = profile;
  const kept = goal && JSON.stringify({ uriDigest: digest(goal.uri), state: goal.state });
  return withParameters(endpoint, {
    client_id: profile.client_id,
    post_logout_redirect_uri: `${issuerOf(deps, storeId, realmId)}/profiles/${profileId}/signed-out`,
    state: kept && seal(deps.keyring, PURPOSE, contextOf({ storeId, realmId, profileId }), kept),
  });
}

/** The identity provider has sent the shopper back: on to the storefront's address, if it is still one of the realm's. */
export async function signedOut(
  deps: Pick<Deps, "publicUrl" | "storage" | "keyring">,
  ids: Ids & { profile: string },
  { search, cameFrom }: BrowserRequest,
): Promise<BrowserAnswer> {
  const realm = await getRealm(deps, ids.store, ids.realm);
  cameFrom(shopOf(deps, realm));
  const place = { storeId: realm.store_id, realmId: realm.id, profileId: ids.profile };
  if (!(await findProfile(deps.storage.db, place))) throw new Problem("profile_not_found");
  const sealed = readParameters(search).get("state") ?? "";
  const kept = unseal(deps.keyring, PURPOSE, contextOf(place), sealed);
  if (kept === undefined) return toGoal(undefined);
  const { uriDigest, state } = JSON.parse(kept) as { uriDigest: string; state?: string };
  const uri = realm.redirect_uris.find((registered) => digest(registered) === uriDigest);
  return toGoal(uri === undefined ? undefined : { uri, state });
}
