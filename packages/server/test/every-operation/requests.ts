import { Kysely, SqliteAdapter, SqliteIntrospector, SqliteQueryCompiler } from "kysely";
import { afterAll, beforeAll, beforeEach } from "vitest";
import { createApplicationKey } from "../../src/contract/application-keys.ts";
import { issueCustomerToken } from "../../src/contract/customer-tokens.ts";
import { createCustomer } from "../../src/contract/customers.ts";
import { createIntegration } from "../../src/contract/integrations.ts";
import { createMember } from "../../src/contract/members.ts";
import { createProfile } from "../../src/contract/oidc-profiles.ts";
import type { Operation } from "../../src/contract/operation.ts";
import { operations } from "../../src/contract/operations.ts";
import { isPermitted } from "../../src/contract/permissions.ts";
import { createRealm } from "../../src/contract/realms.ts";
import { createSetupLink } from "../../src/contract/setup-links.ts";
import type { Egress } from "../../src/egress/egress.ts";
import { egressFault } from "../../src/egress/egress-message.ts";
import type { Database } from "../../src/storage/storage.ts";
import { createTestApp, type TestApp, type TestStore } from "../support/app.ts";
import type { Call } from "../support/call.ts";

/** The operations by what they have in common, and for each a request that succeeds. */

export let latchkey: TestApp;
export let store: TestStore;
export let stranger: TestStore;
export let token: string;
/** Resources that an operation may change or delete: the call itself does not depend on them. */
const targets = {
  key: "",
  realm: "",
  profile: "",
  customer: "",
  customerToken: "",
  member: "",
  integration: "",
  setupLink: "",
  setupToken: "",
};

/** No identity provider can be reached. A disabled profile can still be saved. */
const nowhere: Egress = { send: async () => Promise.reject(egressFault("host_unknown")) };

const PROFILE = {
  type: "oidc-profile",
  name: "Target",
  discovery_url: "https://idp.example/.well-known/openid-configuration",
  client_id: "c",
  client_secret: "s",
  enabled: false,
};

const SETUP_LINK = { type: "setup-link", expires_in_days: 7 };

const INTEGRATION = {
  type: "integration",
  name: "Target",
  integration_type: "webhook",
  observes: ["customer.*"],
  configuration: { url: "https://hooks.example" },
};

const CREDENTIALS = { email: "target@shop.example", password: "correct horse" };

/** Starts one service for the file; the hooks set `latchkey`, `store`, `stranger` and `token`. */
export function everyOperation(): void {
  beforeAll(async () => {
    latchkey = await createTestApp({ egress: nowhere });
    store = await latchkey.createStore(100_000);
    stranger = await latchkey.createStore(100_000);
    token = await store.token();
    const make = async (operation: Operation, data: object) =>
      (await store.call(operation, { ids: { realm: targets.realm }, json: { data } })).body.data.id;
    targets.key = await make(createApplicationKey, { type: "application_key", name: "Target" });
    targets.realm = await make(createRealm, { type: "authentication-realm", name: "Target" });
    targets.profile = await make(createProfile, PROFILE);
    const { data } = (
      await store.call(createSetupLink, {
        ids: { realm: targets.realm, id: targets.profile },
        json: { data: SETUP_LINK },
      })
    ).body;
    targets.setupLink = data.id;
    targets.setupToken = data.url.split("/").at(-1);
    targets.integration = await make(createIntegration, INTEGRATION);
    targets.customer = await make(createCustomer, { type: "customer", name: "Target", ...CREDENTIALS });
    targets.member = await make(createMember, {
      type: "member",
      email: "target@shop.example",
      role: "viewer",
    });
    targets.customerToken = await make(issueCustomerToken, { type: "token", ...CREDENTIALS });
  });
  // A refused request counts against its address; two seconds restore the full allowance.
  beforeEach(() => latchkey.clock.advance(2000));
  afterAll(() => latchkey.close());
}

export const of = (matches: (operation: Operation) => boolean) =>
  operations.filter(matches).map((operation) => [operation.id, operation] as const);
export const withBearer = of(({ access }) => Array.isArray(access));
export const forBackOffice = of(
  ({ access }) => Array.isArray(access) && !isPermitted("implicit", access as never),
);
export const forCustomers = of(({ access }) => access[1] === "own");
export const withClient = of(({ access }) => access === "client");
export const withBody = of(({ body }) => body !== undefined);
export const withIds = of(({ ids }) => ids !== undefined);
export const ofOneStore = of(({ access, ids }) => Array.isArray(access) && ids !== undefined);
export const withQuery = of(({ query }) => query !== undefined);
export const ofApi = of(({ tag }) => tag !== "Service");
const isOpen = ({ access }: Operation) => access === "public" || access === "browser";
export const withoutToken = of(
  (operation) => operation.access === "client" || (isOpen(operation) && operation.tag !== "Service"),
);
export const withToken = of((operation) => operation.tag !== "Service" && !isOpen(operation));
export const UNKNOWN = "01890000-0000-7000-8000-000000000000";
export const idsFor = ({ tag }: Operation): Record<string, string> => ({
  store: store.store.id,
  realm: targets.realm,
  profile: targets.profile,
  customer: targets.customer,
  delivery: UNKNOWN,
  link: targets.setupLink,
  token: targets.setupToken,
  id:
    {
      Realms: targets.realm,
      "Identity providers": targets.profile,
      Customers: targets.customer,
      Members: targets.member,
      Integrations: targets.integration,
      "Customer tokens": targets.customerToken,
    }[tag as string] ?? targets.key,
});

function dataFor({ id, tag }: Operation): object {
  if (id === "approveDrift") return { digest: "x" };
  if (id === "createSetupLink") return SETUP_LINK;
  if (id === "checkBeforeSaving") return { ...PROFILE, type: "oidc-profile-checks" };
  if (tag === "Identity providers") return PROFILE;
  if (tag === "Customer tokens") return { type: "token", ...CREDENTIALS };
  if (tag === "Customers") return { type: "customer", name: "n", email: "new@shop.example" };
  if (tag === "Members") return { type: "member", email: "new@shop.example", role: "viewer" };
  if (id === "replayEvents") return { after: 0 };
  if (tag === "Integrations") return INTEGRATION;
  if (tag === "Store") return { type: "store", name: "n" };
  if (id === "updateAuthenticationSettings") return { type: "customer-authentication-settings" };
  if (tag === "Realms") return { type: "authentication-realm", name: "n" };
  return { type: "application_key", name: "n", grace_seconds: 1 };
}

/** Parameters of the OpenID endpoints; other operations ignore them. */
export const FORM = {
  code: "x",
  redirect_uri: "https://shop.example",
  code_verifier: "v".repeat(43),
  logout_token: "x",
};

/** A request that succeeds. A test then breaks it in one place. */
export function goodRequest(operation: Operation): Call {
  const client = { client_id: store.key.clientId, client_secret: store.key.clientSecret };
  return {
    ids: idsFor(operation),
    ...(Array.isArray(operation.access) && { token }),
    ...(operation.body && !operation.body.form && { json: { data: dataFor(operation) } }),
    ...(operation.legForm && { form: {} }),
    ...(operation.body?.form && { form: { token: "x", ...client, ...FORM, ...grantOf(operation) } }),
  };
}

export const grantOf = ({ body }: Operation) => ({ grant_type: body?.grants?.[0] ?? "implicit" });

/** A request with an invalid body: only an operation that reads the body refuses it for the body. */
export const broken = (operation: Operation, by: string | undefined): Call => ({
  ids: idsFor(operation),
  token: by,
  ...(operation.body && { raw: "{", headers: { "content-type": "application/json" } }),
});

/** A database on which every query fails with this error. */
export function brokenDatabase(error: Error): Database {
  const fail = async () => {
    throw error;
  };
  return new Kysely({
    dialect: {
      createAdapter: () => new SqliteAdapter(),
      createQueryCompiler: () => new SqliteQueryCompiler(),
      createIntrospector: (db) => new SqliteIntrospector(db),
      createDriver: () => ({
        init: async () => {},
        acquireConnection: fail,
        beginTransaction: fail,
        commitTransaction: fail,
        rollbackTransaction: fail,
        releaseConnection: async () => {},
        destroy: async () => {},
      }),
    },
  });
}
