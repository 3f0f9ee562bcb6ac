import { codeOfBroker, redeemAtOidcProvider } from "./brokers.ts";
import { begin, comeBack, goToIdp, newPerson, redeem } from "./steps.ts";
import { drive, type Workload } from "./workload.ts";

/** Each request of a sign-on alone. The requests before it are made before the measurement begins. */

export const authorize: Workload = {
  name: "authorize",
  means: "a browser is sent on to the identity provider",
  others: [],
  concurrency: 16,
  drive: (target) => drive({ operate: async (client) => void (await begin(client, target)) }),
};

export const callback: Workload = {
  name: "callback",
  means: "the browser returns: code exchanged, ID token verified, a code of Latchkey issued",
  others: [],
  goals: [{ against: "limit", share: 0.5 }],
  concurrency: 8,
  isRecorded: true,
  count: 400,
  drive: (target) =>
    drive({
      stock: (client) => goToIdp(client, target, newPerson()),
      operate: async (client, returned) => void (await comeBack(client, returned)),
    }),
};

export const redeemAlone: Workload = {
  name: "redeem",
  means: "a new shopper's code becomes a customer, an identity and a signed customer token",
  others: ["oidc-provider"],
  goals: [{ against: "limit", share: 0.6 }],
  concurrency: 8,
  isRecorded: true,
  count: 400,
  drive: (target) =>
    target.contestant === "oidc-provider"
      ? drive({
          stock: (client) => codeOfBroker(client, target, newPerson()),
          operate: (client, withCode) => redeemAtOidcProvider(client, target, withCode),
        })
      : drive({
          stock: async (client) => comeBack(client, await goToIdp(client, target, newPerson())),
          operate: (client, withCode) => redeem(client, target, withCode),
        }),
};
