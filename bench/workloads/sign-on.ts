import { signOnWithBetterAuth } from "./better-auth.ts";
import { codeOfBroker, redeemAtOidcProvider, signOnWithDex } from "./brokers.ts";
import { comeBack, goToIdp, knownPerson, newPerson, redeem } from "./steps.ts";
import { drive, type Workload } from "./workload.ts";

/**
 * A whole sign-on: authorize, identity provider, callback, redeem. Only the cost of the server in the middle is
 * measured.
 */
const signOn =
  (person: () => string): Workload["drive"] =>
  (target) =>
    drive({
      async operate(client) {
        if (target.contestant === "better-auth") await signOnWithBetterAuth(client, target, person());
        else if (target.contestant === "oidc-provider")
          await redeemAtOidcProvider(client, target, await codeOfBroker(client, target, person()));
        else if (target.contestant === "dex-memory" || target.contestant === "dex-sqlite")
          await signOnWithDex(client, target, person());
        else await redeem(client, target, await comeBack(client, await goToIdp(client, target, person())));
      },
    });

const common = {
  others: ["better-auth", "oidc-provider", "dex-memory", "dex-sqlite"],
  goals: [
    { against: "better-auth", share: 3.5 },
    { against: "dex-memory", share: 1.1 },
  ],
  concurrency: 8,
  isRecorded: true,
} as const;

export const newShopper: Workload = {
  ...common,
  name: "sign-on, new shopper",
  means: "a whole sign-on of a new shopper: authorize, identity provider, callback, redeem",
  drive: signOn(newPerson),
};

export const knownShopper: Workload = {
  ...common,
  name: "sign-on, known shopper",
  means: "the same for a shopper who signs on again",
  drive: signOn(knownPerson),
};
