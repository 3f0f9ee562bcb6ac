import { limits } from "../contract/limits.ts";
import { fetchDocument, type Send } from "./discovery.ts";
import { readKeys, type SigningKey } from "./keys.ts";

/** The usable keys of the provider's key set. Undefined if it cannot be read. */
export async function fetchKeys(send: Send, jwksUri: string | undefined): Promise<SigningKey[] | undefined> {
  if (jwksUri === undefined) return undefined;
  const found = await fetchDocument(send, "keys", jwksUri, limits.keysBytes);
  return "reason" in found ? undefined : readKeys(found.document);
}
