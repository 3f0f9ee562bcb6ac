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

/** Commands for stores and application keys. They run beside a service, which applies a change within a second. */

const RATE = { value: "<n>", says: "requests per second that all its keys share" } as const;
const MAX_RATE = { value: "<n>", says: "the highest limit that the store's administrators may set" } as const;
const SIGN_UPS = {
  "sign-ups-per-network": {
    value: "<n>",
    says: "customers that public tokens may create in an hour from one network; 30 unless set",
  },
  "sign-ups-per-hour": {
    value: "<n>",
    says: "customers that public tokens may create in an hour in all; 1,000 unless set",
  },
} as const;
const ROLE = {
  value: "<role>",
  says: "what the key's client_credentials tokens may do: viewer, support or administrator",
} as const;
const OPENID_CLIENT = {
  value: "<kind>",
  says: "what the realms require of this client: pkce, or standard (PKCE or a nonce)",
} as const;
const RESERVE = { value: "<n>", says: "requests per second that this key is never refused" } as const;
const STORE_ID = { value: "<store>", says: "the store's id", required: true } as const;
const KEY_ID = { value: "<key>", says: "the key's id", required: true } as const;

export const storeCommands: Command[] = [
  command({
    name: "store create",
    does: "Creates a store with its first application key. Shows the key's secret once.",
    options: {
      name: { ...NAME, required: true },
      "rate-limit": { ...RATE, default: "100" },
      "max-rate-limit": { ...MAX_RATE, says: `${MAX_RATE.says}; without it, they cannot raise the limit` },
      ...SIGN_UPS,
      ...jsonOption('{"store": {…}, "application_key": {…, "client_secret"}}'),
    },
    load: async () => (await import("../operator/store.ts")).createOne,
  }),
  command({
    name: "store list",
    does: "Shows stores, oldest first, including stores that are being deleted.",
    options: listOptions("stores"),
    load: async () => (await import("../operator/store.ts")).list,
  }),
  commandOn({
    name: "store show",
    does: "Shows a store with its limits.",
    argument: { value: "<store>", says: "the store's id" },
    options: jsonOption('{"store": {…}}'),
    load: async () => (await import("../operator/store.ts")).show,
  }),
  command({
    name: "store update",
    does: "Changes a store's name or limits. Options that are not given stay.",
    options: {
      id: STORE_ID,
      name: NAME,
      "rate-limit": RATE,
      "max-rate-limit": MAX_RATE,
      ...SIGN_UPS,
      ...jsonOption('{"store": {…}}'),
    },
    notes:
      "A --rate-limit above the store's --max-rate-limit raises both. To lower --max-rate-limit below the limit, lower both at once.",
    load: async () => (await import("../operator/store.ts")).update,
  }),
  command({
    name: "store delete",
    does: "Deletes a store with everything in it, for good.",
    options: { id: STORE_ID, ...YES_OPTION, ...jsonOption('{"deleted": id, "rows": n}') },
    notes:
      "Ends the store's tokens and keys at once, then deletes its rows in batches, while the service runs. If the command is\ninterrupted, run it again: it continues.",
    load: async () => (await import("../operator/store.ts")).remove,
  }),
];

export const keyCommands: Command[] = [
  command({
    name: "key create",
    does: "Creates an application key. Shows its secret once.",
    options: {
      ...OF_STORE,
      name: { ...NAME, required: true },
      reserve: { ...RESERVE, default: "0" },
      role: { ...ROLE, default: "administrator" },
      "openid-client": { ...OPENID_CLIENT, default: "pkce" },
      ...jsonOption('{"application_key": {…, "client_secret"}}'),
    },
    load: async () => (await import("../operator/key.ts")).create,
  }),
  command({
    name: "key list",
    does: "Shows a store's application keys, oldest first.",
    options: { ...FROM_STORE, ...listOptions("application_keys") },
    load: async () => (await import("../operator/key.ts")).list,
  }),
  commandOn({
    name: "key show",
    does: "Shows an application key, and when each of its secrets was last used.",
    argument: { value: "<key>", says: "the key's id" },
    options: { ...FROM_STORE, ...jsonOption('{"application_key": {…}}') },
    load: async () => (await import("../operator/key.ts")).show,
  }),
  command({
    name: "key update",
    does: "Changes a key's name, reservation, role or kind of OpenID client. Options that are not given stay.",
    options: {
      ...OF_STORE,
      id: KEY_ID,
      name: NAME,
      reserve: RESERVE,
      role: ROLE,
      "openid-client": OPENID_CLIENT,
      ...jsonOption('{"application_key": {…}}'),
    },
    load: async () => (await import("../operator/key.ts")).update,
  }),
  command({
    name: "key rotate",
    does: "Gives a key a new secret, and shows it once.",
    options: {
      ...OF_STORE,
      id: KEY_ID,
      "grace-seconds": {
        value: "<seconds>",
        says: "how long the older secrets stay valid",
        default: "86400",
      },
      ...jsonOption('{"application_key": {…, "client_secret"}}'),
    },
    load: async () => (await import("../operator/key.ts")).rotate,
  }),
  command({
    name: "key delete",
    does: "Deletes a key for good: its secrets and access tokens end within a second.",
    options: { ...OF_STORE, id: KEY_ID, ...YES_OPTION, ...jsonOption('{"deleted": id}') },
    load: async () => (await import("../operator/key.ts")).remove,
  }),
];
