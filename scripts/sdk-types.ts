import * as keys from "../packages/server/src/contract/application-keys.ts";
import * as customerExport from "../packages/server/src/contract/customer-export.ts";
import * as tokens from "../packages/server/src/contract/customer-tokens.ts";
import * as customers from "../packages/server/src/contract/customers.ts";
import * as deliveries from "../packages/server/src/contract/deliveries.ts";
import * as events from "../packages/server/src/contract/events.ts";
import * as integrations from "../packages/server/src/contract/integrations.ts";
import * as members from "../packages/server/src/contract/members.ts";
import * as profiles from "../packages/server/src/contract/oidc-profiles.ts";
import type { Operation } from "../packages/server/src/contract/operation.ts";
import * as realms from "../packages/server/src/contract/realms.ts";
import * as setupLinks from "../packages/server/src/contract/setup-links.ts";
import * as signOns from "../packages/server/src/contract/sign-ons.ts";
import * as store from "../packages/server/src/contract/store.ts";
import { answerOf, bodyOf, only, queryOf, shapeAt, without } from "./contract-types.ts";
import { type Declaration, declare } from "./write-types.ts";

const at = ({ method, path }: Operation) => `\`${method} ${path}\``;

const answer = (name: string, operation: Operation, path = "data"): Declaration => ({
  name,
  comment: `\`${path}\` of the answer of ${at(operation)}.`,
  type: answerOf(operation, path),
});

const body = (name: string, operation: Operation): Declaration => ({
  name,
  comment: `Body of ${at(operation)}.`,
  type: bodyOf(operation),
});

/** Every type of the API that the SDK exports, in the order of the file. */
const declarations = (): Declaration[] => [
  answer("SelfLink", members.getMember, "links"),
  answer("Timestamps", members.getMember, "data.meta.timestamps"),
  answer("Role", members.getMember, "data.role"),
  answer("OpenidClient", keys.getApplicationKey, "data.openid_client"),
  {
    name: "InForce",
    comment: "In the answer of a change of limits.",
    type: only(answerOf(store.updateStore), ["meta"]),
  },

  answer("ApplicationKey", keys.getApplicationKey),
  { ...answer("ApplicationKeyWithSecret", keys.createApplicationKey), extended: "ApplicationKey" },
  body("ApplicationKeyFields", keys.updateApplicationKey),
  {
    name: "ApplicationKeyListMeta",
    comment: `\`meta\` of the answer of ${at(keys.listApplicationKeys)}, without the page.`,
    type: without(answerOf(keys.listApplicationKeys, "meta"), ["page", "results"]),
  },
  answer("ApplicationKeyDryRun", keys.dryRunApplicationKey),

  answer("Member", members.getMember),
  body("MemberChange", members.updateMember),
  body("NewMember", members.createMember),
  answer("MemberErasure", members.eraseMember),
  answer("Me", members.getMe),

  answer("Settings", realms.getAuthenticationSettings),
  body("SettingsChange", realms.updateAuthenticationSettings),
  answer("Realm", realms.getRealm),
  body("RealmChange", realms.updateRealm),
  { ...body("NewRealm", realms.createRealm), extended: "RealmChange" },

  answer("Profile", profiles.getProfile),
  answer("ProfileLinks", profiles.getProfile, "links"),
  body("ProfileChange", profiles.updateProfile),
  body("NewProfile", profiles.createProfile),
  {
    name: "MoveChoice",
    comment: `Body of ${at(profiles.approveDrift)}, without \`digest\`.`,
    type: without(bodyOf(profiles.approveDrift), ["digest"]),
  },
  answer("ProfileReport", profiles.checkProfile),
  answer("NewProfileReport", profiles.checkBeforeSaving),
  body("NewProfileCheck", profiles.checkBeforeSaving),
  answer("TestSignOn", profiles.testSignOn),
  answer("SetupLink", setupLinks.listSetupLinks, "data[]"),
  answer("SetupLinkWithUrl", setupLinks.createSetupLink),
  body("NewSetupLink", setupLinks.createSetupLink),

  answer("Customer", customers.getCustomer),
  {
    name: "CustomerFields",
    comment: `Body of ${at(customers.createCustomer)}, without \`name\` and \`email\`.`,
    type: without(bodyOf(customers.createCustomer), ["name", "email"]),
  },
  { ...body("NewCustomer", customers.createCustomer), extended: "CustomerFields" },
  { ...body("CustomerChange", customers.updateCustomer), extended: "CustomerFields" },
  answer("CustomerIdentity", customers.listCustomerIdentities, "data[]"),
  answer("CustomerErasure", customers.eraseCustomer),
  answer("CustomerExport", customerExport.exportCustomer),
  answer("CustomerTokenEntry", tokens.listCustomerTokens, "data[]"),

  answer("SignOn", signOns.getSignOn),
  {
    name: "StatisticsQuery",
    comment: `Query of ${at(signOns.getSignOnStatistics)}.`,
    type: queryOf(signOns.getSignOnStatistics),
  },
  {
    name: "SignOnStatistics",
    comment: `The answer of ${at(signOns.getSignOnStatistics)}, by identity provider.`,
    type: shapeAt(answerOf(signOns.getSignOnStatistics), 0),
  },
  {
    name: "SignOnStatisticsByKey",
    comment: `The answer of ${at(signOns.getSignOnStatistics)} with \`group=key\`.`,
    type: shapeAt(answerOf(signOns.getSignOnStatistics), 1),
  },

  answer("Store", store.getStore),
  body("StoreChange", store.updateStore),
  answer("StoreUsage", store.getStoreUsage),

  answer("Event", events.listEvents, "data[]"),
  answer("EventData", events.listEvents, "data[].data"),
  answer("EventHead", events.getEventHead),

  answer("Integration", integrations.getIntegration),
  { ...answer("IntegrationWithSecret", integrations.createIntegration), extended: "Integration" },
  body("NewIntegration", integrations.createIntegration),
  body("IntegrationChange", integrations.updateIntegration),
  answer("DeliveryAttempt", deliveries.testIntegration, "data.attempt"),
  answer("IntegrationDelivery", deliveries.listDeliveries, "data[]"),
  answer("IntegrationTest", deliveries.testIntegration),
  body("Replay", deliveries.replayEvents),
];

/** packages/sdk/src/contract.ts: the types of what administration sends and is answered. */
export const sdkTypes = (): string =>
  `// Made by \`npm run generate\` from packages/server/src/contract. Do not edit.\n\n${declare(declarations())}`;
