import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { readIdTokenHint } from "../customers/tokens/id-token-hint.ts";
import { deleteToken } from "../customers/tokens/revoke-tokens.ts";
import { byCustomer } from "../events/event.ts";
import type { Clock } from "../lib/clock.ts";
import type { Keyring } from "../lib/keyring.ts";
import { type Parameters, readParameters, withParameters } from "../lib/query-parameters.ts";
import { seal, unseal } from "../lib/seal.ts";
import { findProfile, keyOf, type Profile } from "../profiles/profile.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getRealm, type Realm } from "../realms/realm.ts";
import { isAllowedRedirectUri } from "../realms/redirect-uri.ts";
import { shopOf } from "../realms/shop.ts";
import { contextOf, digest } from "../sign-on/attempt.ts";
import type { SigningKeys } from "../signing-keys/signing-keys.ts";
import type { Storage } from "../storage/storage.ts";
import { confirmSignOut } from "./confirm-sign-out.ts";

type Deps = { publicUrl: string; storage: Storage; clock: Clock; keyring: Keyring; signingKeys: SigningKeys };
type Ids = { store: string; realm: string };

const PURPOSE = "sign-out";
const READ = ["id_token_hint", "post_logout_redirect_uri", "state", "client_id", "confirmation"];

/**
 * A storefront signs a shopper out (OpenID Connect RP-Initiated Logout). The ID token, which Latchkey has signed, names
 * the session to end. Without an ID token the shopper must confirm, because any page can send a browser here.
 */
export async function endSession(deps: Deps, ids: Ids, request: BrowserRequest): Promise<BrowserAnswer> {
  const realm = await getRealm(deps, ids.store, ids.realm);
  request.cameFrom(shopOf(deps, realm));
  const asked = readParameters(request.search);
  if (asked.isRepeated(...READ))
    throw new Problem("parameter_invalid", { detail: "A parameter is given twice." });
  const text = asked.get("id_token_hint");
  // Members have no ID tokens: the console ends their sessions.
  if (text === undefined && realm.purpose === "customers") {
    const goal = readGoal(realm, asked, { signed_out: false });
    return confirmSignOut(deps, realm, asked, request, goal && toGoal(goal));
  }
  const hint = await readIdTokenHint(deps, realm, text ?? "");
  if (!hint || hint.clientId !== (asked.get("client_id") ?? hint.clientId))
    throw new Problem("logout_hint_invalid");
  await deleteToken(deps, byCustomer(realm.store_id, hint.customerId, request.requestId), hint.tokenId);
  // Before the redirect URI is checked: the shopper is signed out even if the URI is wrong.
  const goal = readGoal(realm, asked);
  const key = { storeId: realm.store_id, realmId: realm.id, profileId: hint.profileId };
  const profile = await findProfile(deps.storage.db, key);
  if (profile?.propagate_logout && profile.metadata?.endSessionEndpoint)
    return { location: toProvider(deps, profile, profile.metadata.endSessionEndpoint, goal) };
  return toGoal(goal);
}

/** The storefront's page after the sign-out. */
type SignOutGoal = { uri: string; state: string | undefined } | undefined;

/** `meta`: for the problem, if the URI is refused. */
function readGoal(realm: Realm, asked: Parameters, meta?: { signed_out: false }): SignOutGoal {
  const uri = asked.get("post_logout_redirect_uri");
  const state = asked.get("state");
  if (uri === undefined) return undefined;
  const isRegistered = realm.redirect_uris.includes(uri) && isAllowedRedirectUri(uri);
  if (!isRegistered || (state?.length ?? 0) > limits.clientStateLength)
    throw new Problem("logout_uri_unregistered", meta && { meta });
  return { uri, state };
}

const toGoal = (goal: SignOutGoal): BrowserAnswer =>
  goal
    ? { location: goal.state === undefined ? goal.uri : withParameters(goal.uri, { state: goal.state }) }
    : { page: "signed_out" };

/** Has no `id_token_hint`, because Latchkey keeps no provider's tokens. The provider knows the shopper's cookie. */
function toProvider(deps: Deps, profile: Profile, endpoint: string, goal: SignOutGoal): string {
  const key = keyOf(profile);
  const kept = goal && JSON.stringify({ uriDigest: digest(goal.uri), state: goal.state });
  return withParameters(endpoint, {
    client_id: profile.client_id,
    post_logout_redirect_uri: `${issuerOf(deps, key.storeId, key.realmId)}/profiles/${key.profileId}/signed-out`,
    state: kept && seal(deps.keyring, PURPOSE, contextOf(key), kept),
  });
}

/** The identity provider has sent the shopper back. Redirects to the storefront's URI, if it is still registered. */
export async function signedOut(
  deps: Pick<Deps, "publicUrl" | "storage" | "keyring">,
  ids: Ids & { profile: string },
  { search, cameFrom }: BrowserRequest,
): Promise<BrowserAnswer> {
  const realm = await getRealm(deps, ids.store, ids.realm);
  cameFrom(shopOf(deps, realm));
  const key = { storeId: realm.store_id, realmId: realm.id, profileId: ids.profile };
  if (!(await findProfile(deps.storage.db, key))) throw new Problem("profile_not_found");
  const sealed = readParameters(search).get("state") ?? "";
  const kept = unseal(deps.keyring, PURPOSE, contextOf(key), sealed);
  if (kept === undefined) return toGoal(undefined);
  const { uriDigest, state } = JSON.parse(kept) as { uriDigest: string; state?: string };
  const uri = realm.redirect_uris.find((registered) => digest(registered) === uriDigest);
  return toGoal(uri === undefined ? undefined : { uri, state });
}
