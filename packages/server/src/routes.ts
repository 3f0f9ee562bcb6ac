import { introspectToken, revokeToken } from "./access/inspect.ts";
import { issueAccessToken } from "./access/issue.ts";
import type { Deps } from "./app.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "./application-keys/administer.ts";
import { getApplicationKey, listApplicationKeys } from "./application-keys/application-key.ts";
import { dryRun } from "./application-keys/dry-run.ts";
import * as show from "./application-keys/present.ts";
import { rotateSecret } from "./application-keys/secret.ts";
import * as token from "./contract/access-tokens.ts";
import * as key from "./contract/application-keys.ts";
import * as profile from "./contract/oidc-profiles.ts";
import { toPage } from "./contract/paging.ts";
import * as realm from "./contract/realms.ts";
import * as service from "./contract/service.ts";
import * as store from "./contract/store.ts";
import { on, type Route } from "./http/serve.ts";
import {
  approveDrift,
  checkProfile,
  createProfile,
  deleteProfile,
  updateProfile,
} from "./identity-provider/administer.ts";
import {
  presentProfile,
  presentProfileList,
  presentReport,
  toNewProfile,
  toProfileChange,
} from "./identity-provider/present.ts";
import { getProfile, listProfiles, profileKey } from "./identity-provider/profile.ts";
import {
  presentRealm,
  presentRealmList,
  presentSettings,
  toRealmChange,
  toSettingsChange,
} from "./realms/present.ts";
import { createRealm, deleteRealm, getRealm, listRealms, updateRealm } from "./realms/realm.ts";
import { getSettings, updateSettings } from "./realms/settings.ts";
import { getStore, updateStore } from "./stores/administer.ts";
import { presentChangedStore, presentStore, toStoreChange } from "./stores/present.ts";

/** The switchboard: every operation of the contract, and what does it. */
// biome-ignore format: one operation a line
export const routes = (app: Deps): Route[] => [
  on(token.issueAccessToken,   ({ authorization, body }) => issueAccessToken(app, authorization, body)),
  on(token.introspectToken,    ({ authorization, body }) => introspectToken(app, authorization, body)),
  on(token.revokeToken,        ({ authorization, body }) => revokeToken(app, authorization, body)),

  on(key.listApplicationKeys,  async ({ caller, query }) => show.presentKeyList(app, await listApplicationKeys(app, caller.storeId, toPage(query)))),
  on(key.createApplicationKey, async ({ caller, body }) => show.presentNewKey(app, await createApplicationKey(app, caller.storeId, show.toKeyChange(body)))),
  on(key.getApplicationKey,    async ({ caller, ids }) => show.presentKey(app, await getApplicationKey(app, caller.storeId, ids.id))),
  on(key.updateApplicationKey, async ({ caller, ids, body }) => show.presentChangedKey(app, await updateApplicationKey(app, caller.storeId, ids.id, show.toKeyChange(body)))),
  on(key.deleteApplicationKey, ({ caller, ids }) => deleteApplicationKey(app, caller.storeId, ids.id)),
  on(key.rotateApplicationKey, async ({ caller, ids, body }) => show.presentKeyWithSecret(app, await rotateSecret(app, caller.storeId, ids.id, body?.data.grace_seconds))),
  on(key.dryRunApplicationKey, async ({ caller, ids, body }) => show.presentForesight(app, await dryRun(app, caller.storeId, ids.id, show.toKeyChange(body)))),

  on(store.getStore,           async ({ caller }) => presentStore(app, await getStore(app, caller.storeId))),
  on(store.updateStore,        async ({ caller, body }) => presentChangedStore(app, await updateStore(app, caller.storeId, toStoreChange(body)))),

  on(realm.getAuthenticationSettings,    async ({ caller }) => presentSettings(app, await getSettings(app, caller.storeId))),
  on(realm.updateAuthenticationSettings, async ({ caller, body }) => presentSettings(app, await updateSettings(app, caller.storeId, toSettingsChange(body)))),
  on(realm.listRealms,         async ({ caller, query }) => presentRealmList(app, await listRealms(app, caller.storeId, toPage(query)))),
  on(realm.createRealm,        async ({ caller, body }) => presentRealm(app, await createRealm(app, caller.storeId, toRealmChange(body)))),
  on(realm.getRealm,           async ({ caller, ids }) => presentRealm(app, await getRealm(app, caller.storeId, ids.id))),
  on(realm.updateRealm,        async ({ caller, ids, body }) => presentRealm(app, await updateRealm(app, caller.storeId, ids.id, toRealmChange(body)))),
  on(realm.deleteRealm,        ({ caller, ids }) => deleteRealm(app, caller.storeId, ids.id)),

  on(profile.listProfiles,     async ({ caller, ids, query }) => presentProfileList(app, await listProfiles(app, caller.storeId, ids.realm, toPage(query)))),
  on(profile.createProfile,    async ({ caller, ids, body }) => presentProfile(app, await createProfile(app, caller.storeId, ids.realm, toNewProfile(body)))),
  on(profile.getProfile,       async ({ caller, ids }) => presentProfile(app, await getProfile(app, profileKey(caller, ids)))),
  on(profile.updateProfile,    async ({ caller, ids, body }) => presentProfile(app, await updateProfile(app, profileKey(caller, ids), toProfileChange(body)))),
  on(profile.deleteProfile,    ({ caller, ids }) => deleteProfile(app, profileKey(caller, ids))),
  on(profile.checkProfile,     async ({ caller, ids }) => presentReport(app, await checkProfile(app, profileKey(caller, ids)))),
  on(profile.approveDrift,     async ({ caller, ids }) => presentProfile(app, await approveDrift(app, profileKey(caller, ids)))),

  on(service.live,             () => ({ status: "live" as const })),
  on(service.ready,            () => app.readiness.check()),
  on(service.metrics,          () => app.registry.metrics()),
  on(service.openapi,          () => app.openapiText()),
];
