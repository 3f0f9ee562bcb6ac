import {
  type Command,
  command,
  commandOn,
  FROM_STORE,
  jsonOption,
  NAME,
  OF_STORE,
  PAGE_OPTIONS,
  YES_OPTION,
} from "../command.ts";

/**
 * Commands for members, webhooks, realms, profiles and sign-ons. They run beside a service, which applies a change
 * within a second.
 */

export const memberCommands: Command[] = [
  command({
    name: "member add",
    does: "Invites somebody, who then signs in at the console through an identity provider of the store.",
    options: {
      ...OF_STORE,
      email: { value: "<address>", says: "which the provider must call verified", required: true },
      role: { value: "<role>", says: "viewer, support or administrator", required: true },
      name: NAME,
      ...jsonOption('{"member": {…}, "realm": {"id"}}'),
    },
    notes:
      "viewer reads; support also ends sessions and examines providers; administrator does everything. The first member makes the\nstore's realm for members. LATCHKEY_PUBLIC_URL says where the console is.",
    load: async () => (await import("../operator/member.ts")).add,
  }),
  command({
    name: "member list",
    does: "Shows a store's members, oldest first.",
    options: { ...FROM_STORE, ...PAGE_OPTIONS, ...jsonOption('{"members": […], "next": cursor or null}') },
    load: async () => (await import("../operator/member.ts")).list,
  }),
  commandOn({
    name: "member show",
    does: "Shows a member: role, and when they last signed in.",
    argument: { value: "<member>", says: "the member's id" },
    options: { ...FROM_STORE, ...jsonOption('{"member": {…}}') },
    load: async () => (await import("../operator/member.ts")).show,
  }),
  command({
    name: "member remove",
    does: "Removes a member, who is signed out within a second.",
    options: {
      ...OF_STORE,
      id: { value: "<member>", says: "the member's id", required: true },
      ...YES_OPTION,
      ...jsonOption('{"deleted": id}'),
    },
    load: async () => (await import("../operator/member.ts")).remove,
  }),
];

export const integrationCommands: Command[] = [
  command({
    name: "integration enable",
    does: "Enables a webhook, as those that came back with a backup.",
    options: {
      ...FROM_STORE,
      id: { value: "<webhook>", says: "the webhook's id", required: true },
      ...jsonOption('{"integration": {…}}'),
    },
    notes: `After a restore that could not read the database of before, nothing tells whether a webhook was deleted since, or its secret
stolen. Look at where it sends, then enable it. It goes on with what happens from then on, and with what it had not delivered.`,
    load: async () => (await import("../operator/integration.ts")).enable,
  }),
];

export const realmCommands: Command[] = [
  command({
    name: "realm list",
    does: "Shows a store's realms, oldest first.",
    options: {
      ...FROM_STORE,
      ...PAGE_OPTIONS,
      ...jsonOption('{"authentication_realms": […], "next": cursor or null}'),
    },
    load: async () => (await import("../operator/realm.ts")).list,
  }),
  commandOn({
    name: "realm show",
    does: "Shows a realm: redirect URIs, and what happens when two customers have one e-mail.",
    argument: { value: "<realm>", says: "the realm's id" },
    options: { ...FROM_STORE, ...jsonOption('{"authentication_realm": {…}}') },
    load: async () => (await import("../operator/realm.ts")).show,
  }),
  commandOn({
    name: "realm allow",
    does: "Lets a storefront sign on from an address: adds it to a realm's redirect URIs. The others stay.",
    argument: {
      value: "<uri>",
      says: "where the shopper comes back to, to the letter, such as https://shop.example/signed-in",
    },
    options: {
      ...FROM_STORE,
      realm: { value: "<realm>", says: "the realm's id; unless given, the one that customers sign in to" },
      ...jsonOption('{"authentication_realm": {…}}'),
    },
    load: async () => (await import("../operator/realm.ts")).allow,
  }),
];

export const profileCommands: Command[] = [
  command({
    name: "profile list",
    does: "Shows the identity providers of a realm, oldest first.",
    options: {
      ...FROM_STORE,
      realm: { value: "<realm>", says: "the realm's id; unless given, the one that customers sign in to" },
      ...PAGE_OPTIONS,
      ...jsonOption('{"oidc_profiles": […], "next": cursor or null}'),
    },
    load: async () => (await import("../operator/profile.ts")).list,
  }),
  commandOn({
    name: "profile show",
    does: "Shows an identity provider as a store has configured it, with the addresses to register there.",
    argument: { value: "<profile>", says: "the profile's id" },
    options: { ...FROM_STORE, ...jsonOption('{"oidc_profile": {…}}') },
    notes:
      "Whether it is up is not shown: the running instances know that (/v2/authentication-realms/…, /metrics). Client secrets\nare never shown. Addresses begin with LATCHKEY_PUBLIC_URL.",
    load: async () => (await import("../operator/profile.ts")).show,
  }),
];

export const signOnCommands: Command[] = [
  command({
    name: "sign-on list",
    does: "Shows the records of sign-ons, newest first.",
    options: {
      ...FROM_STORE,
      outcome: {
        value: "<outcome>",
        says: "code_issued, exchanged, failed, expired, tested or logout_refused",
      },
      reason: { value: "<reason>", says: "why it failed, as in docs/errors.md" },
      profile: { value: "<profile>", says: "the id of an identity provider's profile" },
      customer: { value: "<customer>", says: "the id of a customer" },
      since: { value: "<time>", says: "begun at this time or later, e.g. 2026-11-16T09:00:00Z" },
      ...PAGE_OPTIONS,
      ...jsonOption('{"sign_ons": […], "next": cursor or null}'),
    },
    load: async () => (await import("../operator/sign-on.ts")).list,
  }),
  commandOn({
    name: "sign-on show",
    does: "Shows what became of a sign-on: each check, how long each step took, why it failed and what to do.",
    argument: {
      value: "<reference>",
      says: "what the shopper reads out, in any spelling (7k2p m0xn), or the record's id",
      isReadOut: true,
    },
    options: {
      store: { value: "<store>", says: "the store's id; unless given, all stores are looked in" },
      ...jsonOption('{"sign_on": {…}, "store": {"id", "name"}}'),
    },
    load: async () => (await import("../operator/sign-on.ts")).show,
  }),
];
