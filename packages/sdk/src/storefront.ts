import { createApi } from "./access.ts";
import { customerAccount } from "./customer.ts";
import { randomText } from "./pkce.ts";
import { openProviders } from "./providers.ts";
import { tellShopper } from "./shopper-messages.ts";
import { beginSignOn, isSignOnAnswer, openReturns, requestToken } from "./sign-on.ts";
import { openSlots } from "./slots.ts";
import type { Customer, Storefront, StorefrontOptions } from "./types.ts";
import { clockOf, wireOf } from "./wire.ts";

/** Create one storefront per page. It keeps the access token, and remembers the answers that it has used. */
export function createStorefront(options: StorefrontOptions): Storefront {
  const { now, sleep } = clockOf(options);
  const grant = { grant_type: "implicit", client_id: options.clientId };
  const api = createApi({ ...wireOf(options, tellShopper), grant, now, sleep });
  const providers = openProviders(api, now);
  const slots = openSlots(options.storage, now);
  const complete = openReturns({ api, slots, now });

  return {
    listProviders: providers.list,
    beginSignOn: (provider, signOn) =>
      beginSignOn({ providers, slots, now }, typeof provider === "string" ? provider : provider?.id, signOn),
    isSignOnAnswer: (url = here()) => isSignOnAnswer(url),
    completeSignOn: (url = here()) => complete(url),
    signIn: ({ email, password }) => requestToken(api, randomText(), { email, password }),
    async register({ name, email, password }) {
      const { data } = await api<{ data: Customer }>({
        method: "POST",
        path: "/v2/customers",
        step: "register",
        data: { type: "customer", name, email, password },
      });
      return data;
    },
    customer: (token) => customerAccount(api, token),
  };
}

const here = (): string => (globalThis as { location?: { href: string } }).location?.href ?? "";
