/**
 * The entries of LATCHKEY_EGRESS_ALLOW. An origin without a scope is allowed to every store and purpose. A scope limits
 * it:
 *
 *     http://127.0.0.1:9000                  every store, identity providers and webhooks
 *     idp=https://idp.internal               every store, identity providers only
 *     <store id>=https://hooks.internal      one store
 *     <store id>/webhook=https://hooks.internal
 */
const ENTRY = /^(?:([^=:]+)=)?(https?:.+)$/;
const SCOPE =
  /^(?:([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:\/(idp|webhook))?|(idp|webhook))$/;

/** Undefined: for all. A request without a store comes from an operator's command or a test. */
export type OriginUse = { purpose: "idp" | "webhook" | undefined; storeId: string | undefined };

function readEntry(entry: string): { origin: string; storeId?: string; purpose?: string } | undefined {
  const [, scope, origin = ""] = ENTRY.exec(entry) ?? [];
  if (!URL.canParse(origin) || new URL(origin).origin !== origin) return undefined;
  if (scope === undefined) return { origin };
  const [found, storeId, ofStore, purpose = ofStore] = SCOPE.exec(scope) ?? [];
  if (found === undefined) return undefined;
  return { origin, ...(storeId && { storeId }), ...(purpose && { purpose }) };
}

export const isAllowedOrigin = (entry: string): boolean => readEntry(entry) !== undefined;

/** The origins that this store may reach for this purpose. */
export const originsFor = (entries: readonly string[], use: OriginUse): string[] =>
  entries.flatMap((given) => {
    const entry = readEntry(given);
    const fits = (bound: string | undefined, asked: string | undefined) =>
      bound === undefined || asked === undefined || bound === asked;
    const isMeant = entry && fits(entry.storeId, use.storeId) && fits(entry.purpose, use.purpose);
    return isMeant ? [entry.origin] : [];
  });
