import { describeCaller } from "./access/describe-caller.ts";
import { introspectToken, revokeToken } from "./access/introspect-and-revoke.ts";
import {
  createApplicationKey,
  deleteApplicationKey,
  updateApplicationKey,
} from "./application-keys/administer.ts";
import { dryRun } from "./application-keys/dry-run.ts";
import { listApplicationKeys, showApplicationKey } from "./application-keys/resource.ts";
import { rotateSecret } from "./application-keys/secret.ts";
import { readUsage } from "./application-keys/store-usage.ts";
import * as token from "./contract/access-tokens.ts";
import * as key from "./contract/application-keys.ts";
import * as customerExport from "./contract/customer-export.ts";
import * as customerToken from "./contract/customer-tokens.ts";
import * as customer from "./contract/customers.ts";
import * as delivery from "./contract/deliveries.ts";
import * as event from "./contract/events.ts";
import * as gateway from "./contract/gateway.ts";
import * as integration from "./contract/integrations.ts";
import * as member from "./contract/members.ts";
import * as profile from "./contract/oidc-profiles.ts";
import { toPage } from "./contract/paging.ts";
import * as realm from "./contract/realms.ts";
import * as service from "./contract/service.ts";
import * as setup from "./contract/setup-links.ts";
import * as signOn from "./contract/sign-on.ts";
import * as record from "./contract/sign-ons.ts";
import * as signOut from "./contract/sign-out.ts";
import * as store from "./contract/store.ts";
import { exportCustomer } from "./customer-export/export-customer.ts";
import { createCustomer, deleteCustomer, updateCustomer } from "./customers/administer.ts";
import { eraseCustomer } from "./customers/erasing/erase-customer.ts";
import { listIdentities } from "./customers/identities/list-identities.ts";
import { listCustomers, showCustomer } from "./customers/resource.ts";
import { listCustomerTokens } from "./customers/tokens/resource.ts";
import { revokeAllTokens, revokeToken as revokeCustomerToken } from "./customers/tokens/revoke-tokens.ts";
import type { Deps } from "./deps.ts";
import { byCaller } from "./events/event.ts";
import { signHead } from "./events/head.ts";
import { listEvents } from "./events/read.ts";
import { checkAtGateway } from "./gateway/check.ts";
import { on, type Route } from "./http/route.ts";
import {
  createIntegration,
  deleteIntegration,
  rotateSigningSecret,
  updateIntegration,
} from "./integrations/administer.ts";
import { listDeliveries, redeliver } from "./integrations/delivery.ts";
import { replayEvents } from "./integrations/replay.ts";
import { listIntegrations, showIntegration } from "./integrations/resource.ts";
import { testIntegration } from "./integrations/test-message.ts";
import { endIdpSession } from "./logout/backchannel-logout.ts";
import { createMember, deleteMember, updateMember } from "./members/administer.ts";
import { eraseMember } from "./members/erase-member.ts";
import { listMembers, showMember } from "./members/resource.ts";
import { createProfile, deleteProfile, updateProfile } from "./profiles/administer.ts";
import { approveDrift } from "./profiles/approve-drift.ts";
import { checkBeforeSaving, checkProfile } from "./profiles/check-profile.ts";
import { profileKey } from "./profiles/profile.ts";
import { listProfiles, viewProfile } from "./profiles/read-profiles.ts";
import { createSetupLink, deleteSetupLink, listSetupLinks } from "./profiles/setup-links/administer.ts";
import { checkSetup, showSetup } from "./profiles/setup-links/show-setup.ts";
import { endSession, signedOut } from "./realm-provider/end-session.ts";
import { describeRealm } from "./realm-provider/metadata.ts";
import { redeemForClient } from "./realm-provider/redeem-for-client.ts";
import { revokeAtRealm } from "./realm-provider/revoke-at-realm.ts";
import { readUserinfo } from "./realm-provider/userinfo.ts";
import { createRealm, deleteRealm, updateRealm } from "./realms/administer.ts";
import { findMemberSignIn } from "./realms/find-member-sign-in.ts";
import { listRealms, showRealm } from "./realms/resource.ts";
import * as settings from "./realms/settings-resource.ts";
import { updateSettings } from "./realms/update-settings.ts";
import { authorize } from "./sign-on/authorize.ts";
import { callback } from "./sign-on/callback.ts";
import { issueCustomerToken } from "./sign-on/issue-customer-token.ts";
import { redeemOrIssue } from "./sign-on/redeem-for-member.ts";
import { beginTest, offerTest } from "./sign-on/test-sign-on.ts";
import { readStatistics } from "./sign-on-records/read-statistics.ts";
import { listSignOns, showSignOn } from "./sign-on-records/resource.ts";
import { updateStore } from "./stores/administer.ts";
import { showStore, showStoreById } from "./stores/resource.ts";

/** The switchboard: every operation of the contract, and what does it. */
// biome-ignore format: one operation a line
export const routes = (app: Deps): Route[] => [
  on(token.issueAccessToken,   (request) => redeemOrIssue(app, request)),
  on(token.introspectToken,    ({ authorization, body }) => introspectToken(app, authorization, body)),
  on(token.revokeToken,        ({ authorization, body, requestId }) => revokeToken(app, authorization, body, requestId)),

  on(customerToken.issueCustomerToken,   (request) => issueCustomerToken(app, request)),
  on(customerToken.listCustomerTokens,   ({ caller, ids, query }) => listCustomerTokens(app, caller, ids.customer, toPage(query))),
  on(customerToken.revokeCustomerTokens, ({ caller, ids }) => revokeAllTokens(app, caller, ids.customer)),
  on(customerToken.revokeCustomerToken,  ({ caller, ids }) => revokeCustomerToken(app, caller, ids.customer, ids.id)),

  on(customer.listCustomers,   ({ caller, query }) => listCustomers(app, caller.storeId, query)),
  on(customer.createCustomer,  ({ caller, source, body }) => createCustomer(app, caller, source, body.data)),
  on(customer.getCustomer,     ({ caller, ids }) => showCustomer(app, caller, ids.id)),
  on(customer.updateCustomer,  ({ caller, ids, body, ifMatch }) => updateCustomer(app, caller, ids.id, body.data, ifMatch)),
  on(customer.deleteCustomer,  ({ caller, ids }) => deleteCustomer(app, caller, ids.id)),
  on(customer.listCustomerIdentities, ({ caller, ids }) => listIdentities(app, caller, ids.id)),
  on(customer.eraseCustomer,   ({ caller, ids }) => eraseCustomer(app, caller, ids.id)),
  on(customerExport.exportCustomer, ({ caller, ids }) => exportCustomer(app, caller, ids.id)),

  on(signOn.authorize,         ({ ids, browser }) => authorize(app, ids, browser)),
  on(signOn.authorizeByForm,   ({ ids, browser }) => authorize(app, ids, browser)),
  on(signOn.callback,          ({ ids, browser }) => callback(app, ids, browser)),
  on(signOn.beginTest,         ({ ids, browser }) => beginTest(app, ids, browser)),
  on(signOn.backchannelLogout, (request) => endIdpSession(app, request)),
  on(signOn.realmMetadata,     ({ ids }) => describeRealm(app, ids)),
  on(signOn.realmToken,        (request) => redeemForClient(app, request)),
  on(signOn.revokeAtRealm,     (request) => revokeAtRealm(app, request)),
  on(signOn.userinfo,          ({ ids, authorization }) => readUserinfo(app, ids, authorization)),
  on(signOn.userinfoByPost,    ({ ids, authorization }) => readUserinfo(app, ids, authorization)),
  on(signOut.endSession,       ({ ids, browser }) => endSession(app, ids, browser)),
  on(signOut.endSessionByForm, ({ ids, browser }) => endSession(app, ids, browser)),
  on(signOut.signedOut,        ({ ids, browser }) => signedOut(app, ids, browser)),
  on(signOn.jwks,              async () => ({ keys: await app.signingKeys.published() })),

  on(record.listSignOns,       ({ caller, query }) => listSignOns(app, caller, query)),
  on(record.getSignOnStatistics, ({ caller, query }) => readStatistics(app, caller.storeId, query)),
  on(record.getSignOn,         ({ caller, ids }) => showSignOn(app, caller.storeId, ids.id)),

  on(key.listApplicationKeys,  ({ caller, query }) => listApplicationKeys(app, caller.storeId, toPage(query), query.filter)),
  on(key.createApplicationKey, ({ caller, body }) => createApplicationKey(app, byCaller(caller), body.data)),
  on(key.getApplicationKey,    ({ caller, ids }) => showApplicationKey(app, caller.storeId, ids.id)),
  on(key.updateApplicationKey, ({ caller, ids, body }) => updateApplicationKey(app, byCaller(caller), ids.id, body.data)),
  on(key.deleteApplicationKey, ({ caller, ids }) => deleteApplicationKey(app, byCaller(caller), ids.id)),
  on(key.rotateApplicationKey, ({ caller, ids, body }) => rotateSecret(app, byCaller(caller), ids.id, body?.data.grace_seconds)),
  on(key.dryRunApplicationKey, ({ caller, ids, body }) => dryRun(app, caller.storeId, ids.id, body.data)),

  on(member.findMemberSignIn,  ({ query }) => findMemberSignIn(app, query)),
  on(member.getMe,             ({ caller }) => describeCaller(app, caller)),
  on(member.listMembers,       ({ caller, query }) => listMembers(app, caller.storeId, toPage(query))),
  on(member.createMember,      ({ caller, body }) => createMember(app, byCaller(caller), body.data)),
  on(member.getMember,         ({ caller, ids }) => showMember(app, caller.storeId, ids.id)),
  on(member.updateMember,      ({ caller, ids, body }) => updateMember(app, byCaller(caller), ids.id, body.data)),
  on(member.deleteMember,      ({ caller, ids }) => deleteMember(app, byCaller(caller), ids.id)),
  on(member.eraseMember,       ({ caller, ids }) => eraseMember(app, byCaller(caller), ids.id)),

  on(event.listEvents,         ({ caller, query }) => listEvents(app, caller, query)),
  on(event.streamEvents,       (request) => app.streams.open(request)),
  on(event.getEventHead,       ({ caller }) => signHead(app, caller.storeId)),

  on(integration.listIntegrations,        ({ caller, query }) => listIntegrations(app, caller, toPage(query))),
  on(integration.createIntegration,       ({ caller, body }) => createIntegration(app, byCaller(caller), body.data)),
  on(integration.getIntegration,          ({ caller, ids }) => showIntegration(app, caller, ids.id)),
  on(integration.updateIntegration,       ({ caller, ids, body }) => updateIntegration(app, byCaller(caller), ids.id, body.data)),
  on(integration.deleteIntegration,       ({ caller, ids }) => deleteIntegration(app, byCaller(caller), ids.id)),
  on(integration.rotateIntegrationSecret, ({ caller, ids }) => rotateSigningSecret(app, byCaller(caller), ids.id)),
  on(delivery.listDeliveries,             ({ caller, ids, query }) => listDeliveries(app, caller, ids.id, toPage(query), query.filter)),
  on(delivery.redeliver,                  ({ caller, ids }) => redeliver(app, caller, ids)),
  on(delivery.replayEvents,               ({ caller, ids, body }) => replayEvents(app, caller.storeId, ids.id, body.data)),
  on(delivery.testIntegration,            ({ caller, ids }) => testIntegration(app, caller, ids.id)),

  on(store.getStore,           ({ caller }) => showStore(app, caller.storeId)),
  on(store.getStoreById,       ({ caller, ids }) => showStoreById(app, caller.storeId, ids.id)),
  on(store.getStoreUsage,      ({ caller, query }) => readUsage(app, caller.storeId, query.seconds)),
  on(store.updateStore,        ({ caller, body }) => updateStore(app, byCaller(caller), body.data)),

  on(realm.getAuthenticationSettings,     ({ caller }) => settings.showSettings(app, caller)),
  on(realm.getAuthenticationSettingsById, ({ caller, ids }) => settings.showSettingsById(app, caller.storeId, ids.id)),
  on(realm.getStoreSettings,              ({ caller }) => settings.showStoreSettings(app, caller)),
  on(realm.getAccountAuthenticationSettings, ({ caller }) => settings.showAccountSettings(app, caller)),
  on(realm.updateAuthenticationSettings,  ({ caller, body }) => updateSettings(app, byCaller(caller), body)),
  on(realm.listRealms,         ({ caller, query }) => listRealms(app, caller, toPage(query))),
  on(realm.createRealm,        ({ caller, body }) => createRealm(app, byCaller(caller), body.data)),
  on(realm.getRealm,           ({ caller, ids }) => showRealm(app, caller, ids.id)),
  on(realm.updateRealm,        ({ caller, ids, body, ifMatch }) => updateRealm(app, byCaller(caller), ids.id, body.data, ifMatch)),
  on(realm.deleteRealm,        ({ caller, ids }) => deleteRealm(app, byCaller(caller), ids.id)),

  on(profile.listProfiles,     ({ caller, ids, query }) => listProfiles(app, caller, ids, query)),
  on(profile.createProfile,    ({ caller, ids, body }) => createProfile(app, caller, ids, body)),
  on(profile.getProfile,       ({ caller, ids }) => viewProfile(app, caller, ids)),
  on(profile.updateProfile,    (request) => updateProfile(app, request)),
  on(profile.deleteProfile,    ({ caller, ids }) => deleteProfile(app, caller, ids)),
  on(profile.checkProfile,     ({ caller, ids }) => checkProfile(app, caller, ids)),
  on(profile.testSignOn,       ({ caller, ids }) => offerTest(app, profileKey(caller, ids))),
  on(profile.approveDrift,     ({ caller, ids, body }) => approveDrift(app, caller, ids, body)),
  on(profile.checkBeforeSaving, ({ caller, ids, body }) => checkBeforeSaving(app, caller, ids.realm, body.data)),
  on(setup.listSetupLinks,     ({ caller, ids }) => listSetupLinks(app, caller, ids)),
  on(setup.createSetupLink,    ({ caller, ids, body }) => createSetupLink(app, byCaller(caller), ids, body.data)),
  on(setup.deleteSetupLink,    ({ caller, ids }) => deleteSetupLink(app, byCaller(caller), ids)),
  on(setup.setupPage,          ({ credential, browser }) => showSetup(app, credential, browser)),
  on(setup.checkSetup,         ({ credential, browser }) => checkSetup(app, credential, browser)),

  on(gateway.checkAtGateway,   ({ caller, query }) => checkAtGateway(caller, query)),

  on(service.live,             () => ({ status: "live" as const })),
  on(service.ready,            () => app.readiness.check()),
  on(service.metrics,          () => app.metricsText()),
  on(service.openapi,          () => app.openapiText()),
];
