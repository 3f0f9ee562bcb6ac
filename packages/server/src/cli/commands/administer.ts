import {
  type Command,
  command,
  commandOn,
  FROM_STORE,
  jsonOption,
  listOptions,
  NAME,
  OF_STORE,
  YES_OPTION,
} from "../command.ts";

/**
 * Commands for members, webhooks, realms, profiles, set-up links and sign-ons. They run beside a service, which applies
 * a change within a second.
 */

export const memberCommands: Command[] = [
  command({
    name: "member add",
    does: "Invites a member, who then signs in at the console through an identity provider of the store.",
    options: {
      ...OF_STORE,
      email: {
        value: "<address>",
        says: "the provider must report this address as verified",
        required: true,
      },
      role: { value: "<role>", says: "viewer, support or administrator", required: true },
      name: NAME,
      ...jsonOption('{"member": {…}, "realm": {"id"}}'),
    },
    notes:
      "A viewer reads; support also ends sessions and examines providers; an administrator does everything. The first invitation\ncreates the store's realm for members. LATCHKEY_PUBLIC_URL is the address of the console.",
    load: async () => (await import("../operator/member.ts")).add,
  }),
  command({
    name: "member list",
    does: "Shows a store's members, oldest first.",
    options: { ...FROM_STORE, ...listOptions("members") },
    load: async () => (await import("../operator/member.ts")).list,
  }),
  commandOn({
    name: "member show",
    does: "Shows a member: the role, and the time of the last sign-in.",
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
    does: "Enables a webhook, for example after a restore has disabled it.",
    options: {
      ...FROM_STORE,
      id: { value: "<webhook>", says: "the webhook's id", required: true },
      ...jsonOption('{"integration": {…}}'),
    },
    notes: `A restore that could not read the replaced database cannot know whether a webhook was deleted after the backup, or its secret
stolen, so it disables all webhooks. Check the webhook's address, then enable it. It sends the events from then on, and the
messages that it had not delivered.`,
    load: async () => (await import("../operator/integration.ts")).enable,
  }),
];

export const realmCommands: Command[] = [
  command({
    name: "realm list",
    does: "Shows a store's realms, oldest first.",
    options: { ...FROM_STORE, ...listOptions("authentication_realms") },
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
    does: "Allows a storefront's address: adds it to the redirect URIs of a realm. The other URIs stay.",
    argument: {
      value: "<uri>",
      says: "the exact address to which the shopper returns, such as https://shop.example/signed-in",
    },
    options: {
      ...FROM_STORE,
      realm: { value: "<realm>", says: "the realm's id; without it, the realm that customers sign in to" },
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
      realm: { value: "<realm>", says: "the realm's id; without it, the realm that customers sign in to" },
      ...listOptions("oidc_profiles"),
    },
    load: async () => (await import("../operator/profile.ts")).list,
  }),
  commandOn({
    name: "profile show",
    does: "Shows an identity provider as the store has configured it, with the addresses to register at the provider.",
    argument: { value: "<profile>", says: "the profile's id" },
    options: { ...FROM_STORE, ...jsonOption('{"oidc_profile": {…}}') },
    notes:
      "The running instances know whether the provider is up (/v2/authentication-realms/…, /metrics); this command does not.\nClient secrets are never shown. Addresses begin with LATCHKEY_PUBLIC_URL.",
    load: async () => (await import("../operator/profile.ts")).show,
  }),
];

export const setupLinkCommands: Command[] = [
  commandOn({
    name: "setup-link create",
    does: "Makes a link to a page for the administrator of an identity provider, and prints its address this once.",
    argument: { value: "<profile>", says: "the profile's id" },
    options: {
      ...FROM_STORE,
      days: { value: "<n>", says: "how long the link works, 1 to 30 days", default: "7" },
      ...jsonOption('{"setup_link": {…, "url"}}'),
    },
    notes:
      "The page needs no account. It shows what to register at the provider and which requirements are met; no secret, and nothing\nof shoppers. A profile has at most five links at a time. Addresses begin with LATCHKEY_PUBLIC_URL.",
    load: async () => (await import("../operator/setup-link.ts")).create,
  }),
  commandOn({
    name: "setup-link show",
    does: "Shows the set-up links of an identity provider that work, oldest first, without their addresses.",
    argument: { value: "<profile>", says: "the profile's id" },
    options: { ...FROM_STORE, ...jsonOption('{"setup_links": […]}') },
    load: async () => (await import("../operator/setup-link.ts")).show,
  }),
  commandOn({
    name: "setup-link delete",
    does: "Ends a set-up link at once.",
    argument: { value: "<link>", says: "the link's id" },
    options: {
      ...FROM_STORE,
      profile: { value: "<profile>", says: "the id of the profile that the link is for", required: true },
      ...YES_OPTION,
      ...jsonOption('{"deleted": id}'),
    },
    load: async () => (await import("../operator/setup-link.ts")).remove,
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
      reason: { value: "<reason>", says: "why the sign-on failed, a code from docs/errors.md" },
      profile: { value: "<profile>", says: "the id of an identity provider's profile" },
      customer: { value: "<customer>", says: "the id of a customer" },
      since: { value: "<time>", says: "started at this time or later, such as 2026-11-16T09:00:00Z" },
      ...listOptions("sign_ons"),
    },
    load: async () => (await import("../operator/sign-on.ts")).list,
  }),
  commandOn({
    name: "sign-on show",
    does: "Shows a sign-on: each check, the duration of each step, why it failed and what to do.",
    argument: {
      value: "<reference>",
      says: "the reference that the shopper reads out, in any spelling (7k2p m0xn), or the record's id",
      isReadOut: true,
    },
    options: {
      store: { value: "<store>", says: "the store's id; without it, the command looks in all stores" },
      ...jsonOption('{"sign_on": {…}, "store": {"id", "name"}}'),
    },
    load: async () => (await import("../operator/sign-on.ts")).show,
  }),
];
