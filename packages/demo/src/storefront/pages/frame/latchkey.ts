import { createStorefront, type Storefront } from "@latchkey/sdk";
import { noteStep } from "../wire/wire-log.ts";
import { exchangeStep } from "../wire/wire-steps.ts";
import { shopConfig } from "./shop-config.ts";

let opened: Storefront | undefined;

/** The SDK. It records every request for the wire panel. */
export async function latchkey(): Promise<Storefront> {
  const { apiUrl, clientId } = await shopConfig();
  opened ??= createStorefront({
    baseUrl: apiUrl,
    clientId,
    onExchange: (exchange) => noteStep(exchangeStep(exchange, location.pathname)),
  });
  return opened;
}

/** Exactly the redirect URI of the realm. */
export const redirectUri = (): string => `${location.origin}/signed-in`;
