import type { BrowserAnswer, BrowserRequest } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { Problem } from "../contract/problem.ts";
import { deleteToken } from "../customers/customer-token.ts";
import type { SigningKeys } from "../customers/signing-keys.ts";
import { byCustomer } from "../events/event.ts";
import { findProfile, type Profile } from "../identity-provider/profile.ts";
import type { Clock } from "../lib/clock.ts";
import { isId } from "../lib/ids.ts";
import type { Keyring } from "../lib/keyring.ts";
import { seal, unseal } from "../lib/seal.ts";
import { issuerOf } from "../realms/issuer.ts";
import { getRealm, type Realm } from "../realms/realm.ts";
import { isAllowedRedirectUri } from "../realms/redirect-uri.ts";
import { shopOf } from "../realms/shop.ts";
import type { Storage } from "../storage/storage.ts";
import { contextOf, digest } from "./attempt.ts";
import { ID_TOKEN_TYPE } from "./id-token.ts";
import { type Parameters, readParameters, withParameters } from "./parameters.ts";

type Deps = { publicUrl: string; storage: Storage; clock: Clock; keyring: Keyring; signingKeys: SigningKeys };
type Ids = { store: string; realm: string };

const PURPOSE = "sign-out";
const OURS = ["id_token_hint", "post_logout_redirect_uri", "state", "client_id"];

/**
 * A storefront signs a shopper out (OpenID Connect RP-Initiated Logout). The ID token says whose sign-on ends: we have signed
 * it, so nobody else can have made it, and a page that only knows our address ends nothing and sends nobody anywhere.
 */
export async function endSession(
  deps: Deps,
  ids: Ids,
  { search, cameFrom }: BrowserRequest,
  requestId: string,
): Promise<BrowserAnswer> {
  const realm = await getRealm(deps, ids.store, ids.realm);
  cameFrom(shopOf(deps, realm));
  const asked = readParameters(search);
  if (asked.isRepeated(...OURS))
    throw new Problem("parameter_invalid", { detail: "A parameter is given twice." });
  const hint = await readHint(deps, realm, asked);
  if (!hint) throw new Problem("logout_hint_invalid");
  await deleteToken(deps, byCustomer(realm.storeId, hint.customerId, requestId), hint.tokenId);
  // Ended before the address is looked at: whoever wants to sign out is signed out, wherever they go then.
  const goal = readGoal(realm, asked);
  const key = { storeId: realm.storeId, realmId: realm.id, profileId: hint.profileId };
  const profile = await findProfile(deps.storage.db, key);
  if (profile?.propagateLogout && profile.metadata?.endSessionEndpoint)
    return { location: toProvider(deps, profile, profile.metadata.endSessionEndpoint, goal) };
  return toGoal(goal);
}

type Hint = { customerId: string; tokenId: string; profileId: string };

/** An ID token of this realm, also one that has expired: it names a sign-on and gives no right to anything else. */
async function readHint(deps: Deps, realm: Realm, asked: Parameters): Promise<Hint | undefined> {
  const jws = await deps.signingKeys.readSigned(asked.get("id_token_hint") ?? "");
  if (!jws || jws.typ !== ID_TOKEN_TYPE) return undefined;
  const { iss, aud, sub, sid, profile_id: profileId } = jws.claims;
  if (iss !== issuerOf(deps, realm.storeId, realm.id)) return undefined;
  if (aud !== (asked.get("client_id") ?? aud)) return undefined;
  if (typeof sub !== "string" || typeof sid !== "string" || !isId(sid)) return undefined;
  return { customerId: sub, tokenId: sid, profileId: typeof profileId === "string" ? profileId : "" };
}

/** Where the shopper goes in the end. */
type Goal = { uri: string; state: string | undefined } | undefined;

function readGoal(realm: Realm, asked: Parameters): Goal {
  const uri = asked.get("post_logout_redirect_uri");
  const state = asked.get("state");
  if (uri === undefined) return undefined;
  const isRegistered = realm.redirectUris.includes(uri) && isAllowedRedirectUri(uri);
  if (!isRegistered || (state?.length ?? 0) > limits.clientStateLength)
    throw new Problem("logout_uri_unregistered");
  return { uri, state };
}

const toGoal = (goal: Goal): BrowserAnswer =>
  goal
    ? { location: goal.state === undefined ? goal.uri : withParameters(goal.uri, { state: goal.state }) }
    : { page: "signed_out" };

/** We keep no token of the provider's that could say who it is: it asks the shopper, or knows them by its own cookie. */
function toProvider(deps: Deps, profile: Profile, endpoint: string, goal: Goal): string {
  const { storeId, realmId, id: profileId } = profile;
  const kept = goal && JSON.stringify({ uriDigest: digest(goal.uri), state: goal.state });
  return withParameters(endpoint, {
    client_id: profile.clientId,
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
  const place = { storeId: realm.storeId, realmId: realm.id, profileId: ids.profile };
  if (!(await findProfile(deps.storage.db, place))) throw new Problem("profile_not_found");
  const sealed = readParameters(search).get("state") ?? "";
  const kept = unseal(deps.keyring, PURPOSE, contextOf(place), sealed);
  if (kept === undefined) return toGoal(undefined);
  const { uriDigest, state } = JSON.parse(kept) as { uriDigest: string; state?: string };
  const uri = realm.redirectUris.find((registered) => digest(registered) === uriDigest);
  return toGoal(uri === undefined ? undefined : { uri, state });
}
