import type { BrowserAnswer } from "../contract/browser.ts";
import { limits } from "../contract/limits.ts";
import { type Parameters, sentAgain } from "../lib/query-parameters.ts";
import type { Calls } from "../profiles/calls.ts";
import { listBrokered, type Profile } from "../profiles/profile.ts";
import { issuerOf } from "../realms/issuer.ts";
import type { Realm } from "../realms/realm.ts";
import type { Storage } from "../storage/storage.ts";
import { REPEATED } from "./authorization-request.ts";
import { signOnProblem } from "./refuse.ts";
import type { SignOnPath } from "./sign-on-path.ts";

/** The profile that the storefront names, or the realm's only one, or several for the shopper to choose from. */
export async function chooseProfile(
  { storage: { db } }: { storage: Storage },
  { realm, profile }: SignOnPath,
  profileId: string | undefined,
): Promise<Profile | Profile[]> {
  if (profileId === undefined) {
    const enabled = await listBrokered(db, realm.store_id, realm.id);
    if (enabled.length === 0) throw signOnProblem("profile_none");
    return enabled.length === 1 ? (enabled[0] as Profile) : enabled;
  }
  if (!profile) throw signOnProblem("profile_unknown");
  return profile;
}

/**
 * A form that posts the same request to authorize again, with a button for each provider. The request is in the form's
 * address, where it stays byte for byte: in a form's fields a browser changes line breaks.
 */
export function offerChoice(
  deps: { publicUrl: string; calls: Calls },
  realm: Realm,
  profiles: readonly Profile[],
  { asked, scope }: { asked: Parameters; scope: string },
): BrowserAnswer {
  const action = `${issuerOf(deps, realm.store_id, realm.id)}/authorize?${sentAgain(asked, REPEATED, { scope: encodeURIComponent(scope) })}`;
  // A request by POST may be longer than an address can be.
  if (action.length > limits.urlBytes) throw signOnProblem("state_missing");
  const options = profiles.map(({ id, name }) => ({
    profileId: id,
    name,
    isDown: deps.calls.healthOf(id)?.status === "down",
  }));
  const urls = [action, asked.get("redirect_uri") ?? "", ...profiles.map(endpointOf)];
  const httpOrigins = new Set(
    urls.filter((url) => url.startsWith("http:")).map((url) => new URL(url).origin),
  );
  return { choice: { action, options, httpOrigins: [...httpOrigins] } };
}

const endpointOf = ({ metadata, discovery_url: discoveryUrl }: Profile): string =>
  metadata?.authorizationEndpoint ?? discoveryUrl;
