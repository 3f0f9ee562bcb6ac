import { bearer, drive, expectAnswer, source, type Target, type Workload } from "./workload.ts";

type ReadRequest = {
  path(target: Target): string;
  headers(target: Target): Record<string, string>;
  includes: string;
};

const reading =
  ({ path, headers, includes }: ReadRequest): Workload["drive"] =>
  (target) =>
    drive({
      async operate(client) {
        expectAnswer(
          await client.send({ url: target.url + path(target), headers: headers(target) }),
          200,
          includes,
        );
      },
    });

const common = { others: ["hono"], goals: [{ against: "hono", share: 0.4 }], concurrency: 16 } as const;
const backOffice = ({ accessToken }: Target) => bearer(accessToken);

export const readSettings: Workload = {
  ...common,
  name: "read settings",
  means: "GET the customer authentication settings",
  drive: reading({
    path: () => "/v2/customer-authentication-settings",
    headers: ({ implicitToken }) => bearer(implicitToken),
    includes: '"type":"customer-authentication-settings"',
  }),
};

export const readProviders: Workload = {
  ...common,
  name: "read provider list",
  means: "GET the identity providers of a realm, as a storefront's login page does",
  drive: reading({
    path: ({ realmId }) => `/v2/authentication-realms/${realmId}/oidc-profiles`,
    headers: ({ implicitToken }) => bearer(implicitToken),
    includes: '"type":"oidc-profile"',
  }),
};

export const readKey: Workload = {
  ...common,
  name: "read key",
  means: "GET an application key",
  drive: reading({
    path: ({ keyId }) => `/v2/application-keys/${keyId}`,
    headers: backOffice,
    includes: '"type":"application_key"',
  }),
};

export const readOwnCustomer: Workload = {
  name: "read own customer",
  means: "GET one's own customer with a customer token; better-auth: its session and user",
  others: ["better-auth"],
  concurrency: 16,
  drive: (target) =>
    target.contestant === "better-auth"
      ? reading({
          path: () => "/api/auth/get-session",
          headers: ({ customer }) => ({ Cookie: customer.token, ...source() }),
          includes: '"email":"person-',
        })(target)
      : reading({
          path: ({ customer }) => `/v2/customers/${customer.id}`,
          headers: ({ implicitToken, customer }) => ({
            ...bearer(implicitToken),
            "X-Customer-Token": customer.token,
          }),
          includes: '"type":"customer"',
        })(target),
};
