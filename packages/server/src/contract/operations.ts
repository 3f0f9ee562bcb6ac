import * as token from "./access-tokens.ts";
import * as key from "./application-keys.ts";
import * as customerExport from "./customer-export.ts";
import * as customerToken from "./customer-tokens.ts";
import * as customer from "./customers.ts";
import * as delivery from "./deliveries.ts";
import * as event from "./events.ts";
import * as gateway from "./gateway.ts";
import * as integration from "./integrations.ts";
import * as member from "./members.ts";
import * as profile from "./oidc-profiles.ts";
import type { Operation } from "./operation.ts";
import * as realm from "./realms.ts";
import * as service from "./service.ts";
import * as setup from "./setup-links.ts";
import * as signOn from "./sign-on.ts";
import * as record from "./sign-ons.ts";
import * as signOut from "./sign-out.ts";
import * as store from "./store.ts";

/** All operations, in the order of the reference. A test checks that routes.ts serves each of them. */
export const operations: readonly Operation[] = [
  token.issueAccessToken,
  token.introspectToken,
  token.revokeToken,
  customerToken.issueCustomerToken,
  customerToken.listCustomerTokens,
  customerToken.revokeCustomerTokens,
  customerToken.revokeCustomerToken,
  customer.listCustomers,
  customer.createCustomer,
  customer.getCustomer,
  customer.updateCustomer,
  customer.deleteCustomer,
  customer.listCustomerIdentities,
  customer.eraseCustomer,
  customerExport.exportCustomer,
  signOn.authorize,
  signOn.authorizeByForm,
  signOn.callback,
  signOn.beginTest,
  signOn.backchannelLogout,
  signOn.realmMetadata,
  signOn.realmToken,
  signOn.revokeAtRealm,
  signOn.userinfo,
  signOn.userinfoByPost,
  signOut.endSession,
  signOut.endSessionByForm,
  signOut.signedOut,
  signOn.jwks,
  record.listSignOns,
  record.getSignOnStatistics,
  record.getSignOn,
  key.listApplicationKeys,
  key.createApplicationKey,
  key.getApplicationKey,
  key.updateApplicationKey,
  key.deleteApplicationKey,
  key.rotateApplicationKey,
  key.dryRunApplicationKey,
  member.findMemberSignIn,
  member.getMe,
  member.listMembers,
  member.createMember,
  member.getMember,
  member.updateMember,
  member.deleteMember,
  member.eraseMember,
  event.listEvents,
  event.streamEvents,
  event.getEventHead,
  integration.listIntegrations,
  integration.createIntegration,
  integration.getIntegration,
  integration.updateIntegration,
  integration.deleteIntegration,
  integration.rotateIntegrationSecret,
  delivery.listDeliveries,
  delivery.redeliver,
  delivery.replayEvents,
  delivery.testIntegration,
  store.getStore,
  store.getStoreById,
  store.getStoreUsage,
  store.updateStore,
  realm.getAuthenticationSettings,
  realm.getAuthenticationSettingsById,
  realm.getStoreSettings,
  realm.getAccountAuthenticationSettings,
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
  profile.testSignOn,
  profile.approveDrift,
  profile.checkBeforeSaving,
  setup.listSetupLinks,
  setup.createSetupLink,
  setup.deleteSetupLink,
  setup.setupPage,
  setup.checkSetup,
  gateway.checkAtGateway,
  service.live,
  service.ready,
  service.metrics,
  service.openapi,
];
