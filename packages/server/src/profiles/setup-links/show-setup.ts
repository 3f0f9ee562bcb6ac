import type { BrowserAnswer, BrowserRequest, SetupGuide } from "../../contract/browser.ts";
import { Problem } from "../../contract/problem.ts";
import type { Clock } from "../../lib/clock.ts";
import { withParameters } from "../../lib/query-parameters.ts";
import { findRealm, type Realm } from "../../realms/realm.ts";
import { shopOf } from "../../realms/shop.ts";
import type { Storage } from "../../storage/storage.ts";
import { findStore, type Store } from "../../stores/store.ts";
import type { Directory } from "../directory.ts";
import { findProfile, type Profile } from "../profile.ts";
import { presentLinks } from "../resource.ts";
import { setupUrl } from "./administer.ts";
import { checkForPage, findChecks, nextCheckAt, type SetupEvidence } from "./setup-checks.ts";
import { findByToken, type SetupLink } from "./setup-link.ts";

type Deps = {
  storage: Storage;
  clock: Clock;
  publicUrl: string;
  directory: Directory;
  setupEvidence: SetupEvidence;
};

/** The page of a set-up link: addresses to register, and what is known of the requirements. */
export async function showSetup(
  deps: Deps,
  token: string,
  { search }: BrowserRequest,
): Promise<BrowserAnswer> {
  const link = await getLink(deps, token);
  const { store_id: storeId, realm_id: realmId, profile_id: profileId, expires_at: expiresAt } = link;
  const { db } = deps.storage;
  const [store, realm, profile] = await Promise.all([
    findStore(deps.storage, storeId),
    findRealm(db, storeId, realmId),
    findProfile(db, { storeId, realmId, profileId }),
  ]);
  // A store that is being deleted is not found.
  if (!store || !realm || !profile) throw new Problem("setup_link_not_found");
  const nextAt = nextCheckAt(link);
  const action = inLanguage(`${setupUrl(deps, token)}/checks`, search);
  return {
    setup: {
      ...namesOf(deps, store, realm, profile),
      expiresAt,
      ...registrationOf(deps, realm, profile),
      ...(await findChecks(deps, link, profile)),
      checkForm: { action, nextAt: nextAt > deps.clock.now() ? nextAt : null },
    },
  };
}

/** A check that the page offers, and then the page again, at its checks. */
export async function checkSetup(
  deps: Deps,
  token: string,
  { search }: BrowserRequest,
): Promise<BrowserAnswer> {
  await checkForPage(deps, await getLink(deps, token));
  return { location: `${inLanguage(setupUrl(deps, token), search)}#checks` };
}

async function getLink(deps: Deps, token: string): Promise<SetupLink> {
  const link = await findByToken(deps, token);
  if (!link) throw new Problem("setup_link_not_found");
  return link;
}

/** The language that was asked for in the page's address stays. */
function inLanguage(url: string, search: string): string {
  const locales = new URLSearchParams(search).get("ui_locales");
  return locales ? withParameters(url, { ui_locales: locales }) : url;
}

const namesOf = (deps: Deps, store: Store, realm: Realm, profile: Profile) => ({
  storeName: store.name,
  realmName: shopOf(deps, realm).name,
  profileName: profile.name,
});

/** In the direct flow the provider sends shoppers straight to the storefront. */
function registrationOf(
  deps: Deps,
  realm: Realm,
  profile: Profile,
): Pick<SetupGuide, "clientId" | "discoveryUrl" | "redirectUris" | "backchannelLogoutUri" | "signedOutUri"> {
  const links = presentLinks(deps, profile);
  const isDirect = profile.flow === "direct";
  return {
    clientId: profile.client_id,
    discoveryUrl: profile.discovery_url,
    redirectUris: isDirect ? realm.redirect_uris : [links["callback-endpoint"]],
    backchannelLogoutUri: links["backchannel-logout-endpoint"],
    signedOutUri: profile.propagate_logout ? links["signed-out-endpoint"] : null,
  };
}
