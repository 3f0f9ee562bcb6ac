import { createStorefront, type Storefront } from "@latchkey/sdk";
import { noteStep } from "../wire/wire-log.ts";
import { exchangeStep } from "../wire/wire-steps.ts";
import { shopConfig } from "./shop-config.ts";

let opened: Storefront | undefined;

/** The SDK, with somebody who listens at the wire. */
export async function latchkey(): Promise<Storefront> {
  const { apiUrl, clientId } = await shopConfig();
  opened ??= createStorefront({
    baseUrl: apiUrl,
    clientId,
    onExchange: (exchange) => noteStep(exchangeStep(exchange, location.pathname)),
  });
  return opened;
}

/** What is registered at the realm, to the letter. */
export const redirectUri = (): string => `${location.origin}/signed-in`;
