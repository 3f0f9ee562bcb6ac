import * as token from "./access-tokens.ts";
import * as key from "./application-keys.ts";
import * as profile from "./oidc-profiles.ts";
import type { Operation } from "./operation.ts";
import * as realm from "./realms.ts";
import * as service from "./service.ts";
import * as store from "./store.ts";

/** The whole surface, in the order in which the reference shows it. A test holds that routes.ts serves it all. */
export const operations: readonly Operation[] = [
  token.issueAccessToken,
  token.introspectToken,
  token.revokeToken,
  key.listApplicationKeys,
  key.createApplicationKey,
  key.getApplicationKey,
  key.updateApplicationKey,
  key.deleteApplicationKey,
  key.rotateApplicationKey,
  key.dryRunApplicationKey,
  store.getStore,
  store.updateStore,
  realm.getAuthenticationSettings,
  realm.updateAuthenticationSettings,
  realm.listRealms,
  realm.createRealm,
  realm.getRealm,
  realm.updateRealm,
  realm.deleteRealm,
  profile.listProfiles,
  profile.createProfile,
  profile.getProfile,
  profile.updateProfile,
  profile.deleteProfile,
  profile.checkProfile,
  profile.approveDrift,
  service.live,
  service.ready,
  service.metrics,
  service.openapi,
];
