import { createStorefront, type Storefront } from "@latchkey/sdk";
import { shopConfig } from "./shop-config.ts";
import { noteStep } from "./wire-log.ts";
import { exchangeStep } from "./wire-steps.ts";

let opening: Promise<Storefront> | undefined;

/** The SDK, with somebody who listens at the wire. */
export function latchkey(): Promise<Storefront> {
  opening ??= shopConfig().then(({ apiUrl, clientId }) =>
    createStorefront({
      baseUrl: apiUrl,
      clientId,
      onExchange: (exchange) => noteStep(exchangeStep(exchange, location.pathname)),
    }),
  );
  return opening;
}

/** What is registered at the realm, to the letter. */
export const redirectUri = (): string => `${location.origin}/signed-in`;
