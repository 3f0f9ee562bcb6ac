import { type Api, createApi, type GetToken, pathOf } from "../access.ts";
import type * as wire from "../contract.ts";
import type { Exchange, Fetch } from "../exchange.ts";
import { clockOf, wireOf } from "../wire.ts";
import { type CsvQuery, type FileOptions, readCsv, readFile } from "./csv.ts";
import { type AdminApi, openerOf } from "./event-stream.ts";
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
      /** For programs on a server only: the secret grants everything that the key's role may do. */
      clientSecret: string;
    }
  /** For a signed-in member: supplies the access token of `redeemMemberCode`, or a new token after a 401. */
  | { accessToken: GetToken }
);

export type Admin = ReturnType<typeof createAdmin>;

/** Administers a store. Bodies have the members of the API, in its spelling; the SDK adds `type`. */
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
  const access = createApi({ ...line, ...clock, grant });
  const api: AdminApi = Object.assign(access, { open: openerOf(line, access) });
  return {
    applicationKeys: applicationKeys(api),
    settings: single<wire.Settings, wire.SettingsChange>(
      api,
      "/v2/customer-authentication-settings",
      "customer-authentication-settings",
    ),
    realms: realms(api),
    members: members(api),
    /** The application key or member that the access token belongs to, and its role. */
    me: () => api<Answer<wire.Me>>({ method: "GET", path: "/v2/me" }),
    profiles: (realmId: string) => profiles(api, realmId),
    customers: customers(api),
    customerTokens: (customerId: string) => customerTokens(api, customerId),
    signOns: {
      list: (query?: ListQuery) =>
        listing<wire.SignOn & { links: wire.SelfLink }, ListQuery>(api, SIGN_ONS, query),
      /** The whole list as CSV, piece by piece. */
      csv: (query: CsvQuery = {}) => readCsv(api, SIGN_ONS, query),
      get: async (id: string) => api<Answer<wire.SignOn>>({ method: "GET", path: SIGN_ONS + pathOf(id) }),
      /**
       * Counts sign-ons by outcome and reason, per minute, hour or day. Cheap enough for a call per second. With
       * `group: "key"` the entries are those of application keys, else those of identity providers.
       */
      statistics: async <G extends StatisticsGroup = "profile">(
        query: wire.StatisticsQuery & { group?: G | undefined } = {},
      ) => api<StatisticsBy[G]>({ method: "GET", path: withQuery(`${SIGN_ONS}/statistics`, query) }),
    },
    events: events(api, clock.sleep),
    integrations: integrations(api),
    store: {
      ...single<wire.Store, wire.StoreChange, wire.InForce>(api, STORE, "store"),
      /** Requests and refusals of each application key, per second. */
      usage: async (query: { seconds?: number | undefined } = {}) =>
        api<Answer<wire.StoreUsage>>({ method: "GET", path: withQuery(`${STORE}/usage`, query) }),
    },
  };
}

type StatisticsBy = { profile: wire.SignOnStatistics; key: wire.SignOnStatisticsByKey };
type StatisticsGroup = keyof StatisticsBy;

const KEYS = "/v2/application-keys";
const REALMS = "/v2/authentication-realms";
const CUSTOMERS = "/v2/customers";
const MEMBERS = "/v2/members";
const SIGN_ONS = "/v2/sign-ons";
const STORE = "/v2/store";

/** A resource that exists once in a store. */
const single = <Item, Change extends object, Written = unknown>(api: Api, path: string, type: string) => ({
  get: () => api<Answer<Item>>({ method: "GET", path }),
  update: (change: Change) => api<Answer<Item> & Written>({ method: "PUT", path, data: { type, ...change } }),
});

const applicationKeys = (api: AdminApi) => ({
  ...resource<{
    item: wire.ApplicationKey;
    fresh: wire.ApplicationKeyFields;
    change: wire.ApplicationKeyFields;
    /** `filter` takes `eq(client_id,…)`. The list has no `sort`. */
    query: FilterQuery;
    listMeta: wire.ApplicationKeyListMeta;
    written: wire.InForce;
    made: wire.ApplicationKeyWithSecret;
  }>(api, KEYS, "application_key"),
  /** Creates another secret. Older secrets work for `grace_seconds` more. */
  rotate: async (id: string, options: { grace_seconds?: number | undefined } = {}) =>
    api<Answer<wire.ApplicationKeyWithSecret>>({
      method: "POST",
      path: `${KEYS}${pathOf(id)}/rotate`,
      data: options,
    }),
  /** Calculates what an update would do to every key, and changes nothing. */
  dryRun: async (id: string, change: wire.ApplicationKeyFields) =>
    api<Answer<wire.ApplicationKeyDryRun>>({
      method: "POST",
      path: `${KEYS}${pathOf(id)}/dry-run`,
      data: { type: "application_key", ...change },
    }),
});

const realms = (api: AdminApi) => ({
  ...resource<{ item: wire.Realm; fresh: wire.NewRealm; change: wire.RealmChange }>(
    api,
    REALMS,
    "authentication-realm",
  ),
  /**
   * `basedOn`: the realm as the caller has read it. The answer is 409 `realm_changed` if it has changed
   * since.
   */
  update: async (id: string, change: wire.RealmChange, options: { basedOn?: wire.Realm | undefined } = {}) =>
    api<Answer<wire.Realm>>({
      method: "PUT",
      path: REALMS + pathOf(id),
      data: { type: "authentication-realm", ...change },
      ...(options.basedOn && { ifMatch: options.basedOn.meta.updated_at }),
    }),
});

function profiles(api: AdminApi, realmId: string) {
  const path = `${REALMS}${pathOf(realmId)}/oidc-profiles`;
  return {
    ...resource<{
      item: wire.Profile;
      fresh: wire.NewProfile;
      change: wire.ProfileChange;
      links: wire.ProfileLinks;
    }>(api, path, "oidc-profile"),
    /**
     * `basedOn`: the profile as the caller has read it. The answer is 409 `profile_changed` if it has changed
     * since.
     */
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
    /** Runs the nine checks on the identity provider now. */
    check: async (id: string) =>
      api<Answer<wire.ProfileReport, wire.ProfileLinks>>({
        method: "POST",
        path: `${path}${pathOf(id)}/checks`,
      }),
    /** Runs the nine checks on an identity provider that is not added yet, and saves nothing. */
    checkBeforeSaving: async (check: wire.NewProfileCheck) =>
      api<{ data: wire.NewProfileReport }>({
        method: "POST",
        path: `${path}/checks`,
        data: { type: "oidc-profile-checks", ...check },
      }),
    setupLinks: (id: string) => setupLinks(api, `${path}${pathOf(id)}/setup-links`),
    /**
     * Gives a URL for one test sign-on, which shows every check. It creates a sign-on record, but no customer
     * and no token.
     */
    testSignOn: async (id: string) =>
      api<Answer<wire.TestSignOn, wire.ProfileLinks>>({
        method: "POST",
        path: `${path}${pathOf(id)}/test-sign-on`,
      }),
    /** Accepts the change with this digest, from `meta.pending_change`, and no other change. */
    approveDrift: async (id: string, digest: string, choice: wire.MoveChoice = {}) =>
      api<Answer<wire.Profile, wire.ProfileLinks>>({
        method: "POST",
        path: `${path}${pathOf(id)}/approve-drift`,
        data: { digest, ...choice },
      }),
  };
}

/** Links to a page for the administrator of an identity provider, who needs no account. */
const setupLinks = (api: Api, path: string) => ({
  list: async () => api<{ data: wire.SetupLink[] }>({ method: "GET", path }),
  /** Only this answer has the link's `url`. */
  create: async (link: wire.NewSetupLink) =>
    api<{ data: wire.SetupLinkWithUrl }>({ method: "POST", path, data: { type: "setup-link", ...link } }),
  /** Ends a link at once. */
  delete: async (linkId: string): Promise<void> => {
    await api({ method: "DELETE", path: path + pathOf(linkId) });
  },
});

const customers = (api: AdminApi) => ({
  ...resource<{
    item: wire.Customer;
    fresh: wire.NewCustomer;
    change: wire.CustomerChange;
    query: ListQuery;
  }>(api, CUSTOMERS, "customer"),
  /** Lists the customer's subject at each identity provider. */
  identities: async (id: string) =>
    api<{ data: wire.CustomerIdentity[] }>({ method: "GET", path: `${CUSTOMERS}${pathOf(id)}/identities` }),
  /** Everything that is kept of the person. The log of events notes it. */
  export: async (id: string) =>
    api<{ data: wire.CustomerExport }>({ method: "GET", path: `${CUSTOMERS}${pathOf(id)}/export` }),
  /** The same as the text of a file, piece by piece. Throws if the file breaks off. */
  exportFile: (id: string, options: FileOptions = {}) =>
    readFile(api, `${CUSTOMERS}${pathOf(id)}/export`, "application/json", options),
  /** Deletes the customer and erases its data from the event log. It cannot be undone. */
  erase: async (id: string) =>
    api<{ data: wire.CustomerErasure }>({ method: "POST", path: `${CUSTOMERS}${pathOf(id)}/erase` }),
});

const members = (api: AdminApi) => ({
  ...resource<{ item: wire.Member; fresh: wire.NewMember; change: wire.MemberChange }>(
    api,
    MEMBERS,
    "member",
  ),
  /** Removes the member and erases their data from the event log. It cannot be undone. */
  erase: async (id: string) =>
    api<{ data: wire.MemberErasure }>({ method: "POST", path: `${MEMBERS}${pathOf(id)}/erase` }),
});

function customerTokens(api: AdminApi, customerId: string) {
  const path = `${CUSTOMERS}${pathOf(customerId)}/tokens`;
  return {
    list: (query?: PageQuery) => listing<wire.CustomerTokenEntry>(api, path, query),
    /** The whole list as CSV, piece by piece. */
    csv: (query: CsvQuery<PageQuery> = {}) => readCsv(api, path, query),
    revoke: async (id: string): Promise<void> => {
      await api({ method: "DELETE", path: path + pathOf(id) });
    },
    revokeAll: async (): Promise<void> => {
      await api({ method: "DELETE", path });
    },
  };
}
