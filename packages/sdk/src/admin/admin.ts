import { type Api, createApi, type GetToken, pathOf } from "../access.ts";
import type * as wire from "../contract.ts";
import type { Exchange, Fetch } from "../exchange.ts";
import { clockOf, wireOf } from "../wire.ts";
import { openerOf } from "./event-stream.ts";
import { events } from "./events.ts";
import { integrations } from "./integrations.ts";
import { type FilterQuery, type ListQuery, listing, type PageQuery, withQuery } from "./listing.ts";
import { type Answer, resource } from "./resource.ts";

export type AdminOptions = {
  /** Where Latchkey is: `https://keys.example`. */
  baseUrl: string;
  fetch?: Fetch | undefined;
  now?: (() => number) | undefined;
  sleep?: ((ms: number) => Promise<unknown>) | undefined;
  onExchange?: ((exchange: Exchange) => void) | undefined;
} & (
  | {
      clientId: string;
      /** For programs on a server only: whoever has it may do what the key's role may. */
      clientSecret: string;
    }
  /** For a person who has signed in: gives the access token of `redeemMemberCode`, or a new one when that was refused. */
  | { accessToken: GetToken }
);

export type Admin = ReturnType<typeof createAdmin>;

/** The store's back office. Bodies are those of the API, in its own spelling; `type` is added here. */
export function createAdmin(options: AdminOptions) {
  const grant =
    "accessToken" in options
      ? options.accessToken
      : {
          grant_type: "client_credentials",
          client_id: options.clientId,
          client_secret: options.clientSecret,
        };
  const clock = clockOf(options);
  const line = wireOf(options, (_, detail) => detail);
  const api = createApi({ ...line, ...clock, grant });
  return {
    applicationKeys: applicationKeys(api),
    settings: single<wire.Settings, wire.SettingsChange>(
      api,
      "/v2/customer-authentication-settings",
      "customer-authentication-settings",
    ),
    realms: realms(api),
    members: members(api),
    /** Who is calling, and in which role. */
    me: () => api<Answer<wire.Me>>({ method: "GET", path: "/v2/me" }),
    profiles: (realmId: string) => profiles(api, realmId),
    customers: customers(api),
    customerTokens: (customerId: string) => customerTokens(api, customerId),
    signOns: {
      list: (query?: ListQuery) =>
        listing<wire.SignOn & { links: wire.SelfLink }, ListQuery>(api, SIGN_ONS, query),
      get: async (id: string) => api<Answer<wire.SignOn>>({ method: "GET", path: SIGN_ONS + pathOf(id) }),
      /** How many ended how, and why, by minute, hour or day. Cheap enough to ask every second. */
      statistics: async (query: wire.StatisticsQuery = {}) =>
        api<wire.SignOnStatistics>({ method: "GET", path: withQuery(`${SIGN_ONS}/statistics`, query) }),
    },
    events: events(api, openerOf(line, api), clock.sleep),
    integrations: integrations(api),
    store: {
      ...single<wire.Store, wire.StoreChange, wire.InForce>(api, STORE, "store"),
      /** What each key asked for and was refused, second by second. */
      usage: async (query: { seconds?: number | undefined } = {}) =>
        api<Answer<wire.StoreUsage>>({ method: "GET", path: withQuery(`${STORE}/usage`, query) }),
    },
  };
}

const KEYS = "/v2/application-keys";
const REALMS = "/v2/authentication-realms";
const CUSTOMERS = "/v2/customers";
const MEMBERS = "/v2/members";
const SIGN_ONS = "/v2/sign-ons";
const STORE = "/v2/store";

/** What a store has one of. */
const single = <Item, Change extends object, Written = unknown>(api: Api, path: string, type: string) => ({
  get: () => api<Answer<Item>>({ method: "GET", path }),
  update: (change: Change) => api<Answer<Item> & Written>({ method: "PUT", path, data: { type, ...change } }),
});

const applicationKeys = (api: Api) => ({
  ...resource<{
    item: wire.ApplicationKey;
    fresh: wire.ApplicationKeyFields;
    change: wire.ApplicationKeyFields;
    /** `eq(client_id,…)`. In one order alone. */
    query: FilterQuery;
    listMeta: wire.ApplicationKeyListMeta;
    written: wire.InForce;
    made: wire.ApplicationKeyWithSecret;
  }>(api, KEYS, "application_key"),
  /** A second secret; older ones live on for `grace_seconds`. */
  rotate: async (id: string, options: { grace_seconds?: number | undefined } = {}) =>
    api<Answer<wire.ApplicationKeyWithSecret>>({
      method: "POST",
      path: `${KEYS}${pathOf(id)}/rotate`,
      data: options,
    }),
  /** What an update would do to every key; it changes nothing. */
  dryRun: async (id: string, change: wire.ApplicationKeyFields) =>
    api<Answer<wire.ApplicationKeyDryRun>>({
      method: "POST",
      path: `${KEYS}${pathOf(id)}/dry-run`,
      data: { type: "application_key", ...change },
    }),
});

const realms = (api: Api) => ({
  ...resource<{ item: wire.Realm; fresh: wire.NewRealm; change: wire.RealmChange }>(
    api,
    REALMS,
    "authentication-realm",
  ),
  /** `basedOn`: the realm as it was read. Whatever somebody else has changed since is then 409 `realm_changed`. */
  update: async (id: string, change: wire.RealmChange, options: { basedOn?: wire.Realm | undefined } = {}) =>
    api<Answer<wire.Realm>>({
      method: "PUT",
      path: REALMS + pathOf(id),
      data: { type: "authentication-realm", ...change },
      ...(options.basedOn && { ifMatch: options.basedOn.meta.updated_at }),
    }),
});

function profiles(api: Api, realmId: string) {
  const path = `${REALMS}${pathOf(realmId)}/oidc-profiles`;
  return {
    ...resource<{
      item: wire.Profile;
      fresh: wire.NewProfile;
      change: wire.ProfileChange;
      links: wire.ProfileLinks;
    }>(api, path, "oidc-profile"),
    /** `basedOn`: the profile as it was read. Whatever somebody else has changed since is then 409 `profile_changed`. */
    update: async (
      id: string,
      change: wire.ProfileChange,
      options: { basedOn?: wire.Profile | undefined } = {},
    ) =>
      api<Answer<wire.Profile, wire.ProfileLinks>>({
        method: "PUT",
        path: path + pathOf(id),
        data: { type: "oidc-profile", ...change },
        ...(options.basedOn && { ifMatch: options.basedOn.meta.updated_at }),
      }),
    /** Examines the identity provider now. */
    check: async (id: string) =>
      api<Answer<wire.ProfileReport, wire.ProfileLinks>>({
        method: "POST",
        path: `${path}${pathOf(id)}/checks`,
      }),
    /** An address at which somebody signs in once, to see every check. Nothing comes of it but a record. */
    testSignOn: async (id: string) =>
      api<Answer<wire.TestSignOn, wire.ProfileLinks>>({
        method: "POST",
        path: `${path}${pathOf(id)}/test-sign-on`,
      }),
    /** Accepts what the identity provider has changed: what `meta.pending_change` showed, by its digest, and nothing else. */
    approveDrift: async (id: string, digest: string, choice: wire.MoveChoice = {}) =>
      api<Answer<wire.Profile, wire.ProfileLinks>>({
        method: "POST",
        path: `${path}${pathOf(id)}/approve-drift`,
        data: { digest, ...choice },
      }),
  };
}

const customers = (api: Api) => ({
  ...resource<{
    item: wire.Customer;
    fresh: wire.NewCustomer;
    change: wire.CustomerChange;
    query: ListQuery;
  }>(api, CUSTOMERS, "customer"),
  /** What each identity provider calls the customer. */
  identities: async (id: string) =>
    api<{ data: wire.CustomerIdentity[] }>({ method: "GET", path: `${CUSTOMERS}${pathOf(id)}/identities` }),
  /** Deletes the customer and takes its data out of the log of events, for good. */
  erase: async (id: string) =>
    api<{ data: wire.CustomerErasure }>({ method: "POST", path: `${CUSTOMERS}${pathOf(id)}/erase` }),
});

const members = (api: Api) => ({
  ...resource<{ item: wire.Member; fresh: wire.NewMember; change: wire.MemberChange }>(
    api,
    MEMBERS,
    "member",
  ),
  /** Removes the member and takes their data out of the log of events, for good. */
  erase: async (id: string) =>
    api<{ data: wire.MemberErasure }>({ method: "POST", path: `${MEMBERS}${pathOf(id)}/erase` }),
});

function customerTokens(api: Api, customerId: string) {
  const path = `${CUSTOMERS}${pathOf(customerId)}/tokens`;
  return {
    list: (query?: PageQuery) => listing<wire.CustomerTokenEntry>(api, path, query),
    revoke: async (id: string): Promise<void> => {
      await api({ method: "DELETE", path: path + pathOf(id) });
    },
    revokeAll: async (): Promise<void> => {
      await api({ method: "DELETE", path });
    },
  };
}
